// The query's result as a table: a row opens the next dimension, and explains its amount.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { ApiTable as Data, Row } from "../../api/types";
import { href, navigate } from "../../app/router";
import { ApiTable } from "../../components/api_table";
import { Card } from "../../components/card";
import type { Column } from "../../components/table";
import { CutMiddle } from "../../components/cut_middle";
import { Why } from "../../components/why";
import { shownKey, shownWorkload } from "../../util/text";
import type { Explained } from "../explain/address";
import { drillDown, exportAddress, filterText, type Question } from "./state";

function keysOf(row: Row, by: string[]): Record<string, string> {
  return Object.fromEntries(by.map((name) => [name, String(row[name] ?? "")]));
}

function workloadLink(row: Row, by: string[], month: string): string | null {
  const name = String(row["workload"] ?? "");
  if (!by.includes("workload") || name === "" || name.startsWith("(")) return null;
  return href("/workload", { workload: name, cluster: by.includes("cluster") ? String(row["cluster"]) : null, month });
}

// A row of the table, or all of it, with everything that the table was asked with.
function explained({ by, filters, month, from, to, cost, asOf }: Question, row: Row | undefined): Explained {
  return { by, values: row && by.map((name) => String(row[name] ?? "")), filter: filters.map(filterText), month, from, to, cost, as_of: asOf };
}

export function CostTable({ question, table, dimensions }: { question: Question; table: Data; dimensions: string[] }) {
  const { by, month } = question;
  const cells = useMemo(() => {
    const owners = by.map((name, i): [string, (row: Row) => ComponentChildren] => [
      name,
      (row) => {
        const value = String(row[name] ?? "");
        const to = i === by.length - 1 ? (workloadLink(row, by, month) ?? drillDown(question, keysOf(row, by), dimensions)) : drillDown(question, { [name]: value }, dimensions);
        const text = value.startsWith("(") || name === "workload" ? <span class={value.startsWith("(") ? "cut aside" : "cut"}>{name === "workload" ? shownWorkload(value) : shownKey(value)}</span> : value ? <CutMiddle text={value} /> : "–";
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
      total: table.total ? <Why of={explained(question, undefined)} label="this total" /> : undefined,
      cell: (row) => (isMany(row) ? null : <Why of={explained(question, row)} label={by.map((name) => shownKey(String(row[name] ?? ""))).join(", ")} />),
    }];
  }, [table, question]);

  const open = (row: Row) => {
    const to = workloadLink(row, by, month) ?? drillDown(question, keysOf(row, by), dimensions);
    if (to) navigate(to);
  };
  return (
    <Card flush>
      <ApiTable table={table} extra={extra} caption={table.title} cells={cells} onRow={open} csv={exportAddress(question, "sheet", "none")}
        sort={{ key: `${question.cost}_cost`, down: true }} />
    </Card>
  );
}
