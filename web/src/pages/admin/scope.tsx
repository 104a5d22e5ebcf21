// A user's scope: values of a dimension, "team nlp, vision". Without one the user sees everything.
import { useQuery } from "../../api/hooks";
import type { Dimension, List, ScopeFilter } from "../../api/types";
import { Badge, Button, IconButton } from "../../components/controls";
import { Select, TextField } from "../../components/form";

export function ScopeText({ scope }: { scope: ScopeFilter[] }) {
  if (scope.length === 0) return <span class="muted">all</span>;
  return (
    <span class="row">
      {scope.map((one) => (
        <Badge key={one.dimension} tone="accent">{one.dimension} {one.values.join(", ")}</Badge>
      ))}
    </span>
  );
}

const asText = (values: string[]) => values.join(", ");
const asValues = (text: string) => text.split(",").map((value) => value.trim()).filter(Boolean);

// What is typed, with rows that are not complete yet left out.
export function finished(rows: ScopeRow[]): ScopeFilter[] {
  return rows
    .map(({ dimension, text }) => ({ dimension, values: asValues(text) }))
    .filter((one) => one.dimension && one.values.length > 0);
}

export interface ScopeRow {
  dimension: string;
  text: string;
}
export const rowsOf = (scope: ScopeFilter[]): ScopeRow[] =>
  scope.map((one) => ({ dimension: one.dimension, text: asText(one.values) }));

export function ScopeField({ rows, onRows, hint }: { rows: ScopeRow[]; onRows: (rows: ScopeRow[]) => void; hint: string }) {
  const dimensions = useQuery<List<Dimension>>("/dimensions");
  const names = [...new Set(["team", ...(dimensions.data?.data ?? []).filter((one) => one.kind === "policy").map((one) => one.name), ...rows.map((row) => row.dimension)])];
  const change = (index: number, next: Partial<ScopeRow>) =>
    onRows(rows.map((row, i) => (i === index ? { ...row, ...next } : row)));
  return (
    <fieldset class="scope">
      <legend>Sees only</legend>
      <p class="field-hint">{hint}</p>
      {rows.map((row, i) => (
        <div class="scope-row" key={i}>
          <Select label="Dimension" value={row.dimension} onValue={(dimension) => change(i, { dimension })} options={names.map((name) => ({ value: name, title: name }))} />
          <TextField label={`Values of ${row.dimension}`} placeholder="nlp, vision" value={row.text} onValue={(text) => change(i, { text })} />
          <IconButton icon="trash" label={`Remove ${row.dimension}`} onClick={() => onRows(rows.filter((_, k) => k !== i))} />
        </div>
      ))}
      <div>
        <Button small icon="plus" onClick={() => onRows([...rows, { dimension: "team", text: "" }])}>
          {rows.length === 0 ? "Limit to a team, client…" : "And"}
        </Button>
      </div>
    </fieldset>
  );
}
