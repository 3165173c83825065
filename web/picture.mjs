// Writes docs/page.png, the README's picture of the page.

import { DISCOVERED, answered, hashOf, onPage, screenshot, startBrowser, startServer } from "./test/harness.mjs";

const server = await startServer();
const browser = await startBrowser();
const options = { hash: hashOf({ fen: DISCOVERED, ply: 1 }), viewport: { width: 1040, height: 610 } };
await onPage({ browser, origin: server.origin }, options, async (page) => {
  await answered(page);
  await screenshot(page, "../../docs/page");
});
await browser.close();
await server.stop();
