// What stands in the address after the #, so that a position, a line or a game can be shared.

export interface Address {
  fen?: string | undefined;
  /** The enemy's move that leads to the root; `fen` is then before it. */
  setup?: string | undefined;
  /** The line that is explained, candidate first. */
  moves?: string[] | undefined;
  /** The candidate alone: the engine finds how it goes on. */
  move?: string | undefined;
  ply?: number | undefined;
  /** A game's moves from `start` (the usual one if absent), and the ply of it on the board. */
  game?: string[] | undefined;
  start?: string | undefined;
  at?: number | undefined;
  white?: string | undefined;
  black?: string | undefined;
  result?: string | undefined;
}

const TEXTS = ["fen", "setup", "move", "start", "white", "black", "result"] as const;
const LISTS = ["moves", "game"] as const;
const NUMBERS = ["ply", "at"] as const;

export function readAddress(hash: string): Address {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const address: Address = {};
  for (const name of TEXTS) address[name] = fields.get(name) ?? undefined;
  for (const name of LISTS) address[name] = fields.get(name)?.split(/[,\s]+/).filter(Boolean);
  for (const name of NUMBERS) {
    const n = Number.parseInt(fields.get(name) ?? "", 10);
    address[name] = n >= 0 ? n : undefined;
  }
  return address;
}

export function writeAddress(address: Address): string {
  const fields = Object.entries(address).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${escape(String(value))}`],
  );
  return `#${fields.join("&")}`;
}

const escape = (text: string): string => encodeURIComponent(text).replaceAll("%2F", "/").replaceAll("%2C", ",");
