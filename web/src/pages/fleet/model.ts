// The state of each GPU in one word, and totals by state.
import type { FleetGpu, FleetNode } from "../../api/types";
import { add, type Amount } from "../../util/money";

export const STATES = ["busy", "idle", "unseen", "free", "unknown", "down"] as const;
export type State = (typeof STATES)[number];
export const STATE_TITLES: Record<State, string> = {
  busy: "Busy",
  idle: "Idle",
  unseen: "Unobserved",
  free: "Free",
  unknown: "Not watched",
  down: "Unavailable",
};
export const STATE_HINTS: Record<State, string> = {
  busy: "A workload holds and uses it.",
  idle: "A workload holds and pays for it, but uses less than 5 % of it.",
  unseen: "A workload holds it; there is no telemetry about its use.",
  free: "No workload holds it.",
  unknown: "No source reports what runs on its cluster.",
  down: "Its node accepts no work.",
};
// Below this a held GPU counts as idle; drivers cause some activity by themselves.
const BUSY_FROM = 0.05;

export interface Tile {
  node: FleetNode;
  gpu: FleetGpu;
  state: State;
  busy: number | null; // 0…1, for the colour
  text: string; // searched text, in lower case
}

export interface NodeTiles {
  node: FleetNode;
  tiles: Tile[];
}

export interface ClusterTiles {
  cluster: string;
  nodes: NodeTiles[];
}

function isDown(state: string): boolean {
  return /^(down|drain|fail|not.?ready|unavailable|cordon|unschedulable|maint)/i.test(state);
}

function stateOf(node: FleetNode, gpu: FleetGpu, isWatched: boolean): State {
  if (gpu.held) {
    if (gpu.busy === null) return "unseen";
    return Number(gpu.busy) >= BUSY_FROM ? "busy" : "idle";
  }
  if (isDown(node.state)) return "down";
  return isWatched ? "free" : "unknown";
}

function tileOf(node: FleetNode, gpu: FleetGpu, isWatched: boolean): Tile {
  const held = gpu.holders.map((holder) => `${holder.owner} ${holder.workload}`).join(" ");
  return {
    node,
    gpu,
    state: stateOf(node, gpu, isWatched),
    busy: gpu.busy === null ? null : Math.min(1, Math.max(0, Number(gpu.busy))),
    text: `${node.cluster} ${node.node} ${node.instance_type} ${gpu.model} ${gpu.uuid} ${held}`.toLowerCase(),
  };
}

export function clustersOf(nodes: FleetNode[], unwatched: ReadonlySet<string> = new Set()): ClusterTiles[] {
  const clusters = new Map<string, NodeTiles[]>();
  for (const node of nodes) {
    const list = clusters.get(node.cluster) ?? [];
    clusters.set(node.cluster, list);
    list.push({ node, tiles: node.gpus.map((gpu) => tileOf(node, gpu, !unwatched.has(node.cluster))) });
  }
  const natural = (a: string, b: string) => a.localeCompare(b, "en", { numeric: true });
  return [...clusters]
    .sort(([a], [b]) => natural(a, b))
    .map(([cluster, list]) => ({
      cluster,
      nodes: list.sort((a, b) => natural(a.node.node, b.node.node)),
    }));
}

export interface Sums {
  gpus: number;
  count: Record<State, number>;
  cost: Record<string, Record<State, Amount>>; // cost per hour, by currency
}

export function sumsOf(clusters: ClusterTiles[]): Sums {
  const sums: Sums = { gpus: 0, count: { busy: 0, idle: 0, unseen: 0, free: 0, unknown: 0, down: 0 }, cost: {} };
  for (const { nodes } of clusters) {
    for (const { node, tiles } of nodes) {
      const cost = (sums.cost[node.currency ?? ""] ??= { busy: "0", idle: "0", unseen: "0", free: "0", unknown: "0", down: "0" });
      for (const { state, gpu } of tiles) {
        sums.gpus += 1;
        sums.count[state] += 1;
        if (gpu.cost_per_hour !== null) cost[state] = add(cost[state], gpu.cost_per_hour);
      }
    }
  }
  return sums;
}

export interface Wanted {
  states: ReadonlySet<State>; // empty: all
  search: string;
}

export function isWanted(tile: Tile, wanted: Wanted): boolean {
  if (wanted.states.size > 0 && !wanted.states.has(tile.state)) return false;
  return wanted.search === "" || tile.text.includes(wanted.search.toLowerCase());
}

// Nodes with a matching GPU; all of their GPUs stay, since a node is shown as a whole.
export function wantedOf(clusters: ClusterTiles[], wanted: Wanted): ClusterTiles[] {
  return clusters
    .map(({ cluster, nodes }) => ({
      cluster,
      nodes: nodes.filter(({ tiles }) => tiles.some((tile) => isWanted(tile, wanted))),
    }))
    .filter(({ nodes }) => nodes.length > 0);
}

export function ownersOf(gpu: FleetGpu): string {
  return [...new Set(gpu.holders.map((holder) => holder.owner || holder.workload))].join(", ");
}

// "3g.40gb" is three sevenths of the GPU.
export function sliceOf(profile: string): number {
  return Number(/^(\d+)g/.exec(profile)?.[1] ?? 1);
}
