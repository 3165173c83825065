// A study: a root, what is asked of it, and what the server answered.

import type { Move, Position } from "chessops";

import type { ExplainRequest, Failure } from "./api.js";
import { type Line, endText, fenOf, parseMove, parsePosition, playLine, InputError } from "./position.js";
import { type Finding, type Rejection, type Report, moveAt, titled } from "./report.js";

export interface Study {
  request: ExplainRequest;
  root: Position;
  /** The enemy's move before the root. */
  setup?: { before: Position; m: Move } | undefined;
  /** The line's own report first, then what it allows and what is better; empty until the server answers. */
  reports: Report[];
  /** One for each report; before the answer the moves that were asked about. */
  lines: Line[];
  at: { report: number; ply: number };
  /** What the board points out, if something was chosen that does not follow from the ply. */
  chosen?: Finding | Rejection | undefined;
  failure?: Failure | undefined;
  /** Nobody asked for it: the page opens on it. */
  example?: boolean;
}

/** What is to be said first: a sentence and a few words over it. */
export interface Gist {
  over?: string;
  isBad?: boolean;
  text: string;
}

export function newStudy(request: ExplainRequest, ply: number): Study {
  const given = parsePosition(request.fen);
  let root = given;
  let setup: Study["setup"];
  if (request.setup) {
    const m = parseMove(given, request.setup);
    if (!m) throw new InputError(`“${request.setup}” is not a legal move in this position.`);
    root = given.clone();
    root.play(m);
    setup = { before: given, m };
  }
  const moves = request.move ? [request.move] : (request.moves ?? []);
  const line = playLine(root, moves);
  if (line.moves.length < moves.length) {
    throw new InputError(`“${moves[line.moves.length]}” is not a legal move here (move ${line.moves.length + 1} of the line).`);
  }
  return { request, root, setup, reports: [], lines: [line], at: { report: 0, ply: Math.max(0, ply) } };
}

export function answer(study: Study, report: Report): void {
  const { others = [], ...main } = report;
  study.reports = [main, ...others];
  study.lines = study.reports.map((each, i) => playLine(i === 0 ? study.root : parsePosition(each.fen), each.uci));
  study.failure = undefined;
}

export const lineOf = (study: Study): Line => study.lines[study.at.report]!;

export const plyOf = (study: Study): number => Math.min(study.at.ply, lineOf(study).moves.length);

export const positionOf = (study: Study): Position => lineOf(study).positions[plyOf(study)]!;

/** How the game has ended at the root: of such a position there is nothing to ask. */
export const endOf = (study: Study): string | undefined => endText(study.root);

/** What the board points out: what was chosen, else the weightiest finding of the ply. */
export function pointedOut(study: Study): Finding | Rejection | undefined {
  return study.chosen ?? study.reports[study.at.report]?.findings.find((finding) => finding.ply === plyOf(study));
}

export const isFinding = (pointed: Finding | Rejection | undefined): pointed is Finding =>
  pointed !== undefined && "targets" in pointed;

/**
 * The most telling fact: of a move that others are clearly better than what it allows, else what it misses; else the
 * line's own tactic. Nothing until the server answers.
 */
export function gistOf(study: Study): Gist | undefined {
  const [main, ...others] = study.reports;
  if (study.failure) return { text: study.failure.message };
  const end = endOf(study);
  if (end) return { text: `${end}.` };
  if (!main) return undefined;
  const reply = others.find(({ part, headline }) => part === "reply" && headline !== null);
  const better = others.find(({ part }) => part === "better");
  const own = headlineOf(main);
  if (reply && (better || !own)) return { over: `Allows ${way(reply)}`, isBad: true, text: headlineOf(reply)!.text };
  const after = study.lines[0]!.positions[1];
  const stalemate = after?.isStalemate() ? `${endText(after)}.` : undefined;
  if (better) {
    const { score } = better;
    const mates = score && "mate" in score && score.mate > 0;
    const over = mates ? `Misses mate in ${score.mate}: ${way(better)}` : `Better was ${way(better)}`;
    const text = stalemate ?? headlineOf(better)?.text;
    return text ? { over, isBad: true, text } : { text: `${over}.` };
  }
  if (own) return { over: titled(own.tactic), text: own.text };
  return { text: stalemate ?? "No tactic to speak of." };
}

const headlineOf = (report: Report): Finding | undefined =>
  report.headline === null ? undefined : report.findings[report.headline];

/** The first move of a report's line, and the move that makes its headline where that comes later. */
function way(report: Report): string {
  const ply = headlineOf(report)?.ply ?? 1;
  return ply > 1 ? `${moveAt(report, 1)} and ${moveAt(report, ply)}` : moveAt(report, 1);
}

/** The request for a position by itself. */
export const requestFor = (pos: Position): ExplainRequest => ({ fen: fenOf(pos) });
