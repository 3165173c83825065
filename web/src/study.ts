// A study: a root, what is asked of it, and what the server answered.

import type { Move, Position } from "chessops";

import type { ExplainRequest, Failure } from "./api.js";
import { type Line, endText, fenOf, parseMove, parsePosition, playLine, InputError } from "./position.js";
import type { Finding, Rejection, Report } from "./report.js";

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

/** The request for a position by itself. */
export const requestFor = (pos: Position): ExplainRequest => ({ fen: fenOf(pos) });
