// What each node held when, a lane for each node and a bar for each workload. Fetched when somebody opens it.
import { useState } from "preact/hooks";
import { useQuery } from "../../api/hooks";
import type { ApiTable, Row } from "../../api/types";
import { seriesName } from "../../charts/colours";
import { Card } from "../../components/card";
import { Button } from "../../components/controls";
import { Loaded } from "../../components/states";
import { shownKey } from "../../util/text";
import type { Result } from "./results";

const WIDTH = 900;
const LEFT = 150;
const LANE = 6;
const GAP = 8;

const text = (row: Row, column: string) => String(row[column] ?? "");
const timeOf = (row: Row, column: string) => Date.parse(text(row, column));

interface Lane {
  node: string;
  bars: { row: Row; lane: number }[];
  lanes: number;
}

// Bars of a node that overlap lie below each other. The rows come by node, then by begin.
function lanesOf(rows: Row[]): Lane[] {
  const all: Lane[] = [];
  let ends: number[] = [];
  for (const row of rows) {
    let last = all.at(-1);
    if (last?.node !== text(row, "node")) {
      last = { node: text(row, "node"), bars: [], lanes: 1 };
      all.push(last);
      ends = [];
    }
    const free = ends.findIndex((end) => end <= timeOf(row, "from"));
    const lane = free < 0 ? ends.length : free;
    ends[lane] = timeOf(row, "to");
    last.bars.push({ row, lane });
    last.lanes = Math.max(last.lanes, ends.length);
  }
  return all;
}

function Lanes({ table, by, title }: { table: ApiTable; by: string; title: string }) {
  const lanes = lanesOf(table.rows);
  const begin = Math.min(...table.rows.map((row) => timeOf(row, "from")));
  const span = Math.max(...table.rows.map((row) => timeOf(row, "to"))) - begin || 1;
  const owners = [...new Set(table.rows.map((row) => text(row, by)))].sort();
  const colour = (row: Row) => seriesName(text(row, by), owners.indexOf(text(row, by)));
  let y = 4;
  const placed = lanes.map((lane) => {
    const top = y;
    y += lane.lanes * LANE + GAP;
    return { ...lane, top };
  });
  const days = [0, 1, 2, 3, 4].map((i) => ({ x: LEFT + ((WIDTH - LEFT - 10) * i) / 4, at: new Date(begin + (span * i) / 4).toISOString().slice(0, 16).replace("T", " ") }));
  return (
    <>
      <ul class="what-if-owners">
        {owners.slice(0, 12).map((owner, i) => <li key={owner}><span class={`mark mark-${seriesName(owner, i)}`} />{owner === "" ? "(none)" : shownKey(owner)}</li>)}
        {owners.length > 12 && <li class="muted">and {owners.length - 12} more</li>}
      </ul>
      <div class="what-if-gantt-room" tabIndex={0} role="group" aria-label={`${title}, scrolls`}>
        <svg class="what-if-gantt" viewBox={`0 0 ${WIDTH} ${y + 18}`} role="img" aria-label={`${title}: what each node held over time; the CSV has the same`}>
          {days.map(({ x, at }, i) => (
            <g key={at}>
              <line class="axis" x1={x} x2={x} y1={0} y2={y} />
              <text x={x} y={y + 13} text-anchor={i === 0 ? "start" : i === 4 ? "end" : "middle"}>{at}</text>
            </g>
          ))}
          {placed.map((lane) => (
            <g key={lane.node}>
              <text x={LEFT - 8} y={lane.top + 8} text-anchor="end">{lane.node.length > 22 ? `…${lane.node.slice(-21)}` : lane.node}</text>
              {lane.bars.map(({ row, lane: at }, i) => (
                <rect key={i} class={`fill-${colour(row)}`} x={LEFT + ((timeOf(row, "from") - begin) / span) * (WIDTH - LEFT - 10)} y={lane.top + at * LANE}
                  width={Math.max(0.4, ((timeOf(row, "to") - timeOf(row, "from")) / span) * (WIDTH - LEFT - 10))} height={LANE - 1}>
                  <title>{`${text(row, "workload")}, ${text(row, by) || "(none)"}, ${text(row, "gpus")} GPUs, ${text(row, "from")} to ${text(row, "to")}`}</title>
                </rect>
              ))}
            </g>
          ))}
        </svg>
      </div>
      {(table.notes ?? []).map((note) => <p class="card-lead" key={note}>{note}</p>)}
    </>
  );
}

function OfRun({ result }: { result: Result }) {
  const query = useQuery<{ tables: ApiTable[] }>(`/what-if/runs/${result.run.id}/gantt`, {});
  return (
    <Loaded query={query}>
      {(found) => {
        const table = found.tables[0];
        if (!table || table.rows.length === 0) return <p class="card-lead">No node held anything.</p>;
        return <Lanes table={table} by={result.run.by} title={result.name} />;
      }}
    </Loaded>
  );
}

export function Gantt({ results }: { results: Result[] }) {
  const [open, setOpen] = useState<string>();
  const shown = results.find((one) => one.run.id === open);
  return (
    <Card title="Node by node" note="what each held when" flush>
      <div class="card-lead row">
        {results.map((one) => (
          <Button key={one.run.id} small pressed={one === shown} onClick={() => setOpen(one === shown ? undefined : one.run.id)}>{one.name}</Button>
        ))}
      </div>
      {shown && <OfRun key={shown.run.id} result={shown} />}
    </Card>
  );
}
