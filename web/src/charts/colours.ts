// The colours of charts, from the stylesheet, so that both themes and the legend agree.

export type Meaning = "used" | "idle" | "unallocated" | "stranded" | "overhead" | "unavailable" | "shared";

const SERIES = 10;
// What a report calls them, and what the stylesheet does.
const KINDS: Record<string, Meaning> = {
  used: "used",
  held_idle: "idle",
  unallocated: "unallocated",
  stranded: "stranded",
  overhead: "overhead",
  unavailable: "unavailable",
  shared: "shared",
};

export function colourOf(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

// Series keep their colour by their place; kinds have their own, and what is left over is grey.
export function seriesName(key: string, index: number): string {
  const kind = KINDS[key.replace(/[()]/g, "")];
  if (kind) return kind;
  if (/^\(\d+ others?\)$/.test(key) || key === "(others)" || key === "Others") return "others";
  if (key.startsWith("(")) return "aside";
  return `c${(index % SERIES) + 1}`;
}
