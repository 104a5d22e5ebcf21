// Turns the rows of a report (one for each time bucket and owner) into series of a chart. The smallest
// owners become one series "Others"; every sum is exact.
import type { Row } from "../api/types";
import { seriesName } from "../charts/colours";
import type { Series } from "../charts/chart";
import { fromTicks, ticks } from "./money";
import { shownKey } from "./text";

export const OTHERS = "Others";

export interface Pivot {
  buckets: string[];
  series: (Series & { key: string; total: string })[];
}

interface Asked {
  bucket: string; // the column of time: "day"
  by: string[]; // the columns of owners
  cost: string; // the column of money
  most: number; // maximum number of series, without "Others"
  buckets?: string[]; // all buckets of the axis, including those without costs
}

function isOthers(key: string): boolean {
  return /^\(\d+ others?\)$/.test(first(key));
}

function first(key: string): string {
  return key.split(" · ")[0] ?? key;
}

export function keyOf(row: Row, by: string[]): string {
  return by.map((name) => String(row[name] ?? "")).filter(Boolean).join(" · ");
}

export function pivot(rows: Row[], asked: Asked): Pivot {
  const buckets = asked.buckets ?? [...new Set(rows.map((row) => String(row[asked.bucket])))].sort();
  const at = new Map(buckets.map((bucket, i) => [bucket, i]));
  const totals = new Map<string, bigint>();
  const cells = new Map<string, bigint[]>();
  for (const row of rows) {
    const place = at.get(String(row[asked.bucket]));
    if (place === undefined) continue;
    const named = keyOf(row, asked.by);
    const key = isOthers(named) ? OTHERS : named;
    const amount = ticks(row[asked.cost] as string | null);
    const line = cells.get(key) ?? Array.from({ length: buckets.length }, () => 0n);
    line[place] = (line[place] ?? 0n) + amount;
    cells.set(key, line);
    totals.set(key, (totals.get(key) ?? 0n) + amount);
  }
  // Owners first, the largest at the bottom of a stack; then the others; then unallocated cost.
  const rank = (key: string) => (key === OTHERS ? 1 : key.startsWith("(") ? 2 : 0);
  const inOrder = [...cells.keys()].sort((a, b) => {
    if (rank(a) !== rank(b)) return rank(a) - rank(b);
    const [x, y] = [totals.get(a) ?? 0n, totals.get(b) ?? 0n];
    return x > y ? -1 : x < y ? 1 : a < b ? -1 : 1;
  });
  const named = inOrder.filter((key) => rank(key) === 0);
  const nobody = inOrder.filter((key) => rank(key) === 2).slice(0, asked.most);
  const shown = [...named.slice(0, Math.max(1, asked.most - nobody.length)), ...nobody];
  const rest = inOrder.filter((key) => !shown.includes(key));
  let colour = 0;
  const series = shown.map((key) => ({
    key,
    name: key.startsWith("(") ? shownKey(first(key)) : key,
    colour: key.startsWith("(") || asked.by.join() === "kind" ? seriesName(first(key), 0) : seriesName(key, colour++),
    values: (cells.get(key) ?? []).map(fromTicks),
    total: fromTicks(totals.get(key) ?? 0n),
  }));
  if (rest.length > 0) {
    const firstOfNobody = series.findIndex((one) => one.key.startsWith("("));
    const sums = buckets.map((_, i) => rest.reduce((sum, key) => sum + (cells.get(key)?.[i] ?? 0n), 0n));
    series.splice(firstOfNobody < 0 ? series.length : firstOfNobody, 0, {
      key: OTHERS,
      name: OTHERS,
      colour: "others",
      values: sums.map(fromTicks),
      total: fromTicks(sums.reduce((sum, one) => sum + one, 0n)),
    });
  }
  return { buckets, series };
}
