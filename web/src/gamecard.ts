// A game beside the board: its moves with glyphs and badges, its review, its critical moments.

import { bringIntoView, byId, el, oneTabStop, walkByKeys } from "./dom.js";
import { type Entry, type Game, dateOf, known, numbered, playLine, resultOf } from "./position.js";
import { type Mark, type Moment, type Review, moveAt, side, titled } from "./report.js";

export interface Reviewed {
  review: Review;
  /** Moments and overlooked threats in the order of the game. */
  moments: Moment[];
  /** The annotated game. */
  pgn: string;
}

export function reviewedGame(review: Review, pgn: string): Reviewed {
  const threats = review.threats.map((threat): Moment => ({ ...threat, class: "overlooked" }));
  return { review, moments: [...review.moments, ...threats].sort((a, b) => a.ply - b.ply), pgn };
}

/** The ply of the game from which a moment's line starts. */
export const startOf = (moment: Moment): number =>
  moment.class === "allowed" || moment.class === "overlooked" ? moment.ply : moment.ply - 1;

export const momentsAt = (reviewed: Reviewed | undefined, ply: number): Moment[] =>
  reviewed?.moments.filter((moment) => moment.ply === ply) ?? [];

/** A review on its way: how far it is, or what stopped it. */
export type Progress = { positions: number; of: number } | { failure: string };

export interface GameActions {
  go(ply: number): void;
  pick(index: number): void;
  review(player: string): void;
  cancel(): void;
  /** Shows a moment's line on the board. */
  moment(moment: Moment): void;
  /** Shows the line that was better than a move. */
  better(mark: Mark): void;
}

export interface GameState {
  games: Entry[];
  /** How many games of the text had no moves. */
  without?: number | undefined;
  index: number;
  game: Game;
  ply: number;
  reviewed?: Reviewed | undefined;
  progress?: Progress | undefined;
  /** The moment whose line is on the board. */
  moment?: Moment | undefined;
}

let moves: HTMLElement[] = [];
let momentButtons: { node: HTMLElement; moment: Moment }[] = [];

export function showGame(state: GameState, actions: GameActions): void {
  moves = [];
  momentButtons = [];
  const { game, games } = state;
  const card = byId("game");
  const focused = card.contains(document.activeElement);
  card.replaceChildren(
    heading(game),
    ...(games.length > 1 ? [chooser(state, actions)] : []),
    ...(state.without ? [el("p", { class: "balance" }, leftOut(state.without))] : []),
    ...troubles(state).map((text) => el("p", { class: "failure" }, text)),
    reviewBar(state, actions),
    el("div", { class: "here", at: { id: "here" } }),
    moveTable(state, actions),
    ...(state.reviewed ? momentList(state.reviewed, game, actions) : []),
  );
  if (focused) card.focus({ preventScroll: true });
  markGamePlace(state, actions);
}

export function markGamePlace(state: GameState, actions: GameActions): void {
  moves.forEach((node, i) => {
    if (i + 1 === state.ply) node.setAttribute("aria-current", "step");
    else node.removeAttribute("aria-current");
  });
  const list = byId("moves");
  const current = moves[state.ply - 1];
  oneTabStop(moves, current);
  if (!current) list.scrollTop = 0;
  else if (current.offsetTop < list.scrollTop || current.offsetTop + current.offsetHeight > list.scrollTop + list.clientHeight) {
    list.scrollTop = current.offsetTop - list.clientHeight / 2;
  }
  for (const { node, moment } of momentButtons) node.setAttribute("aria-pressed", String(moment === state.moment));
  byId("here").replaceChildren(...here(state, actions));
}

export function showProgress(progress: Progress): void {
  const bar = document.querySelector<HTMLProgressElement>("#game progress");
  if (!bar || "failure" in progress) return;
  bar.max = Math.max(progress.of, 1);
  bar.value = progress.positions;
  byId("review-count").textContent = `${progress.positions} of about ${progress.of} positions`;
}

/** What could not be read: the server knows it better than the page, which tells what it skipped. */
function troubles({ game, reviewed }: GameState): string[] {
  const errors = reviewed?.review.errors.map(({ move, token, message }) => `${move} ${token} ${message}.`) ?? [];
  return errors.length ? errors : [game.trouble].filter(Boolean);
}

function heading(game: Game): HTMLElement {
  const { tags } = game;
  const tag = (name: string) => known(tags, name);
  const result = resultOf(tags);
  const place = [tag("Event"), dateOf(tags)].filter(Boolean).join(", ");
  return el(
    "header",
    {},
    el("h2", {}, `${tag("White") || "White"} – ${tag("Black") || "Black"}`, result && " ", result && el("span", { class: "score" }, result)),
    place && el("p", { class: "balance" }, place),
  );
}

const leftOut = (n: number): string => (n === 1 ? "One game without moves was left out." : `${n} games without moves were left out.`);

function chooser({ games, index }: GameState, actions: GameActions): HTMLElement {
  const select = el("select", { at: { id: "which-game" } });
  games.forEach(({ title }, i) => {
    select.append(el("option", { at: { value: i, selected: i === index } }, `${i + 1}. ${title}`));
  });
  select.addEventListener("change", () => actions.pick(Number(select.value)));
  return el("p", { class: "chooser" }, el("label", { at: { for: "which-game" } }, `One of ${games.length} games `), select);
}

function reviewBar({ game, reviewed, progress }: GameState, actions: GameActions): HTMLElement {
  if (progress && !("failure" in progress)) {
    const bar = el("progress", { at: { max: Math.max(progress.of, 1), value: progress.positions, "aria-label": "Review" } });
    const count = el("span", { at: { id: "review-count" } }, "Reviewing …");
    return el("div", { class: "review" }, bar, count, el("button", { click: actions.cancel }, "Cancel"));
  }
  if (reviewed) {
    const name = `${game.tags.get("White") ?? "game"}-${game.tags.get("Black") ?? ""}`.replace(/[^\p{L}\d]+/gu, "-");
    const click = () => download(`${name}.pgn`, reviewed.pgn);
    const n = reviewed.moments.length;
    const toList = () => bringIntoView(byId("moments"));
    return el(
      "div",
      { class: "review" },
      n > 0 && el("button", { class: "to-moments", click: toList }, n === 1 ? "One critical moment ↓" : `${n} critical moments ↓`),
      n === 0 && el("span", {}, "No critical moments."),
      el("button", { class: "download", click }, "Download the annotated PGN"),
    );
  }
  const player = el("select", { at: { "aria-label": "Whose moves" } });
  for (const [value, text] of [["", "both sides"], ["white", "White"], ["black", "Black"]] as const) {
    player.append(el("option", { at: { value } }, text));
  }
  return el(
    "div",
    { class: "review" },
    progress && el("p", { class: "failure" }, progress.failure),
    el("button", { class: "primary", click: () => actions.review(player.value) }, progress ? "Try again" : "Review this game"),
    el("span", {}, "for ", player),
  );
}

function download(name: string, pgn: string): void {
  const href = URL.createObjectURL(new Blob([pgn], { type: "application/x-chess-pgn" }));
  el("a", { at: { href, download: name } }).click();
  // Some browsers read it only after the click is over.
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}

function moveTable(state: GameState, actions: GameActions): HTMLElement {
  const { game, reviewed } = state;
  const list = el("ol", { class: "moves", at: { id: "moves", "aria-label": "Moves of the game" } });
  const { line } = game;
  walkByKeys(list, { rows: 2, last: line.moves.length, from: () => state.ply, go: actions.go });
  if (line.positions[0]!.turn === "black" && line.sans.length) {
    list.append(el("li", { class: "number" }, `${line.positions[0]!.fullmoves}.`), el("li", { class: "gap" }, "…"));
  }
  line.sans.forEach((san, i) => {
    const before = line.positions[i]!;
    if (before.turn === "white") list.append(el("li", { class: "number" }, `${before.fullmoves}.`));
    const mark = reviewed?.review.marks.find(({ ply }) => ply === i + 1);
    const classes = [...new Set(momentsAt(reviewed, i + 1).map((moment) => moment.class))];
    const node = el(
      "button",
      { click: () => actions.go(i + 1) },
      san,
      mark && el("span", { class: `glyph ${GLYPHS[mark.mark]}`, at: { title: GLYPHS[mark.mark] } }, mark.mark),
      mark && el("span", { class: "hidden" }, ` ${GLYPHS[mark.mark]}`),
      ...classes.flatMap((name) => [" ", badge(name)]),
    );
    moves.push(node);
    list.append(el("li", {}, node));
  });
  return list;
}

const GLYPHS: Record<Mark["mark"], string> = { "?!": "inaccuracy", "?": "mistake", "??": "blunder" };

const badge = (name: Moment["class"]): HTMLElement => el("span", { class: `badge ${name}` }, name);

/** What the review says about the move on the board. */
function here({ game, ply, reviewed, moment }: GameState, actions: GameActions): HTMLElement[] {
  const said: HTMLElement[] = momentsAt(reviewed, ply).map((each) => {
    const node = momentButton(each, game, actions);
    node.setAttribute("aria-pressed", String(each === moment));
    return node;
  });
  const mark = reviewed?.review.marks.find((each) => each.ply === ply);
  if (!mark?.best.length) return said;
  const before = game.line.positions[ply - 1]!;
  const name = GLYPHS[mark.mark];
  const best = playLine(before, mark.best.slice(0, 6));
  const text = best.sans.map((san, i) => (i === 0 || best.positions[i]!.turn === "white" ? numbered(best.positions[i]!, san) : san));
  return [
    el("p", {}, el("b", {}, numbered(before, mark.move) + mark.mark), ` is ${name === "inaccuracy" ? "an" : "a"} ${name}. Better:`),
    el("button", { class: "better-line", click: () => actions.better(mark) }, text.join(" ")),
    ...said,
  ];
}

function momentList({ moments }: Reviewed, game: Game, actions: GameActions): HTMLElement[] {
  if (!moments.length) return [el("h3", {}, "Critical moments"), el("p", {}, "No tactic was found, missed or allowed.")];
  const items = moments.map((moment) => {
    const node = momentButton(moment, game, actions);
    momentButtons.push({ node, moment });
    return el("li", {}, node);
  });
  return [el("h3", { at: { id: "moments" } }, `Critical moments (${items.length})`), el("ul", { class: "findings" }, ...items)];
}

function momentButton(moment: Moment, game: Game, actions: GameActions): HTMLElement {
  return el(
    "button",
    { class: "finding", click: () => actions.moment(moment) },
    el("span", { class: "what" }, el("b", {}, numbered(game.line.positions[moment.ply - 1]!, moment.move)), " ", badge(moment.class)),
    el("span", { class: "stake" }, titled(moment.finding.tactic)),
    el("span", { class: "sentence" }, sentence(moment)),
  );
}

/** The moment in words: its line's first move, and the move that makes the tactic where that comes later. */
function sentence(moment: Moment): string {
  const { finding } = moment;
  const first = moveAt(moment, 1);
  const later = finding.ply > 1 ? `, later ${moveAt(moment, finding.ply)}` : "";
  if (moment.class === "found") return later ? `Found ${first}${later}: ${finding.text}` : finding.text;
  if (moment.class === "missed") return `Missed ${first}${later}: ${finding.text}`;
  const enemy = side(moment.player === "white" ? "black" : "white");
  const answer = { found: ` ${enemy} found it.`, missed: ` ${enemy} missed it.` }[moment.answer ?? ""] ?? "";
  const verb = moment.class === "allowed" ? "Allowed" : "Overlooked the threat of";
  return `${verb} ${first}${later}: ${finding.text}${answer}`;
}
