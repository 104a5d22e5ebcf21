// ColumnChooser: which columns a table shows, remembered by the browser for each table.
import { useId } from "preact/hooks";
import { columnName, type Column } from "./table";

const KEPT = "columns"; // in localStorage: the keys of the columns hidden, by the table's caption

function allKept(): Record<string, string[]> {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEPT) ?? "{}");
    return kept && typeof kept === "object" ? (kept as Record<string, string[]>) : {};
  } catch {
    return {}; // no storage, or not ours
  }
}

export function keptHidden(table: string): string[] {
  const keys = allKept()[table];
  return Array.isArray(keys) ? keys : [];
}

export function keepHidden(table: string, keys: string[]): void {
  const { [table]: _, ...others } = allKept();
  try {
    localStorage.setItem(KEPT, JSON.stringify(keys.length > 0 ? { ...others, [table]: keys } : others));
  } catch {
    // A browser without storage forgets it with the page.
  }
}

export interface ColumnChooserProps<R> {
  columns: Column<R>[];
  hidden: string[];
  onChoose: (hidden: string[]) => void;
}

export function ColumnChooser<R>({ columns, hidden, onChoose }: ColumnChooserProps<R>) {
  const id = useId();
  const named = columns.filter((column) => columnName(column) !== "");
  const count = named.filter((column) => hidden.includes(column.key)).length;
  return (
    <details class="chooser">
      <summary>{count > 0 ? `Columns (${count} hidden)` : "Columns"}</summary>
      <fieldset>
        <legend class="sr-only">Columns shown</legend>
        {named.map((column) => (
          <label key={column.key} for={`${id}-${column.key}`}>
            <input
              id={`${id}-${column.key}`}
              type="checkbox"
              checked={!hidden.includes(column.key)}
              onChange={() =>
                onChoose(hidden.includes(column.key) ? hidden.filter((key) => key !== column.key) : [...hidden, column.key])
              }
            />{" "}
            {columnName(column)}
          </label>
        ))}
      </fieldset>
    </details>
  );
}
