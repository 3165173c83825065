// The report beside the board.

import { tactics } from "./api.js";
import { byId, el, oneTabStop, walkByKeys } from "./dom.js";
import { type Line, numbered } from "./position.js";
import {
  type Finding,
  type Rejection,
  type Report,
  type Superseded,
  type TacticInfo,
  balance,
  isSaidAlready,
  moveAt,
  scoreText,
  side,
  stake,
  titled,
  words,
} from "./report.js";
import { type Study, endOf, gistOf, plyOf, pointedOut } from "./study.js";

export interface Actions {
  step(report: number, ply: number): void;
  choose(report: number, what: Finding | Rejection): void;
  retry(): void;
}

/** Elements that show where the board stands; `markPlace` keeps them right without building them anew. */
interface Places {
  moves: { node: HTMLElement; report: number; ply: number }[];
  pointers: { node: HTMLElement; what: Finding | Rejection }[];
}

let places: Places = { moves: [], pointers: [] };

export function showExplanation(study: Study, actions: Actions): void {
  places = { moves: [], pointers: [] };
  const card = byId("explanation");
  card.setAttribute("aria-busy", String(!study.reports.length && !study.failure && !endOf(study)));
  const focused = card.contains(document.activeElement);
  card.replaceChildren(...content(study, actions));
  if (focused) card.focus({ preventScroll: true });
  markPlace(study);
}

export function markPlace(study: Study): void {
  const ply = plyOf(study);
  for (const { node, report, ply: its } of places.moves) {
    if (report === study.at.report && its === ply) node.setAttribute("aria-current", "step");
    else node.removeAttribute("aria-current");
  }
  study.reports.forEach((_, report) => {
    const mine = places.moves.filter((move) => move.report === report);
    const current = mine.find((move) => report === study.at.report && move.ply === ply);
    oneTabStop(mine.map(({ node }) => node), current?.node);
  });
  const pointed = pointedOut(study);
  for (const { node, what } of places.pointers) node.setAttribute("aria-pressed", String(what === pointed));
}

function content(study: Study, actions: Actions): (Node | string)[] {
  const [main, ...others] = study.reports;
  if (study.failure) {
    const { message, retry } = study.failure;
    return [
      el("p", { class: "failure" }, message),
      retry && el("button", { class: "primary", click: actions.retry }, "Try again"),
    ].filter((node) => node !== false);
  }
  const end = endOf(study);
  if (end) return [el("p", { class: "eyebrow" }, "The game is over"), el("h2", {}, `${end}.`)];
  if (!main) return [el("p", { class: "eyebrow" }, asked(study)), el("p", { class: "waiting" }, "Koga is looking …")];

  const { positions } = study.lines[0]!;
  const isDrawn = positions.length > 2 && positions.at(-1)!.isStalemate();
  const won = isDrawn ? "The line ends in stalemate: a draw." : balance(main);
  return [
    eyebrow(main, study.lines[0]!, study.example === true && el("span", { class: "label" }, "Example")),
    headline(study),
    ...(won ? [el("p", { class: "balance" }, won)] : []),
    moveList(study, 0, actions),
    ...findings(main, 0, actions),
    ...others.map((report, i) => other(study, report, i + 1, actions)),
    ...lost(main, actions),
    whyNot(main, actions),
  ];
}

function asked(study: Study): string {
  const [first] = study.lines[0]!.sans;
  return first ? numbered(study.root, first) : `The best move for ${side(study.root.turn)}`;
}

function eyebrow(report: Report, line: Line, label?: HTMLElement | false): HTMLElement {
  const first = numbered(line.positions[0]!, line.sans[0]!);
  const name = {
    best: `Best move for ${side(report.pov)}: ${first}`,
    move: `The move ${first}`,
    reply: `What it allows: ${first}`,
    better: `Clearly better: ${first}`,
    line: `The line from ${first}`,
  }[report.part ?? "line"];
  return el("p", { class: "eyebrow" }, el("span", {}, label, label && " ", name), " ", report.score && score(report));
}

function score(report: Report): HTMLElement {
  const title = "The engine’s score in pawns, from White’s side: + is good for White";
  const said = "mate" in report.score! ? "Score: " : "Score, White’s view: ";
  return el("span", { class: "score", at: { title } }, el("span", { class: "hidden" }, said), scoreText(report.score!, report.pov));
}

function headline(study: Study): HTMLElement {
  const { over, isBad, text } = gistOf(study)!;
  return el("h2", {}, over && el("span", { class: isBad ? "tactic bad" : "tactic" }, over), over && " ", text);
}

function moveList(study: Study, report: number, actions: Actions): HTMLElement {
  const line = study.lines[report]!;
  const list = el("ol", { class: "line", at: { "aria-label": "The line" } });
  const from = () => (report === study.at.report ? plyOf(study) : 0);
  walkByKeys(list, { rows: 1, last: line.moves.length, from, go: (ply) => actions.step(report, ply) });
  const add = (ply: number, text: string, title?: string) => {
    const node = el("button", { click: () => actions.step(report, ply), at: { title } }, text);
    places.moves.push({ node, report, ply });
    list.append(el("li", {}, node));
  };
  add(0, "Start", "The position before the line");
  line.sans.forEach((san, i) => {
    const before = line.positions[i]!;
    add(i + 1, i === 0 || before.turn === "white" ? numbered(before, san) : san);
  });
  return list;
}

const GROUPS: [Finding["role"], string][] = [
  ["motif", "Made by the move"],
  ["follow-up", "Later in the line"],
  ["enabling", "Already there, or only helping"],
];

function findings(report: Report, index: number, actions: Actions): HTMLElement[] {
  return GROUPS.flatMap(([role, name]) => {
    const group = report.findings.filter((finding) => finding.role === role && !isSaidAlready(report, finding));
    if (!group.length) return [];
    return [
      el("h3", { at: { title: role } }, name),
      el("ul", { class: "findings" }, ...group.map((finding) => el("li", {}, pointer(finding, report, index, actions)))),
    ];
  });
}

/** A finding as a button that shows it on the board. */
function pointer(finding: Finding, report: Report, index: number, actions: Actions): HTMLElement {
  const wins = "by" in finding ? `lost to the ${words((finding as Superseded).by)}` : stake(finding);
  const kind = finding.kind && finding.kind !== "exchange" ? ` (${words(finding.kind)})` : "";
  const node = el(
    "button",
    { class: "finding", click: () => actions.choose(index, finding), at: { "data-tactic": finding.tactic } },
    el("span", { class: "what" }, el("b", {}, titled(finding.tactic) + kind), ` ${moveAt(report, finding.ply)}`),
    wins && el("span", { class: finding.won && !("by" in finding) ? "wins" : "stake" }, wins),
    el("span", { class: "sentence" }, finding.text),
  );
  places.pointers.push({ node, what: finding });
  return node;
}

function other(study: Study, report: Report, index: number, actions: Actions): HTMLElement {
  const found = findings(report, index, actions);
  return el(
    "section",
    { class: `other ${report.part}` },
    eyebrow(report, study.lines[index]!),
    moveList(study, index, actions),
    ...(found.length ? found : [el("p", { class: "balance" }, "No tactic to speak of.")]),
  );
}

function lost(report: Report, actions: Actions): HTMLElement[] {
  if (!report.superseded.length) return [];
  const items = report.superseded.map((rival) => el("li", {}, pointer(rival, report, 0, actions)));
  return [
    el("details", { class: "lost" }, el("summary", {}, `Other readings, and why they gave way (${items.length})`), el("ul", { class: "findings" }, ...items)),
  ];
}

function whyNot(report: Report, actions: Actions): HTMLElement {
  const select = el("select", { at: { id: "why-not", "aria-label": "Why not this tactic?" } });
  const answers = el("div", { class: "answers", at: { "aria-live": "polite" } });
  const box = el("details", { class: "why-not" }, el("summary", {}, "Why not …?"), select, answers);
  let infos: TacticInfo[] = [];
  select.addEventListener("change", () => {
    const info = infos.find(({ name }) => name === select.value);
    places.pointers = places.pointers.filter(({ node }) => !answers.contains(node));
    answers.replaceChildren(...(info ? fate(info, report, actions) : []));
  });
  box.addEventListener("toggle", async () => {
    if (!box.open || infos.length) return;
    try {
      infos = await tactics();
      select.replaceChildren(
        el("option", { at: { value: "" } }, "Choose a tactic"),
        ...infos.map(({ name, title }) => el("option", { at: { value: name } }, title)),
      );
    } catch (error) {
      answers.replaceChildren(el("p", { class: "failure" }, (error as Error).message));
    }
  });
  return box;
}

/** What became of a tactic in this line: found, superseded, refused, or no sign of it. */
function fate(info: TacticInfo, report: Report, actions: Actions): HTMLElement[] {
  const mine = <T extends { tactic: string }>(all: T[]) => all.filter(({ tactic }) => tactic === info.name);
  const verdict = (verb: string, what: Finding | Rejection, rule?: string) => {
    const node = el(
      "button",
      { class: "finding", click: () => actions.choose(0, what) },
      el("span", { class: "what", at: { title: "role" in what ? what.role : undefined } }, el("b", {}, verb), ` ${moveAt(report, what.ply)}`),
      el("span", { class: "sentence" }, what.text),
    );
    places.pointers.push({ node, what });
    return el("li", {}, node, rule && el("p", { class: "more" }, ruleLink(rule, info)));
  };
  const roles = { motif: "made by the move", "follow-up": "later in the line", enabling: "already there, or only helping" };
  const items = [
    ...mine(report.findings).map((finding) => verdict(`Found: ${roles[finding.role]}.`, finding)),
    ...mine(report.superseded).map((rival) => verdict(`Gave way to the ${words(rival.by)}.`, rival, rival.rule)),
    ...mine(report.rejections).map((refused) => verdict("Refused.", refused, refused.rule)),
  ];
  const article = /^[aeiou]|^x-/i.test(info.title) ? "an" : "a";
  return [
    items.length
      ? el("ul", { class: "findings" }, ...items)
      : el("p", {}, `Nothing in this line has the shape of ${article} ${words(info.name)}.`),
    el("p", { class: "more" }, el("a", { at: { href: info.page } }, `How Koga decides: ${info.title.toLowerCase()}`)),
  ];
}

/** The rule where it is written: beside its tactic, or among those that decide between two. */
function ruleLink(id: string, info: TacticInfo): HTMLElement {
  const rule = info.rules.find((each) => each.id === id);
  const href = `${rule ? info.page : "tactics/index.html"}#${id}`;
  return el("a", { at: { href, title: rule?.text } }, `The rule for this, ${id}`);
}
