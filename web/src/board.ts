// The board: chessground, with the marks and arrows of Koga's diagrams.

import { Chessground } from "@lichess-org/chessground";
import type { Api } from "@lichess-org/chessground/api";
import type { DrawShape } from "@lichess-org/chessground/draw";
import {
  type Color,
  type Move,
  type Position,
  type Role,
  type SquareName,
  attacks,
  makeSquare,
  parseSquare,
  parseUci,
  squareFile,
  squareRank,
} from "chessops";
import { normalizeMove } from "chessops/chess";
import { chessgroundDests } from "chessops/compat";

import { byId, el } from "./dom.js";
import { fenOf, isChess960, isPromotion, pieceList, squaresOf, turnText } from "./position.js";
import { type Finding, side } from "./report.js";

/** What the board is to show. */
export interface View {
  position: Position;
  /** The move that led here, and the position before it. */
  last?: { before: Position; m: Move } | undefined;
  finding?: Finding | undefined;
  /** Squares to mark where there is no finding. */
  squares?: SquareName[] | undefined;
  /** A move to point at. */
  hint?: Move | undefined;
}

type Look = "acting" | "target" | "support" | "move";

// As in crates/koga/src/render/diagram.rs, whose square is 45 wide.
const COLOR: Record<Look, string> = { acting: "#0065a8", target: "#cc4400", support: "#00805c", move: "#f7d040" };
const UNIT = 100 / 45;

let ground: Api;
let shown: View;
let orientation: Color = "white";
let played: (m: Move) => void = () => {};

export function startBoard(onMove: (m: Move) => void): void {
  played = onMove;
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  ground = Chessground(byId("board"), {
    coordinates: true,
    coordinatesOnSquares: false,
    animation: { enabled: !still.matches, duration: 180 },
    movable: { free: false, showDests: true, rookCastle: true, events: { after: dropped } },
    premovable: { enabled: false },
    draggable: { showGhost: true },
    drawable: { enabled: true },
  });
  still.addEventListener("change", () => ground.set({ animation: { enabled: !still.matches } }));
}

export function showBoard(view: View): void {
  shown = view;
  const { position, last } = view;
  ground.set({
    fen: fenOf(position),
    orientation,
    turnColor: position.turn,
    check: position.isCheck(),
    ...(last ? { lastMove: squaresOf(last.before, last.m) } : { lastMove: [] }),
    movable: { color: position.turn, dests: chessgroundDests(position, { chess960: isChess960(position) }) },
    drawable: { autoShapes: shapes(view) },
  });
  byId("turn").textContent = `${turnText(position)} · move ${position.fullmoves}`;
  byId("pieces").replaceChildren(
    ...(["white", "black"] as const).map((color) =>
      el("li", {}, `${side(color)}: ${pieceList(position, color)}`),
    ),
  );
  byId("legend").hidden = !view.finding && !view.squares;
}

export function orient(color: Color): void {
  orientation = color;
}

export const orientedTo = (): Color => orientation;

export function flip(): void {
  orientation = orientation === "white" ? "black" : "white";
  showBoard(shown);
}

function dropped(from: string, to: string): void {
  const position = shown.position;
  const square = [from, to] as SquareName[];
  if (isPromotion(position, square[0]!, square[1]!)) choosePromotion(position.turn, square[0]!, square[1]!);
  else played(normalizeMove(position, parseUci(from + to)!));
}

export function choosePromotion(color: Color, from: SquareName, to: SquareName): void {
  const dialog = byId<HTMLDialogElement>("promotion");
  const choose = (role: Role) => () => {
    dialog.close(role);
    played({ from: parseSquare(from)!, to: parseSquare(to)!, promotion: role });
  };
  const roles: Role[] = ["queen", "rook", "bishop", "knight"];
  dialog.replaceChildren(
    ...roles.map((role) =>
      el("button", { click: choose(role), at: { "aria-label": `Promote to a ${role}` } }, el("span", { class: `piece ${color} ${role}` })),
    ),
    el("button", { class: "plain", click: () => dialog.close() }, "Cancel"),
  );
  dialog.onclose = () => {
    if (!dialog.returnValue) showBoard(shown);
    dialog.returnValue = "";
  };
  dialog.showModal();
}

/** As `of_finding` in crates/koga/src/render/svg.rs. */
function shapes({ position, finding, squares, hint }: View): DrawShape[] {
  if (squares) return squares.map((sq) => mark(sq, "support"));
  if (!finding) return hint ? [arrow(makeSquare("from" in hint ? hint.from : hint.to), makeSquare(hint.to), "move")] : [];
  const { piece, targets } = finding;
  const others = Object.values(finding.squares).flat();
  const support = [...new Set(others)].filter((sq) => sq !== piece && !targets.includes(sq));
  const aims = targets.filter((sq) => sq !== piece);
  const drawn = [mark(piece, "acting"), ...support.map((sq) => mark(sq, "support")), ...aims.map((sq) => mark(sq, "target"))];

  const reaches = (from: SquareName, to: SquareName) => {
    const by = position.board.get(parseSquare(from)!);
    return by !== undefined && attacks(by, parseSquare(from)!, position.board.occupied).has(parseSquare(to)!);
  };
  // A pin or skewer goes through the piece in front to what stands behind: one arrow shows it.
  const isThrough = finding.tactic === "pin" || finding.tactic === "skewer";
  const through = isThrough || (finding.squares["shield"]?.length ?? 0) > 0;
  for (const target of (isThrough ? targets.slice(1) : targets).filter((sq) => sq !== piece)) {
    if (through || reaches(piece, target)) drawn.push(arrow(piece, target, "target"));
    const helpers = (finding.squares["attacker"] ?? []).filter((sq) => reaches(sq, target));
    drawn.push(...helpers.map((sq) => arrow(sq, target, "support")));
  }
  return drawn;
}

function mark(orig: SquareName, look: Exclude<Look, "move">): DrawShape {
  const color = COLOR[look];
  const html = {
    acting: `<circle cx="50" cy="50" r="45" fill="${color}" fill-opacity=".2" stroke="${color}" stroke-width="7.5"/>`,
    // The square without a disc in its middle: four corners.
    target: `<path d="M0 0h100v100h-100zM0 50a50 50 0 1 0 100 0 50 50 0 1 0-100 0z" fill="${color}" fill-rule="evenodd"/>`,
    support: `<path d="M5.5 5.5h89v89h-89z" fill="none" stroke="${color}" stroke-width="7.5" stroke-dasharray="13.3 8.9" stroke-dashoffset="6.7"/>`,
  }[look];
  return { orig, below: true, customSvg: { html: `<g class="mark-${look}">${html}</g>` } };
}

function arrow(orig: SquareName, dest: SquareName, look: Look): DrawShape {
  const path = arrowPath(orig, dest, look === "support");
  const edge = look === "move" ? "#222" : "#fff";
  const html = `<path class="arrow-${look}" d="${path}" fill="${COLOR[look]}" stroke="${edge}" stroke-width="${UNIT}" stroke-linejoin="round" opacity=".8"/>`;
  return { orig, customSvg: { html } };
}

function arrowPath(orig: SquareName, dest: SquareName, dashed: boolean): string {
  const [from, to] = [parseSquare(orig)!, parseSquare(dest)!];
  const turn = orientation === "white" ? 100 : -100;
  const dx = (squareFile(to) - squareFile(from)) * turn;
  const dy = (squareRank(from) - squareRank(to)) * turn;
  const length = Math.hypot(dx, dy);
  // A point so far along the arrow and so far beside it.
  const point = (along: number, beside: number) =>
    `${(50 + (dx * along - dy * beside) / length).toFixed(1)} ${(50 + (dy * along + dx * beside) / length).toFixed(1)}`;
  const [half, halfHead, dash, gap] = [3 * UNIT, 8.5 * UNIT, 8 * UNIT, 4 * UNIT];
  const neck = length - 14 * UNIT;
  let start = 18 * UNIT;
  let path = "";
  for (; dashed && start + dash + 2 * gap < neck; start += dash + gap) {
    path += `M${point(start, -half)}L${point(start + dash, -half)} ${point(start + dash, half)} ${point(start, half)}z`;
  }
  const outline = [[start, -half], [neck, -half], [neck, -halfHead], [length, 0], [neck, halfHead], [neck, half], [start, half]];
  return `${path}M${outline.map(([along, beside]) => point(along!, beside!)).join("L")}z`;
}
