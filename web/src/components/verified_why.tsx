// The way to an explanation that is offered only where it is one: the filter is asked for, and what it selects comes to
// the figure, to the last digit. For figures that are worked out by more than a filter can say.
import { useQuery } from "../api/hooks";
import type { Tables } from "../api/types";
import { add, compare, isZero } from "../util/money";
import { Why } from "./why";

interface Figure {
  filters: string[][]; // to try, one after the other
  amount: string;
  currency: string;
  label: string;
  cost?: string;
  month?: string | null;
  from?: string | null;
  to?: string | null;
}

function Tried({ filters, amount, currency, label, cost = "effective", ...period }: Figure) {
  const [filter, ...others] = filters;
  const costs = useQuery<Tables>(filter ? "/costs" : null, { by: "kind", ...period, filter, cost: cost === "effective" ? null : cost });
  if (!filter || !costs.data) return null;
  const rows = costs.data.tables.find((table) => table.currency === currency)?.rows ?? [];
  const sum = add(...rows.map((row) => String(row[`${cost}_cost`] ?? "0")));
  if (compare(sum, amount) === 0) return <Why of={{ by: ["kind"], filter, cost, ...period }} label={label} />;
  return <Tried filters={others} amount={amount} currency={currency} label={label} cost={cost} {...period} />;
}

export function VerifiedWhy(of: Figure) {
  return isZero(of.amount) ? null : <Tried key={of.label} {...of} />;
}
