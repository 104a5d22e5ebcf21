// Runs: the policy, prices and program version of each allocation of a cluster's month, and its result.
import { usePages } from "../../api/hooks";
import { href } from "../../app/router";
import { Card } from "../../components/card";
import { Badge, Button } from "../../components/controls";
import { Empty, ErrorNote, Skeleton } from "../../components/states";
import { Table, type Column } from "../../components/table";
import { instant, monthName } from "../../util/text";
import type { Run } from "./types";

const short = (hash: string) => hash.slice(0, 10);

const COLUMNS: Column<Run>[] = [
  { key: "cluster", title: "Cluster", wide: true, value: (run) => run.cluster, cell: (run) => run.cluster || "(none)" },
  { key: "number", title: "Run", numeric: true, value: (run) => run.number,
    cell: (run) => <>{run.number} {run.current && <Badge tone="good">current</Badge>}</> },
  { key: "at", title: "When", value: (run) => run.at, cell: (run) => instant(run.at) },
  { key: "postings", title: "Postings", numeric: true, value: (run) => run.postings, cell: (run) => run.postings.toLocaleString("en") },
  { key: "policy", title: "Policy", value: (run) => run.policy_version,
    cell: (run) => <a href={href("/policies", { version: run.policy_version })}><code>{short(run.policy_version)}</code></a> },
  { key: "zone", title: "Time zone", hideOnPhone: true, value: (run) => run.time_zone, cell: (run) => run.time_zone },
  { key: "program", title: "Program", hideOnPhone: true, value: (run) => run.program_version, cell: (run) => run.program_version },
  { key: "digest", title: "Fingerprint", hideOnPhone: true, cell: (run) => <code class="id" title={run.digest}>{short(run.digest)}</code> },
];

export function RunsTab({ month }: { month: string }) {
  const runs = usePages<Run>("/runs", { month });
  if (runs.error) return <ErrorNote error={runs.error} retry={runs.reload} />;
  if (runs.loading && runs.rows.length === 0) return <Card><Skeleton lines={4} /></Card>;
  return (
    <Card flush>
      <Table
        caption={`Runs of ${monthName(month)}`}
        name="Runs"
        columns={COLUMNS}
        rows={runs.rows}
        rowKey={(run) => `${run.cluster}/${run.number}`}
        sort={{ key: "number", down: true }}
        empty={
          <Empty icon="policies" title={`${monthName(month)} is not allocated yet`} command={`pennyweight allocate --month ${month}`}>
            A run divides the bill lines of a cluster's month among those who held its GPUs. Earlier runs stay readable.
          </Empty>
        }
      />
      {runs.hasMore && (
        <div class="table-foot">
          <Button small onClick={runs.loadMore} busy={runs.loading}>Show more</Button>
        </div>
      )}
    </Card>
  );
}
