// The way to an explanation that is offered only where it is one: the filter is asked for, and what it selects comes to
// the figure, to the last digit. For figures that are worked out by more than a filter can say.
import { useEffect, useState } from "preact/hooks";
import { address, getAt } from "../api/client";
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

// Figures of one page often share a filter, which is asked for once.
const asked = new Map<string, Promise<Tables>>();
const KEPT_MS = 5000;

function askOnce(input: string): Promise<Tables> {
  let answer = asked.get(input);
  if (!answer) {
    answer = getAt<Tables>(input, new AbortController().signal);
    asked.set(input, answer);
    const forget = () => setTimeout(() => asked.delete(input), KEPT_MS);
    answer.then(forget, forget);
  }
  return answer;
}

// The answer, once it is there; nothing where there is none: then no way is offered.
function useAnswer(input: string | null): Tables | undefined {
  const [state, setState] = useState<{ input: string | null; data?: Tables }>({ input: null });
  useEffect(() => {
    if (input === null) return;
    let isMine = true;
    askOnce(input).then((data) => isMine && setState({ input, data }), () => undefined);
    return () => {
      isMine = false;
    };
  }, [input]);
  return state.input === input ? state.data : undefined;
}

function Tried({ filters, amount, currency, label, cost = "effective", ...period }: Figure) {
  const [filter, ...others] = filters;
  const query = { by: "kind", ...period, filter, cost: cost === "effective" ? null : cost };
  const costs = useAnswer(filter ? address("/costs", query) : null);
  if (!filter || !costs) return null;
  const rows = costs.tables.find((table) => table.currency === currency)?.rows ?? [];
  const sum = add(...rows.map((row) => String(row[`${cost}_cost`] ?? "0")));
  if (compare(sum, amount) === 0) return <Why of={{ by: ["kind"], filter, cost, ...period }} label={label} />;
  return <Tried filters={others} amount={amount} currency={currency} label={label} cost={cost} {...period} />;
}

export function VerifiedWhy(of: Figure) {
  return isZero(of.amount) ? null : <Tried key={of.label} {...of} />;
}
