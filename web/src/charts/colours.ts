// The colours of charts come from the stylesheet, so that themes and legends agree.

export type Meaning = "used" | "idle" | "unallocated" | "stranded" | "overhead" | "unavailable" | "shared";

const SERIES = 10;
// The names in reports, and those in the stylesheet.
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

// Series get a colour by position; kinds have their own, and the rest is grey.
export function seriesName(key: string, index: number): string {
  const kind = KINDS[key.replace(/[()]/g, "")];
  if (kind) return kind;
  if (/^\(\d+ others?\)$/.test(key) || key === "(others)" || key === "Others") return "others";
  if (key.startsWith("(")) return "aside";
  return `c${(index % SERIES) + 1}`;
}
