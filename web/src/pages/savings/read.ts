// Advice as the API says it: a table of proposals for each currency, and of one proposal rows of a name and a
// text.
import type { ApiTable, Row } from "../../api/types";
import { add, compare } from "../../util/money";

export interface Proposal {
  id: string;
  kind: string;
  cluster: string;
  subject: string;
  change: string;
  low: string;
  expected: string;
  high: string;
  confidence: string;
  team: string;
  effort: string;
  state: string; // "new", "accepted", …
  total: string; // "yes"; "instead": an alternative to another proposal; "done", …: followed already
}

export interface Filters {
  team: string;
  kind: string;
  effort: string; // at most
  confidence: string; // at least
}

const GRADES = ["low", "medium", "high"];

export const textOf = (row: Row, name: string): string => {
  const value = row[name];
  return value === null || value === undefined ? "" : String(value);
};

export function proposalsOf(table: ApiTable): Proposal[] {
  return table.rows.map((row) => ({
    id: textOf(row, "id"),
    kind: textOf(row, "kind"),
    cluster: textOf(row, "cluster"),
    subject: textOf(row, "subject"),
    change: textOf(row, "change"),
    low: textOf(row, "low"),
    expected: textOf(row, "expected"),
    high: textOf(row, "high"),
    confidence: textOf(row, "confidence"),
    team: textOf(row, "team"),
    effort: textOf(row, "effort"),
    state: textOf(row, "state"),
    total: textOf(row, "in_total"),
  }));
}

export const isInTotal = (one: Proposal): boolean => one.total === "yes";

export function matches(one: Proposal, filters: Filters): boolean {
  if (filters.kind && one.kind !== filters.kind) return false;
  if (filters.team && one.team !== filters.team) return false;
  if (filters.effort && GRADES.indexOf(one.effort) > GRADES.indexOf(filters.effort)) return false;
  return !filters.confidence || GRADES.indexOf(one.confidence) >= GRADES.indexOf(filters.confidence);
}

// What following all of them saves: alternatives to others are not in it.
export function together(proposals: Proposal[]): { low: string; expected: string; high: string } {
  const counted = proposals.filter(isInTotal);
  const sum = (of: (one: Proposal) => string) => add(...counted.map(of));
  return { low: sum((one) => one.low), expected: sum((one) => one.expected), high: sum((one) => one.high) };
}

// The values that occur, for a filter; those of the most money first.
export function valuesOf(proposals: Proposal[], of: (one: Proposal) => string): string[] {
  const sums = new Map<string, string>();
  for (const one of proposals) {
    if (of(one) !== "") sums.set(of(one), add(sums.get(of(one)), one.expected));
  }
  return [...sums].sort((a, b) => compare(b[1], a[1]) || a[0].localeCompare(b[0])).map(([value]) => value);
}

export const kindName = (kind: string): string => kind.replace(/-/g, " ");

export interface Detail {
  id: string;
  state: string;
  history: string[]; // what was decided and found, the earliest first
  facts: [string, string][];
  evidence: string[];
  change: string;
  kind: string;
  cluster: string;
  workload: string;
  risk: string;
  apply: string;
}

const HISTORY = new Set(["decided", "realised a month", "found"]);
const APART = new Set([...HISTORY, "id", "state", "change", "kind", "cluster", "workload", "evidence", "risk", "apply"]);

export function detailOf(table: ApiTable): Detail {
  const rows = table.rows.map((row): [string, string] => [textOf(row, "field"), textOf(row, "value")]);
  const first = (name: string) => rows.find(([field]) => field === name)?.[1] ?? "";
  return {
    id: first("id"),
    state: first("state"),
    history: rows.filter(([field]) => HISTORY.has(field)).map(([field, value]) => (field === "realised a month" ? `realised a month: ${value}` : value)),
    facts: rows.filter(([field]) => !APART.has(field)),
    evidence: rows.filter(([field]) => field === "evidence").map(([, value]) => value),
    change: first("change"),
    kind: first("kind"),
    cluster: first("cluster"),
    workload: first("workload"),
    risk: first("risk"),
    apply: rows.filter(([field]) => field === "apply").map(([, value]) => value).join("\n"),
  };
}
