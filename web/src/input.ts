// What people press, type, paste and drop.

import { byId, el } from "./dom.js";
import { EXAMPLES } from "./examples.js";
import { InputError, looksLikeFen } from "./position.js";

export interface Handlers {
  /** A FEN or a PGN. */
  open(text: string): void;
  complain(error: unknown): void;
  /** So many plies, back if negative. */
  walk(by: number): void;
  turnBoard(): void;
  /** A move that was typed; says whether there is such a move. */
  typed(text: string): boolean;
  escape(): void;
}

const LARGEST_FILE = 8_000_000;

export function wire(handlers: Handlers): void {
  wireField(handlers);
  wireControls(handlers);
  wirePage(handlers);
}

function wireField({ open, complain }: Handlers): void {
  const text = byId<HTMLTextAreaElement>("text");
  const file = byId<HTMLInputElement>("file");
  byId("input").addEventListener("submit", (event) => {
    event.preventDefault();
    open(text.value);
  });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey || looksLikeFen(text.value))) {
      event.preventDefault();
      open(text.value);
    }
  });
  file.addEventListener("change", () => {
    const [chosen] = file.files ?? [];
    if (chosen) void read(chosen, open, complain);
    file.value = "";
  });
  byId("open-file").addEventListener("click", () => file.click());
  byId("to-input").addEventListener("click", () => {
    text.scrollIntoView({ block: "center" });
    text.focus();
  });
  byId("examples").append(
    ...EXAMPLES.map(({ name, text: example }) => el("li", {}, el("button", { click: () => open(example) }, name))),
  );
}

async function read(file: File, open: (text: string) => void, complain: (error: unknown) => void): Promise<void> {
  if (file.size > LARGEST_FILE) complain(new InputError("This file is larger than 8 MB: open one with fewer games."));
  else open(await file.text());
}

function wireControls({ walk, turnBoard, typed }: Handlers): void {
  for (const [id, by] of [["first", -Infinity], ["previous", -1], ["next", 1], ["last", Infinity]] as const) {
    byId(id).addEventListener("click", () => walk(by));
  }
  byId("flip").addEventListener("click", turnBoard);
  const field = byId<HTMLInputElement>("move");
  byId("enter-move").addEventListener("submit", (event) => {
    event.preventDefault();
    if (field.value.trim() === "" || typed(field.value)) field.value = "";
  });
}

function wirePage({ open, complain, walk, turnBoard, escape }: Handlers): void {
  const keys: Record<string, () => void> = {
    ArrowLeft: () => walk(-1),
    ArrowRight: () => walk(1),
    Home: () => walk(-Infinity),
    End: () => walk(Infinity),
    f: turnBoard,
    Escape: escape,
  };
  document.addEventListener("keydown", (event) => {
    const typing = (event.target as HTMLElement).closest("input, textarea, select, dialog");
    const press = keys[event.key];
    if (!press || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    press();
  });
  document.addEventListener("paste", (event) => {
    if ((event.target as HTMLElement).closest("input, textarea")) return;
    const pasted = event.clipboardData?.getData("text");
    if (pasted?.trim()) open(pasted);
  });
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    const [dropped] = event.dataTransfer?.files ?? [];
    if (dropped) void read(dropped, open, complain);
    else open(event.dataTransfer?.getData("text") ?? "");
  });
}
