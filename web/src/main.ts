// The page’s state: a study or a game, how it is shown, and the address that says it.

import { makeUci, type Color, type Move } from "chessops";

import { type Address, readAddress, writeAddress } from "./address.js";
import { type ExplainRequest, Failure, explain, review } from "./api.js";
import { type View, choosePromotion, flip, orient, orientedTo, showBoard, startBoard } from "./board.js";
import { bringIntoView, byId, el } from "./dom.js";
import { EXAMPLES } from "./examples.js";
import { type Actions, markPlace, showExplanation } from "./explanation.js";
import { type GameActions, type GameState, markGamePlace, momentsAt, reviewedGame, showGame, showProgress, startOf } from "./gamecard.js";
import { wire } from "./input.js";
import {
  INITIAL_FEN,
  InputError,
  fenOf,
  gameOf,
  known,
  looksLikeFen,
  numbered,
  parseGames,
  parseMove,
  parsePromotion,
  spoken,
  tidyFen,
  turnText,
  uciOf,
} from "./position.js";
import { type Mark, type Moment, side } from "./report.js";
import { type Study, answer, endOf, gistOf, isFinding, lineOf, newStudy, plyOf, pointedOut, positionOf, requestFor } from "./study.js";

/** What is on the board: a study, with or without a game beside it, or else a game. */
type Shown = { study: Study; game?: GameState | undefined } | { study?: undefined; game: GameState };

/** What stands there until an address could be read. */
const first = newStudy({ fen: INITIAL_FEN }, 0);

let shown: Shown = { study: first };

/** The games that were shown, the latest first: who goes back to one finds its review and its file's other games again. */
const opened: GameState[] = [];

let asking = new AbortController();
let reviewing = new AbortController();

/** Puts something else on the board. What is asked about the study and the game that leave it ends. */
function set(next: Shown): void {
  if (shown.study !== next.study) asking.abort();
  forgetMove();
  if (shown.game && shown.game !== next.game) endReview(shown.game);
  if (next.game && !opened.includes(next.game)) opened.unshift(next.game);
  shown = next;
}

// ---- Showing

function show(): void {
  const { study, game } = shown;
  byId("explanation").hidden = !study;
  byId("game").hidden = !game;
  if (study) showExplanation(study, explanationActions(study));
  const inCard = game ? [game, game.reviewed, game.progress] : [];
  if (game && inCard.some((part, i) => part !== gameInCard[i])) showGame(game, gameActions(game));
  gameInCard = inCard;
  const over = study && gistOf(study)?.over;
  const move = study?.reports[0]?.line[0];
  document.title = over ? `${move}: ${over} · Koga` : "Koga: why a chess move is good";
  showPlace();
}

/** What the game's card was made from: it is not built anew, and keeps its focus, while that stays. */
let gameInCard: unknown[] = [];

/** The position for which a move may be half typed. */
let forMove = "";

/** What was typed as a move, and what was said of it, is about another position. */
function forgetMove(): void {
  byId<HTMLInputElement>("move").value = "";
  byId("move-trouble").textContent = "";
}

/** The board and what follows it; the cards stay as they are. */
function showPlace(): void {
  const { study, game } = shown;
  const shownView = view();
  const fen = fenOf(shownView.position);
  if (fen !== forMove) forgetMove();
  forMove = fen;
  showBoard(shownView);
  if (study) markPlace(study);
  if (game) markGamePlace(game, gameActions(game));
  showBar();
  const [ply, last] = study ? [plyOf(study), lineOf(study).moves.length] : [game.ply, game.game.line.moves.length];
  byId<HTMLButtonElement>("first").disabled = byId<HTMLButtonElement>("previous").disabled = ply === 0;
  byId<HTMLButtonElement>("last").disabled = byId<HTMLButtonElement>("next").disabled = ply >= last;
}

function view(): View {
  const { study, game } = shown;
  if (!study) {
    const { ply } = game;
    const { line } = game.game;
    const position = line.positions[ply]!;
    const m = line.moves[ply - 1];
    const moments = momentsAt(game.reviewed, ply);
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
  const { study, game } = shown;
  const bar: HTMLElement[] = [];
  if (study && game) {
    bar.push(el("button", { click: () => backToGame(game) }, "← Back to the game"));
  } else if (study && (study.request.move || study.request.moves)) {
    const root = study.root;
    bar.push(el("button", { click: () => ask(requestFor(root)) }, "← Best move here"));
  }
  if (study) {
    const disabled = plyOf(study) === 0 || positionOf(study).isEnd();
    bar.push(el("button", { click: () => ask(requestFor(positionOf(study))), at: { disabled } }, "Analyse from here"));
  }
  if (!study) {
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

/** Says something to a screen reader, also what it has just said. */
function announce(text: string): void {
  const region = byId("announcement");
  region.textContent = text && text === region.textContent ? `${text}\u00a0` : text;
}

function announcePlace(): void {
  const { study, game } = shown;
  const { position, last } = view();
  const san = study ? lineOf(study).sans[plyOf(study) - 1] : game.game.line.sans[game.ply - 1];
  const moved = last && san ? `${side(last.before.turn)}: ${spoken(san)}. ` : "";
  const pointed = study && pointedOut(study);
  const trouble = (!study && game.game.trouble) || "";
  announce([`${moved}${turnText(position)}.`, pointed?.text, trouble].filter(Boolean).join(" "));
}

// ---- The address

function address(): Address {
  const { study, game } = shown;
  const fields: Address = {};
  if (study) {
    const { fen, setup, moves, move } = study.request;
    Object.assign(fields, { fen, setup, moves, move, ply: plyOf(study) || undefined });
  }
  return { ...fields, ...(game && { ...gameAddress(game), at: game.ply || undefined }) };
}

/** What an address says of a game, whatever its ply. */
function gameAddress({ game: { line, tags } }: GameState): Address {
  const start = fenOf(line.positions[0]!);
  const tag = (name: string) => known(tags, name) || undefined;
  return {
    game: line.moves.map(makeUci),
    start: start === INITIAL_FEN ? undefined : start,
    white: tag("White"),
    black: tag("Black"),
    result: tag("Result"),
  };
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
  try {
    const game = said.game && gameIn(said, said.game);
    const study = studyIn(said) ?? (game ? undefined : { ...newStudy(parseExample(EXAMPLES[0]!.text), 1), example: true });
    const turn = orientation ?? (game ? (shown.game === game ? undefined : "white") : study?.root.turn);
    if (turn) orient(turn);
    if (game) game.ply = Math.min(said.at ?? 0, game.game.line.moves.length);
    if (study) {
      start({ study, game });
    } else if (game) {
      set({ game });
      complain(undefined);
      show();
      announcePlace();
    }
  } catch (error) {
    if (shown.study === first) start(shown);
    complain(error);
  }
}

/** The game of an address: as it was opened, if it was, else from its moves alone. */
function gameIn(said: Address, moves: string[]): GameState {
  const tags = new Map<string, string>();
  for (const [name, value] of [["White", said.white], ["Black", said.black], ["Result", said.result]] as const) {
    if (value) tags.set(name, value);
  }
  const game = gameOf(said.start ?? INITIAL_FEN, moves, tags);
  const told: GameState = { games: [{ title: "", read: () => game }], index: 0, game, ply: 0 };
  const isTold = (each: GameState) => writeAddress(gameAddress(each)) === writeAddress(gameAddress(told));
  return [shown.game, ...opened].find((each) => each && isTold(each)) ?? told;
}

function studyIn({ fen, setup, moves, move, ply = 0 }: Address): Study | undefined {
  if (!fen) return undefined;
  return newStudy({ fen, ...(setup && { setup }), ...(moves?.length ? { moves } : move ? { move } : {}) }, ply);
}

// ---- Studies

/** Asks about a position, a move or a line. */
function ask(request: ExplainRequest, ply = 0): void {
  const { game } = shown;
  if (game) game.moment = undefined;
  start({ study: newStudy(request, ply), game });
  remember(true);
}

function start(next: Shown & { study: Study }): void {
  set(next);
  complain(undefined);
  show();
  void fetchReport(next.study);
}

async function fetchReport(asked: Study): Promise<void> {
  asking.abort();
  announceGist(asked);
  if (endOf(asked)) return;
  asking = new AbortController();
  const { signal } = asking;
  const local = asked.reports[0];
  try {
    const report = await explain(asked.request, signal);
    if (shown.study !== asked) return;
    // What a review knew of the line stays: the engine's score, and what it pointed out.
    if (local?.score && !report.score) report.score = local.score;
    const pointed = local?.findings[0];
    answer(asked, report);
    asked.chosen = pointed && report.findings.find(({ tactic, ply }) => tactic === pointed.tactic && ply === pointed.ply);
    show();
    announceGist(asked);
  } catch (error) {
    if (signal.aborted || shown.study !== asked || local) return;
    asked.failure = error instanceof Failure ? error : new Failure(String(error), true);
    show();
    announceGist(asked);
  }
}

/** Says what the headline says; nothing while there is none. */
function announceGist(study: Study): void {
  const gist = gistOf(study);
  const san = study.failure ? undefined : study.reports[0]?.line[0];
  announce(gist ? [san && `${spoken(san)}.`, gist.over && `${gist.over}:`, gist.text].filter(Boolean).join(" ") : "");
}

const explanationActions = (study: Study): Actions => ({
  step(report, ply) {
    study.at = { report, ply };
    study.chosen = undefined;
    stepped();
  },
  choose(report, what) {
    study.at = { report, ply: what.ply };
    study.chosen = what;
    stepped();
  },
  retry() {
    study.failure = undefined;
    show();
    void fetchReport(study);
  },
});

function stepped(): void {
  showPlace();
  remember(false);
  announcePlace();
}

/** A move on the board: the line's own next move is a step, any other is asked about. */
function play(m: Move): void {
  const { study, game } = shown;
  const position = view().position;
  if (study) {
    const next = lineOf(study).moves[plyOf(study)];
    if (next && makeUci(next) === makeUci(m) && study.reports.length && plyOf(study) > 0) return walk(1);
  } else {
    const next = game.game.line.moves[game.ply];
    if (next && makeUci(next) === makeUci(m)) return walk(1);
  }
  ask({ fen: fenOf(position), move: uciOf(m) }, 1);
}

// ---- Games

function endReview(game: GameState): void {
  reviewing.abort();
  game.progress = undefined;
}

function backToGame(game: GameState): void {
  set({ game });
  game.moment = undefined;
  complain(undefined);
  show();
  remember(true);
  announcePlace();
}

const gameActions = (game: GameState): GameActions => ({
  go(ply) {
    const studied = shown.study !== undefined;
    set({ game });
    game.moment = undefined;
    game.ply = ply;
    if (studied) {
      show();
      remember(true);
      announcePlace();
    } else {
      stepped();
    }
  },
  pick(index) {
    const { games, without } = game;
    try {
      const known = opened.find((each) => each.games === games && each.index === index);
      set({ game: known ?? { games, without, index, game: games[index]!.read(), ply: 0 } });
    } catch (error) {
      return complain(error);
    }
    complain(undefined);
    show();
    remember(true);
    announcePlace();
  },
  async review(player) {
    reviewing.abort();
    reviewing = new AbortController();
    const { signal } = reviewing;
    game.progress = { positions: 0, of: 0 };
    show();
    try {
      await review(game.game.pgn, player, signal, {
        progress(positions, of) {
          game.progress = { positions, of };
          showProgress(game.progress);
        },
        game(result, pgn) {
          game.reviewed = reviewedGame(result, pgn);
        },
      });
      if (signal.aborted) return;
      game.progress = undefined;
      announce(`The review is ready: ${game.reviewed?.moments.length ?? 0} critical moments.`);
      if (player && !shown.study) {
        orient(player as Color);
        remember(false);
      }
    } catch (error) {
      if (signal.aborted) return;
      game.progress = { failure: (error as Error).message };
      announce((error as Error).message);
    }
    show();
  },
  cancel() {
    endReview(game);
    show();
  },
  moment(moment: Moment) {
    const { finding, line, uci, fen, score } = moment;
    game.ply = startOf(moment);
    game.moment = moment;
    const study = newStudy({ fen, moves: uci }, finding.ply);
    const known = { line, uci, fen, score, won: 0, headline: 0, findings: [finding], superseded: [], rejections: [] };
    answer(study, { ...known, pov: study.root.turn });
    start({ study, game });
    remember(true);
    announcePlace();
    // On a small screen the board does not stay in sight by itself.
    bringIntoView(document.querySelector<HTMLElement>(matchMedia("(max-width: 52rem) and (max-height: 42rem)").matches ? ".board-box" : "#explanation")!);
  },
  better(mark: Mark) {
    const before = game.game.line.positions[mark.ply - 1]!;
    ask({ fen: fenOf(before), moves: mark.best }, 1);
  },
});

// ---- Walking

function walk(by: number): void {
  const { study, game } = shown;
  if (study) {
    const ply = Math.min(Math.max(plyOf(study) + by, 0), lineOf(study).moves.length);
    if (ply !== plyOf(study)) explanationActions(study).step(study.at.report, ply);
  } else {
    const ply = Math.min(Math.max(game.ply + by, 0), game.game.line.moves.length);
    if (ply !== game.ply) gameActions(game).go(ply);
  }
}

function turnBoard(): void {
  flip();
  remember(false);
  announce(`The board is seen from ${side(orientedTo())}’s side.`);
}

// ---- Input

function complain(error: unknown): void {
  const message = error === undefined ? "" : error instanceof Error ? error.message : String(error);
  if (error !== undefined && !(error instanceof InputError)) console.warn(error);
  byId("trouble").textContent = message;
  if (!message) return;
  byId("trouble").scrollIntoView({ block: "nearest" });
  announce(message);
}

function parseExample(text: string): ExplainRequest {
  const [fen, move] = text.split(" | ");
  return { fen: fen!, ...(move && { move }) };
}

/** A position that belongs to no game, seen from the side to move. */
function startAlone(study: Study): void {
  orient(study.root.turn);
  start({ study });
}

/** A FEN or a PGN, whichever it is. */
function open(text: string): void {
  try {
    if (!text.trim()) throw new InputError("Paste a FEN or a PGN first.");
    if (looksLikeFen(text)) {
      const request = parseExample(tidyFen(text));
      startAlone(newStudy(request, request.move ? 1 : 0));
    } else {
      const { games, without } = parseGames(text);
      const game = games[0]!.read();
      if (games.length === 1 && !game.line.moves.length) {
        startAlone(newStudy(requestFor(game.line.positions[0]!), 0));
      } else {
        set({ game: { games, without, index: 0, game, ply: 0 } });
        orient("white");
        complain(undefined);
        show();
      }
    }
    remember(true);
    const field = byId<HTMLTextAreaElement>("text");
    if (field.value !== text) field.value = "";
    scrollTo(0, 0);
    if (!shown.study) announcePlace();
  } catch (error) {
    complain(error);
  }
}

/** A move that was typed; says whether there is such a move. */
function typed(text: string): boolean {
  const { position } = view();
  const m = parseMove(position, text);
  if (m) {
    play(m);
    return true;
  }
  const promotion = parsePromotion(position, text);
  if (promotion) {
    choosePromotion(position.turn, ...promotion);
    return true;
  }
  byId("move-trouble").textContent = `“${text.trim()}” is not a legal move here.`;
  announce(byId("move-trouble").textContent!);
  return false;
}

function escape(): void {
  if (shown.study && shown.game) backToGame(shown.game);
}

startBoard(play);
wire({ open, complain, walk, turnBoard, typed, escape });
window.addEventListener("popstate", () => {
  clearTimeout(pending?.timer);
  pending = undefined;
  followAddress();
});
followAddress();
