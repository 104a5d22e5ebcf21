// The address of an explanation: what the figure was asked with, so that the same amount is explained.
import { href, withQuery, type Changes } from "../../app/router";
import { keyOf } from "../../util/filter";

export interface Explained {
  by?: string[]; // with values: a row of a report; without: all of it
  values?: string[];
  charge?: string;
  bucket?: string;
  filter?: string[];
  month?: string | null;
  from?: string | null;
  to?: string | null;
  cost?: string | null;
  as_of?: string | null;
  currency?: string | null;
}

export function whyAddress({ by, values, cost, ...rest }: Explained): string {
  const isRange = Boolean(rest.from ?? rest.to);
  const changes: Changes = {
    by: by?.join(",") ?? null,
    key: values ? keyOf(values) : null,
    cost: cost === "effective" ? null : (cost ?? null),
    ...rest,
    month: isRange ? null : (rest.month ?? null),
  };
  return href("/explain", changes);
}

// What the page asks of the API, from its own address.
const NAMES = ["by", "key", "charge", "bucket", "from", "to", "cost", "as_of", "posting", "offset"] as const;

export function readExplained(query: URLSearchParams, month: string): Record<string, string | string[] | null> {
  const read = Object.fromEntries(NAMES.map((name) => [name, query.get(name)]));
  const isRow = !read["charge"] && !read["bucket"];
  const isRange = read["from"] !== null || read["to"] !== null;
  if (isRow && read["by"] === null) read["by"] = "month"; // all of the month
  return { ...read, filter: isRow ? query.getAll("filter") : [], month: isRow && !isRange ? month : null };
}

// The same, with only the postings that the reader has narrowed it to: "within=kind=used". A bill line's are
// those of the row with its id. A bucket can't be narrowed.
export function readNarrowed(query: URLSearchParams, month: string): Record<string, string | string[] | null> {
  const read = readExplained(query, month);
  const within = query.getAll("within");
  const charge = query.get("charge");
  if (charge) return { ...read, charge: null, by: "charge", key: charge, filter: within };
  return { ...read, filter: [...query.getAll("filter"), ...within] };
}

// This explanation, narrowed further, or to nothing else: a part, a node, a workload.
export function narrowed(within: string[]): string {
  return withQuery({ within, posting: null, offset: null });
}

export function isNarrowed(query: URLSearchParams): boolean {
  return query.has("within") && !query.has("bucket");
}
