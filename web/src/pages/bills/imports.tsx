// Imports: every delivery with its new facts, its changes, and the rows that were set aside with the reason.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { usePages } from "../../api/hooks";
import { Card, Facts } from "../../components/card";
import { Badge, Button } from "../../components/controls";
import { Dialog } from "../../components/dialog";
import { Money } from "../../components/money";
import { Empty, ErrorNote, Skeleton } from "../../components/states";
import { Table, type Column } from "../../components/table";
import { instant, plural, words } from "../../util/text";
import type { Equation, Import, MoneyOfRows, RejectedRow } from "./types";

const FACTS = ["charges", "holdings", "nodes", "gpus", "usages", "outages", "corrections", "outcomes"] as const;
const NAMES: Record<(typeof FACTS)[number], string> = {
  charges: "bill lines", holdings: "holdings", nodes: "nodes", gpus: "GPUs", usages: "usage readings",
  outages: "outages", corrections: "corrections", outcomes: "outcomes",
};

function brought(one: Import): string {
  const parts = FACTS.filter((fact) => one[fact] > 0).map((fact) => `${one[fact].toLocaleString("en")} ${NAMES[fact]}`);
  return parts.length === 0 ? "nothing new" : parts.join(", ");
}

function changed(one: Import): string[] {
  const said: [number | undefined, string][] = [
    [one.restated?.removed, "removed from open months"],
    [one.restated?.reversed, "reversed, of closed months"],
    [one.restated?.late, "booked late, of closed months"],
  ];
  return said.filter(([count]) => count).map(([count, text]) => `${plural(count ?? 0, "line")} ${text}`);
}

function MoneyRows({ of }: { of: MoneyOfRows }) {
  return (
    <>
      {plural(of.rows, "row")}
      {of.costs.map((one) => (
        <span key={one.currency}>
          {"; "}<Money amount={one.billed} currency={one.currency} /> billed, <Money amount={one.effective} currency={one.currency} /> effective
        </span>
      ))}
      {of.unreadable > 0 && <>; {plural(of.unreadable, "row")} whose cost is not readable</>}
    </>
  );
}

// In the files = taken + set aside + passed over.
function equationFacts(equation: Equation | null): [string, ComponentChildren][] {
  if (!equation) return [];
  return [
    ["In the file", <MoneyRows of={equation.in_files} />],
    ["Taken", <MoneyRows of={equation.taken} />],
    ...(equation.aside.rows > 0 ? [["Set aside", <MoneyRows of={equation.aside} />] as [string, ComponentChildren]] : []),
    ...equation.passed_over.map((one): [string, ComponentChildren] => [`Passed over: ${one.reason}`, <MoneyRows of={one.rows} />]),
    ...(equation.whole ? [] : [["Open", "the cost of some rows is not known"] as [string, ComponentChildren]]),
  ];
}

const COLUMNS: Column<Import>[] = [
  { key: "number", title: "Delivery", wide: true, value: (one) => one.number,
    cell: (one) => <span class="cut" title={one.name}><span class="muted num">{one.number}</span> {one.name}</span> },
  { key: "rejected", title: "Set aside", numeric: true, value: (one) => one.rejected,
    cell: (one) => (one.rejected > 0 ? <Badge tone="warn">{plural(one.rejected, "row")}</Badge> : <span class="nothing">–</span>) },
  { key: "at", title: "When", value: (one) => one.at, cell: (one) => <span class="num">{instant(one.at)}</span> },
  { key: "brought", title: "Added", cell: (one) => <span class="cut" title={brought(one)}>{brought(one)}</span> },
  { key: "changed", title: "Changed",
    cell: (one) => (changed(one).length > 0 ? <Badge tone="accent" title={changed(one).join("; ")}>restates</Badge> : <span class="nothing">–</span>) },
  { key: "format", title: "Format", value: (one) => one.format, cell: (one) => <Badge>{one.format}</Badge> },
  { key: "style", title: "Style", hideOnPhone: true, value: (one) => one.style, cell: (one) => words(one.style) },
];

const ROW_COLUMNS: Column<RejectedRow>[] = [
  { key: "line", title: "Line", numeric: true, value: (row) => row.line, cell: (row) => (row.line > 0 ? row.line.toLocaleString("en") : "–") },
  { key: "column", title: "Column", value: (row) => row.column, cell: (row) => (row.column ? <code>{row.column}</code> : <span class="nothing">whole row</span>) },
  { key: "reason", title: "Reason, and what to do", wide: true, value: (row) => row.reason, cell: (row) => <span class="wrap">{row.reason}</span> },
  { key: "text", title: "Row", cell: (row) => <code class="cut" title={row.text}>{row.text}</code> },
];

function Rejected({ number }: { number: number }) {
  const rows = usePages<RejectedRow>(`/imports/${number}/rejected`);
  if (rows.error) return <ErrorNote error={rows.error} retry={rows.reload} />;
  if (rows.loading && rows.rows.length === 0) return <Skeleton />;
  return (
    <>
      <Table caption="Rows set aside" columns={ROW_COLUMNS} rows={rows.rows} rowKey={(row, i) => `${row.line}-${i}`} dense shown={1000} />
      {rows.hasMore && <Button small onClick={rows.loadMore} busy={rows.loading}>Show more</Button>}
    </>
  );
}

export function ImportsTab() {
  const imports = usePages<Import>("/imports");
  const [chosen, setChosen] = useState<Import>();
  if (imports.error) return <ErrorNote error={imports.error} retry={imports.reload} />;
  if (imports.loading && imports.rows.length === 0) return <Card><Skeleton lines={6} /></Card>;
  return (
    <Card flush>
      <Table
        caption="Imports"
        columns={COLUMNS}
        rows={imports.rows}
        rowKey={(one) => String(one.number)}
        sort={{ key: "number", down: true }}
        onRow={setChosen}
        shown={1000}
        empty={
          <Empty icon="bills" title="Nothing was imported yet" command="pennyweight import bill.csv jobs.txt nodes.csv">
            The ledger combines three things: what was paid (bills), who held GPUs (Slurm, Kubernetes), and what GPUs did
            (telemetry). Import files, or let pennyweight serve watch your clusters.
          </Empty>
        }
      />
      {imports.hasMore && (
        <div class="table-foot">
          <Button small onClick={imports.loadMore} busy={imports.loading}>Show more</Button>
        </div>
      )}
      <Dialog title={chosen ? `Import ${chosen.number}` : ""} open={chosen !== undefined} onClose={() => setChosen(undefined)} wide>
        {chosen && (
          <div class="dialog-body stack">
            <Facts
              facts={[
                ["Delivery", chosen.name],
                ["Format", chosen.format],
                ["When", `${instant(chosen.at)}`],
                ["Style", words(chosen.style)],
                ...(chosen.reason ? [["Reason", chosen.reason] as [string, string]] : []),
                ["Added", brought(chosen)],
                ...equationFacts(chosen.equation),
                ["Changed", changed(chosen).join("; ") || "nothing existing"],
              ]}
            />
            {chosen.rejected > 0 ? <Rejected number={chosen.number} /> : <p class="muted">No row was set aside.</p>}
          </div>
        )}
      </Dialog>
    </Card>
  );
}
