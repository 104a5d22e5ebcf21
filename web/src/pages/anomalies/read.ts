// Unusual days as the API's table has them.
import type { Row, Tables } from "../../api/types";

export interface Incident {
  key: string;
  first: string;
  last: string;
  goesOn: boolean;
  actual: string;
  expected: string;
  impact: string;
  split: [string, string][]; // what it is made of, and how much
  cause: string;
  verdict: string; // "expected: the yearly run (ana)"; empty: nobody said anything
  sentence: string;
}

const DAY_MS = 86_400_000;
const SPLIT: [string, string][] = [["volume", "More or less GPU time"], ["price", "Another price"], ["mix", "Moved between prices"], ["rest", "Without GPU time"]];

const text = (row: Row, name: string) => (row[name] === null || row[name] === undefined ? "" : String(row[name]));

export const shiftDay = (day: string, days: number) => new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);

// The sentences are notes; those of one value have days of their own.
export function readIncidents(tables: Tables["tables"], by: string): { incidents: Incident[]; currency: string | undefined; notes: string[] } {
  const table = tables[0];
  if (!table) return { incidents: [], currency: undefined, notes: [] };
  const notes = table.notes ?? [];
  const incidents = table.rows.map((row): Incident => {
    const key = text(row, by || "scope");
    return {
      key,
      first: text(row, "first"),
      last: text(row, "last"),
      goesOn: text(row, "is_open") === "yes",
      actual: text(row, "actual"),
      expected: text(row, "expected"),
      impact: text(row, "impact"),
      split: SPLIT.map(([name, title]) => [title, text(row, name)]),
      cause: text(row, "cause"),
      verdict: text(row, "verdict"),
      sentence: notes.find((note) => note.startsWith(`${key}: `) && note.includes(text(row, "first"))) ?? "",
    };
  });
  return { incidents, currency: table.currency, notes: notes.filter((note) => !incidents.some((one) => one.sentence === note)) };
}

export const isExpected = (one: Incident) => one.verdict.startsWith("expected");
export const nameOf = (one: Incident) => `${one.key} ${one.first}`;
// Several small values together are none that one can ask for.
export const isOthers = (key: string) => /^\(.*others\)$/.test(key);
