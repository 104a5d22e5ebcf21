// The month that a page shows: the one in its address (?month=2026-03), or else the newest month with costs.
import { createContext } from "preact";
import { useContext, useMemo } from "preact/hooks";
import { useEvent } from "../api/events";
import { useQuery } from "../api/hooks";
import type { DimensionValue, List } from "../api/types";
import { IconButton } from "../components/controls";
import { addMonths, monthName, thisMonth } from "../util/text";
import { setQuery, useRoute } from "./router";
import { useSession } from "./session";

interface Months {
  month: string; // "2026-03"
  known: string[]; // with costs, the newest first
  ready: boolean; // false until the month to show is known
  listed: boolean; // whether `known` is: an address with a month is ready before
}

const MonthContext = createContext<Months>({ month: thisMonth(), known: [], ready: false, listed: false });

export function useMonths(): Months {
  const { query } = useRoute();
  const asked = query.get("month");
  const { may } = useSession();
  // Clients know the months in which they are charged something, and no costs.
  const isOfCosts = may("read_costs") || !may("read_statements");
  const costs = useQuery<List<DimensionValue>>(isOfCosts ? "/dimensions/month/values" : null, { limit: 1000 });
  const statements = useQuery<List<{ month: string }>>(isOfCosts ? null : "/statements");
  const { data, error, reload } = isOfCosts ? costs : statements;
  useEvent(isOfCosts ? "rollup" : null, reload); // a month may be new
  return useMemo(() => {
    const known = [...new Set((data?.data ?? []).map((one) => ("value" in one ? one.value : one.month)))]
      .filter((one) => /^\d{4}-\d\d$/.test(one))
      .sort()
      .reverse();
    const month = asked && /^\d{4}-\d\d$/.test(asked) ? asked : (known[0] ?? thisMonth());
    const listed = data !== undefined || error !== undefined;
    return { month, known, ready: asked !== null || listed, listed };
  }, [asked, data, error]);
}

export const MonthProvider = MonthContext.Provider;

// For pages: the month to query.
export function useMonth(): Months {
  return useContext(MonthContext);
}

export function MonthPicker() {
  const { month, known } = useMonth();
  // A month replaces single days, if the page has any.
  const choose = (month: string) => setQuery({ month, from: null, to: null });
  const newest = known[0] && known[0] > thisMonth() ? known[0] : thisMonth();
  const oldest = known[known.length - 1] ?? month;
  const options = [...new Set([...known, month])].sort().reverse();
  return (
    <div class="month" role="group" aria-label="Month">
      <IconButton icon="left" label="Previous month" onClick={() => choose(addMonths(month, -1))} disabled={month <= oldest} />
      <span class="select select-month">
        <select aria-label="Month" value={month} onChange={(event) => choose(event.currentTarget.value)}>
          {options.map((one) => (
            <option key={one} value={one}>
              {monthName(one)}
            </option>
          ))}
        </select>
      </span>
      <IconButton icon="right" label="Next month" onClick={() => choose(addMonths(month, 1))} disabled={month >= newest} />
    </div>
  );
}
