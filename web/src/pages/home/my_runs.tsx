// My runs: what the jobs of one person cost, what runs now, and what was held without being used.
import { address } from "../../api/client";
import { usePages, useQuery } from "../../api/hooks";
import type { Row, Tables, WorkloadLine } from "../../api/types";
import { useMonth } from "../../app/month";
import { href, navigate } from "../../app/router";
import { useSession } from "../../app/session";
import { toast } from "../../app/toasts";
import { Card, Figure, Grid } from "../../components/card";
import { Button, Meter } from "../../components/controls";
import { Money, Percent, Quantity } from "../../components/money";
import { Empty, ErrorNote, Loaded, Skeleton } from "../../components/states";
import { Table, type Column } from "../../components/table";
import { Why } from "../../components/why";
import { only } from "../../util/filter";
import { add, isZero, percent, subtract, toHeight } from "../../util/money";
import { dayShort, monthName, plural, shownWorkload, since } from "../../util/text";
import { Choice, Nobody, useChosen } from "./choice";
import { sumsOf, textOf, useFirstOf, useValues } from "./read";

const OWN_COSTS = "kind=used,held_idle";

async function copyLink(line: WorkloadLine, month: string) {
  await navigator.clipboard.writeText(location.origin + href("/workload", { cluster: line.cluster, workload: line.workload, month }));
  toast("Address copied: put it into the run's notes in your experiment tracker.");
}

function columnsOf(month: string): Column<WorkloadLine>[] {
  const to = (line: WorkloadLine) => href("/workload", { cluster: line.cluster, workload: line.workload, month });
  const used = (line: WorkloadLine) => percent(line.used_cost, line.effective_cost, 4);
  return [
    { key: "workload", title: "Run", wide: true, value: (line) => line.workload, cell: (line) => <a class="cut" href={to(line)} title={line.workload}>{shownWorkload(line.workload)}</a> },
    { key: "cost", title: "Cost", numeric: true, unit: (line) => line.currency, value: (line) => line.effective_cost,
      cell: (line) => <span class="figure-why"><Money amount={line.effective_cost} currency={line.currency} /><Why of={{ by: ["cluster", "workload"], values: [line.cluster, line.workload], month, filter: [OWN_COSTS] }} label={line.workload} /></span> },
    { key: "hours", title: "GPU-hours", numeric: true, hideOnPhone: true, value: (line) => line.gpu_hours, cell: (line) => <Quantity value={line.gpu_hours} exactly={line.gpu_hours_exact} /> },
    { key: "used", title: "Used", numeric: true, value: used, cell: (line) => <span class="share"><Meter percent={toHeight(used(line))} /><Percent value={used(line)} digits={0} /></span> },
    { key: "idle", title: "Idle", numeric: true, hideOnPhone: true, unit: (line) => line.currency, value: (line) => line.held_idle_cost, cell: (line) => <Money amount={line.held_idle_cost} currency={line.currency} /> },
    { key: "ran", title: "Ran", hideOnPhone: true, value: (line) => line.first, cell: (line) => <span class="num" title={`${line.first} to ${line.last}`}>{dayShort(line.first.slice(0, 10))} – {dayShort(line.last.slice(0, 10))}</span> },
    { key: "link", title: "", label: "Address", cell: (line) => <Button small tone="quiet" icon="link" label={`Link: copy the address of ${line.workload}`} onClick={() => void copyLink(line, month).catch((error: Error) => toast(error.message, "bad"))}>Link</Button> },
  ];
}

interface Running {
  row: Row;
  currency: string;
}

const LIMIT: Column<Running> = {
  key: "limit", title: "Until its time limit", numeric: true, unit: ({ currency }) => currency, value: ({ row }) => textOf(row, "cost_to_limit"),
  cell: ({ row, currency }) => textOf(row, "cost_to_limit")
    ? <span title={`At its present cost per hour, until ${textOf(row, "ends_by")}`}><Money amount={textOf(row, "cost_to_limit")} currency={currency} /></span>
    : <span class="nothing">–</span>,
};

// What of it runs now, with its cost per hour; nothing where no source says what runs.
function Now({ dimension, name }: { dimension: string; name: string }) {
  const live = useQuery<Tables>("/live", { by: dimension, limit: 500 });
  const rows = (live.data?.tables ?? []).flatMap((table) => table.rows.filter((row) => textOf(row, dimension) === name).map((row): Running => ({ row, currency: table.currency ?? "" })));
  if (rows.length === 0) return null;
  const columns: Column<Running>[] = [
    { key: "workload", title: "Running now", wide: true, value: ({ row }) => textOf(row, "workload"), cell: ({ row }) => <a class="cut" href={href("/workload", { workload: textOf(row, "workload") })}>{textOf(row, "workload")}</a> },
    { key: "hour", title: "Per hour", numeric: true, unit: ({ currency }) => currency, value: ({ row }) => textOf(row, "cost_per_hour"), cell: ({ row, currency }) => <Money amount={textOf(row, "cost_per_hour")} currency={currency} /> },
    { key: "idle", title: "Idle per hour", numeric: true, hideOnPhone: true, unit: ({ currency }) => currency, value: ({ row }) => textOf(row, "idle_per_hour"), cell: ({ row, currency }) => <Money amount={textOf(row, "idle_per_hour")} currency={currency} /> },
    { key: "month", title: "This month", numeric: true, unit: ({ currency }) => currency, value: ({ row }) => textOf(row, "cost_month"), cell: ({ row, currency }) => <Money amount={textOf(row, "cost_month")} currency={currency} /> },
    ...(rows.some(({ row }) => textOf(row, "cost_to_limit")) ? [LIMIT] : []),
    { key: "for", title: "For", numeric: true, hideOnPhone: true, cell: ({ row }) => (textOf(row, "since") ? since(textOf(row, "since")) : <span class="nothing">–</span>) },
  ];
  return (
    <Card flush>
      <Table caption="Running now" columns={columns} rows={rows} rowKey={({ row }) => textOf(row, "workload")} />
    </Card>
  );
}

function Runs({ dimension, name }: { dimension: string; name: string }) {
  const { month } = useMonth();
  const { may } = useSession();
  const own = only(dimension, name);
  const costs = useQuery<Tables>("/costs", { by: "kind", month, filter: [own] });
  const runs = usePages<WorkloadLine>("/workloads", { month, filter: [own, OWN_COSTS], limit: 100 });
  return (
    <>
      <Loaded query={costs} skeleton={<Skeleton height="figure" />}>
        {(data) => {
          const is = (...kinds: string[]) => (row: Tables["tables"][number]["rows"][number]) => kinds.includes(textOf(row, "kind"));
          const held = sumsOf(data, "effective_cost", is("used", "held_idle"));
          return [...sumsOf(data)].map(([currency, total]) => {
            const idle = sumsOf(data, "effective_cost", is("held_idle")).get(currency) ?? "0";
            const used = sumsOf(data, "effective_cost", is("used")).get(currency) ?? "0";
            const hours = add(...data.tables.filter((table) => table.currency === currency).flatMap((table) => table.rows.filter(is("used", "held_idle")).map((row) => textOf(row, "gpu_hours") || "0")));
            const spread = subtract(total, held.get(currency) ?? "0");
            const why = { by: ["kind"], month, filter: [own] };
            return (
              <Grid of="figures" key={currency}>
                <Figure label="Cost so far" value={<Money amount={total} currency={currency} />} sub={isZero(spread) ? monthName(month) : <span>with <Money amount={spread} currency={currency} /> of shared costs</span>} why={why} />
                <Figure label="Used" mark="used" value={<Money amount={used} currency={currency} />} sub={`${percent(used, held.get(currency)) ?? "0"}% of what its runs held`} why={{ ...why, values: ["used"] }} />
                <Figure label="Idle" mark="idle" value={<Money amount={idle} currency={currency} />} sub={isZero(idle) ? "none was seen" : "held, and not used"} why={{ ...why, values: ["held_idle"] }} />
                <Figure label="GPU-hours held" value={<Quantity value={hours} />} sub={runs.rows.length > 0 && (runs.hasMore ? "of its most expensive runs below" : plural(runs.rows.length, "run"))} />
              </Grid>
            );
          });
        }}
      </Loaded>
      {may("read_live") && <Now dimension={dimension} name={name} />}
      <Card title="Runs" note="the most expensive first; a run opens its attempts" flush>
        {runs.error ? <ErrorNote error={runs.error} retry={runs.reload} /> : runs.loading && runs.rows.length === 0 ? <Skeleton lines={6} /> : (
          <Table caption="Runs" columns={columnsOf(month)} rows={runs.rows} rowKey={(line) => `${line.cluster}/${line.workload}/${line.currency}`}
            onRow={(line) => navigate(href("/workload", { cluster: line.cluster, workload: line.workload, month }))}
            csv={address("/workloads", { month, filter: [own, OWN_COSTS], format: "sheet" })}
            empty={<Empty icon="workload" title={`Nothing of ${name} ran in ${monthName(month)}`} />} />
        )}
        {runs.hasMore && <div class="table-foot"><Button small busy={runs.loading} onClick={runs.loadMore}>Load more</Button></div>}
      </Card>
    </>
  );
}

export function MyRuns() {
  const { month } = useMonth();
  const { user } = useSession();
  const dimension = useFirstOf(["user"]);
  const own = [user?.name ?? "", user?.display_name ?? ""];
  const values = useValues(dimension, month, own);
  const chosen = useChosen(values?.all, own);
  if (dimension === null || values === undefined || chosen === undefined) return <Skeleton lines={8} />;
  if (chosen === "") return <Nobody dimension="user" month={month} />;
  return (
    <>
      <Choice dimension={dimension} values={values} chosen={chosen} />
      <Runs key={chosen} dimension={dimension} name={chosen} />
    </>
  );
}
