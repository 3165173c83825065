// What the page looks like: at a desk and on a phone, light and dark. Each scene has its screenshot (in screenshots/, to be
// looked at), fits the window's width and has nothing that axe calls serious.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { test } from "node:test";

import { DISCOVERED, FORK, MISSED, answered, drag, hashOf, onPage, open, reviewed, screenshot, started } from "./harness.mjs";

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const at = started();

const scenes = {
  start: answered,
  async finding(page) {
    await page.goto(`${at.origin}/${hashOf({ fen: FORK, moves: "e4f6,d8f6,h6f6" })}`);
    await page.click(".finding[data-tactic=fork]");
  },
  async "why-not"(page) {
    await page.goto(`${at.origin}/${hashOf({ fen: DISCOVERED })}`);
    await page.click(".lost summary");
    await page.click(".why-not summary");
    await page.waitForFunction(() => document.querySelectorAll("#why-not option").length > 10);
    await page.selectOption("#why-not", "sacrifice");
  },
  async "bad-move"(page) {
    await page.goto(`${at.origin}/${hashOf({ fen: FORK, ply: 0 })}`);
    await page.waitForSelector(".eyebrow:has-text('Best move')");
    await page.evaluate(() => scrollTo(0, 0));
    await drag(page, "h6", "g6");
    await page.waitForSelector(".other.better");
  },
  async game(page) {
    await open(page, MISSED);
    await reviewed(page);
    await page.click("#moves button >> nth=0");
  },
  async moment(page) {
    await page.click("#here .finding");
    await answered(page);
  },
  async end(page) {
    await open(page, "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1");
    await page.waitForSelector("#explanation h2:has-text('Stalemate')");
  },
  async error(page) {
    await open(page, "8/8/8/8 w - - 0 1");
  },
};

const sizes = { desktop: { viewport: { width: 1280, height: 800 } }, phone: { viewport: { width: 390, height: 844 }, hasTouch: true } };

for (const [device, size] of Object.entries(sizes)) {
  for (const colorScheme of ["light", "dark"]) {
    test(`${device}, ${colorScheme}: every scene fits and is accessible`, () =>
      onPage(at, { ...size, colorScheme }, async (page) => {
        for (const [name, play] of Object.entries(scenes)) {
          await play(page);
          await page.waitForTimeout(100);
          await screenshot(page, `${name}-${device}-${colorScheme}`);
          const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          assert.ok(beyond <= 0, `${name} is ${beyond} px too wide`);
          assert.deepEqual(await seriousViolations(page), [], name);
        }
      }));
  }
}

async function seriousViolations(page) {
  // Through the debugger, since the page's own policy forbids scripts from elsewhere.
  const found = await page.evaluate(`${axe}; axe.run({ resultTypes: ["violations"] })`);
  return found.violations
    .filter(({ impact }) => ["serious", "critical"].includes(impact))
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 160)} ${node.failureSummary}`));
}
