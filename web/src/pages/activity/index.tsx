// Activity: jobs, hours held, waits, and how busy GPUs were and what energy they took, by any dimension. It needs
// no bill; costs are in Explore, which opens this page with its own filters.
import { useMemo } from "preact/hooks";
import { address } from "../../api/client";
import { useQuery } from "../../api/hooks";
import type { ApiTable as Data, Dimension, List, Tables } from "../../api/types";
import { useMonth } from "../../app/month";
import { href, setQuery, useRoute } from "../../app/router";
import { ApiTable } from "../../components/api_table";
import { Card, PageHead } from "../../components/card";
import { Chip, LinkButton, Segments } from "../../components/controls";
import { Select } from "../../components/form";
import { Empty, ErrorNote, Loaded, Note, Skeleton } from "../../components/states";
import { monthName, words } from "../../util/text";

const REPORTS = ["measures", "efficiency", "usage"] as const;
const TITLES = { measures: "Jobs and hours", efficiency: "CPUs and memory", usage: "Use of GPUs" } as const;
const STEPS = ["none", "day", "week", "month"] as const;
const STEP_TITLES = { none: "Total", day: "Day", week: "Week", month: "Month" } as const;
// What ran on what, beside the dimensions of label rules; a bill's dimensions have no activity.
const BUILT_IN = ["cluster", "pool", "node", "gpu_model", "workload", "partition", "state"];
const OF_DEVICES = ["gpu"];

// Columns without any figure are left out; the page says which.
function withoutEmpty(table: Data): { table: Data; empty: string[] } {
  const isEmpty = (name: string) => table.rows.length > 0 && table.rows.every((row) => row[name] === null || row[name] === undefined);
  return {
    table: { ...table, columns: table.columns.filter((column) => !isEmpty(column.name)) },
    empty: table.columns.filter((column) => isEmpty(column.name)).map((column) => column.title || words(column.name)),
  };
}

// A table by day, week or month keeps the order of time.
const isByTime = (table: Data) => table.columns[0]?.name === "from";

function Shown({ table, csv }: { table: Data; csv: string }) {
  const { table: full, empty } = useMemo(() => withoutEmpty(table), [table]);
  return (
    <Card flush>
      <ApiTable table={full} csv={csv} caption={table.title} sort={isByTime(table) ? null : { key: "gpu_hours", down: true }} empty={<Empty icon="workload" title="Nothing ran">Import who held the GPUs, or choose another month.</Empty>} />
      {empty.length > 0 && <ul class="table-notes"><li>Not known from any source: {empty.join(", ")}</li></ul>}
    </Card>
  );
}

export default function Activity() {
  const { month } = useMonth();
  const { query } = useRoute();
  const dimensions = useQuery<List<Dimension>>("/dimensions");
  const report = REPORTS.find((one) => one === query.get("as")) ?? "measures";
  const step = STEPS.find((one) => one === query.get("step")) ?? "none";
  const rules = (dimensions.data?.data ?? []).filter((one) => one.kind === "policy").map((one) => one.name);
  const names = [...rules, ...BUILT_IN.filter((name) => !rules.includes(name)), ...(report === "usage" ? OF_DEVICES : [])];
  const by = query.get("by") ?? ["team", "user", "project"].find((name) => rules.includes(name)) ?? "cluster";
  const filter = query.getAll("filter");
  const isRange = query.has("from") || query.has("to");
  const asked = {
    by, filter, step: step === "none" ? null : step,
    ...(isRange ? { from: query.get("from"), to: query.get("to") } : { month }),
    ...(report === "usage" ? {} : { as: report }),
  };
  const path = report === "usage" ? "/usage" : "/activity";
  const answer = useQuery<Tables>(dimensions.data ? path : null, asked);
  return (
    <div class="stack">
      <PageHead title="Activity" lead={`What ran${isRange ? ` from ${query.get("from") ?? "the beginning"} to ${query.get("to") ?? "now"}` : ` in ${monthName(month)}`}: jobs, hours, waits, use and energy. No bill is needed.`}>
        <LinkButton icon="explore" href={href("/explore", { by, filter, month })}>Costs</LinkButton>
      </PageHead>
      <Card>
        <div class="control-row">
          <div class="control"><span class="control-label">Report</span>
            <Segments label="Report" chosen={report} onChoose={(as) => setQuery({ as: as === "measures" ? null : as })} options={REPORTS.map((key) => ({ key, title: TITLES[key] }))} /></div>
          <div class="control"><span class="control-label">By</span>
            <Select label="By" value={by} onValue={(next) => setQuery({ by: next })} options={[...new Set([by, ...names])].map((value) => ({ value, title: value }))} /></div>
          <div class="control"><span class="control-label">Step</span>
            <Segments label="Step" chosen={step} onChoose={(next) => setQuery({ step: next === "none" ? null : next })} options={STEPS.map((key) => ({ key, title: STEP_TITLES[key] }))} /></div>
          {filter.map((one) => <Chip key={one} onRemove={() => setQuery({ filter: filter.filter((other) => other !== one) })} removeLabel={`Remove the filter ${one}`}>{one}</Chip>)}
        </div>
      </Card>
      {answer.error ? <ErrorNote error={answer.error} retry={answer.reload} /> : (
        <Loaded query={answer} skeleton={<Skeleton lines={8} />}>
          {({ tables }) => tables.length === 0 ? <Card><Empty icon="workload" title={`Nothing ran in ${monthName(month)}`} /></Card> : (
            <div class="stack">
              {tables.map((table) => <Shown key={table.title} table={table} csv={address(path, { ...asked, format: "sheet" })} />)}
              {report === "usage" && <Note>What telemetry did not see is not taken for idle: "Seen" says of how many hours it is known.</Note>}
            </div>
          )}
        </Loaded>
      )}
    </div>
  );
}
