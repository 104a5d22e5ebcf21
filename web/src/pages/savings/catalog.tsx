// GPU models with what they can do and what an hour of one costs; and which of them would run a load.
import { useState } from "preact/hooks";
import { address } from "../../api/client";
import { useQuery } from "../../api/hooks";
import type { ApiTable as ApiTableData, Tables } from "../../api/types";
import { setQuery, useRoute } from "../../app/router";
import { ApiTable } from "../../components/api_table";
import { Card } from "../../components/card";
import { Button } from "../../components/controls";
import { TextField } from "../../components/form";
import { Loaded } from "../../components/states";

const LOAD = [
  { name: "runs_on", title: "Runs on", hint: "A100-SXM4-80GB" },
  { name: "busy", title: "SM activity, %", hint: "35" },
  { name: "busy_p95", title: "Its 95th percentile, %", hint: "45" },
  { name: "bandwidth", title: "DRAM activity, %", hint: "25" },
  { name: "memory_gib", title: "GPU memory, GiB", hint: "18" },
] as const;
const NEEDED = ["runs_on", "busy", "bandwidth", "memory_gib"];

// Prices and verdicts before what a data sheet says, so that they are in sight.
const FIRST = ["model", "provider", "fits", "on_demand", "spot", "committed_1y", "committed_3y", "time", "same_work", "why_not", "memory_gib"];

function pricesFirst(table: ApiTableData): ApiTableData {
  const place = (name: string) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
  return { ...table, columns: [...table.columns].sort((a, b) => place(a.name) - place(b.name)) };
}

export function Catalog() {
  const { query } = useRoute();
  const chosen = (name: string) => query.get(name) ?? "";
  const isComplete = NEEDED.every((name) => chosen(name) !== "");
  const missing = LOAD.filter(({ name }) => NEEDED.includes(name) && chosen(name) === "");
  const isPartial = !isComplete && LOAD.some(({ name }) => chosen(name) !== "");
  const load = isComplete ? Object.fromEntries(LOAD.map(({ name }) => [name, chosen(name)])) : {};
  const found = useQuery<Tables>("/catalog", load);
  const [typed, setTyped] = useState<Record<string, string>>(() => Object.fromEntries(LOAD.map(({ name }) => [name, chosen(name)])));
  const submit = (event: Event) => {
    event.preventDefault();
    setQuery(Object.fromEntries(LOAD.map(({ name }) => [name, typed[name]?.trim() || null])));
  };
  return (
    <div class="stack">
      <Card title="Find a GPU for a workload" note="what the workload does on the GPU that it runs on now">
        <form class="form" onSubmit={submit}>
          <div class="form-row">
            {LOAD.map(({ name, title, hint }) => (
              <TextField key={name} label={title} value={typed[name] ?? ""} onValue={(value) => setTyped({ ...typed, [name]: value })}
                placeholder={hint} inputMode={name === "runs_on" ? "text" : "numeric"} />
            ))}
          </div>
          <div class="row"><Button type="submit" tone="primary">Find a GPU</Button></div>
        </form>
        {isPartial && <p class="note" role="status">To find a GPU, fill in also: {missing.map(({ title }) => title).join("; ")}.</p>}
      </Card>
      <Loaded query={found}>
        {({ tables }) => tables.map((table) => (
          <Card key={table.currency} title={table.title} flush>
            <ApiTable table={pricesFirst(table)} csv={address("/catalog", { ...load, format: "sheet" })} dense />
            {(table.notes ?? []).length > 0 && <ul class="table-notes">{(table.notes ?? []).map((note) => <li key={note}>{note}</li>)}</ul>}
          </Card>
        ))}
      </Loaded>
    </div>
  );
}
