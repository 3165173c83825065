// Positions, lines and games, by the rules of chessops.

import {
  type Color,
  type Move,
  type Position,
  type Role,
  type SquareName,
  Chess,
  isNormal,
  makeSquare,
  makeUci,
  parseSquare,
  parseUci,
  squareFile,
  squareRank,
} from "chessops";
import { castlingSide, normalizeMove } from "chessops/chess";
import { INITIAL_FEN, makeFen, parseFen } from "chessops/fen";
import { type Game as PgnGame, type PgnNodeData, makePgn, parsePgn, startingPosition } from "chessops/pgn";
import { makeSanAndPlay, parseSan } from "chessops/san";

import { side } from "./report.js";

export { INITIAL_FEN };

/** A root and the legal moves from it; `positions[n]` stands after n moves. */
export interface Line {
  positions: Position[];
  moves: Move[];
  sans: string[];
}

export interface Game {
  tags: Map<string, string>;
  line: Line;
  /** Ready for the server, with comments and variations. */
  pgn: string;
  /** What could not be read. */
  trouble: string;
}

/** A game of a PGN that is not replayed until it is chosen: files hold thousands. */
export interface Entry {
  title: string;
  read(): Game;
}

export class InputError extends Error {}

export function parsePosition(fen: string): Position {
  const [board = "", turn] = fen.trim().split(/[\s_]+/);
  if (!turn && looksLikeFen(board)) throw new InputError("This FEN says where the pieces stand, not who is to move: add w or b after it.");
  const position = parseFen(fen.trim()).chain((setup) => Chess.fromSetup(setup));
  if (position.isErr) throw new InputError(explainFen(position.error.message));
  return position.unwrap();
}

export const fenOf = (pos: Position): string => makeFen(pos.toSetup());

/** The line from a root, as far as its moves are legal. */
export function playLine(root: Position, moves: string[]): Line {
  const line: Line = { positions: [root], moves: [], sans: [] };
  for (const text of moves) if (!extend(line, text)) break;
  return line;
}

export function extend(line: Line, text: string): boolean {
  const before = line.positions.at(-1)!;
  const m = parseMove(before, text);
  if (!m) return false;
  const after = before.clone();
  line.sans.push(makeSanAndPlay(after, m));
  line.moves.push(m);
  line.positions.push(after);
  return true;
}

/** A legal move from SAN or UCI, with the marks and spellings that people type. */
export function parseMove(pos: Position, text: string): Move | undefined {
  const clean = cleanMove(text);
  const uci = parseUci(clean.toLowerCase());
  const m = uci && normalizeMove(pos, uci);
  if (m && pos.isLegal(m)) return m;
  // "nd5" is a knight's move; "bc4" one of the b-pawn if it has one, else a bishop's.
  return parseSan(pos, clean) ?? (/^[nbrqk]/.test(clean) ? parseSan(pos, clean[0]!.toUpperCase() + clean.slice(1)) : undefined);
}

/** The squares of a promotion that was typed without the new piece. */
export function parsePromotion(pos: Position, text: string): [SquareName, SquareName] | undefined {
  const clean = cleanMove(text).replace(/[+#=]+$/, "");
  const m = parseMove(pos, `${clean}q`) ?? parseMove(pos, `${clean}=Q`);
  return m && isNormal(m) && m.promotion ? [makeSquare(m.from), makeSquare(m.to)] : undefined;
}

/** A move without its number and marks; castling with the letter O. */
const cleanMove = (text: string): string =>
  text
    .trim()
    .replace(/^\d+\s*(\.+|…)\s*/, "")
    .replace(/[!?]+$/, "")
    .replace(/^([o0])-?\1(-?\1)?(?=[+#]?$)/i, (_, _zero, third) => (third ? "O-O-O" : "O-O"));

/** As the server spells it, so that equal moves are equal texts. */
export const uciOf = (m: Move): string => makeUci(m);

/** "25.Nxf6+" or "25...Qxf6". */
export function numbered(before: Position, san: string): string {
  return `${before.fullmoves}${before.turn === "white" ? "." : "..."}${san}`;
}

/** The squares that a move leaves and reaches; of castling those of the king, as people see it. */
export function squaresOf(before: Position, m: Move): SquareName[] {
  if (!isNormal(m)) return [makeSquare(m.to)];
  const castling = castlingSide(before, m);
  if (!castling) return [makeSquare(m.from), makeSquare(m.to)];
  const rank = squareRank(m.from);
  return [makeSquare(m.from), makeSquare((castling === "h" ? 6 : 2) + 8 * rank)];
}

/** Kings or rooks away from their usual squares that may still castle. */
export function isChess960(pos: Position): boolean {
  for (const sq of pos.castles.castlingRights) if (squareFile(sq) !== 0 && squareFile(sq) !== 7) return true;
  for (const color of ["white", "black"] as const) {
    const king = pos.board.kingOf(color);
    if (king !== undefined && squareFile(king) !== 4 && hasRights(pos, color)) return true;
  }
  return false;
}

const hasRights = (pos: Position, color: Color): boolean =>
  pos.castles.rook[color].a !== undefined || pos.castles.rook[color].h !== undefined;

export function isPromotion(pos: Position, from: SquareName, to: SquareName): boolean {
  return pos.board.getRole(parseSquare(from)!) === "pawn" && (to[1] === "1" || to[1] === "8");
}

/** "knight takes f6, check": a move for the ear. */
export function spoken(san: string): string {
  if (san.startsWith("O-O-O")) return "castles queenside" + ending(san);
  if (san.startsWith("O-O")) return "castles kingside" + ending(san);
  const [, letter = "", from = "", takes, to = "", promoted] =
    /^([KQRBN]?)([a-h]?[1-8]?)(x?)([a-h][1-8])(?:=([QRBN]))?/.exec(san) ?? [];
  const parts = [ROLE_OF[letter] ?? "pawn", from, takes ? "takes" : "to", to];
  if (promoted) parts.push(`and becomes a ${ROLE_OF[promoted]}`);
  return parts.filter(Boolean).join(" ") + ending(san);
}

const ROLE_OF: Record<string, Role> = { K: "king", Q: "queen", R: "rook", B: "bishop", N: "knight" };

const ending = (san: string): string => (san.endsWith("#") ? ", mate" : san.endsWith("+") ? ", check" : "");

/** "White: king g1; queen d2 …": the board for those who do not see it. */
export function pieceList(pos: Position, color: Color): string {
  const roles: Role[] = ["king", "queen", "rook", "bishop", "knight", "pawn"];
  return roles.flatMap((role) => [...pos.board.pieces(color, role)].map((sq) => `${role} ${makeSquare(sq)}`)).join(", ");
}

/** How the game has ended where the side to move has no move. */
export function endText(pos: Position): string | undefined {
  if (pos.isCheckmate()) return `${side(pos.turn)} is checkmated`;
  return pos.isStalemate() ? "Stalemate: a draw" : undefined;
}

export const turnText = (pos: Position): string =>
  endText(pos) ?? `${side(pos.turn)} to move${pos.isCheck() ? ", in check" : ""}`;

export const looksLikeFen = (text: string): boolean =>
  /^[pnbrqk1-8]+(\/[pnbrqk1-8~]*){2,}(\s|$)/i.test(tidyFen(text)) && !/\n\s*\S/.test(text.trim());

/** A FEN without what people copy along with it: "FEN:", quotes, tabs. */
export const tidyFen = (text: string): string =>
  text
    .replace(/^\s*fen\s*[:=]\s*/i, "")
    .replace(/^[\s"'`“”‘’]+|[\s"'`“”‘’]+$/g, "")
    .replace(/\s+/g, " ");

/** A tag's value, unless it says that nobody knows. */
export function known(tags: Map<string, string>, name: string): string {
  const value = tags.get(name) ?? "";
  return /^[?.*]*$/.test(value) ? "" : value;
}

export const resultOf = (tags: Map<string, string>): string =>
  known(tags, "Result").replace("1/2-1/2", "½–½").replace("-", "–");

/** "1858-11-02", or as much as is known of it. */
export const dateOf = (tags: Map<string, string>): string => known(tags, "Date").replaceAll(".??", "").replaceAll(".", "-");

/** The games of a PGN, of which there is at least one, and how many have no moves. */
export function parseGames(text: string): { games: Entry[]; without: number } {
  const all = parsePgn(text);
  const games = all.filter((game) => game.moves.children.length || game.headers.has("FEN"));
  if (!games.length) throw new InputError("Neither a FEN nor a PGN: no position and no moves were found in it.");
  const entries = games.map((game) => ({
    title: [`${game.headers.get("White") ?? "?"} – ${game.headers.get("Black") ?? "?"}`, resultOf(game.headers), dateOf(game.headers)]
      .filter(Boolean)
      .join(", "),
    // One game goes to the server as it was written, clocks and all; a text with more, even without moves, would be reviewed
    // as so many games.
    read: () => (all.length === 1 ? { ...readGame(game), pgn: text } : readGame(game)),
  }));
  return { games: entries, without: all.length - games.length };
}

/** A game as far as its moves are legal. */
function readGame(game: PgnGame<PgnNodeData>): Game {
  const tags = game.headers;
  const start = startingPosition(tags);
  if (start.isErr) throw new InputError(`The game’s starting position: ${explainFen(start.error.message)}`);
  const root = start.unwrap();
  if (!(root instanceof Chess)) throw new InputError(`Koga knows chess and Chess960, not ${tags.get("Variant")}.`);
  const line: Line = { positions: [root], moves: [], sans: [] };
  let trouble = "";
  for (const { san } of game.moves.mainline()) {
    if (extend(line, san)) continue;
    const at = numbered(line.positions.at(-1)!, san);
    if (line.moves.length === 0) throw new InputError(`The first move, ${at}, is not legal.`);
    trouble = `${at} is not legal here: the game is read as far as this.`;
    break;
  }
  return { tags, line, pgn: makePgn(game), trouble };
}

/** A game from an address: its moves without its comments. */
export function gameOf(start: string, moves: string[], tags: Map<string, string>): Game {
  const line = playLine(parsePosition(start), moves);
  const illegal = moves[line.moves.length];
  const trouble = illegal ? `“${illegal}” is not legal here: the game is read as far as this.` : "";
  if (start !== INITIAL_FEN) tags.set("FEN", start);
  const rows = [...tags].map(([name, value]) => `[${name} "${value.replace(/["\\]/g, "\\$&")}"]\n`).join("");
  const sans = line.sans.map((san, i) => numbered(line.positions[i]!, san)).join(" ");
  return { tags, line, pgn: `${rows}\n${sans} ${tags.get("Result") ?? "*"}\n`, trouble };
}

function explainFen(code: string): string {
  const known: Record<string, string> = {
    ERR_FEN: "a FEN has at most six fields",
    ERR_BOARD: "the board needs eight ranks of eight squares, from a8 to h1",
    ERR_TURN: "the side to move is w or b",
    ERR_CASTLING: "the castling rights are KQkq, files such as HAha, or -",
    ERR_EP_SQUARE: "the en passant square is a square or -",
    ERR_HALFMOVES: "the halfmove clock is a number",
    ERR_FULLMOVES: "the move number is a number",
    ERR_EMPTY: "the board is empty",
    ERR_KINGS: "each side needs one king",
    ERR_OPPOSITE_CHECK: "the side that is not to move stands in check",
    ERR_IMPOSSIBLE_CHECK: "no play leads to this check",
    ERR_PAWNS_ON_BACKRANK: "pawns cannot stand on the first or last rank",
  };
  return `This FEN is no position: ${known[code] ?? code}.`;
}
