// Whose figures a view shows: the own name if it has costs, or another one by choice.
import { useState } from "preact/hooks";
import { setQuery, useRoute } from "../../app/router";
import { Select, TextField } from "../../components/form";
import { Empty } from "../../components/states";
import { monthName, words } from "../../util/text";
import type { Values } from "./read";

// The value of the address, the preferred one if it has costs, or the most expensive one.
export function useChosen(values: string[] | undefined, preferred: string[]): string | undefined {
  const { query } = useRoute();
  const asked = query.get("of");
  if (!values) return undefined;
  if (asked !== null) return asked;
  const lower = new Map(values.map((value) => [value.toLowerCase(), value]));
  return preferred.map((name) => lower.get(name.toLowerCase())).find((value) => value !== undefined) ?? values[0] ?? "";
}

export function Choice({ dimension, values, chosen }: { dimension: string; values: Values; chosen: string }) {
  const [typed, type] = useState("");
  const go = (event: Event) => {
    event.preventDefault();
    if (typed.trim()) setQuery({ of: typed.trim() });
  };
  return (
    <div class="control-row">
      <div class="control">
        <span class="control-label">{words(dimension)}</span>
        <Select label={words(dimension)} value={chosen} onValue={(of) => setQuery({ of })}
          options={[...new Set([chosen, ...values.all])].map((value) => ({ value, title: value }))} />
      </div>
      {values.isCut && (
        <form onSubmit={go}>
          <TextField label={`Another ${dimension}`} value={typed} onValue={type} placeholder={`the ${values.all.length.toLocaleString("en")} largest are listed`} />
        </form>
      )}
    </div>
  );
}

export function Nobody({ dimension, month }: { dimension: string; month: string }) {
  return (
    <Empty icon="workload" title={`No ${dimension} has costs in ${monthName(month)}`} action={{ href: "/policies", title: "Label rules" }}>
      Label rules say which label of a job names its {dimension}. Then its cost is found here.
    </Empty>
  );
}
