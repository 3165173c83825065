// Writes docs/page.png, the README's picture of the page.

import { answered, hashOf, onPage, screenshot, startBrowser, startServer } from "./test/harness.mjs";

const server = await startServer();
const browser = await startBrowser();
const fen = "r4rk1/pp3pp1/8/4q3/4B3/8/PPP2PPP/R3Q1K1 w - - 0 1";
await onPage({ browser, origin: server.origin }, { hash: hashOf({ fen, ply: 1 }), colorScheme: "light" }, async (page) => {
  await answered(page);
  await screenshot(page, "../../docs/page", { clip: { x: 30, y: 0, width: 1220, height: 712 } });
});
await browser.close();
await server.stop();
