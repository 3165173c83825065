// Elements in one call.

type Child = Node | string | false | null | undefined;

interface Options {
  class?: string;
  click?: () => void;
  /** Attributes; those that are undefined or false are left out. */
  at?: Record<string, string | number | boolean | undefined>;
}

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  options: Options = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  if (options.class) node.className = options.class;
  if (options.click) node.addEventListener("click", options.click);
  if (tag === "button") node.setAttribute("type", "button");
  for (const [name, value] of Object.entries(options.at ?? {})) {
    if (value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.filter((child): child is Node | string => child !== false && child != null && child !== ""));
  return node;
}

/** Of these buttons the Tab key stops at one: the current one, or else the first. The focus among them follows it. */
export function oneTabStop(buttons: HTMLElement[], current = buttons[0]): void {
  const focused = buttons.some((node) => node === document.activeElement);
  for (const node of buttons) node.tabIndex = node === current ? 0 : -1;
  if (focused) current?.focus({ preventScroll: true });
}

interface Walk {
  /** How many plies a row of the list has. */
  rows: number;
  last: number;
  from(): number;
  go(ply: number): void;
}

/** The arrow keys, Home and End go along the moves of a list that has the focus. */
export function walkByKeys(list: HTMLElement, { rows, last, from, go }: Walk): void {
  const steps: Record<string, number> = {
    ArrowLeft: -1,
    ArrowRight: 1,
    ArrowUp: -rows,
    ArrowDown: rows,
    Home: -Infinity,
    End: Infinity,
  };
  list.addEventListener("keydown", (event) => {
    const by = steps[event.key];
    if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    const ply = Math.min(Math.max(from() + by, 0), last);
    if (ply !== from()) go(ply);
  });
}

/** Scrolls to an element that is not in sight. */
export function bringIntoView(node: HTMLElement): void {
  const { top } = node.getBoundingClientRect();
  // What stays at the top of the window covers what lies behind it.
  const covered = Number.parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0;
  if (top >= covered && top < innerHeight * 0.8) return;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  node.scrollIntoView({ block: "start", behavior: still ? "auto" : "smooth" });
}

export const byId = <T extends HTMLElement = HTMLElement>(id: string): T => document.getElementById(id) as T;
