// The table of running workloads. Its columns are those of the API, with durations and shares for people.
import { useMemo } from "preact/hooks";
import type { ApiTable as Data, Row } from "../../api/types";
import { address } from "../../api/client";
import { href } from "../../app/router";
import { Meter } from "../../components/controls";
import { Money, Percent, Quantity } from "../../components/money";
import { Empty } from "../../components/states";
import { Table, type Column } from "../../components/table";
import { isAmount, toHeight } from "../../util/money";
import { since, words } from "../../util/text";

function text(row: Row, name: string): string {
  return row[name] === null || row[name] === undefined ? "" : String(row[name]);
}

function Workload({ row }: { row: Row }) {
  const name = text(row, "workload");
  if (name.startsWith("(")) return <span class="aside">Unallocated</span>;
  return (
    <a class="cut" href={href("/workload", { cluster: text(row, "cluster"), workload: name })} title={name}>
      {name}
    </a>
  );
}

function Busy({ value }: { value: string }) {
  if (!isAmount(value)) return <span class="nothing" title="no telemetry">unknown</span>;
  const percent = toHeight(value);
  return (
    <span class="share">
      <Meter percent={percent} tone={percent < 30 ? "warn" : "accent"} />
      <Percent value={value} digits={0} />
    </span>
  );
}

export function Running({ table, by, isFiltered, isBlind }: { table: Data; by: string[]; isFiltered: boolean; isBlind: boolean }) {
  const { currency = "" } = table;
  const has = (name: string) => table.columns.some((column) => column.name === name);
  const columns = useMemo(() => {
    const money = (name: string, title: string, hide = false): Column<Row> => ({
      key: name,
      title: `${title} ${currency}`,
      numeric: true,
      hideOnPhone: hide,
      value: (row) => row[name],
      cell: (row) => <Money amount={text(row, name)} unit={currency} />,
      ...(table.total ? { total: isAmount(table.total[name]) ? <Money amount={table.total[name] as string} unit={currency} /> : "" } : {}),
    });
    const plain = (name: string, title: string, hide = false): Column<Row> => ({
      key: name,
      title,
      hideOnPhone: hide,
      value: (row) => text(row, name),
      cell: (row) => <span class="cut" title={text(row, name)}>{text(row, name) || <span class="nothing">–</span>}</span>,
    });
    const all: Column<Row>[] = [
      { key: "workload", title: "Workload", wide: true, value: (row) => text(row, "workload"), cell: (row) => <Workload row={row} />, ...(table.total ? { total: "Total" } : {}) },
      ...by.filter(has).map((name, i) => plain(name, words(name), i > 0)),
      ...(has("cluster") ? [plain("cluster", "Cluster", true)] : []),
      plain("nodes", "Nodes", true),
      { key: "gpus", title: "GPUs", numeric: true, hideOnPhone: true, value: (row) => row["gpus"], cell: (row) => <Quantity value={text(row, "gpus")} digits={text(row, "gpus").includes(".") ? 2 : 0} />, ...(table.total ? { total: <Quantity value={text(table.total, "gpus")} digits={0} /> } : {}) },
      money("cost_per_hour", "Per hour"),
      { key: "busy", title: "Busy", numeric: true, value: (row) => row["busy"], cell: (row) => (text(row, "workload").startsWith("(") ? "" : <Busy value={text(row, "busy")} />) },
      money("idle_per_hour", "Idle", true),
      money("cost_today", "Today", true),
      { key: "since", title: "For", numeric: true, hideOnPhone: true, value: (row) => text(row, "since"), cell: (row) => <span class="num" title={text(row, "since")}>{text(row, "since") ? since(text(row, "since")) : ""}</span> },
    ];
    return all;
  }, [table, by.join()]);
  // Missing prices are listed above already.
  const notes = (table.notes ?? []).filter((note) => !/: node .* has no price/.test(note));
  return (
    <>
      <Table caption="What runs now" columns={columns} rows={table.rows} rowKey={(row) => `${text(row, "cluster")}/${text(row, "workload")}`}
        csv={address("/live", { by: by.join(","), format: "sheet" })}
        empty={<Empty icon="live" title={isFiltered ? "No running workload matches" : isBlind ? "What runs is not known" : "Nothing runs"}
          {...(isBlind && !isFiltered ? { action: { href: "/home?view=start", title: "Connect Kubernetes or Slurm" } } : {})} />} />
      {notes.length > 0 && (
        <ul class="table-notes">
          {notes.map((note) => <li key={note}>{note}</li>)}
        </ul>
      )}
    </>
  );
}
