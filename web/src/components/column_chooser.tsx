// ColumnChooser: which columns a table shows, remembered by the browser for each table.
import { useId, useState } from "preact/hooks";
import { columnName, type Column } from "./table";

const KEPT = "columns"; // in localStorage: the keys of the columns hidden, by the table's name

function allKept(): Record<string, string[]> {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEPT) ?? "{}");
    return kept && typeof kept === "object" ? (kept as Record<string, string[]>) : {};
  } catch {
    return {}; // no storage, or not ours
  }
}

function keptHidden(table: string): string[] {
  const keys = allKept()[table];
  return Array.isArray(keys) ? keys : [];
}

function keepHidden(table: string, keys: string[]): void {
  const { [table]: _, ...others } = allKept();
  try {
    localStorage.setItem(KEPT, JSON.stringify(keys.length > 0 ? { ...others, [table]: keys } : others));
  } catch {
    // A browser without storage forgets it with the page.
  }
}

// The columns hidden of this table, and how to change them. The same component may come to show another table.
export function useHidden(table: string): [string[], (keys: string[]) => void] {
  const [hidden, setHidden] = useState(() => ({ table, keys: keptHidden(table) }));
  const now = hidden.table === table ? hidden : { table, keys: keptHidden(table) };
  if (now !== hidden) setHidden(now);
  const choose = (keys: string[]) => {
    setHidden({ table, keys });
    keepHidden(table, keys);
  };
  return [now.keys, choose];
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
