// BudgetTable: a row for each budget, those that need somebody first.
import type { ApiTable, Row } from "../../api/types";
import { Badge, Meter, type Tone } from "../../components/controls";
import { Money, Percent } from "../../components/money";
import { Table, type Column } from "../../components/table";
import { VerifiedWhy } from "../../components/verified_why";
import { toHeight } from "../../util/money";

// The order of the states, and how each looks.
const STATES: Record<string, { rank: number; tone: Tone; meaning: string }> = {
  exceeded: { rank: 0, tone: "bad", meaning: "More was spent than budgeted" },
  "at risk": { rank: 1, tone: "warn", meaning: "The forecast exceeds it, or does so with a probability of 80 % or more" },
  unknown: { rank: 2, tone: "neutral", meaning: "It could not be measured, or no known cost matches its scope; a note below says why" },
  "on track": { rank: 3, tone: "good", meaning: "The forecast stays within it" },
};

const text = (row: Row, name: string): string => {
  const value = row[name];
  return value === null || value === undefined ? "" : String(value);
};
const stateOf = (row: Row) => STATES[text(row, "state")] ?? STATES.unknown!;

function amount(name: string, title: string): Column<Row> {
  return { key: name, title, numeric: true, value: (row) => text(row, name) || null, cell: (row) => <Money amount={text(row, name) || null} /> };
}

// What was spent of a budget of money, explained by its filters and days.
function Actual({ row, currency }: { row: Row; currency: string | undefined }) {
  const spent = text(row, "actual") || null;
  const filter = text(row, "scope").split(/[;,] (?=\w+!?=)/).filter((one) => one.includes("="));
  return (
    <span class="figure-why">
      <Money amount={spent} unit={currency} />
      {spent && currency && <VerifiedWhy filters={[filter]} amount={spent} currency={currency} cost={text(row, "cost") || "effective"} from={text(row, "from")} to={text(row, "to")} label={`${text(row, "budget")}: actual`} />}
    </span>
  );
}

const columns = (currency: string | undefined, hasCommitted: boolean): Column<Row>[] => [
  {
    key: "budget", title: "Budget", wide: true, value: (row) => text(row, "budget"),
    cell: (row) => (
      <>
        <strong>{text(row, "budget")}</strong>
        <div class="muted small">
          {[text(row, "scope"), `${text(row, "from")} to ${text(row, "to")}`, text(row, "owner")].filter(Boolean).join(" · ")}
        </div>
      </>
    ),
  },
  {
    key: "state", title: "State", value: (row) => stateOf(row).rank,
    cell: (row) => <Badge tone={stateOf(row).tone} title={stateOf(row).meaning}>{text(row, "state")}</Badge>,
  },
  {
    key: "used", title: "Used", numeric: true, value: (row) => text(row, "used") || null,
    cell: (row) => text(row, "used") === "" ? <span class="nothing">–</span> : (
      <span class="share">
        <Meter percent={toHeight(text(row, "used"))} tone={stateOf(row).tone} />
        <Percent value={text(row, "used")} />
      </span>
    ),
  },
  { key: "actual", title: "Actual", numeric: true, value: (row) => text(row, "actual") || null, cell: (row) => <Actual row={row} currency={currency} /> },
  amount("amount", "Budget"),
  amount("left", "Left"),
  // What runs now, to its time limit; known while something with a limit runs.
  ...(hasCommitted ? [amount("committed", "Committed")] : []),
  amount("forecast", "Forecast"),
  amount("low_80", "80 % from"),
  amount("high_80", "to"),
  amount("pace", "Even pace"),
  { key: "exhausted", title: "Used up on", value: (row) => text(row, "exhausted") || null, cell: (row) => text(row, "exhausted") || <span class="nothing">–</span> },
];

export function BudgetTable({ table }: { table: ApiTable }) {
  const rows = [...table.rows].sort((a, b) => stateOf(a).rank - stateOf(b).rank);
  return (
    <>
      <Table caption={table.title} columns={columns(table.currency, rows.some((row) => text(row, "committed") !== ""))} rows={rows} rowKey={(row) => text(row, "budget")} />
      {(table.notes ?? []).length > 0 && (
        <ul class="table-notes">{(table.notes ?? []).map((note) => <li key={note}>{note}</li>)}</ul>
      )}
    </>
  );
}
