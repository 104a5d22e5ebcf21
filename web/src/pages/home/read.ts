// What the views of Home share: the values of a dimension, costs by currency, and the same days of the month
// before.
import { useQuery } from "../../api/hooks";
import type { Dimension, DimensionValue, List, Row, Summary, Tables } from "../../api/types";
import { filterText } from "../../util/filter";
import { add } from "../../util/money";
import { addMonths, daysIn } from "../../util/text";

export function textOf(row: Row, name: string): string {
  const value = row[name];
  return value === null || value === undefined ? "" : String(value);
}

// The first of these dimensions that label rules define; null while they are not known, "" without any.
export function useFirstOf(names: string[]): string | null {
  const { data, error } = useQuery<List<Dimension>>("/dimensions");
  if (error) return "";
  if (!data) return null;
  return names.find((name) => data.data.some((one) => one.name === name)) ?? "";
}

const VALUES_MOST = 1000; // of one answer

export interface Values {
  all: string[];
  isCut: boolean; // there may be more
}

// The values of a dimension with costs in a month, the most expensive first, and those of `own` that have costs,
// however small they are.
export function useValues(dimension: string | null, month: string, own: string[]): Values | undefined {
  const path = dimension ? `/dimensions/${encodeURIComponent(dimension)}/values` : null;
  const { data, error } = useQuery<List<DimensionValue>>(path, { month, limit: VALUES_MOST });
  const isCut = (data?.data.length ?? 0) >= VALUES_MOST;
  const names = own.filter((name) => name !== "");
  const mine = useQuery<Tables>(isCut && dimension && names.length > 0 ? "/costs" : null, { by: dimension ?? "", month, filter: [filterText({ dimension: dimension ?? "", negate: false, values: names })] });
  if (error || dimension === "") return { all: [], isCut: false };
  if (!data || (isCut && names.length > 0 && !mine.data && !mine.error)) return undefined;
  const found = (mine.data?.tables ?? []).flatMap((table) => table.rows.map((row) => textOf(row, dimension ?? "")));
  const all = [...new Set([...data.data.map((one) => one.value), ...found])].filter((value) => value !== "" && !value.startsWith("("));
  return { all, isCut };
}

export interface Period {
  from: string;
  to: string;
}

const day = (month: string, date: number) => `${month}-${String(Math.min(date, daysIn(month))).padStart(2, "0")}`;

// The days of a month that have costs, and as many of the month before. A whole month is compared with a whole
// one. Undefined until it is known how far the costs go.
export function useSameDays(month: string): { now: Period; before: Period } | undefined {
  const { data } = useQuery<Summary>("/summary", { month });
  if (!data) return undefined;
  const last = data.as_of?.startsWith(month) ? Number(data.as_of.slice(8, 10)) : daysIn(month);
  const earlier = addMonths(month, -1);
  const same = last >= daysIn(month) ? daysIn(earlier) : last;
  return { now: { from: day(month, 1), to: day(month, last) }, before: { from: day(earlier, 1), to: day(earlier, same) } };
}

// Sums of a money column by currency, in the order of the tables.
export function sumsOf(tables: Tables | undefined, name = "effective_cost", of: (row: Row) => boolean = () => true): Map<string, string> {
  const sums = new Map<string, string>();
  for (const { currency = "", rows } of tables?.tables ?? []) {
    sums.set(currency, add(sums.get(currency) ?? "0", ...rows.filter(of).map((row) => textOf(row, name) || "0")));
  }
  return sums;
}
