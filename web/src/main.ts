// The page’s state: a study or a game, how it is shown, and the address that says it.

import { makeUci, type Color, type Move } from "chessops";

import { type Address, readAddress, writeAddress } from "./address.js";
import { type ExplainRequest, Failure, explain, review } from "./api.js";
import { type View, flip, orient, orientedTo, showBoard, startBoard } from "./board.js";
import { byId, el } from "./dom.js";
import { EXAMPLES } from "./examples.js";
import { type Actions, markPlace, showExplanation } from "./explanation.js";
import { type GameActions, type GameState, markGamePlace, momentsAt, reviewedGame, showGame, showProgress, startOf } from "./gamecard.js";
import { wire } from "./input.js";
import {
  type Entry,
  INITIAL_FEN,
  InputError,
  fenOf,
  gameOf,
  looksLikeFen,
  numbered,
  parseGames,
  parseMove,
  spoken,
  turnText,
  uciOf,
} from "./position.js";
import { type Mark, type Moment, type Report, titled } from "./report.js";
import { type Study, answer, isFinding, lineOf, newStudy, plyOf, pointedOut, positionOf, requestFor } from "./study.js";

/** What is on the board: a study, or else the game. One of them is always there. */
let study: Study | undefined;
let game: GameState | undefined;

/** The game before a position was opened: who goes back finds its review again. */
let shelved: GameState | undefined;

let asking = new AbortController();
let reviewing = new AbortController();

// ---- Showing

function show(): void {
  byId("explanation").hidden = !study;
  byId("game").hidden = !game;
  if (study) showExplanation(study, explanationActions);
  const inCard = game && [game, game.reviewed, game.progress];
  if (inCard && inCard.some((part, i) => part !== gameInCard[i])) showGame(game!, gameActions);
  gameInCard = inCard ?? [];
  const report = study?.reports[0];
  const headline = report?.findings[report.headline ?? -1];
  document.title = headline ? `${titled(headline.tactic)}, ${headline.move} · Koga` : "Koga: why a chess move is good";
  showPlace();
}

/** What the game's card was made from: it is not built anew, and keeps its focus, while that stays. */
let gameInCard: unknown[] = [];

/** The board and what follows it; the cards stay as they are. */
function showPlace(): void {
  showBoard(view());
  if (study) markPlace(study);
  if (game) markGamePlace(game, gameActions);
  showBar();
  const [ply, last] = study ? [plyOf(study), lineOf(study).moves.length] : [game!.ply, game!.game.line.moves.length];
  byId<HTMLButtonElement>("first").disabled = byId<HTMLButtonElement>("previous").disabled = ply === 0;
  byId<HTMLButtonElement>("last").disabled = byId<HTMLButtonElement>("next").disabled = ply >= last;
}

function view(): View {
  if (!study) {
    const { ply } = game!;
    const { line } = game!.game;
    const position = line.positions[ply]!;
    const m = line.moves[ply - 1];
    const moments = momentsAt(game!.reviewed, ply);
    const found = moments.find((moment) => moment.class === "found" && moment.finding.ply === 1);
    const coming = moments.find((moment) => startOf(moment) === ply);
    return {
      position,
      last: m && { before: line.positions[ply - 1]!, m },
      finding: found?.finding,
      hint: coming && parseMove(position, coming.uci[0]!),
    };
  }
  const line = lineOf(study);
  const ply = plyOf(study);
  const m = line.moves[ply - 1];
  const last = m ? { before: line.positions[ply - 1]!, m } : study.at.report === 0 ? study.setup : undefined;
  const pointed = pointedOut(study);
  return {
    position: line.positions[ply]!,
    last,
    finding: isFinding(pointed) ? pointed : undefined,
    squares: pointed && !isFinding(pointed) ? pointed.squares : undefined,
    hint: ply === 0 && study.reports.length ? line.moves[0] : undefined,
  };
}

/** Where one can go from here. */
function showBar(): void {
  const bar: HTMLElement[] = [];
  if (study && game) {
    bar.push(el("button", { click: backToGame }, "← Back to the game"));
  } else if (study && (study.request.move || study.request.moves)) {
    const root = study.root;
    bar.push(el("button", { click: () => ask(requestFor(root)) }, "← Best move here"));
  }
  if (study) {
    const disabled = plyOf(study) === 0 || positionOf(study).isEnd();
    bar.push(el("button", { click: () => ask(requestFor(positionOf(study!))), at: { disabled } }, "Analyse from here"));
  }
  if (game && !study) {
    const { line } = game.game;
    const position = line.positions[game.ply]!;
    const next = line.moves[game.ply];
    if (!position.isEnd()) bar.push(el("button", { click: () => ask(requestFor(position)) }, "Explain this position"));
    if (next) {
      const request = { fen: fenOf(position), move: uciOf(next) };
      const first = numbered(position, line.sans[game.ply]!);
      bar.push(el("button", { click: () => ask(request, 1) }, `Explain ${first}`));
      const moves = line.moves.slice(game.ply, game.ply + LONGEST_LINE).map(uciOf);
      if (moves.length > 1) bar.push(el("button", { click: () => ask({ fen: request.fen, moves }, 1) }, `The line ${first} …`));
    }
  }
  const focused = byId("bar").contains(document.activeElement);
  byId("bar").replaceChildren(...bar);
  if (focused) byId(study ? "explanation" : "game").focus({ preventScroll: true });
}

/** Plies of a game that are explained as one line: what lies further ahead has little to do with the first move. */
const LONGEST_LINE = 16;

function announce(text: string): void {
  byId("announcement").textContent = text;
}

function announcePlace(): void {
  const { position, last } = view();
  const san = study ? lineOf(study).sans[plyOf(study) - 1] : game!.game.line.sans[game!.ply - 1];
  const moved = last && san ? `${last.before.turn === "white" ? "White" : "Black"}: ${spoken(san)}. ` : "";
  const pointed = study && pointedOut(study);
  announce(`${moved}${turnText(position)}. ${pointed ? pointed.text : ""}`);
}

// ---- The address

function address(): Address {
  const fields: Address = {};
  if (study) {
    const { fen, setup, moves, move } = study.request;
    Object.assign(fields, { fen, setup, moves, move, ply: plyOf(study) || undefined });
  }
  if (game) {
    const { line, tags } = game.game;
    const start = fenOf(line.positions[0]!);
    const known = (name: string) => tags.get(name)?.replace(/^[?*]$/, "") || undefined;
    Object.assign(fields, {
      game: line.moves.map(makeUci),
      at: game.ply || undefined,
      start: start === INITIAL_FEN ? undefined : start,
      white: known("White"),
      black: known("Black"),
      result: known("Result"),
    });
  }
  return fields;
}

/** A step along a line that is not in the address yet: browsers allow only so many changes a minute. */
let pending: { hash: string; timer: number } | undefined;

/** A new place is a step of the browser's history; a step along a line is not. */
function remember(isNew: boolean): void {
  const hash = writeAddress(address());
  if (isNew) {
    settle();
    history.pushState({ orientation: orientedTo() }, "", hash);
  } else {
    clearTimeout(pending?.timer);
    pending = { hash, timer: window.setTimeout(settle, 150) };
  }
}

function settle(): void {
  if (!pending) return;
  clearTimeout(pending.timer);
  history.replaceState({ orientation: orientedTo() }, "", pending.hash);
  pending = undefined;
}

/** Shows what the address says; the example where it says nothing. */
function followAddress(): void {
  const said = readAddress(location.hash);
  const orientation: Color | undefined = history.state?.orientation;
  if (orientation) orient(orientation);
  complain(undefined);
  try {
    asking.abort();
    const known = [game, shelved].find((each) => each && said.game?.join() === each.game.line.moves.map(makeUci).join());
    if (known) {
      game = known;
    } else if (said.game) {
      const tags = new Map<string, string>();
      for (const [name, value] of [["White", said.white], ["Black", said.black], ["Result", said.result]] as const) {
        if (value) tags.set(name, value);
      }
      const shared = gameOf(said.start ?? INITIAL_FEN, said.game, tags);
      setGame([{ title: "", read: () => shared }], 0, shared);
      if (!orientation) orient("white");
    }
    if (!said.game) dropGame();
    if (game) game.ply = Math.min(said.at ?? 0, game.game.line.moves.length);
    study = undefined;
    if (said.fen) {
      const { fen, setup, moves, move } = said;
      start(newStudy({ fen, ...(setup && { setup }), ...(moves?.length ? { moves } : move ? { move } : {}) }, said.ply ?? 0), !game && !orientation);
    } else if (!game) {
      const [example] = EXAMPLES;
      start(newStudy(parseExample(example!.text), 1), true);
    } else {
      show();
    }
  } catch (error) {
    if (!study && !game) start(newStudy({ fen: INITIAL_FEN }, 0), true);
    complain(error);
  }
}

// ---- Studies

/** Asks about a position, a move or a line. */
function ask(request: ExplainRequest, ply = 0): void {
  if (game) game.moment = undefined;
  start(newStudy(request, ply), false);
  remember(true);
}

function start(next: Study, turn: boolean, known?: Report): void {
  study = next;
  if (known) answer(next, known);
  if (turn) orient(next.root.turn);
  complain(undefined);
  show();
  void fetchReport(next);
}

async function fetchReport(asked: Study): Promise<void> {
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  const local = asked.reports[0];
  try {
    const report = await explain(asked.request, signal);
    if (study !== asked) return;
    // What a review knew of the line stays: the engine's score, and what it pointed out.
    if (local?.score && !report.score) report.score = local.score;
    const pointed = local?.findings[0];
    answer(asked, report);
    asked.chosen = pointed && report.findings.find(({ tactic, ply }) => tactic === pointed.tactic && ply === pointed.ply);
    show();
    announceReport(report);
  } catch (error) {
    if (signal.aborted || study !== asked) return;
    if (local) return;
    asked.failure = error instanceof Failure ? error : new Failure(String(error), true);
    show();
  }
}

function announceReport(report: Report): void {
  const text = report.headline === null ? "No tactic to speak of." : report.findings[report.headline]!.text;
  announce(`${report.line[0] ? `${spoken(report.line[0])}. ` : ""}${text}`);
}

const explanationActions: Actions = {
  step(report, ply) {
    study!.at = { report, ply };
    study!.chosen = undefined;
    stepped();
  },
  choose(report, what) {
    study!.at = { report, ply: what.ply };
    study!.chosen = what;
    stepped();
  },
  retry() {
    study!.failure = undefined;
    show();
    void fetchReport(study!);
  },
};

function stepped(): void {
  showPlace();
  remember(false);
  announcePlace();
}

/** A move on the board: the line's own next move is a step, any other is asked about. */
function play(m: Move): void {
  const position = view().position;
  if (study) {
    const next = lineOf(study).moves[plyOf(study)];
    if (next && makeUci(next) === makeUci(m) && study.reports.length && plyOf(study) > 0) return walk(1);
  } else {
    const next = game!.game.line.moves[game!.ply];
    if (next && makeUci(next) === makeUci(m)) return walk(1);
  }
  ask({ fen: fenOf(position), move: uciOf(m) }, 1);
}

// ---- Games

function setGame(games: Entry[], index: number, read = games[index]!.read()): void {
  reviewing.abort();
  game = { games, index, game: read, ply: 0 };
}

function dropGame(): void {
  reviewing.abort();
  if (!game) return;
  game.progress = undefined;
  shelved = game;
  game = undefined;
}

function backToGame(): void {
  asking.abort();
  study = undefined;
  game!.moment = undefined;
  complain(undefined);
  show();
  remember(true);
  announcePlace();
}

const gameActions: GameActions = {
  go(ply) {
    const studied = study !== undefined;
    asking.abort();
    study = undefined;
    game!.moment = undefined;
    game!.ply = ply;
    if (studied) {
      show();
      remember(true);
      announcePlace();
    } else {
      stepped();
    }
  },
  pick(index) {
    try {
      setGame(game!.games, index);
    } catch (error) {
      return complain(error);
    }
    asking.abort();
    study = undefined;
    complain(undefined);
    show();
    remember(true);
  },
  async review(player) {
    const reviewed = game!;
    reviewing.abort();
    reviewing = new AbortController();
    const { signal } = reviewing;
    reviewed.progress = { positions: 0, of: 0 };
    show();
    try {
      await review(reviewed.game.pgn, player, signal, {
        progress(positions, of) {
          if (game !== reviewed) return;
          reviewed.progress = { positions, of };
          showProgress(reviewed.progress);
        },
        game(result, pgn) {
          reviewed.reviewed = reviewedGame(result, pgn);
        },
      });
      reviewed.progress = undefined;
      if (player) orient(player as Color);
      announce(`The review is ready: ${reviewed.reviewed?.moments.length ?? 0} critical moments.`);
    } catch (error) {
      if (signal.aborted) return;
      reviewed.progress = { failure: (error as Error).message };
    }
    if (game === reviewed) show();
  },
  cancel() {
    reviewing.abort();
    game!.progress = undefined;
    show();
  },
  moment(moment: Moment) {
    const { finding, line, uci, fen, score } = moment;
    game!.ply = startOf(moment);
    game!.moment = moment;
    const next = newStudy({ fen, moves: uci }, finding.ply);
    const known: Report = {
      fen,
      pov: next.root.turn,
      line,
      uci,
      won: 0,
      headline: 0,
      findings: [finding],
      superseded: [],
      rejections: [],
      score,
    };
    start(next, false, known);
    remember(true);
    announcePlace();
  },
  better(mark: Mark) {
    const before = game!.game.line.positions[mark.ply - 1]!;
    ask({ fen: fenOf(before), moves: mark.best }, 1);
  },
};

// ---- Walking

function walk(by: number): void {
  if (study) {
    const ply = Math.min(Math.max(plyOf(study) + by, 0), lineOf(study).moves.length);
    if (ply !== plyOf(study)) explanationActions.step(study.at.report, ply);
  } else {
    const ply = Math.min(Math.max(game!.ply + by, 0), game!.game.line.moves.length);
    if (ply !== game!.ply) gameActions.go(ply);
  }
}

function turnBoard(): void {
  flip();
  remember(false);
}

// ---- Input

function complain(error: unknown): void {
  const message = error === undefined ? "" : error instanceof Error ? error.message : String(error);
  if (error !== undefined && !(error instanceof InputError)) console.warn(error);
  byId("trouble").textContent = message;
  if (message) byId("trouble").scrollIntoView({ block: "nearest" });
}

function parseExample(text: string): ExplainRequest {
  const [fen, move] = text.split(" | ");
  return { fen: fen!, ...(move && { move }) };
}

/** A FEN or a PGN, whichever it is. */
function open(text: string): void {
  try {
    if (!text.trim()) throw new InputError("Paste a FEN or a PGN first.");
    if (looksLikeFen(text)) {
      const request = parseExample(text.trim().replace(/\s+/g, " "));
      const next = newStudy(request, request.move ? 1 : 0);
      dropGame();
      start(next, true);
    } else {
      const games = parseGames(text);
      const first = games[0]!.read();
      asking.abort();
      if (games.length === 1 && !first.line.moves.length) {
        dropGame();
        start(newStudy(requestFor(first.line.positions[0]!), 0), true);
      } else {
        study = undefined;
        setGame(games, 0, first);
        orient("white");
        complain(undefined);
        show();
      }
    }
    remember(true);
    scrollTo(0, 0);
    if (!study) announcePlace();
  } catch (error) {
    complain(error);
  }
}

/** A move that was typed; says whether there is such a move. */
function typed(text: string): boolean {
  const m = parseMove(view().position, text);
  if (m) play(m);
  return m !== undefined;
}

startBoard(play);
wire({ open, complain, walk, turnBoard, typed, escape: () => study && game && backToGame() });
window.addEventListener("popstate", () => {
  clearTimeout(pending?.timer);
  pending = undefined;
  followAddress();
});
followAddress();
