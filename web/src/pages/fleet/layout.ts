// Places the tiles. A node is a block of its GPUs, blocks fill the lines of their cluster; the more tiles,
// the smaller they are.
import type { ClusterTiles, NodeTiles, Tile } from "./model";

export type Size = "small" | "medium" | "large";

interface Measures {
  width: number;
  height: number;
  gap: number;
  across: number; // tiles in a line of a node
  head: number; // for the node's name
  around: number; // between blocks
}

const MEASURES: Record<Size, Measures> = {
  large: { width: 108, height: 54, gap: 4, across: 4, head: 20, around: 18 },
  medium: { width: 22, height: 22, gap: 3, across: 4, head: 17, around: 12 },
  small: { width: 9, height: 9, gap: 1, across: 4, head: 0, around: 5 },
};
const LARGE_MIN = 86;
const LARGE_MAX = 190;
const CLUSTER_HEAD = 26;
const BETWEEN_CLUSTERS = 14;

export function sizeFor(gpus: number): Size {
  return gpus <= 96 ? "large" : gpus <= 1600 ? "medium" : "small";
}

export interface Placed {
  tile: Tile;
  x: number;
  y: number;
}
export interface Label {
  text: string;
  x: number;
  y: number;
  width: number;
  kind: "cluster" | "node";
}
export interface Layout {
  size: Size;
  measures: Measures;
  width: number;
  height: number;
  tiles: Placed[];
  labels: Label[];
}

function measuresFor(size: Size, width: number): Measures {
  const measures = MEASURES[size];
  if (size !== "large") return measures;
  // On a phone two large tiles are side by side; on wider screens, as many nodes as fit into a line, whose
  // tiles fill it.
  const across = width < 480 ? 2 : 4;
  const gaps = (across - 1) * measures.gap;
  const block = across * LARGE_MIN + gaps;
  const blocks = Math.max(1, Math.floor((width + measures.around) / (block + measures.around)));
  const room = (width - (blocks - 1) * measures.around) / blocks - gaps;
  return { ...measures, across, width: Math.min(LARGE_MAX, Math.floor(room / across)) };
}

export function layOut(clusters: ClusterTiles[], size: Size, width: number): Layout {
  const measures = measuresFor(size, width);
  const layout: Layout = { size, measures, width, height: 0, tiles: [], labels: [] };
  let top = 0;
  for (const { cluster, nodes } of clusters) {
    if (top > 0) top += BETWEEN_CLUSTERS;
    layout.labels.push({ text: cluster, x: 0, y: top, width, kind: "cluster" });
    top = placeNodes(layout, nodes, top + CLUSTER_HEAD);
  }
  layout.height = Math.max(top, 1);
  return layout;
}

// Returns the end of the last line.
function placeNodes(layout: Layout, nodes: NodeTiles[], begin: number): number {
  const { width, height, gap, across, head, around } = layout.measures;
  let x = 0;
  let top = begin;
  let tallest = 0;
  for (const { node, tiles } of nodes) {
    const columns = Math.max(1, Math.min(across, tiles.length));
    const rows = Math.max(1, Math.ceil(tiles.length / across));
    const block = columns * (width + gap) - gap;
    if (x > 0 && x + block > layout.width) {
      x = 0;
      top += tallest + around;
      tallest = 0;
    }
    if (head > 0) layout.labels.push({ text: node.node, x, y: top, width: block, kind: "node" });
    tiles.forEach((tile, i) => {
      layout.tiles.push({
        tile,
        x: x + (i % across) * (width + gap),
        y: top + head + Math.floor(i / across) * (height + gap),
      });
    });
    x += block + around;
    tallest = Math.max(tallest, head + rows * (height + gap) - gap);
  }
  return top + tallest;
}

export function tileAt(layout: Layout, x: number, y: number): number {
  // The gap beside a tile belongs to it, since small tiles are hard to hit.
  const width = layout.measures.width + layout.measures.gap;
  const height = layout.measures.height + layout.measures.gap;
  return layout.tiles.findIndex((one) => x >= one.x && x < one.x + width && y >= one.y && y < one.y + height);
}

// The nearest tile in a direction, for the arrow keys.
export function neighbour(layout: Layout, from: number, dx: number, dy: number): number {
  const here = layout.tiles[from];
  if (!here) return layout.tiles.length > 0 ? 0 : -1;
  let best = from;
  let least = Infinity;
  layout.tiles.forEach((one, i) => {
    const along = dx !== 0 ? (one.x - here.x) * dx : (one.y - here.y) * dy;
    const aside = Math.abs(dx !== 0 ? one.y - here.y : one.x - here.x);
    if (along <= 0) return;
    const distance = along + aside * 4;
    if (distance < least) [best, least] = [i, distance];
  });
  return best;
}
