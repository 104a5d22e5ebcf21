// Fleet health: what becomes of the money for GPUs, day by day; who holds GPUs and does not use them; how long
// jobs wait.
import { useMemo } from "preact/hooks";
import { useQuery } from "../../api/hooks";
import type { LiveNow, Tables } from "../../api/types";
import { useMonth } from "../../app/month";
import { href, setQuery, useRoute } from "../../app/router";
import { useSession } from "../../app/session";
import { Chart } from "../../charts/chart";
import { Card, Figure, Grid } from "../../components/card";
import { LinkButton, Segments } from "../../components/controls";
import { Money, Quantity } from "../../components/money";
import { Empty, Loaded, Note, Skeleton } from "../../components/states";
import { Table, type Column } from "../../components/table";
import { percent, toHeight } from "../../util/money";
import { pivot } from "../../util/pivot";
import { bucketName, daysOf, monthName, since, words } from "../../util/text";
import { sumsOf, textOf, useFirstOf } from "./read";

const HOURS = ["1", "4", "24"] as const;
const IDLE_BELOW = 5; // percent; drivers cause some activity by themselves
const TITLES: Record<string, string> = { held_idle: "Idle" };

function Causes({ month }: { month: string }) {
  const days = useQuery<Tables>("/costs", { by: "kind", month, step: "day", top: 100 });
  return (
    <Loaded query={days} skeleton={<Skeleton height="chart" />}>
      {(data) => <>{data.tables.map((table) => <CausesOf key={table.currency} month={month} table={table} />)}</>}
    </Loaded>
  );
}

function CausesOf({ month, table }: { month: string; table: Tables["tables"][number] }) {
  const currency = table.currency ?? "";
  const chart = useMemo(() => pivot(table.rows, { bucket: "day", by: ["kind"], cost: "effective_cost", most: 9, buckets: daysOf(month) }), [table, month]);
  const kinds = [...new Set(table.rows.map((row) => textOf(row, "kind")))];
  const total = sumsOf({ tables: [table] }).get(currency) ?? "0";
  const sums = kinds.map((kind) => ({ kind, sum: sumsOf({ tables: [table] }, "effective_cost", (row) => textOf(row, "kind") === kind).get(currency) ?? "0" }))
    .sort((a, b) => toHeight(b.sum) - toHeight(a.sum));
  return (
    <>
      <Grid of="figures">
        {sums.slice(0, 6).map(({ kind, sum }) => (
          <Figure key={kind} label={TITLES[kind] ?? words(kind)} mark={kind === "held_idle" ? "idle" : kind} value={<Money amount={sum} currency={currency} digits={0} />}
            sub={`${percent(sum, total) ?? "0"}% of ${monthName(month)}`} why={{ by: ["kind"], values: [kind], month }} />
        ))}
      </Grid>
      <Card title="Money by cause" note={`by day, ${currency}`}>
        <Chart kind="bars" title="Money by cause, by day" labels={chart.buckets.map(bucketName)} series={chart.series} currency={currency} legend />
      </Card>
    </>
  );
}

interface Holder {
  workload: string;
  owner: string;
  nodes: string;
  idle: string;
  currency: string;
  since: string;
  busy: string;
}

function holdersOf(live: Tables, by: string, hours: number): Holder[] {
  return live.tables.flatMap((table) => table.rows
    .filter((row) => textOf(row, "since") !== "" && textOf(row, "busy") !== "" && toHeight(textOf(row, "busy")) < IDLE_BELOW)
    .filter((row) => Date.now() - Date.parse(textOf(row, "since")) >= hours * 3_600_000)
    .map((row) => ({ workload: textOf(row, "workload"), owner: textOf(row, by), nodes: textOf(row, "nodes"), idle: textOf(row, "idle_per_hour"), currency: table.currency ?? "", since: textOf(row, "since"), busy: textOf(row, "busy") })));
}

// Held for hours, and used less than a twentieth now.
function IdleHolders() {
  const { query } = useRoute();
  const { may } = useSession();
  const asked = query.get("hours");
  const hours = HOURS.find((one) => one === asked) ?? "4";
  const owner = useFirstOf(["user", "team"]);
  const live = useQuery<Tables>(owner === null || !may("read_live") ? null : "/live", { by: owner, limit: 500 });
  const now = useQuery<LiveNow>(may("read_live") ? "/live/now" : null);
  if (!may("read_live") || owner === null) return null;
  const blind = (now.data?.clusters ?? []).filter((one) => !one.watched).map((one) => one.cluster);
  const columns: Column<Holder>[] = [
    { key: "workload", title: "Workload", wide: true, value: (one) => one.workload, cell: (one) => <a class="cut" href={href("/workload", { workload: one.workload })}>{one.workload}</a> },
    { key: "owner", title: words(owner || "owner"), value: (one) => one.owner, cell: (one) => one.owner || <span class="nothing">–</span> },
    { key: "nodes", title: "Nodes", hideOnPhone: true, value: (one) => one.nodes, cell: (one) => <span class="cut" title={one.nodes}>{one.nodes}</span> },
    { key: "for", title: "For", numeric: true, value: (one) => Date.parse(one.since), cell: (one) => <span class="num" title={one.since}>{since(one.since)}</span> },
    { key: "idle", title: "Idle per hour", numeric: true, unit: (one) => one.currency, value: (one) => one.idle, cell: (one) => <Money amount={one.idle} currency={one.currency} /> },
  ];
  return (
    <Card title="Held and idle now" note="used less than 5%" flush
      actions={<Segments label="Held for at least" chosen={hours} onChoose={(to) => setQuery({ hours: to === "4" ? null : to })} options={HOURS.map((key) => ({ key, title: `${key} h` }))} />}>
      {blind.length > 0 && <Note tone="warn">No source reports what runs now on {blind.join(", ")}: who holds its GPUs is not known.</Note>}
      <Loaded query={live}>
        {(data) => (
          <Table caption="Held and idle" columns={columns} rows={holdersOf(data, owner, Number(hours))} rowKey={(one) => one.workload} sort={{ key: "idle", down: true }}
            empty={<Empty icon="fleet" title={blind.length > 0 ? "Nothing is known to be idle" : `Nothing has been held for ${hours} h without being used`} />} />
        )}
      </Loaded>
    </Card>
  );
}

// How many jobs started, and how long they waited before.
function Queue({ month }: { month: string }) {
  const activity = useQuery<Tables>("/activity", { month, as: "measures" });
  return (
    <Loaded query={activity} skeleton={<Skeleton height="figure" />}>
      {(data) => {
        const row = data.tables[0]?.rows[0];
        if (!row) return null;
        const held = textOf(row, "gpu_hours");
        const capacity = textOf(row, "gpu_capacity_hours");
        return (
          <Grid of="figures">
            <Figure label="Jobs started" value={<Quantity value={textOf(row, "jobs_started")} digits={0} />} sub={monthName(month)} href={href("/activity", { month })} />
            <Figure label="Waited on average" value={<Quantity value={textOf(row, "wait_hours_mean")} unit="h" digits={2} />} sub={textOf(row, "wait_hours_mean") ? "from submission to start" : "no source says when jobs were submitted"} />
            <Figure label="GPU-hours held" value={<Quantity value={held} digits={0} />} sub={capacity ? `${percent(held, capacity) ?? "0"}% of ${Math.round(toHeight(capacity)).toLocaleString("en")}` : "capacity unknown"} />
            <Figure label="Utilisation" value={textOf(row, "utilization") ? <Quantity value={textOf(row, "utilization")} unit="%" /> : <span class="nothing">–</span>} sub={textOf(row, "utilization") ? "of the hours seen" : "no telemetry for this month"} />
          </Grid>
        );
      }}
    </Loaded>
  );
}

export function FleetHealth() {
  const { month } = useMonth();
  return (
    <>
      <Causes month={month} />
      <Queue month={month} />
      <IdleHolders />
      <p class="ways-on"><LinkButton href="/fleet">Every GPU</LinkButton> <LinkButton href={href("/savings", { month })}>What would save money</LinkButton></p>
    </>
  );
}
