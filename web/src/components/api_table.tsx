// ApiTable: shows a table of the API (reporting/table.h) by the kinds of its columns.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { ApiColumn, ApiTable as Data, Row } from "../api/types";
import { toHeight } from "../util/money";
import { words } from "../util/text";
import { Meter } from "./controls";
import { CutMiddle } from "./cut_middle";
import { Money, Percent, Quantity } from "./money";
import { Table, type Column, type Sort } from "./table";

export interface ApiTableProps {
  table: Data;
  caption?: string;
  csv?: string;
  sort?: Sort | null;
  onRow?: ((row: Row) => void) | undefined;
  // Replaces the cells of columns, by name.
  cells?: Record<string, (row: Row) => ComponentChildren>;
  titles?: Record<string, string>;
  hide?: string[];
  extra?: Column<Row>[]; // additional columns, at the right
  dense?: boolean;
  tall?: boolean;
  empty?: ComponentChildren;
}

const NUMERIC = new Set(["money", "exact_money", "gpu_hours", "percent", "count"]);

function text(value: unknown): string | null {
  return value === null || value === undefined || value === "" ? null : String(value);
}

// One value, by the kind of its column.
export function CellOf({ column, row, currency }: { column: ApiColumn; row: Row; currency?: string | null | undefined }) {
  const value = text(row[column.name]);
  switch (column.kind) {
    case "money":
      return <Money amount={value} unit={currency} />;
    case "exact_money":
      return value === null ? <span class="nothing">–</span> : <span class="num">{value}</span>;
    case "gpu_hours":
      return <Quantity value={value} digits={1} exactly={text(row[column.name + "_exact"]) ?? undefined} />;
    case "percent":
      return <Percent value={value} />;
    case "count":
      return <Quantity value={value} digits={value?.includes(".") ? 2 : 0} />;
    case "id":
      return value === null ? <span class="nothing">–</span> : <code class="id">{value}</code>;
    case "text":
      if (value === null) return <span class="nothing">–</span>;
      if (value.startsWith("(")) return <span class="cut aside" title={value}>{value}</span>;
      return <CutMiddle text={value} />;
  }
}

// A share with a bar beside it.
function ShareCell({ column, row }: { column: ApiColumn; row: Row }) {
  return (
    <span class="share">
      <Meter percent={toHeight(text(row[column.name]))} />
      <CellOf column={column} row={row} />
    </span>
  );
}

function titleOf(column: ApiColumn, currency: string | undefined): string {
  // The header has the currency once, however the API words it.
  const isMoney = column.kind === "money" || column.kind === "exact_money";
  const title = column.title || words(column.name);
  if (!isMoney || !currency || title.includes(currency)) return words(title);
  return `${words(title)} ${currency}`;
}

export function ApiTable(props: ApiTableProps) {
  const { table, hide = [] } = props;
  const ofTable = useMemo(
    () =>
      table.columns
        .filter((column) => !hide.includes(column.name))
        .map((column, index): Column<Row> => {
          const numeric = NUMERIC.has(column.kind);
          const own = props.cells?.[column.name];
          const isShare = column.name === "share_percent";
          return {
            key: column.name,
            title: props.titles?.[column.name] ?? titleOf(column, table.currency),
            numeric,
            wide: index === 0,
            value: (row) => row[column.name],
            cell: (row) =>
              own ? own(row) : isShare ? <ShareCell column={column} row={row} /> : <CellOf column={column} row={row} currency={table.currency} />,
            total: table.total ? (
              index === 0 && !text(table.total[column.name]) ? "Total" : totalCell(column, table.total, table.currency)
            ) : undefined,
          };
        }),
    [table, hide.join(), props.cells, props.titles],
  );
  const columns = useMemo(() => [...ofTable, ...(props.extra ?? [])], [ofTable, props.extra]);
  return (
    <>
      <Table
        caption={props.caption ?? table.title}
        columns={columns}
        rows={table.rows}
        rowKey={(_, index) => String(index)}
        sort={props.sort}
        csv={props.csv}
        onRow={props.onRow}
        dense={props.dense}
        tall={props.tall}
        empty={props.empty}
      />
      {table.notes && table.notes.length > 0 && (
        <ul class="table-notes">
          {table.notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
    </>
  );
}

function totalCell(column: ApiColumn, total: Row, currency: string | null | undefined): ComponentChildren {
  const value = text(total[column.name]);
  if (value === null) return "";
  return value === "total" ? "Total" : <CellOf column={column} row={total} currency={currency} />;
}
