// The query of the page Explore, read from its address and written back to it. The address is its whole
// state, so a link shows the same.
import { address } from "../../api/client";
import type { Dimension } from "../../api/types";
import { href } from "../../app/router";
import { filterText, parseFilter, type Filter } from "../../util/filter";

export { filterText, keyOf, parseFilter, type Filter } from "../../util/filter";

export const STEPS = ["none", "day", "week", "month"] as const;
export const COSTS = ["effective", "billed", "list", "contracted"] as const;
export const CHARTS = ["bars", "area", "line"] as const;
export const DIMENSIONS_MOST = 3;

export interface Question {
  by: string[];
  filters: Filter[];
  malformed: string[]; // filters that can't be read: the server says what is wrong with them
  month: string; // used without from and to
  from: string | null;
  to: string | null;
  step: (typeof STEPS)[number];
  cost: (typeof COSTS)[number];
  chart: (typeof CHARTS)[number];
  currency: string | null;
  asOf: string | null;
}

function oneOf<T extends string>(value: string | null, all: readonly T[], otherwise: T): T {
  return all.find((one) => one === value) ?? otherwise;
}

// The default dimension: the first owner dimension without a filter.
const OWNERS = ["team", "project", "user"];

export function usualBy(dimensions: Dimension[], filters: Filter[]): string {
  const ofPolicy = dimensions.filter((one) => one.kind === "policy").map((one) => one.name);
  const owners = [...OWNERS.filter((name) => ofPolicy.includes(name)), ...ofPolicy, "workload"];
  const isOpen = (name: string) => !filters.some((one) => one.dimension === name && !one.negate && one.values.length === 1);
  return owners.find(isOpen) ?? "workload";
}

export function readQuestion(query: URLSearchParams, month: string, dimensions: Dimension[]): Question {
  const [from, to] = [query.get("from"), query.get("to")];
  const texts = query.getAll("filter");
  const filters = texts.map(parseFilter).filter((one) => one !== null);
  return {
    by: (query.get("by") ?? usualBy(dimensions, filters)).split(",").filter(Boolean).slice(0, DIMENSIONS_MOST),
    filters,
    malformed: texts.filter((text) => parseFilter(text) === null),
    month,
    from,
    to,
    step: oneOf(query.get("step"), STEPS, from && from === to ? "none" : "day"),
    cost: oneOf(query.get("cost"), COSTS, "effective"),
    chart: oneOf(query.get("chart"), CHARTS, "bars"),
    currency: query.get("currency"),
    asOf: query.get("as_of"),
  };
}

// The parameters of the API request.
export function parameters(question: Question) {
  const { by, filters, malformed, month, from, to, cost, currency, asOf } = question;
  const isRange = from !== null || to !== null;
  return {
    by: by.join(","),
    filter: [...filters.map(filterText), ...malformed],
    month: isRange ? null : month,
    from,
    to,
    cost,
    currency,
    as_of: asOf,
  };
}

export function exportAddress(question: Question, format: string, step = question.step): string {
  return address("/costs", { ...parameters(question), step: step === "none" ? null : step, format });
}

// The address behind a row: its keys as filters, and the next dimension.
const NEXT = ["team", "user", "workload", "node", "charge"];

export function drillDown(question: Question, keys: Record<string, string>, dimensions: string[]): string | null {
  const filters = [...question.filters];
  for (const [dimension, value] of Object.entries(keys)) {
    if (value === "" || /^\(\d+ others?\)$/.test(value)) return null;
    // The value is empty, but a workload held it.
    if (value === "(none)") {
      filters.push({ dimension, negate: false, values: [""] }, { dimension: "kind", negate: false, values: ["used", "held_idle"] });
    } else if (!filters.some((one) => one.dimension === dimension && one.values.length === 1 && one.values[0] === value)) {
      filters.push({ dimension, negate: false, values: [value] });
    }
  }
  const fixed = new Set(filters.filter((one) => !one.negate && one.values.length === 1).map((one) => one.dimension));
  const isNobody = Object.values(keys).some((value) => value.startsWith("(") && value !== "(none)");
  const order = [...new Set([...NEXT, ...dimensions])].filter((one) => dimensions.includes(one) || ["workload", "node"].includes(one));
  const next = isNobody ? (fixed.has("node") ? "component" : "node") : order.find((one) => !fixed.has(one));
  if (!next) return null;
  const isRange = question.from !== null || question.to !== null;
  return href("/explore", {
    by: next,
    filter: filters.map(filterText),
    month: isRange ? null : question.month,
    from: question.from,
    to: question.to,
    step: question.step,
    cost: question.cost === "effective" ? null : question.cost,
    chart: question.chart === "bars" ? null : question.chart,
    currency: question.currency,
  });
}
