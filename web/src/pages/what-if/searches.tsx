// What a scenario was asked besides: the range over seeds and demand, and what searches tried, with cost against
// wait and the frontier of what nothing beats.
import type { ApiTable as Data, Row } from "../../api/types";
import { Card } from "../../components/card";
import { Money } from "../../components/money";
import { Table, type Column } from "../../components/table";
import { money } from "../../util/money";
import { secondsOf, waitInWords } from "./duration";
import type { Result } from "./results";

const MONEY = new Set(["per_hour", "used", "unused", "covered_on_demand", "saved", "committed_cost", "on_demand_cost", "spot_cost", "cost"]);
const NUMBERS = new Set(["nodes", "per_hour", "node_hours", "time", "jobs", "used_share", "on_demand", "spot", "committed", "interruptions", "instances", "never_start", "change", "allocated", "unfinished", "bill", "lowest", "what_if", "highest"]);

const text = (row: Row, column: string) => String(row[column] ?? "–");

// The rows as the API has them: a column each.
function AsTable({ table, caption }: { table: Data; caption: string }) {
  const columns = table.columns.map((column, i): Column<Row> => {
    const isMoney = MONEY.has(column.name) && table.currency !== undefined;
    const isWait = column.name.startsWith("wait_");
    return {
      key: column.name, title: column.title || "Figure", wide: i === 0, numeric: isMoney || isWait || NUMBERS.has(column.name),
      cell: (row) => (isMoney ? <Money amount={text(row, column.name)} unit={table.currency ?? ""} /> : text(row, column.name)),
    };
  });
  return <Table caption={caption} columns={columns} rows={table.rows} rowKey={(row) => table.rows.indexOf(row).toString()} shown={15} dense />;
}

interface Point {
  cost: number;
  exact: string;
  wait: number;
  what: string;
  isEnough: boolean;
  isFrontier: boolean;
}

const WIDTH = 640;
const HEIGHT = 260;
const LEFT = 70;
const BOTTOM = 40;

// Cost against wait; waits by their logarithm, so that seconds and days fit on one axis.
function Frontier({ title, points, currency }: { title: string; points: Point[]; currency: string }) {
  const costs = points.map((one) => one.cost);
  const low = Math.min(...costs);
  const span = Math.max(...costs) - low || 1;
  const top = Math.log1p(Math.max(60, ...points.map((one) => one.wait)));
  const x = (one: Point) => LEFT + 12 + ((one.cost - low) / span) * (WIDTH - LEFT - 30);
  const y = (one: Point) => HEIGHT - BOTTOM - 8 - (Math.log1p(one.wait) / top) * (HEIGHT - BOTTOM - 24);
  const frontier = points.filter((one) => one.isFrontier).sort((a, b) => a.cost - b.cost);
  const marks = [0, 60, 3600, 86_400].filter((seconds) => Math.log1p(seconds) <= top);
  return (
    <svg class="what-if-frontier" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${title}: cost against the wait of 95 % of jobs; the table below has the same`}>
      {marks.map((seconds) => {
        const at = y({ cost: low, exact: "", wait: seconds, what: "", isEnough: false, isFrontier: false });
        return (
          <g key={seconds}>
            <line class="axis" x1={LEFT} x2={WIDTH - 10} y1={at} y2={at} />
            <text x={LEFT - 8} y={at + 4} text-anchor="end">{waitInWords(seconds)}</text>
          </g>
        );
      })}
      <text x={LEFT + 12} y={HEIGHT - 10}>{money(points.find((one) => one.cost === low)?.exact ?? "0", currency)}</text>
      <text x={WIDTH - 10} y={HEIGHT - 10} text-anchor="end">{money(points.find((one) => one.cost === low + span)?.exact ?? "0", currency)}</text>
      <polyline class="line" points={frontier.map((one) => `${x(one)},${y(one)}`).join(" ")} />
      {points.map((one, i) => (
        <circle key={i} class={one.isEnough ? "enough" : "short"} cx={x(one)} cy={y(one)} r={one.isFrontier ? 5 : 3}>
          <title>{`${one.what}: ${money(one.exact, currency)}, ${waitInWords(one.wait)}`}</title>
        </circle>
      ))}
    </svg>
  );
}

// The longest of the waits is what the server judges a point by.
function Search({ title, table, waits, what }: { title: string; table: Data; waits: string[]; what: (row: Row) => string }) {
  const currency = table.currency ?? "";
  const points = table.rows.map((row): Point => ({
    cost: Number(text(row, "cost")), exact: text(row, "cost"), wait: Math.max(...waits.map((wait) => secondsOf(text(row, wait)))), what: what(row),
    isEnough: row["enough"] === "yes", isFrontier: row["frontier"] === "yes",
  }));
  const [found, ...rest] = table.notes ?? [];
  return (
    <Card title={title} note="cost against wait; the line is the frontier, filled points are enough" flush>
      {found && <p class="card-lead"><strong>{found}</strong></p>}
      {points.length > 1 && <Frontier title={title} points={points} currency={currency} />}
      <AsTable table={table} caption={title} />
      {rest.map((note) => <p class="card-lead" key={note}>{note}</p>)}
    </Card>
  );
}

export function Searches({ results }: { results: Result[] }) {
  return (
    <>
      {results.map(({ name, run, tables }) => (
        <div class="stack" key={run.id}>
          {tables.range && (
            <Card title={`${name}: range`} note="over seeds and demand" flush>
              <AsTable table={tables.range} caption={`${name}: range`} />
              {(tables.range.notes ?? []).map((note) => <p class="card-lead" key={note}>{note}</p>)}
            </Card>
          )}
          {([["prices", "list prices"], ["speeds", "speeds"], ["commitments", "commitments bought"]] as const).map(([key, title]) => {
            const table = tables[key];
            return table && (
              <Card key={key} title={`${name}: ${title}`} flush>
                <AsTable table={table} caption={`${name}: ${title}`} />
                {(table.notes ?? []).map((note) => <p class="card-lead" key={note}>{note}</p>)}
              </Card>
            );
          })}
          {tables.fleets && (
            <Card title={`${name}: fewest nodes`} flush>
              {(tables.fleets.notes ?? []).map((note) => <p class="card-lead" key={note}>{note}</p>)}
              <AsTable table={tables.fleets} caption={`${name}: fewest nodes`} />
            </Card>
          )}
          {tables.tiers && (
            <Search title={`${name}: tiers`} table={tables.tiers} waits={["wait_p95"]}
              what={(row) => `${text(row, "nodes")} nodes, ${text(row, "spot")} of them spot, ${text(row, "committed")} committed`} />
          )}
          {tables.mig && (
            <Search title={`${name}: MIG layouts`} table={tables.mig} waits={["wait_p95_moved", "wait_p95"]} what={(row) => `${text(row, "layout")} on ${text(row, "nodes")} nodes`} />
          )}
        </div>
      ))}
    </>
  );
}
