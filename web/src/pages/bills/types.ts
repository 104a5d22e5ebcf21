// The API's billing types.

export interface Costs {
  billed: string;
  effective: string;
  list: string;
  contracted: string;
}
export const COSTS = ["effective", "billed", "list", "contracted"] as const;
export type CostName = (typeof COSTS)[number];

export interface ReconcileTotals {
  currency: string;
  billed: Costs;
  posted: Costs;
  difference: Costs;
  lines: number;
  lines_off: number;
  lines_unposted: number;
  transfers: number;
  transfers_off: number;
  lines_gone: number;
  exact: boolean;
}
export interface Reconciled {
  totals: ReconcileTotals[];
}
export interface ReconcileLine {
  charge: string;
  description?: string;
  resource?: string;
  service?: string;
  currency?: string;
  costs: Costs;
  posted: Costs;
  difference: Costs;
  postings: number;
  exact: boolean;
  off: string | null; // what differs
}
// Rows of a bill, and what they cost; `unreadable` of them have a cost that is not known.
export interface MoneyOfRows {
  rows: number;
  unreadable: number;
  costs: { currency: string; billed: string; effective: string; list: string; contracted: string }[];
}
// In the files = taken + set aside + passed over.
export interface Equation {
  whole: boolean;
  in_files: MoneyOfRows;
  taken: MoneyOfRows;
  aside: MoneyOfRows;
  passed_over: { reason: string; rows: MoneyOfRows }[];
}
export interface Import {
  number: number;
  format: string;
  name: string;
  at: string;
  style: string;
  reason: string;
  charges: number;
  holdings: number;
  nodes: number;
  gpus: number;
  usages: number;
  outages: number;
  corrections: number;
  outcomes: number;
  rejected: number;
  restated: { removed?: number; reversed?: number; late?: number } | null;
  months: string[]; // of a bill
  equation: Equation | null; // null: of no bill
}
export interface RejectedRow {
  line: number;
  column: string;
  reason: string;
  text: string;
}
export interface Period {
  month: string;
  state: "open" | "closed";
  closed_at: string | null;
  closed_by: string | null;
  reason: string | null;
  digest: string | null;
  lines: number | null; // counted when the month is closed
  effective: { currency: string; amount: string }[];
}
export interface Run {
  cluster: string;
  month: string;
  number: number;
  current: boolean;
  at: string;
  policy_version: string;
  catalog_version: string;
  time_zone: string;
  program_version: string;
  postings: number;
  digest: string;
}
