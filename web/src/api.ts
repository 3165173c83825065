// Talking to the server: every failure becomes a Failure with a message for people.

import type { Report, Review, TacticInfo } from "./report.js";

export interface ExplainRequest {
  fen: string;
  moves?: string[];
  setup?: string;
  move?: string;
}

/** A message for people; `retry` says whether the same request may succeed later. */
export class Failure extends Error {
  constructor(
    message: string,
    readonly retry: boolean,
  ) {
    super(message);
  }
}

export interface ReviewEvents {
  progress(positions: number, of: number): void;
  game(review: Review, pgn: string): void;
}

export async function explain(request: ExplainRequest, signal: AbortSignal): Promise<Report> {
  return (await post("api/explain", request, signal)).json() as Promise<Report>;
}

let tacticInfos: Promise<TacticInfo[]> | undefined;

/** The list of tactics, asked for once and only when needed. */
export function tactics(): Promise<TacticInfo[]> {
  tacticInfos ??= answered(() => fetch("api/tactics"))
    .then((response) => response.json() as Promise<TacticInfo[]>)
    .catch((error: unknown) => {
      tacticInfos = undefined;
      throw error;
    });
  return tacticInfos;
}

export async function review(pgn: string, player: string, signal: AbortSignal, on: ReviewEvents): Promise<void> {
  const response = await post("api/review", player ? { pgn, player } : { pgn }, signal);
  let done = false;
  for await (const { name, data } of events(response, signal)) {
    if (name === "progress") on.progress(data.positions, data.of);
    else if (name === "game") on.game(data.game, data.pgn);
    else if (name === "error") throw new Failure(data.error.message, true);
    else done = true;
  }
  if (!done) throw new Failure(GONE, true);
}

const GONE = "Koga does not answer. Is koga serve still running?";

function post(path: string, body: unknown, signal: AbortSignal): Promise<Response> {
  const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal };
  return answered(() => fetch(path, init));
}

async function answered(ask: () => Promise<Response>): Promise<Response> {
  let response;
  try {
    response = await ask();
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Failure(GONE, true);
  }
  if (response.ok) return response;
  const said: { error?: { message?: string } } = await response.json().catch(() => ({}));
  const message = (said.error?.message ?? `Koga answered with status ${response.status}`).replace(/^fen: /, "this FEN is no position: ");
  if (response.status === 429) {
    const wait = response.headers.get("Retry-After");
    throw new Failure(`Koga is busy with other requests. Try again${wait ? ` in ${wait} s` : " in a moment"}.`, true);
  }
  throw new Failure(message.charAt(0).toUpperCase() + message.slice(1).replace(/[^.!?]$/, "$&."), response.status >= 500);
}

type StreamEvent =
  | { name: "progress"; data: { positions: number; of: number } }
  | { name: "game"; data: { game: Review; pgn: string } }
  | { name: "error"; data: { error: { message: string } } }
  | { name: "done"; data: object };

/** The named events of a text/event-stream. */
async function* events(response: Response, signal: AbortSignal): AsyncGenerator<StreamEvent> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let pending = "";
  for (;;) {
    const { value, done } = await reader.read().catch((error: unknown) => {
      if (signal.aborted) throw error;
      throw new Failure(GONE, true);
    });
    if (done) return;
    pending += value;
    const blocks = pending.split(/\r?\n\r?\n/);
    pending = blocks.pop()!;
    for (const block of blocks) {
      const field = (name: string) =>
        block.split(/\r?\n/).flatMap((row) => (row.startsWith(`${name}:`) ? [row.slice(name.length + 1).trimStart()] : []));
      const data = field("data").join("\n");
      if (data) yield { name: field("event")[0], data: JSON.parse(data) } as StreamEvent;
    }
  }
}
