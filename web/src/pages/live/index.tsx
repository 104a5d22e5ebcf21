// Live: what runs now, its owners, its cost per hour, and how busy it is. Figures change in place; rows keep
// their order until the user sorts them again, so that nothing jumps under the pointer.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useLive } from "../../api/events";
import { useQuery } from "../../api/hooks";
import type { ApiTable as Data, Dimension, List, LiveNow, Row, Tables } from "../../api/types";
import { setQuery, useRoute } from "../../app/router";
import { Card, PageHead } from "../../components/card";
import { Badge, Button } from "../../components/controls";
import { SelectField, TextField } from "../../components/form";
import { Empty, Loaded, Note, Skeleton } from "../../components/states";
import { instant, plural } from "../../util/text";
import { ClusterFigures } from "./figures";
import { Running } from "./running";

const ROWS_MOST = 500;
const NOTES_SHOWN = 2;

function nameOf(row: Row): string {
  return `${row["cluster"] ?? ""}/${row["workload"] ?? ""}`;
}

// The rows in the order in which they were first shown; new ones at the end.
function useSteady(tables: Tables | undefined, orderedBy: string): Data[] {
  const order = useRef({ by: orderedBy, at: new Map<string, number>() });
  return useMemo(() => {
    if (order.current.by !== orderedBy) order.current = { by: orderedBy, at: new Map() };
    const { at } = order.current;
    return (tables?.tables ?? []).map((table) => {
      for (const row of table.rows) if (!at.has(nameOf(row))) at.set(nameOf(row), at.size);
      return { ...table, rows: table.rows.slice().sort((a, b) => (at.get(nameOf(a)) ?? 0) - (at.get(nameOf(b)) ?? 0)) };
    });
  }, [tables, orderedBy]);
}

function matches(row: Row, text: string): boolean {
  return Object.values(row).some((value) => typeof value === "string" && value.toLowerCase().includes(text));
}

// Where no source reports what runs, no GPU is known to be free.
function withoutNobody(table: Data): Data {
  const { total: _, ...rest } = table;
  return { ...rest, rows: table.rows.filter((row) => !String(row["workload"]).startsWith("(")) };
}

function useOwners(): string[] {
  const dimensions = useQuery<List<Dimension>>("/dimensions");
  return dimensions.data?.data.filter((one) => one.kind === "policy").map((one) => one.name) ?? [];
}

// Notes about missing data: the first few, and the rest by a click.
function Notes({ now }: { now: LiveNow }) {
  const notes = now.clusters.flatMap((one) => one.notes.map((note) => `${one.cluster}: ${note}`));
  if (notes.length === 0) return null;
  const list = (some: string[]) => <ul>{some.map((note) => <li key={note}>{note}</li>)}</ul>;
  return (
    <Note tone="warn">
      {list(notes.slice(0, NOTES_SHOWN))}
      {notes.length > NOTES_SHOWN && (
        <details>
          <summary>{plural(notes.length - NOTES_SHOWN, "more note")}</summary>
          {list(notes.slice(NOTES_SHOWN))}
        </details>
      )}
    </Note>
  );
}

const SORTS = [
  { value: "cost", title: "Cost per hour" },
  { value: "idle", title: "Idle per hour" },
  { value: "today", title: "Cost today" },
  { value: "gpus", title: "GPUs" },
  { value: "since", title: "Longest running" },
  { value: "busy", title: "Busy" },
  { value: "workload", title: "Name" },
];

export default function Live() {
  const { query } = useRoute();
  const { now, connected } = useLive();
  const first = useQuery<LiveNow>("/live/now");
  const owners = useOwners();
  const by = owners.filter((name) => name === "team" || name === "user");
  const shown = by.length > 0 ? by : owners.slice(0, 2);
  const sort = query.get("sort") ?? "cost";
  const [round, setRound] = useState(0);
  const live = useQuery<Tables>("/live", { by: shown.join(","), sort, limit: ROWS_MOST });
  const text = (query.get("q") ?? "").trim().toLowerCase();
  useEffect(() => {
    if (now) live.reload();
  }, [now?.at]);
  const tables = useSteady(live.data, `${sort} ${shown.join()} ${round}`);
  const at = now ?? first.data;
  const isBlind = (at?.clusters.length ?? 0) > 0 && (at?.clusters ?? []).every((one) => !one.watched);

  return (
    <>
      <PageHead title="Live" lead={at?.at ? `What runs, as of ${instant(at.at)}.` : "What runs now."}>
        {isBlind
          ? <Badge tone="warn" title="No source reports what runs: the figures are of imports">not watched</Badge>
          : <Badge tone={connected ? "good" : "warn"}>{connected ? "live" : "reconnecting"}</Badge>}
      </PageHead>
      <Loaded query={first} skeleton={<Skeleton lines={3} />}>
        {(data) =>
          (now ?? data).clusters.length === 0 ? (
            <Empty icon="live" title="No live data" command={"pennyweight serve"}>
              Connect a cluster: Prometheus by remote_write to /api/v1/write, or a scrape of its exporters, and the Kubernetes API or
              Slurm for holdings. See the keys live and serve of the configuration.
            </Empty>
          ) : (
            <div class="stack">
              <ClusterFigures now={now ?? data} />
              <Notes now={now ?? data} />
            </div>
          )
        }
      </Loaded>
      {(at?.clusters.length ?? 0) > 0 && (
        <Card flush>
          <div class="live-controls">
            <TextField label="Find" type="search" placeholder="a workload, a person, a node" value={query.get("q") ?? ""}
              onValue={(q) => setQuery({ q }, { replace: true })} />
            <SelectField label="Sort by" value={sort} onValue={(to) => setQuery({ sort: to === "cost" ? null : to })} options={SORTS} />
            <Button onClick={() => setRound(round + 1)}>Sort again</Button>
          </div>
          {live.error && !live.data ? null : live.data === undefined ? (
            <Skeleton lines={8} />
          ) : (
            tables.map((one) => (isBlind ? withoutNobody(one) : one)).map((table) => (
              <Running key={table.currency} table={{ ...table, rows: text ? table.rows.filter((row) => matches(row, text)) : table.rows }}
                by={shown} isFiltered={text !== ""} isBlind={isBlind} />
            ))
          )}
        </Card>
      )}
    </>
  );
}
