// Fleet: every node and GPU as a tile, with who holds it, how busy it is, and its cost per hour.
import { useMemo, useState } from "preact/hooks";
import { useLive } from "../../api/events";
import { useQuery } from "../../api/hooks";
import { setQuery, useRoute } from "../../app/router";
import { Card, Figure, Grid, PageHead } from "../../components/card";
import { Button, Segments } from "../../components/controls";
import { Select } from "../../components/form";
import { Money } from "../../components/money";
import { Empty, Loaded, Note } from "../../components/states";
import type { Fleet, LiveNow } from "../../api/types";
import { add } from "../../util/money";
import { dayShort, instant, plural } from "../../util/text";
import { GpuDialog } from "./details";
import { useFleet } from "./fleet";
import { sizeFor, type Size } from "./layout";
import { FleetList } from "./list";
import { FleetMap } from "./map";
import { clustersOf, STATES, STATE_HINTS, STATE_TITLES, sumsOf, wantedOf, type ClusterTiles, type State, type Sums, type Tile } from "./model";

const MARKS: Record<State, string> = { busy: "used", idle: "idle", unseen: "shared", free: "free", unknown: "free", down: "unavailable" };

// Costs are those of Live, so that both pages say the same at every moment; GPUs are counted by their state.
function Figures({ sums, cluster }: { sums: Sums; cluster: string }) {
  const first = useQuery<LiveNow>("/live/now");
  const { now } = useLive();
  const held = sums.count.busy + sums.count.idle + sums.count.unseen;
  const mine = ((now ?? first.data)?.clusters ?? []).filter((one) => cluster === "" || one.cluster === cluster);
  const currencies = [...new Set(mine.map((one) => one.currency))].filter((one) => one !== null);
  const each = (name: "cost_per_hour" | "held_per_hour" | "held_idle_per_hour" | "unallocated_per_hour") =>
    currencies.length === 0 ? "–" : currencies.map((currency) => (
      <div key={currency}>
        <Money amount={add(...mine.filter((one) => one.currency === currency).map((one) => one[name]))} currency={currency} />
      </div>
    ));
  const count = (state: State, text: string) => `${sums.count[state].toLocaleString("en")} ${text}`;
  const unwatched = sums.count.unknown === sums.gpus && sums.gpus > 0;
  return (
    <Grid of="figures">
      <Figure label="GPUs" value={sums.gpus.toLocaleString("en")} sub={unwatched ? "no source reports what runs on them" : `${held.toLocaleString("en")} held`} />
      <Figure label="Cost per hour" value={each("cost_per_hour")} sub={currencies.length === 0 && "no known price"} />
      {!unwatched && (
        <>
          <Figure label="Held per hour" mark="used" value={each("held_per_hour")} sub={count("busy", "busy GPUs")} />
          <Figure label="Idle per hour" mark="idle" value={each("held_idle_per_hour")} sub={count("idle", "GPUs used less than 5%")} />
          <Figure label="Unallocated per hour" mark="free" value={each("unallocated_per_hour")} sub={count("free", "free GPUs")} />
        </>
      )}
    </Grid>
  );
}

// What is known of clusters that no source watches.
function Unwatched({ fleet }: { fleet: Fleet }) {
  const unwatched = fleet.clusters.filter((one) => !one.watched);
  if (unwatched.length === 0) return null;
  const age = (day: string) => `${plural(Math.max(0, Math.floor((Date.now() - Date.parse(day)) / 86_400_000)), "day")} ago`;
  return (
    <Note tone="warn">
      No source reports what runs now on {unwatched.map((one) => one.cluster).join(", ")}: whether its GPUs are free is not known.{" "}
      {unwatched.filter((one) => one.last_held).map((one) => `The last imported workload of ${one.cluster} held GPUs on ${dayShort(one.last_held ?? "")} ${one.last_held?.slice(0, 4)}, ${age(one.last_held ?? "")}.`).join(" ")}{" "}
      Connect Kubernetes or Slurm in the configuration to see them.
    </Note>
  );
}

// The legend explains the colours; pressed, it filters by state.
function Legend({ sums, chosen, onToggle }: { sums: Sums; chosen: ReadonlySet<State>; onToggle: (state: State) => void }) {
  return (
    <div class="fleet-legend" role="group" aria-label="Show only">
      {STATES.filter((state) => sums.count[state] > 0 || chosen.has(state)).map((state) => (
        <button
          key={state}
          type="button"
          class="legend-button"
          aria-pressed={chosen.has(state)}
          title={STATE_HINTS[state]}
          onClick={() => onToggle(state)}
        >
          <span class={`mark mark-${MARKS[state]}`} aria-hidden="true" />
          {STATE_TITLES[state]} <span class="muted">{sums.count[state].toLocaleString("en")}</span>
        </button>
      ))}
    </div>
  );
}

function useChoices() {
  const { query } = useRoute();
  const only = query.get("only") ?? "";
  const states = useMemo(
    () => new Set(only.split(",").filter((one): one is State => (STATES as readonly string[]).includes(one))),
    [only],
  );
  const search = query.get("search") ?? "";
  return {
    view: query.get("view") === "list" ? "list" as const : "tiles" as const,
    cluster: query.get("cluster") ?? "",
    size: query.get("size") as Size | null,
    wanted: useMemo(() => ({ states, search }), [states, search]),
    toggle: (state: State) => {
      const next = new Set(states);
      if (!next.delete(state)) next.add(state);
      setQuery({ only: [...next].join(",") || null });
    },
  };
}

function Shown({ fleet }: { fleet: Fleet }) {
  const choices = useChoices();
  const [chosen, setChosen] = useState<Tile>();
  const all = useMemo(() => clustersOf(fleet.nodes, new Set(fleet.clusters.filter((one) => !one.watched).map((one) => one.cluster))), [fleet]);
  const clusters = useMemo(
    () => (choices.cluster ? all.filter((one) => one.cluster === choices.cluster) : all),
    [all, choices.cluster],
  );
  const sums = useMemo(() => sumsOf(clusters), [clusters]);
  const shown = useMemo(
    () => (choices.wanted.search ? wantedOf(clusters, choices.wanted) : clusters),
    [clusters, choices.wanted],
  );
  const size = choices.size ?? sizeFor(sums.gpus);
  return (
    <div class="stack">
      <Unwatched fleet={fleet} />
      <Figures sums={sums} cluster={choices.cluster} />
      <Card flush={choices.view === "list"}>
        <Tools all={all} size={size} choices={choices} />
        <Legend sums={sums} chosen={choices.wanted.states} onToggle={choices.toggle} />
        {shown.length === 0 ? (
          <Empty icon="search" title="No matching GPU">
            <Button onClick={() => setQuery({ search: null, only: null })}>Show all</Button>
          </Empty>
        ) : choices.view === "list" ? (
          <FleetList clusters={shown} wanted={choices.wanted} onChoose={setChosen} />
        ) : (
          <FleetMap clusters={shown} size={size} wanted={choices.wanted} onChoose={setChosen} />
        )}
      </Card>
      <GpuDialog tile={chosen} onClose={() => setChosen(undefined)} />
    </div>
  );
}

function Tools({ all, size, choices }: { all: ClusterTiles[]; size: Size; choices: ReturnType<typeof useChoices> }) {
  return (
    <div class="fleet-tools">
      <input
        type="search"
        class="input"
        placeholder="Node, team, workload, model…"
        aria-label="Search GPUs"
        value={choices.wanted.search}
        onInput={(event) => setQuery({ search: event.currentTarget.value || null }, { replace: true })}
      />
      {all.length > 1 && (
        <Select
          label="Cluster"
          value={choices.cluster}
          onValue={(cluster) => setQuery({ cluster: cluster || null })}
          options={[{ value: "", title: "All clusters" }, ...all.map(({ cluster }) => ({ value: cluster, title: cluster }))]}
        />
      )}
      <span class="fleet-tools-end">
        {choices.view === "tiles" && (
          <Segments
            label="Size of the tiles"
            chosen={size}
            onChoose={(next) => setQuery({ size: next }, { replace: true })}
            options={[{ key: "small", title: "S" }, { key: "medium", title: "M" }, { key: "large", title: "L" }]}
          />
        )}
        <Segments
          label="View"
          chosen={choices.view}
          onChoose={(view) => setQuery({ view: view === "list" ? "list" : null })}
          options={[{ key: "tiles", title: "Tiles" }, { key: "list", title: "List" }]}
        />
      </span>
    </div>
  );
}

export default function FleetPage() {
  const fleet = useFleet();
  const nodes = fleet.data?.nodes.length ?? 0;
  return (
    <div class="stack">
      <PageHead title="Fleet" lead={nodes > 0 ? `${plural(nodes, "node")}, as of ${instant(fleet.data?.at)}` : "Every node and GPU, and who holds it."} />
      <Loaded query={fleet}>
        {(data) =>
          data.nodes.length === 0 ? (
            <Card>
              <Empty icon="fleet" title="No nodes yet" command={'kubernetes:\n  - {cluster: prod}'}>
                Nodes come from a watched cluster, an imported inventory, or telemetry. Name a
                cluster in pennyweight.yaml, or import a file: pennyweight import nodes.csv.
              </Empty>
            </Card>
          ) : (
            <Shown fleet={data} />
          )
        }
      </Loaded>
    </div>
  );
}
