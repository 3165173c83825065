// Builds web/dist, which is committed so that Rust alone builds the program. `--check` compares instead of writing.
import { build } from "esbuild";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const check = process.argv.includes("--check");

const banner = "/*! Koga. Copyright and licences of this file's parts: licences.txt. SPDX-License-Identifier: GPL-3.0-or-later AND MIT */";
const { outputFiles } = await build({
  absWorkingDir: here("."),
  entryPoints: { app: "src/main.ts", "app-css": "src/app.css", site: "src/site.css" },
  bundle: true,
  minify: true,
  write: false,
  format: "esm",
  target: ["es2022", "chrome111", "firefox113", "safari16.4"],
  charset: "utf8",
  legalComments: "inline",
  loader: { ".svg": "dataurl" },
  banner: { js: banner },
  outdir: "dist",
});

const files = new Map(
  outputFiles.map((file) => [file.path.split(/[\\/]/).pop().replace("app-css", "app"), Buffer.from(file.contents)]),
);
for (const name of ["index.html", "favicon.svg"]) files.set(name, await readFile(here(`src/${name}`)));
files.set("licences.txt", Buffer.from(await licences()));

let differing = 0;
for (const [name, contents] of files) {
  const path = here(`dist/${name}`);
  if (!check) {
    await writeFile(path, contents);
    console.log(`${name} ${contents.length}`);
  } else if (!contents.equals(await readFile(path).catch(() => Buffer.alloc(0)))) {
    console.error(`web/dist/${name} is not what its source gives: run \`npm run build\` in web and commit the result`);
    differing += 1;
  }
}
process.exit(differing ? 1 : 0);

/** The notices of everything that the page carries. The GPL's own text is long and said once. */
async function licences() {
  const version = async (name) => JSON.parse(await readFile(here(`node_modules/${name}/package.json`), "utf8")).version;
  const gpl = await readFile(here("../COPYING"), "utf8");
  const mit = await readFile(here("node_modules/@badrap/result/LICENSE"), "utf8");
  const parts = [
    "The analysis page of Koga is free software under the GNU General Public License, version 3 or later.\n" +
      "Its source is the folder web of Koga's source; it is built from these parts.",
    "Koga, its page and its pieces (web/pieces, drawn for Koga)\nGPL-3.0-or-later",
    `chessground ${await version("@lichess-org/chessground")}, the board\n` +
      "Copyright (C) the chessground authors, lichess.org\nGPL-3.0-or-later",
    `chessops ${await version("chessops")}, the rules of chess\n` +
      "Copyright (C) Niklas Fiekas and the chessops authors\nGPL-3.0-or-later",
    `@badrap/result ${await version("@badrap/result")}, used by chessops\n\n${mit.trim()}`,
    `The GNU General Public License\n\n${gpl.trimEnd()}`,
  ];
  return parts.join(`\n\n${"-".repeat(72)}\n\n`) + "\n";
}
