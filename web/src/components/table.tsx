// Table: a fixed header, sortable columns, right-aligned numbers in figures of equal width, and a totals row.
//
// A column defines how a cell looks (`cell`) and what it sorts by (`value`). Decimal strings of a column with
// `numeric` sort as exact numbers.
import type { ComponentChildren } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { compare, isAmount } from "../util/money";
import { Button, LinkButton } from "./controls";
import { ColumnChooser, useHidden } from "./column_chooser";
import { Icon } from "./icons";

export type SortValue = string | number | null | undefined;

export interface Column<R> {
  key: string;
  title: ComponentChildren;
  numeric?: boolean;
  unit?: (row: R) => string; // of amounts whose currency is not the same in all rows: those of one unit stay together
  value?: (row: R) => SortValue; // none: the column does not sort
  cell: (row: R) => ComponentChildren;
  total?: ComponentChildren;
  hideOnPhone?: boolean;
  wide?: boolean; // takes the remaining width
  label?: string; // if the title is not text
}

export interface Sort {
  key: string;
  down: boolean;
}

export interface TableProps<R> {
  caption: string; // for screen readers; not visible
  name?: string; // hidden columns are remembered by it, where the caption says a month or the like
  columns: Column<R>[];
  rows: R[];
  rowKey: (row: R, index: number) => string;
  sort?: Sort | null; // initial
  csv?: string; // the address of the same rows as CSV
  onRow?: ((row: R) => void) | undefined; // a click on a row, for the mouse; give a link in a cell too
  current?: ((row: R) => boolean) | undefined;
  dense?: boolean;
  tall?: boolean; // as tall as its rows, without inner scrolling
  shown?: number; // initial number of rows; more by a button
  empty?: ComponentChildren;
}

const SHOWN = 200;
const CHOSEN_FROM = 5; // with fewer columns there is nothing to choose
const CARDS_FROM = 4; // fewer fit beside each other on a phone

function order(a: SortValue, b: SortValue): number {
  const [noA, noB] = [a === null || a === undefined || a === "", b === null || b === undefined || b === ""];
  if (noA || noB) return noA === noB ? 0 : noA ? 1 : -1;
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (isAmount(a) && isAmount(b)) return compare(a, b);
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

function sorted<R>(rows: R[], columns: Column<R>[], sort: Sort | null): R[] {
  const by = sort && columns.find((column) => column.key === sort.key);
  const value = by?.value;
  if (!value || !sort) return rows;
  const unit = by.unit ?? (() => "");
  const isNothing = (row: R) => value(row) === null || value(row) === undefined;
  return rows.slice().sort((a, b) => {
    // Rows without a value come last in either direction.
    if (isNothing(a) || isNothing(b)) return Number(isNothing(a)) - Number(isNothing(b));
    return unit(a).localeCompare(unit(b), "en") || order(value(a), value(b)) * (sort.down ? -1 : 1);
  });
}

function classes<R>(column: Column<R>): string {
  return [column.numeric && "r", column.hideOnPhone && "no-phone", column.wide && "w"].filter(Boolean).join(" ");
}

// What a column is called in text; empty where its title is no text.
export function columnName<R>(column: Column<R>): string {
  return column.label ?? (typeof column.title === "string" ? column.title : "");
}

function Head<R>({ column, sort, onSort }: { column: Column<R>; sort: Sort | null; onSort: () => void }) {
  const isBy = sort?.key === column.key;
  const direction = isBy ? (sort.down ? "descending" : "ascending") : undefined;
  return (
    <th scope="col" role="columnheader" class={classes(column)} aria-sort={direction}>
      {column.value ? (
        <button type="button" class="sort" onClick={onSort} aria-label={column.label}>
          {column.title}
          <span class={isBy ? "sort-mark sort-by" : "sort-mark"}>
            <Icon name={isBy && !sort.down ? "up" : "down"} size={11} />
          </span>
        </button>
      ) : (
        column.title || <span class="sr-only">{column.label}</span>
      )}
    </th>
  );
}

// Arrow keys move through the rows, Tab reaches the first; Enter works like a click.
function moveRow(event: KeyboardEvent): void {
  const row = (event.target as HTMLElement).closest<HTMLElement>("tbody tr[tabindex]");
  if (!row) return;
  if (event.key === "Enter" && event.target === row) row.click();
  const next =
    event.key === "ArrowDown" ? row.nextElementSibling : event.key === "ArrowUp" ? row.previousElementSibling : null;
  if (!(next instanceof HTMLElement)) return;
  event.preventDefault();
  next.focus();
}

export function Table<R>(props: TableProps<R>) {
  const { rows, rowKey, onRow } = props;
  const [hiddenColumns, choose] = useHidden(props.name ?? props.caption);
  const isChosen = props.columns.length >= CHOSEN_FROM;
  // The first column names the row, so it stays.
  const columns = useMemo(
    () => (isChosen ? props.columns.filter((column, index) => index === 0 || !hiddenColumns.includes(column.key)) : props.columns),
    [props.columns, hiddenColumns, isChosen],
  );
  const [sort, setSort] = useState<Sort | null>(props.sort ?? null);
  const [shown, setShown] = useState(props.shown ?? SHOWN);
  const region = useRef<HTMLDivElement>(null);
  const inOrder = useMemo(() => sorted(rows, columns, sort), [rows, columns, sort]);
  const hasTotal = columns.some((column) => column.total !== undefined);
  const byKey = (column: Column<R>) => () =>
    setSort((now) => ({
      key: column.key,
      down: now?.key === column.key ? !now.down : Boolean(column.numeric),
    }));

  if (rows.length === 0 && props.empty) return <>{props.empty}</>;
  const hidden = inOrder.length - shown;
  return (
    <div class={props.tall ? "table-block table-tall" : "table-block"}>
      <div class="table-scroll" ref={region} role="region" aria-label={props.caption} tabIndex={0}>
        <table
          class={["table", props.dense && "table-dense", columns.length >= CARDS_FROM && "table-cards"].filter(Boolean).join(" ")}
          role="table"
          onKeyDown={onRow && moveRow}
        >
          <caption class="sr-only">{props.caption}</caption>
          <thead role="rowgroup">
            <tr role="row">
              {columns.map((column) => (
                <Head key={column.key} column={column} sort={sort} onSort={byKey(column)} />
              ))}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {inOrder.slice(0, shown).map((row, index) => (
              <tr
                key={rowKey(row, index)}
                role="row"
                class={onRow ? "row-link" : undefined}
                tabIndex={onRow ? (index === 0 ? 0 : -1) : undefined}
                aria-current={props.current?.(row) ? "true" : undefined}
                onClick={
                  onRow &&
                  ((event) => {
                    if (!(event.target as Element).closest("a,button,input,summary")) onRow(row);
                  })
                }
              >
                {columns.map((column) => (
                  <td key={column.key} role="cell" class={classes(column)} data-column={columnName(column)}>
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
          {hasTotal && (
            <tfoot role="rowgroup">
              <tr role="row">
                {columns.map((column) => (
                  <td key={column.key} role="cell" class={classes(column)} data-column={columnName(column)}>
                    {column.total}
                  </td>
                ))}
              </tr>
            </tfoot>
          )}
        </table>
      </div>
      {(hidden > 0 || props.csv || isChosen) && (
        <div class="table-foot">
          {isChosen && <ColumnChooser columns={props.columns.slice(1)} hidden={hiddenColumns} onChoose={choose} />}
          {hidden > 0 && (
            <Button small onClick={() => setShown(shown + 500)}>
              Show {Math.min(500, hidden)} more of {hidden.toLocaleString("en")}
            </Button>
          )}
          {props.csv && (
            <LinkButton small tone="quiet" icon="download" href={props.csv} download>
              CSV
            </LinkButton>
          )}
        </div>
      )}
    </div>
  );
}
