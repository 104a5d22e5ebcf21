// Unit costs: what a request, a million tokens or a training job cost, by owner.
import { address } from "../../api/client";
import { useQuery } from "../../api/hooks";
import type { Dimension, List, Tables } from "../../api/types";
import { useMonth } from "../../app/month";
import { setQuery, useRoute } from "../../app/router";
import { ApiTable } from "../../components/api_table";
import { Card, PageHead } from "../../components/card";
import { Segments } from "../../components/controls";
import { Select } from "../../components/form";
import { Empty, Loaded, Skeleton } from "../../components/states";
import { monthName } from "../../util/text";

const OWNERS = ["team", "project", "user"];
// Besides the dimensions of label rules: those of workloads, and labels that counters have themselves.
const OTHERS = ["workload", "cluster", "user", "client", "model"];

export default function Units() {
  const { month } = useMonth();
  const { query } = useRoute();
  const dimensions = useQuery<List<Dimension>>("/dimensions");
  const rules = (dimensions.data?.data ?? []).filter((one) => one.kind === "policy").map((one) => one.name);
  const by = query.get("by") ?? OWNERS.find((name) => rules.includes(name)) ?? rules[0] ?? "workload";
  const jobs = query.get("of") === "jobs";
  const asked = { month, by: jobs ? null : by, jobs: jobs ? true : null };
  const units = useQuery<Tables>(dimensions.data || dimensions.error ? "/units" : null, asked);
  return (
    <div class="stack">
      <PageHead title="Unit costs" lead={`What ${jobs ? "each training job cost, over all of its attempts," : "a request or a million tokens cost"} in ${monthName(month)}.`} />
      <Card>
        <div class="control-row">
          <div class="control"><span class="control-label">Of</span>
            <Segments label="Of" chosen={jobs ? "jobs" : "outcomes"} onChoose={(of) => setQuery({ of: of === "jobs" ? of : null })}
              options={[{ key: "outcomes", title: "Requests and tokens" }, { key: "jobs", title: "Jobs" }]} /></div>
          {!jobs && <div class="control"><span class="control-label">By</span>
            <Select label="By" value={by} onValue={(next) => setQuery({ by: next })} options={[...new Set([by, ...rules, ...OTHERS])].map((value) => ({ value, title: value }))} /></div>}
        </div>
      </Card>
      <Loaded query={units} skeleton={<Skeleton lines={8} />}>
        {({ tables }) => tables.length === 0 ? (
          <Card>
            <Empty icon="coins" title={jobs ? `No job has a cost in ${monthName(month)}` : `Nothing was counted in ${monthName(month)}`} command="pennyweight import outcomes.csv">
              {jobs ? "Import who held the GPUs, and allocate the month." : "serve counts requests and tokens of vLLM, Triton and TGI, or reads them from a table of outcomes."}
            </Empty>
          </Card>
        ) : (
          <div class="stack">
            {tables.map((table) => (
              <Card key={`${table.title} ${table.currency}`} title={table.title} note={table.currency} flush>
                <ApiTable table={table} caption={table.title} csv={address("/units", { ...asked, format: "sheet" })} />
              </Card>
            ))}
          </div>
        )}
      </Loaded>
    </div>
  );
}
