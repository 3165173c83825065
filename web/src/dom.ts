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

export const byId = <T extends HTMLElement = HTMLElement>(id: string): T => document.getElementById(id) as T;
