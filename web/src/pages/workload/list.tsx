// The workloads of a month, the most expensive first.
import { address } from "../../api/client";
import { usePages, usePaused } from "../../api/hooks";
import type { WorkloadLine } from "../../api/types";
import { useMonth } from "../../app/month";
import { href, navigate, setQuery, useRoute } from "../../app/router";
import { Card, PageHead } from "../../components/card";
import { Button, Meter, Segments } from "../../components/controls";
import { TextField } from "../../components/form";
import { Money, Percent, Quantity } from "../../components/money";
import { Empty, ErrorNote, Skeleton } from "../../components/states";
import { Table, type Column } from "../../components/table";
import { Why } from "../../components/why";
import { percent, toHeight } from "../../util/money";
import { dayShort, monthName, shownWorkload, words } from "../../util/text";

const PAGE = 200;
// Costs that a rule spread to an owner have no job; they keep the kind of the bucket they come from.
const OWN_COSTS = "kind=used,held_idle";
const OWNERS = ["team", "user", "project"]; // before other dimensions

function link(line: WorkloadLine, month: string): string {
  return href("/workload", { cluster: line.cluster, workload: line.workload, month });
}

function nameOf(line: WorkloadLine, dimension: string): string {
  const value = line.dimensions[dimension] ?? "";
  return value === "(none)" ? "" : value;
}

function columnsOf(rows: WorkloadLine[], month: string, filter: string[]): Column<WorkloadLine>[] {
  const named = new Set(rows.flatMap((line) => Object.entries(line.dimensions).filter(([, value]) => value && value !== "(none)").map(([name]) => name)));
  const names = [...OWNERS.filter((name) => named.has(name)), ...named].filter((name, i, all) => all.indexOf(name) === i).slice(0, 3);
  const currencies = new Set(rows.map((line) => line.currency));
  const own = currencies.size === 1 ? ` ${[...currencies][0]}` : "";
  const used = (line: WorkloadLine) => percent(line.used_cost, line.effective_cost, 4);
  return [
    {
      key: "workload", title: "Workload", value: (line) => line.workload,
      cell: (line) => <a class="cut" href={link(line, month)} title={line.workload}>{shownWorkload(line.workload)}</a>,
    },
    {
      key: "cost", title: `Cost${own}`, numeric: true, unit: (line) => line.currency, value: (line) => line.effective_cost,
      cell: (line) => (
        <span class="figure-why">
          <Money amount={line.effective_cost} currency={own ? null : line.currency} unit={line.currency} />
          <Why of={{ by: ["cluster", "workload"], values: [line.cluster, line.workload], filter, month }} label={shownWorkload(line.workload)} />
        </span>
      ),
    },
    { key: "cluster", title: "Cluster", hideOnPhone: true, value: (line) => line.cluster, cell: (line) => line.cluster || <span class="nothing">–</span> },
    ...names.map((name): Column<WorkloadLine> => ({
      key: `d-${name}`, title: words(name), hideOnPhone: name !== names[0], value: (line) => line.dimensions[name] ?? "",
      cell: (line) => <span class="cut" title={line.dimensions[name]}>{nameOf(line, name) || <span class="nothing">–</span>}</span>,
    })),
    {
      key: "time", title: "Ran", hideOnPhone: true, value: (line) => line.first,
      cell: (line) => <span class="num" title={`${line.first} to ${line.last}`}>{dayShort(line.first.slice(0, 10))} – {dayShort(line.last.slice(0, 10))}</span>,
    },
    { key: "hours", title: "GPU-hours", numeric: true, hideOnPhone: true, value: (line) => line.gpu_hours, cell: (line) => <Quantity value={line.gpu_hours} exactly={line.gpu_hours_exact} /> },
    {
      key: "used", title: "Used", numeric: true, hideOnPhone: true, value: used,
      cell: (line) => <span class="share"><Meter percent={toHeight(used(line))} /><Percent value={used(line)} digits={0} /></span>,
    },
    { key: "idle", title: `Idle${own}`, numeric: true, hideOnPhone: true, unit: (line) => line.currency, value: (line) => line.held_idle_cost, cell: (line) => <Money amount={line.held_idle_cost} unit={line.currency} /> },
  ];
}

export function Workloads() {
  const { month } = useMonth();
  const { query } = useRoute();
  const filter = query.getAll("filter");
  const isAll = query.get("spread") === "with";
  const text = query.get("q") ?? "";
  const paused = usePaused(text);
  const asked = { month, filter: isAll ? filter : [...filter, OWN_COSTS], text: paused };
  const pages = usePages<WorkloadLine>("/workloads", { ...asked, limit: PAGE });
  const rows = pages.rows;
  return (
    <>
      <PageHead title="Workloads" lead={isAll ? `The jobs and services of ${monthName(month)}, and the costs that rules spread to owners.` : `The jobs and services of ${monthName(month)}, with the cost of what they held. Costs that rules spread to owners are not among them.`} />
      <Card flush>
        <div class="live-controls">
          <TextField label="Find" type="search" placeholder="a workload, a person, a cluster" value={query.get("q") ?? ""}
            onValue={(q) => setQuery({ q }, { replace: true })} />
          <Segments label="Costs" chosen={isAll ? "with" : "own"} onChoose={(key) => setQuery({ spread: key === "with" ? "with" : null })}
            options={[{ key: "own", title: "What ran" }, { key: "with", title: "With spread costs" }]} />
          {filter.length > 0 && <Button onClick={() => setQuery({ filter: null })}>Remove the filter {filter.join(", ")}</Button>}
        </div>
        {pages.error && <ErrorNote error={pages.error} retry={pages.reload} />}
        {pages.loading && pages.rows.length === 0 ? (
          <Skeleton lines={10} />
        ) : (
          !pages.error && (
            <Table
              caption="Workloads"
              columns={columnsOf(pages.rows, month, asked.filter)}
              rows={rows}
              rowKey={(line) => `${line.cluster}/${line.workload}/${line.currency}`}
              onRow={(line) => navigate(link(line, month))}
              csv={address("/workloads", { ...asked, format: "sheet" })}
              empty={
                <Empty icon="workload" title={text ? `No workload of ${monthName(month)} matches` : `Nothing ran in ${monthName(month)}`}
                  {...(text ? {} : { command: "pennyweight import --cluster prod nodes.csv sacct.txt" })}>
                  {text ? "Its name, cluster, team and user are searched." : "Connect Slurm or Kubernetes, or import what sacct says."}
                </Empty>
              }
            />
          )
        )}
        {pages.hasMore && (
          <div class="table-foot">
            <Button busy={pages.loading} onClick={pages.loadMore}>Load more</Button>
          </div>
        )}
      </Card>
    </>
  );
}
