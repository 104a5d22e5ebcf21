// The query's result as a table: a row opens the next dimension, and explains its amount.
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { ApiTable as Data, Row } from "../../api/types";
import { href, navigate } from "../../app/router";
import { ApiTable } from "../../components/api_table";
import { Card } from "../../components/card";
import { IconButton } from "../../components/controls";
import type { Column } from "../../components/table";
import { Dialog } from "../../components/dialog";
import { shownKey } from "../../util/text";
import { Explanation } from "../workload/explain";
import { drillDown, exportAddress, keyOf, type Question } from "./state";

function keysOf(row: Row, by: string[]): Record<string, string> {
  return Object.fromEntries(by.map((name) => [name, String(row[name] ?? "")]));
}

function workloadLink(row: Row, by: string[], month: string): string | null {
  const name = String(row["workload"] ?? "");
  if (!by.includes("workload") || name === "" || name.startsWith("(")) return null;
  return href("/workload", { workload: name, cluster: by.includes("cluster") ? String(row["cluster"]) : null, month });
}

export function CostTable({ question, table, dimensions }: { question: Question; table: Data; dimensions: string[] }) {
  const { by, month } = question;
  const [why, setWhy] = useState<Row | null>(null);
  const period = question.from !== null || question.to !== null ? { from: question.from, to: question.to } : { month };
  const cells = useMemo(() => {
    const owners = by.map((name, i): [string, (row: Row) => ComponentChildren] => [
      name,
      (row) => {
        const value = String(row[name] ?? "");
        const to = i === by.length - 1 ? (workloadLink(row, by, month) ?? drillDown(question, keysOf(row, by), dimensions)) : drillDown(question, { [name]: value }, dimensions);
        const text = <span class={value.startsWith("(") ? "cut aside" : "cut"}>{shownKey(value) || "–"}</span>;
        return to ? <a href={to} title={value}>{text}</a> : text;
      },
    ]);
    return Object.fromEntries(owners);
  }, [question, dimensions]);

  const extra = useMemo((): Column<Row>[] => {
    const isMany = (row: Row) => /^\(\d+ others/.test(String(row[by[0] ?? ""]));
    return [{
      key: "@why",
      title: "",
      label: "Explanation",
      total: table.total ? "" : undefined,
      cell: (row) => (isMany(row) ? null : <IconButton icon="help" label="Explain this amount" onClick={() => setWhy(row)} />),
    }];
  }, [table, by]);

  const open = (row: Row) => {
    const to = workloadLink(row, by, month) ?? drillDown(question, keysOf(row, by), dimensions);
    if (to) navigate(to);
  };
  const name = why ? by.map((one) => shownKey(String(why[one] ?? ""))).join(", ") : "";
  return (
    <Card flush>
      <ApiTable table={table} extra={extra} caption={table.title} cells={cells} onRow={open} csv={exportAddress(question, "csv", "none")}
        sort={{ key: `${question.cost}_cost`, down: true }} />
      <Dialog title={`Cost of ${name} explained`} open={why !== null} onClose={() => setWhy(null)} wide>
        <div class="dialog-body">
          {why && <Explanation parameters={{ by: by.join(","), key: keyOf(by.map((one) => String(why[one] ?? ""))), ...period }} />}
        </div>
      </Dialog>
    </Card>
  );
}
