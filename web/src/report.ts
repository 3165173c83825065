// The report as the server writes it (docs/report.md), and the words around it.

import type { Color, SquareName } from "chessops";

export interface Finding {
  tactic: string;
  role: "motif" | "enabling" | "follow-up";
  ply: number;
  move: string;
  kind: string | null;
  piece: SquareName;
  targets: SquareName[];
  squares: Record<string, SquareName[]>;
  prize: number | null;
  won: number | null;
  text: string;
}

export interface Superseded extends Finding {
  by: string;
  rule: string;
}

export interface Rejection {
  tactic: string;
  ply: number;
  rule: string;
  squares: SquareName[];
  text: string;
}

export type Score = { cp: number } | { mate: number };

export type Part = "best" | "move" | "reply" | "better";

export interface Report {
  fen: string;
  pov: Color;
  line: string[];
  uci: string[];
  won: number;
  headline: number | null;
  findings: Finding[];
  superseded: Superseded[];
  rejections: Rejection[];
  score?: Score;
  part?: Part;
  others?: Report[];
}

export interface Moment {
  ply: number;
  player: Color;
  move: string;
  /** `overlooked`: the enemy threatened it already. */
  class: "found" | "missed" | "allowed" | "overlooked";
  answer: string | null;
  fen: string;
  line: string[];
  uci: string[];
  score: Score;
  finding: Finding;
}

export interface Mark {
  ply: number;
  player: Color;
  move: string;
  mark: "?!" | "?" | "??";
  score: Score;
  best_score: Score;
  best: string[];
}

export interface Review {
  marks: Mark[];
  moments: Moment[];
  /** Threats that were there already and that a move overlooked. */
  threats: Omit<Moment, "class">[];
  errors: { move: string; token: string; message: string }[];
}

export interface TacticInfo {
  name: string;
  title: string;
  summary: string;
  rules: { id: string; text: string }[];
  page: string;
}

export const side = (color: Color): string => (color === "white" ? "White" : "Black");

/** "discovered attack" for `discovered-attack`: the names that Koga's sentences use. */
export const words = (tactic: string): string => NAMES[tactic] ?? tactic.replaceAll("-", " ");

const NAMES: Record<string, string> = {
  "x-ray": "x-ray",
  "back-rank-mate": "back-rank mate",
  "removing-the-defender": "removal of the defender",
};

export const titled = (tactic: string): string => {
  const name = words(tactic);
  return name.charAt(0).toUpperCase() + name.slice(1);
};

export const points = (n: number): string => (n === 1 ? "1 point" : `${n} points`);

/** "+4.63" or "mate in 3", from White's side or from the side given. */
export function scoreText(score: Score, pov: Color): string {
  if ("mate" in score) {
    const winner = score.mate > 0 ? pov : pov === "white" ? "black" : "white";
    return score.mate === 0 ? "mate" : `${side(winner)} mates in ${Math.abs(score.mate)}`;
  }
  const white = (pov === "white" ? score.cp : -score.cp) / 100;
  return `${white < 0 ? "−" : white > 0 ? "+" : ""}${Math.abs(white).toFixed(2)}`;
}

/** What a finding wins, or what is at stake; nothing where the points say nothing. */
export function stake(finding: Finding): string {
  if (finding.won !== null && finding.won > 0) return `wins ${points(finding.won)}`;
  if (finding.won === null && finding.prize) return `${points(finding.prize)} at stake`;
  return "";
}

/** Whether a discovered check is said by the discovered attack on the king that it is. */
export function isSaidAlready(report: Report, finding: Finding): boolean {
  const isAttack = (other: Finding) =>
    other.tactic === "discovered-attack" && other.ply === finding.ply && other.targets.join() === finding.targets.join();
  return finding.tactic === "discovered-check" && report.findings.some(isAttack);
}

/** What the whole line wins or gives up, as `line_won` in crates/koga/src/explain.rs; nothing where it mates. */
export function balance({ won, pov, line }: Report): string {
  if (won === 0 || line.at(-1)?.endsWith("#")) return "";
  const piece = { 1: "pawn", 3: "piece", 5: "rook", 9: "queen" }[Math.abs(won)];
  const what = piece ? `a ${piece}’s worth of material` : `${points(Math.abs(won))} of material`;
  return won > 0 ? `In all the line wins ${what} for ${side(pov)}.` : `When the line ends, ${side(pov)} has given up ${what}.`;
}

/** "26.Qxf6" for a ply of a report, numbered from its root. */
export function moveAt(report: Pick<Report, "fen" | "line">, ply: number): string {
  const fields = report.fen.split(" ");
  const halves = (Number(fields[5] ?? 1) - 1) * 2 + (fields[1] === "b" ? 1 : 0) + ply - 1;
  return `${Math.floor(halves / 2) + 1}${halves % 2 ? "..." : "."}${report.line[ply - 1] ?? ""}`;
}
