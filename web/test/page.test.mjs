// The analysis page as a person uses it.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import { DISCOVERED, FORK, MISSED, PROGRAM, answered, drag, hashOf, onPage, open, reviewed, says, started, until } from "./harness.mjs";

const at = started();

test("a FEN pasted into the field gives the headline and the best line", () =>
  onPage(at, {}, async (page) => {
    await open(page, FORK);
    await page.waitForSelector("#explanation[aria-busy=false] h2:has-text('forks')");
    await says(page, "#explanation h2", /knight on f6 forks the king on g8 and the rook on d7/);
    await says(page, ".eyebrow", /Best move for White: 25\.Nxf6\+/);
    await until(async () => assert.ok((await page.locator(".line button").count()) > 3));
    await until(async () => assert.equal(await page.locator(".arrow-move").count(), 1, "the best move is pointed at"));
  }));

test("the page opens on an example with its arrow drawn", () =>
  onPage(at, {}, async (page) => {
    await answered(page);
    await says(page, "#explanation h2", /opens the e-file for the queen/);
    await until(async () => assert.equal(await page.locator(".arrow-target").count(), 1));
  }));

test("a finding steps the board to its ply and draws its arrows and squares", () =>
  onPage(at, { hash: hashOf({ fen: FORK, moves: "e4f6,d8f6,h6f6" }) }, async (page) => {
    await answered(page);
    await until(async () => assert.equal(await page.locator(".arrow-target").count(), 0, "at the start of a line nothing is pointed out"));
    await page.click(".finding[data-tactic=fork]");
    await until(async () => assert.equal(await page.locator(".arrow-target").count(), 2));
    await until(async () => assert.equal(await page.locator(".mark-target").count(), 2));
    await until(async () => assert.equal(await page.locator(".mark-acting").count(), 1));
    await until(async () => assert.ok((await page.locator(".mark-support").count()) >= 1));
    await says(page, "#turn", /Black to move, in check/);
    await until(async () => assert.equal(await page.getAttribute(".finding[data-tactic=fork]", "aria-pressed"), "true"));
    await says(page, ".finding[data-tactic=fork]", /wins 7 points/);
  }));

test("superseded rivals and why-not are one click away", () =>
  onPage(at, { hash: hashOf({ fen: DISCOVERED }) }, async (page) => {
    await answered(page);
    await page.click(".lost summary");
    await says(page, ".lost .finding", /lost to the discovered attack/);
    await page.click(".why-not summary");
    await page.waitForFunction(() => document.querySelectorAll("#why-not option").length > 10);
    await page.selectOption("#why-not", "discovered-attack");
    await says(page, ".answers", /Found: made by the move\./);
    await page.selectOption("#why-not", "pin");
    await says(page, ".answers", /Nothing in this line has the shape of a pin/);
    await until(async () => assert.equal(await page.getAttribute(".answers .more a", "href"), "/tactics/pin.html"));
  }));

test("a tactic that a rule refused is answered with the rule, its sentence and its squares", () =>
  onPage(at, { hash: hashOf({ fen: FORK, move: "h6g6" }) }, async (page) => {
    await answered(page);
    await page.click(".why-not summary");
    await page.waitForFunction(() => document.querySelectorAll("#why-not option").length > 10);
    await page.selectOption("#why-not", "sacrifice");
    await says(page, ".answers", /Refused\./);
    assert.equal(await page.locator(".answers li a").first().getAttribute("href"), "/tactics/sacrifice.html#S1");
    await page.locator(".answers .finding").first().click();
    await until(async () => assert.ok((await page.locator(".mark-support").count()) >= 1));
  }));

test("a bad move dragged on the board: what it allows, and what was better", () =>
  onPage(at, { hash: hashOf({ fen: FORK }) }, async (page) => {
    await answered(page);
    await drag(page, "h6", "g6");
    await page.waitForSelector(".other.better");
    await says(page, "#explanation h2", /Allows 25\.\.\.Nxg6\s+The knight takes the queen/);
    await says(page, ".other.better", /Clearly better: 25\.Nxf6\+/);
    await page.click(".other.reply .finding");
    await says(page, "#turn", /White to move/);
    await page.click("#bar >> text=Best move here");
    await page.waitForSelector(".eyebrow:has-text('Best move')");
  }));

test("a line's next move is a step; another move is a new question, and back returns", () =>
  onPage(at, { hash: hashOf({ fen: FORK, moves: "e4f6,d8f6,h6f6", ply: 1 }) }, async (page) => {
    await answered(page);
    await drag(page, "d8", "f6");
    await page.waitForURL(/ply=2/);
    await page.goto(`${at.origin}/${hashOf({ fen: FORK })}`);
    await page.waitForSelector(".eyebrow:has-text('Best move')");
    await drag(page, "e4", "c5");
    await page.waitForSelector(".eyebrow:has-text('The move 25.Nxc5')");
    await page.goBack();
    await page.waitForSelector(".eyebrow:has-text('Best move for White')");
    await page.goForward();
    await page.waitForSelector(".eyebrow:has-text('The move 25.Nxc5')");
  }));

test("a game: reviewed, walked with the keyboard to a missed tactic, its better line on the board", () =>
  onPage(at, {}, async (page) => {
    await open(page, MISSED);
    await says(page, "#game h2", /Anna – Ben/);
    await reviewed(page);
    await page.locator("#game").focus();
    await page.keyboard.press("ArrowRight");
    const missed = page.locator("#here .finding");
    await until(async () => assert.match(await missed.innerText(), /Missed 9\.\.\.Nxc2\+: The knight on c2 forks/));
    await until(async () => assert.equal(await page.textContent("#moves [aria-current]"), "Ne6?? blunder missed"));
    await missed.click();
    await page.waitForFunction(() => document.querySelectorAll(".arrow-target").length === 2);
    await says(page, "#explanation h2", /knight on c2 forks/);
    await page.waitForSelector(".lost");
    await page.keyboard.press("Escape");
    await page.waitForSelector("#explanation", { state: "hidden" });
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(".download")]);
    assert.match(await readFile(await download.path(), "utf8"), /Annotator "Koga[^]*\$4/);
  }));

test("each position of a game can be explained without a review, and the game is one click away", () =>
  onPage(at, {}, async (page) => {
    await open(page, MISSED);
    await page.click("#bar >> text=Explain this position");
    await page.waitForSelector(".eyebrow:has-text('Best move for Black: 9...Nxc2+')");
    await page.click("#bar >> text=Back to the game");
    await page.click("#bar >> text=Explain 9...Ne6");
    await page.waitForSelector(".eyebrow:has-text('The move 9...Ne6')");
  }));

test("who leaves a reviewed game for a position and goes back finds its review", () =>
  onPage(at, {}, async (page) => {
    await open(page, MISSED);
    await page.selectOption(".review select", "black");
    await reviewed(page);
    await page.waitForSelector(".orientation-black");
    await open(page, FORK);
    await page.waitForSelector("h2:has-text('forks')");
    await page.waitForSelector("#game", { state: "hidden" });
    await page.goBack();
    await page.waitForSelector("#game .badge.missed");
  }));

test("a finger moves the pieces", () =>
  onPage(at, { hash: hashOf({ fen: FORK }), viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }, async (page) => {
    await answered(page);
    const box = await page.locator("cg-board").boundingBox();
    const size = box.width / 8;
    await page.touchscreen.tap(box.x + 4.5 * size, box.y + 4.5 * size);
    await page.touchscreen.tap(box.x + 5.5 * size, box.y + 2.5 * size);
    await page.waitForSelector(".eyebrow:has-text('The move 25.Nxf6+')");
  }));

test("a review can be cancelled", () =>
  onPage(at, {}, async (page) => {
    await page.route("**/api/review", () => {});
    await open(page, MISSED);
    await page.click(".review .primary");
    await page.click(".review >> text=Cancel");
    await page.waitForSelector(".review >> text=Review this game");
  }));

const TWO = `${MISSED}\n[White "Cara"]\n[Black "Dov"]\n[Result "1-0"]\n\n1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0\n`;

test("several games in one PGN: one is chosen", () =>
  onPage(at, {}, async (page) => {
    await open(page, TWO);
    await page.selectOption("#which-game", "1");
    await says(page, "#game h2", /Cara – Dov\s*1–0/);
    await page.keyboard.press("Escape");
    await page.locator("#moves button").last().click();
    await says(page, "#turn", /Black is checkmated/);
  }));

test("who picks another game and goes back finds the first as it was, with its review and the others", () =>
  onPage(at, {}, async (page) => {
    await open(page, TWO);
    await reviewed(page);
    await page.selectOption("#which-game", "1");
    await says(page, "#game h2", /Cara – Dov/);
    await page.goBack();
    await says(page, "#game h2", /Anna – Ben/);
    await page.waitForSelector("#game .badge.missed");
    assert.equal(await page.inputValue("#which-game"), "0");
    await page.goForward();
    await says(page, "#game h2", /Cara – Dov/);
    assert.equal(await page.inputValue("#which-game"), "1");
    await page.selectOption("#which-game", "0");
    await page.waitForSelector("#game .badge.missed");
  }));

test("equal moves from another start are another game", () =>
  onPage(at, {}, async (page) => {
    const game = (white, fen) => `[White "${white}"]\n[FEN "${fen}"]\n\n1. Kd2 *\n`;
    await open(page, game("", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"));
    await open(page, game("", "4k3/8/8/8/8/8/P7/4K3 w - - 0 1"));
    await says(page, "#game h2", /White/);
    await page.goBack();
    await until(async () => assert.match(await page.textContent("#pieces"), /White: king e1, pawn e2Black/));
  }));

test("who goes back to a game that is a position alone finds it", () =>
  onPage(at, {}, async (page) => {
    await open(page, `[White "Gil"]\n[Black "Hal"]\n[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]\n\n*\n\n${MISSED}`);
    await says(page, "#game h2", /Gil – Hal/);
    await page.selectOption("#which-game", "1");
    await says(page, "#game h2", /Anna – Ben/);
    await page.goBack();
    await says(page, "#game h2", /Gil – Hal/);
    assert.equal(await page.inputValue("#which-game"), "0");
  }));

test("a game beside one without moves is reviewed by itself", () =>
  onPage(at, {}, async (page) => {
    await open(page, `${MISSED}\n[White "Eva"]\n[Black "Finn"]\n[Result "1-0"]\n\n1-0\n`);
    await reviewed(page);
    await page.waitForSelector("#game .badge.missed");
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(".download")]);
    assert.match(await readFile(await download.path(), "utf8"), /White "Anna"[^]*Ne6/);
  }));

test("a review that ends while something else is on the board leaves the board as it lies", () =>
  onPage(at, {}, async (page) => {
    let release;
    const held = new Promise((resolve) => (release = resolve));
    await page.route("**/api/review", async (route) => {
      await held;
      await route.continue();
    });
    await open(page, MISSED);
    await page.selectOption(".review select", "black");
    await page.click(".review .primary");
    await page.click("#bar >> text=Explain 9...Ne6");
    await answered(page);
    release();
    await page.waitForSelector("#game .download");
    assert.equal(await page.locator(".orientation-white").count(), 1);
  }));

test("a review ends with the game that is left", () =>
  onPage(at, {}, async (page) => {
    await page.route("**/api/review", () => {});
    await open(page, MISSED);
    await open(page, TWO.slice(MISSED.length));
    await says(page, "#game h2", /Cara – Dov/);
    const failed = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/api/review"));
    await page.click(".review .primary");
    await page.waitForSelector("#game progress");
    await page.goBack();
    await failed;
    await says(page, "#game h2", /Anna – Ben/);
    await page.goForward();
    await says(page, "#game h2", /Cara – Dov/);
    await page.waitForSelector(".review >> text=Review this game");
  }));

test("the moves of a game are one stop of the Tab key, and the arrows go along them", () =>
  onPage(at, {}, async (page) => {
    await open(page, MISSED);
    const stops = page.locator("#moves button[tabindex='0']");
    assert.equal(await stops.count(), 1);
    await stops.focus();
    await page.keyboard.press("ArrowRight");
    await says(page, "#moves [aria-current]", /Ne6/);
    await page.keyboard.press("ArrowDown");
    await says(page, "#moves [aria-current]", /Rxd8/);
    await until(async () => assert.equal(await page.locator("#moves :focus").getAttribute("aria-current"), "step"));
    assert.equal(await stops.count(), 1);
    await page.keyboard.press("End");
    await says(page, "#moves :focus", /Rd7/);
    await page.keyboard.press("Tab");
    assert.equal(await page.locator("#moves :focus").count(), 0);
    await page.click("#moves button >> nth=1");
    await says(page, "#moves [aria-current]", /Qxd8/);
    assert.equal(await stops.count(), 1);
  }));

test("a line's moves are one stop of the Tab key too", () =>
  onPage(at, { hash: hashOf({ fen: FORK, moves: "e4f6,d8f6,h6f6" }) }, async (page) => {
    await answered(page);
    const stops = page.locator(".line button[tabindex='0']");
    assert.equal(await stops.count(), 1);
    await stops.focus();
    await page.keyboard.press("ArrowRight");
    await says(page, ".line :focus", /Nxf6/);
    await page.waitForURL(/ply=1/);
  }));

test("a position where the game is over is said to be so, and the server is not asked", () =>
  onPage(at, {}, async (page) => {
    await answered(page);
    const asked = [];
    page.on("request", (request) => request.url().includes("/api/") && asked.push(request.url()));
    await open(page, "R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1");
    await says(page, "#explanation h2", /^Black is checkmated\.$/);
    await open(page, "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1");
    await says(page, "#explanation h2", /^Stalemate: a draw\.$/);
    assert.equal(await page.locator("#explanation .failure, #explanation[aria-busy=true]").count(), 0);
    await page.goBack();
    await says(page, "#explanation h2", /^Black is checkmated\.$/);
    assert.deepEqual(asked, []);
  }));

test("a discovered check is listed once, by the discovered attack that it is", () =>
  onPage(at, { hash: hashOf({ fen: "4r1k1/5pp1/8/8/Q3n3/8/P7/4K3 b - - 0 1", moves: "e4c3,e1d2,c3a4" }) }, async (page) => {
    await answered(page);
    await page.waitForSelector(".finding[data-tactic=discovered-attack]");
    assert.equal(await page.locator(".finding[data-tactic=discovered-check]").count(), 0);
  }));

test("a game's position is shared by its address", () =>
  onPage(at, {}, async (page) => {
    await open(page, MISSED);
    await page.click("#moves button >> nth=2");
    await page.waitForURL(/at=3/);
    const url = page.url();
    await page.goto("about:blank");
    await page.goto(url);
    await page.waitForSelector("#game:not([hidden])");
    await says(page, "#game h2", /Anna – Ben/);
    await says(page, "#moves [aria-current]", /Rxd8/);
  }));

test("a line with the enemy's move before it, as the reference pages link to", () =>
  onPage(at, { hash: hashOf({ fen: "3q2k1/3r4/pp3p1Q/2b5/P2nN3/2P5/1P4PP/R6K b - - 0 24", setup: "d4e6", moves: "e4f6", ply: 1 }) }, async (page) => {
    await answered(page);
    await says(page, ".eyebrow", /The line from 25\.Nxf6\+/);
    await page.click("#first");
    await until(async () => assert.equal(await page.locator("square.last-move").count(), 2, "the enemy's move is marked"));
  }));

test("the keyboard walks and flips, but not while one types", () =>
  onPage(at, { hash: hashOf({ fen: FORK, moves: "e4f6,d8f6,h6f6" }) }, async (page) => {
    await answered(page);
    await page.keyboard.press("ArrowRight");
    await page.waitForURL(/ply=1/);
    await page.keyboard.press("End");
    await page.waitForURL(/ply=3/);
    await page.keyboard.press("ArrowLeft");
    await page.waitForURL(/ply=2/);
    await page.keyboard.press("Home");
    await page.waitForURL((url) => !/ply=/.test(url.hash));
    await page.keyboard.press("f");
    await until(async () => assert.equal(await page.locator(".orientation-black").count(), 1));
    await page.focus("#move");
    await page.keyboard.type("f");
    await page.keyboard.press("ArrowLeft");
    await until(async () => assert.equal(await page.locator(".orientation-black").count(), 1));
  }));

test("a move can be typed, and what happens is said to a screen reader", () =>
  onPage(at, { hash: hashOf({ fen: FORK }) }, async (page) => {
    await answered(page);
    await until(async () => assert.match(await page.textContent("#pieces"), /White: king h1, queen h6/));
    await page.fill("#move", "Qh9");
    await page.keyboard.press("Enter");
    await says(page, "#move-trouble", /not a legal move/);
    await page.fill("#move", "25. Qg6+!?");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".eyebrow:has-text('The move 25.Qg6+')");
    await page.keyboard.press("Tab");
    await page.locator("#explanation").focus();
    await page.keyboard.press("ArrowRight");
    await until(async () => assert.match(await page.textContent("#announcement"), /Black: knight takes g6\. White to move/));
  }));

const announces = (page, expected) => until(async () => assert.match(await page.textContent("#announcement"), expected));

test("what was typed as a move, and what was said of it, goes with the position", () =>
  onPage(at, { hash: hashOf({ fen: FORK }) }, async (page) => {
    await answered(page);
    const forgets = async (act) => {
      await page.fill("#move", "Qh9");
      await page.press("#move", "Enter");
      await says(page, "#move-trouble", /“Qh9” is not a legal move here/);
      await announces(page, /“Qh9” is not a legal move here/);
      await act();
      await until(async () => assert.equal(await page.textContent("#move-trouble"), ""));
      assert.equal(await page.inputValue("#move"), "");
    };
    await forgets(() => drag(page, "h6", "g6"));
    await forgets(() => page.goBack());
    await forgets(() => page.click("#next"));
    await forgets(() => open(page, DISCOVERED));
    await forgets(() => page.click("#examples button >> nth=1"));
  }));

test("a screen reader hears what the headline says, and what went wrong", () =>
  onPage(at, { hash: hashOf({ fen: FORK, move: "h6g6" }), expect: /Failed to load resource/ }, async (page) => {
    await answered(page);
    await announces(page, /^queen to g6, check\. Allows 25\.\.\.Nxg6: The knight takes the queen/);
    await page.click("#flip");
    await announces(page, /seen from Black’s side/);
    await open(page, "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1");
    await announces(page, /^Stalemate: a draw\.$/);
    await open(page, "8/8/8/8 w - - 0 1");
    await announces(page, /eight ranks of eight squares/);
    await open(page, "1. e4 e5 2. Qxh7 Nc6 *");
    await announces(page, /White to move\. 2\.Qxh7 is not legal here/);
    await page.route("**/api/explain", (route) => route.abort());
    await open(page, FORK);
    await announces(page, /does not answer/);
  }));

test("what a move throws away is said first", () =>
  onPage(at, { hash: hashOf({ fen: "7k/5K2/8/6Q1/8/8/8/8 w - - 0 1", move: "g5g6" }) }, async (page) => {
    await answered(page);
    await says(page, "#explanation h2", /^Misses mate in 1: 1\.Qh4#\s+Stalemate: a draw\.$/);
    await says(page, "#explanation .score", /White’s view:\s+0\.00/);
    await page.goto(`${at.origin}/${hashOf({ fen: "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", move: "g1f1" })}`);
    await says(page, "#explanation h2", /^Misses mate in 1: 1\.Ra8#\s+The rook on a8 mates along the back rank/);
  }));

test("what a move allows later is said with the move that does it", () =>
  onPage(at, { hash: hashOf({ fen: "r5k1/5ppp/8/8/8/3P4/5PPP/3R2K1 w - - 0 1", move: "d1d2" }) }, async (page) => {
    await answered(page);
    await says(page, "#explanation h2", /^Allows 1\.\.\.Ra1\+ and 2\.\.\.Rxd1#\s+The rook on d1 mates/);
  }));

test("a line that mates is not said to give material up", () =>
  onPage(at, { hash: hashOf({ fen: "r1b1k1nr/p2p1pNp/n2B4/1p1NP2P/6P1/3P1Q2/P1P1K3/q5b1 w - - 1 22", moves: "f3f6,g8f6,d6e7" }) }, async (page) => {
    await answered(page);
    assert.doesNotMatch(await page.innerText("#explanation"), /In all the line|has given up/);
    await page.goto(`${at.origin}/${hashOf({ fen: FORK, moves: "h6g6,e5g6" })}`);
    await says(page, "#explanation .balance", /^When the line ends, White has given up a queen’s worth of material\.$/);
  }));

test("a move can be typed as people write it", async () => {
  const types = (fen, text, expected) =>
    onPage(at, { hash: hashOf({ fen }) }, async (page) => {
      await page.fill("#move", text);
      await page.press("#move", "Enter");
      await page.waitForSelector(`.eyebrow:has-text("${expected}")`);
    });
  for (const text of ["o-o", "oo", "0-0"]) await types("4k3/8/8/8/8/8/8/4K2R w K - 0 1", text, "The move 1.O-O");
  await types("4k3/8/8/8/8/8/8/R3K3 w Q - 0 1", "ooo", "The move 1.O-O-O");
  await types(FORK, "nf6", "The move 25.Nxf6+");
});

test("a promotion typed without its piece asks for it", () =>
  onPage(at, { hash: hashOf({ fen: "8/P6k/8/8/8/8/8/4K3 w - - 0 1" }) }, async (page) => {
    await answered(page);
    for (const text of ["a8", "a7a8"]) {
      await page.fill("#move", text);
      await page.press("#move", "Enter");
      await page.waitForSelector("dialog[open]");
      await page.keyboard.press("Escape");
      await page.waitForSelector("dialog:not([open])", { state: "attached" });
    }
    await page.fill("#move", "a8");
    await page.press("#move", "Enter");
    await page.click("dialog button[aria-label*=rook]");
    await page.waitForSelector(".eyebrow:has-text('The move 1.a8=R')");
  }));

test("promotion asks for the piece; escape takes the move back", () =>
  onPage(at, { hash: hashOf({ fen: "3n4/4P2k/8/8/8/8/8/4K3 w - - 0 1" }) }, async (page) => {
    await answered(page);
    await drag(page, "e7", "d8");
    await page.waitForSelector("dialog[open]");
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog:not([open])", { state: "attached" });
    await says(page, "#turn", /White to move/);
    await drag(page, "e7", "d8");
    await page.click("dialog button[aria-label*=knight]");
    await page.waitForSelector(".eyebrow:has-text('The move 1.exd8=N')");
  }));

test("castling by dragging the king two squares or onto the rook, and in Chess960", async () => {
  const castles = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
  for (const to of ["g1", "h1"]) {
    await onPage(at, { hash: hashOf({ fen: castles }) }, async (page) => {
      await answered(page);
      await drag(page, "e1", to);
      await page.waitForSelector(".eyebrow:has-text('The move 1.O-O')");
    });
  }
  await onPage(at, { hash: hashOf({ fen: "bqnr1krb/pppppppp/8/8/8/8/PPPPPPPP/BQNR1KRB w GDgd - 0 1" }) }, async (page) => {
    await answered(page);
    await drag(page, "f1", "g1");
    await page.waitForSelector(".eyebrow:has-text('The move 1.O-O')");
    await until(async () => assert.equal(await page.locator("cg-board piece.white.king").count(), 1));
  });
});

test("bad input is named and leaves the board alone", () =>
  onPage(at, { hash: hashOf({ fen: FORK }) }, async (page) => {
    await answered(page);
    await open(page, "8/8/8/8 w - - 0 1");
    await says(page, "#trouble", /eight ranks of eight squares/);
    await open(page, "no chess at all");
    await says(page, "#trouble", /Neither a FEN nor a PGN/);
    await open(page, "1. e4 e5 2. Qxh7 Nc6 *");
    await says(page, "#game .failure", /2\.Qxh7 is not legal here/);
    await page.goto(`${at.origin}/${hashOf({ fen: FORK, moves: "e4f6,a1a8" })}`);
    await page.waitForFunction(() => document.querySelector("#trouble").textContent.includes("a1a8"));
  }));

test("a FEN is read as people copy it; one without the side to move is named", () =>
  onPage(at, { hash: hashOf({ fen: DISCOVERED }) }, async (page) => {
    await answered(page);
    await open(page, FORK.split(" ")[0]);
    await says(page, "#trouble", /not who is to move/);
    await says(page, "#explanation h2", /opens the e-file/);
    for (const text of [`FEN: ${FORK}`, `"${FORK}"`, FORK.replaceAll(" ", "\t")]) {
      await page.click("#examples button >> nth=0");
      await page.waitForSelector("h2:has-text('opens the e-file')");
      await open(page, text);
      await page.waitForSelector("h2:has-text('forks')");
    }
  }));

test("games are told apart by result and date, and those left out are counted", () =>
  onPage(at, {}, async (page) => {
    await page.fill("#text", FORK);
    const text = `${TWO.replace('[Result "1-0"]', '[Result "1-0"]\n[Date "1999.05.??"]')}\n[White "Eva"]\n[Result "1-0"]\n\n1-0\n`;
    await page.setInputFiles("#file", { name: "games.pgn", mimeType: "text/plain", buffer: Buffer.from(text) });
    await says(page, "#which-game", /2\. Cara – Dov, 1–0, 1999-05/);
    await says(page, "#game", /One game without moves was left out/);
    assert.equal(await page.inputValue("#text"), "", "what was typed before is about something else");
  }));

test("on a phone a chosen moment brings its explanation into sight", () =>
  onPage(at, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }, async (page) => {
    await open(page, MISSED.replace("Club evening", `https://example.org/${"a".repeat(120)}`));
    await reviewed(page);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
    await page.click(".to-moments");
    await page.locator(".findings .finding").last().click();
    await answered(page);
    await until(async () => {
      const { y } = await page.locator("#explanation").boundingBox();
      assert.ok(y >= 380 && y < 700, `the explanation is at ${y}`);
    });
  }));

test("without scripts the reference pages are one click away", () =>
  onPageWithoutScripts(async (page) => {
    await says(page, ".no-script a", /The tactics/);
  }));

test("with the server gone the page says so, and asks again when told to", () =>
  onPage(at, { expect: /Failed to load resource/ }, async (page) => {
    await answered(page);
    await page.route("**/api/explain", (route) => route.abort());
    await open(page, FORK);
    await page.waitForSelector("#explanation .failure");
    await says(page, "#explanation .failure", /does not answer/);
    await page.unroute("**/api/explain");
    await page.click("text=Try again");
    await page.waitForSelector("h2:has-text('forks')");
  }));

test("a busy server is named with the wait that it asks for", () =>
  onPage(at, { expect: /Failed to load resource/ }, async (page) => {
    await answered(page);
    const body = JSON.stringify({ id: null, error: { kind: "busy", ply: null, token: null, message: "busy" } });
    await page.route("**/api/explain", (route) => route.fulfill({ status: 429, headers: { "Retry-After": "2" }, body }));
    await open(page, FORK);
    await page.waitForSelector("#explanation .failure:has-text('Try again in 2 s')");
  }));

test("an answer that comes too late is dropped", () =>
  onPage(at, {}, async (page) => {
    await answered(page);
    let release;
    const held = new Promise((resolve) => (release = resolve));
    const isLate = (request) => request.url().endsWith("/api/explain") && request.postDataJSON().fen === FORK;
    await page.route("**/api/explain", async (route) => {
      if (isLate(route.request())) await held;
      await route.continue().catch(() => {});
    });
    const ended = new Promise((resolve) => {
      for (const event of ["requestfinished", "requestfailed"]) page.on(event, (request) => isLate(request) && resolve());
    });
    await open(page, FORK);
    await open(page, DISCOVERED);
    await page.waitForSelector("h2:has-text('opens the e-file')");
    release();
    await ended;
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
    assert.match(await page.innerText("#explanation h2"), /opens the e-file/);
  }));

test("a file is opened, and a paste anywhere is read", () =>
  onPage(at, {}, async (page) => {
    await page.setInputFiles("#file", { name: "game.pgn", mimeType: "text/plain", buffer: Buffer.from(MISSED) });
    await page.waitForSelector("#game h2:has-text('Anna')");
    await page.evaluate((fen) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", fen);
      document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
    }, FORK);
    await page.waitForSelector("h2:has-text('forks')");
    await page.waitForSelector("#game", { state: "hidden" });
  }));

test("the board draws what the diagrams draw", () =>
  onPage(at, {}, async (page) => {
    const infos = await (await page.request.get(`${at.origin}/api/tactics`)).json();
    let compared = 0;
    for (const { name } of infos) {
      for (const { fen, line } of (await cases(name)).filter(({ setup }) => !setup).slice(0, 3)) {
        const ask = (format) => execFileSync(PROGRAM, ["explain", fen, "--line", line, "--format", format], { encoding: "utf8" });
        const report = JSON.parse(ask("json"));
        if (report.headline === null) continue;
        await page.goto("about:blank");
        await page.goto(`${at.origin}/${hashOf({ fen, moves: report.uci.join() })}`);
        await page.waitForSelector(`#explanation[aria-busy=false] .finding`);
        await page.locator(`.finding:has-text("${report.findings[report.headline].text}")`).first().click();
        await page.waitForSelector(".mark-acting", { state: "attached" });
        const drawn = () =>
          page.evaluate(() => {
            const count = (selector) => document.querySelectorAll(selector).length;
            return ["mark-acting", "mark-target", "mark-support", "arrow-target", "arrow-support"].map((name) => count(`.${name}`));
          });
        const expected = drawnIn(ask("svg"));
        await until(async () => assert.deepEqual(await drawn(), expected, `${name}: ${fen} ${line}`));
        compared += 1;
      }
    }
    assert.ok(compared > 20, `${compared} were compared`);
  }));

test("every tactic's reference page shows as many boards as its corpus has cases", () =>
  onPage(at, {}, async (page) => {
    const infos = await (await page.request.get(`${at.origin}/api/tactics`)).json();
    assert.ok(infos.length >= 14);
    for (const { name } of infos) {
      await page.goto(`${at.origin}/tactics/${name}.html`);
      await until(async () => assert.equal(await page.locator(`img[src*="img/${name}/"]`).count(), (await cases(name)).length, name));
    }
  }));

async function onPageWithoutScripts(run) {
  const opened = await at.browser.newContext({ javaScriptEnabled: false });
  try {
    const page = await opened.newPage();
    await page.goto(at.origin);
    await run(page);
  } finally {
    await opened.close();
  }
}

/** The positions that a tactic is tested on. */
async function cases(name) {
  const corpus = await readFile(new URL(`../../corpus/${name}.toml`, import.meta.url), "utf8");
  const field = (text, key) => new RegExp(`^${key} = "(.*)"`, "m").exec(text)?.[1];
  const blocks = corpus.split(/^\[\[case\]\]/m).slice(1);
  return blocks.map((text) => ({ fen: field(text, "fen"), line: field(text, "line"), setup: field(text, "setup") }));
}

/** Marks and arrows in a diagram: acting, target, support, then arrows to targets and of helpers. */
function drawnIn(svg) {
  const count = (pattern) => svg.match(pattern)?.length ?? 0;
  return [
    count(/<circle [^>]*stroke="#0065a8"/g),
    count(/<path [^>]*fill="#cc4400" fill-rule="evenodd"/g),
    count(/<path [^>]*stroke="#00805c" stroke-width="3.4"/g),
    count(/<path [^>]*fill="#cc4400" stroke="#fff"/g),
    count(/<path [^>]*fill="#00805c" stroke="#fff"/g),
  ];
}
