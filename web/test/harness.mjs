// A real server and a real browser, watched: whatever a page asks of another host, and whatever its console complains of,
// fails the test that opened it.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { after, before } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

export const DISCOVERED = "r4rk1/pp3pp1/8/4q3/4B3/8/PPP2PPP/R3Q1K1 w - - 0 1";
export const FORK = "3q2k1/3r4/pp3p1Q/2b1n3/P3N3/2P5/1P4PP/R6K w - - 1 25";
export const MISSED = `[Event "Club evening"]
[White "Anna"]
[Black "Ben"]
[FEN "r2qk2r/ppp2ppp/2p5/5b2/3n4/2N1P3/PPP2PPP/R1BQKB1R b KQkq - 0 9"]
[SetUp "1"]
[Result "*"]

9... Ne6 10. Qxd8+ Rxd8 11. Bd3 Bxd3 12. cxd3 Rxd3 13. Ke2 Rd7 *
`;

export const ARGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export const PROGRAM = process.env.KOGA ?? here("../../target/debug/koga");

/** Starts `koga serve` on a free port; gives its address and what stops it. */
export async function startServer() {
  const child = spawn(PROGRAM, ["serve", "--addr", "127.0.0.1:0"], { stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise((resolve) => child.on("exit", resolve));
  const origin = await new Promise((resolve, reject) => {
    let said = "";
    const read = (chunk) => {
      said += chunk;
      const found = /https?:\/\/127\.0\.0\.1:\d+/.exec(said);
      if (found) resolve(found[0]);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("error", reject);
    child.on("exit", (code) => reject(new Error(`koga serve ended with ${code}: ${said}`)));
  });
  const stop = () => {
    child.kill();
    return ended;
  };
  return { origin, stop };
}

export const startBrowser = () =>
  chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ARGS });

/** A server and a browser for the tests of a file, from before the first until after the last. */
export function started() {
  const at = {};
  let server;
  before(async () => {
    server = await startServer();
    at.origin = server.origin;
    at.browser = await startBrowser();
  });
  after(async () => {
    await at.browser?.close();
    await server?.stop();
  });
  return at;
}

/** Runs a test on a fresh page; `expect` names the complaints of the console that the test provokes. */
export async function onPage({ browser, origin }, options, run) {
  const { hash = "", expect = /^$/, ...context } = options;
  const opened = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce", ...context });
  const page = await opened.newPage();
  page.setDefaultTimeout(20_000);
  const complaints = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type()) && !expect.test(message.text())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    if (!request.url().startsWith(origin) && !/^(data|blob):/.test(request.url())) complaints.push(`asked ${request.url()}`);
  });
  try {
    await page.goto(`${origin}/${hash}`);
    await page.waitForSelector("#explanation:not([hidden]):not([aria-busy=true]), #game:not([hidden])");
    await run(page);
    assert.deepEqual(complaints, []);
  } finally {
    await opened.close();
  }
}

/** Waits until a check holds: the page draws when the browser finds time. */
export async function until(check) {
  for (const end = Date.now() + 10_000; ; ) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
      await delay(30);
    }
  }
}

export const says = (page, selector, expected) =>
  until(async () => assert.match(await page.locator(selector).first().innerText(), expected));

export const hashOf = (fields) => `#${new URLSearchParams(fields)}`;

/** Puts a text into the one field for positions and games, and opens it. */
export async function open(page, text) {
  await page.fill("#text", text);
  await page.click("#input .primary");
}

export const answered = (page) => page.waitForSelector("#explanation[aria-busy=false] h2");

export async function reviewed(page) {
  await page.click(".review .primary");
  await page.waitForSelector("#game .download", { timeout: 60_000 });
}

/** Drags from square to square, as the board lies. */
export async function drag(page, from, to) {
  const box = await page.locator("cg-board").boundingBox();
  const black = await page.locator(".cg-wrap.orientation-black").count();
  const middle = (sq) => {
    const [file, rank] = [sq.charCodeAt(0) - 97, Number(sq[1]) - 1];
    const size = box.width / 8;
    return [box.x + (black ? 7.5 - file : file + 0.5) * size, box.y + (black ? rank + 0.5 : 7.5 - rank) * size];
  };
  await page.mouse.move(...middle(from));
  await page.mouse.down();
  await page.mouse.move(...middle(to), { steps: 5 });
  await page.mouse.up();
}

export async function screenshot(page, name, options = {}) {
  mkdirSync(here("../screenshots"), { recursive: true });
  await page.screenshot({ path: here(`../screenshots/${name}.png`), ...options });
}
