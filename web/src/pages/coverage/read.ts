// Finds the tables of /coverage by their columns; all texts come from the API.
import type { ApiTable, Row } from "../../api/types";
import { add } from "../../util/money";

export interface Reach {
  dimension: string;
  spend: string;
  reached: string;
  spread: string; // by spreading
  share: string | null;
  gap: string;
}
export interface Stop {
  reason: string;
  amount: string;
  share: string | null;
  advice: string;
}
export interface CoverageOf {
  currency: string;
  bill: ApiTable | undefined; // GPU spend in the bill
  reach: Reach[];
  stops: Map<string, Stop[]>; // by dimension
  places: { dimension: string; table: ApiTable }[]; // dimension "": of all
}

const text = (value: unknown) => (value === null || value === undefined ? "" : String(value));

function has(table: ApiTable, ...names: string[]): boolean {
  return names.every((name) => table.columns.some((column) => column.name === name));
}

function reachOf(row: Row): Reach {
  return {
    dimension: text(row["dimension"]),
    spend: text(row["gpu_spend"]),
    reached: text(row["reached"]),
    spread: text(row["by_spreading"]) || "0",
    share: text(row["share"]) || null,
    gap: text(row["gap"]),
  };
}

function stopsOf(table: ApiTable): Stop[] {
  return table.rows.map((row) => {
    const reason = text(row["reason"]);
    const note = table.notes?.find((one) => one.startsWith(reason + ": ")) ?? "";
    return {
      reason,
      amount: text(row["effective_cost"]),
      share: text(row["share"]) || null,
      advice: note.slice(reason.length + 2),
    };
  });
}

// "team, project: where the gap stops" is about both.
function dimensionsOf(title: string): string[] {
  const colon = title.indexOf(":");
  return colon < 0 ? [] : title.slice(0, colon).split(",").map((one) => one.trim());
}

export function readCoverage(tables: ApiTable[]): CoverageOf[] {
  const all = new Map<string, CoverageOf>();
  for (const table of tables) {
    const currency = table.currency ?? "";
    const one = all.get(currency) ?? { currency, bill: undefined, reach: [], stops: new Map<string, Stop[]>(), places: [] };
    all.set(currency, one);
    if (has(table, "dimension", "gpu_spend")) one.reach = table.rows.map(reachOf);
    else if (has(table, "part", "share")) one.bill = table;
    else if (has(table, "reason")) {
      for (const dimension of dimensionsOf(table.title)) one.stops.set(dimension, stopsOf(table));
    } else if (has(table, "place")) {
      const dimension = dimensionsOf(table.title)[0] ?? ""; // "": about all dimensions
      one.places.push({ dimension, table });
    }
  }
  return [...all.values()].filter((one) => one.reach.length > 0);
}

// What reaches an owner, directly or by spreading.
export function arrives(reach: Reach): string {
  return add(reach.reached, reach.spread);
}
