// Draws the tiles on a canvas: ten thousand in a few milliseconds.
import { colourOf } from "../../charts/colours";
import type { Layout, Placed } from "./layout";
import { isWanted, ownersOf, sliceOf, type State, type Wanted } from "./model";

const COLOURS: Record<State, string> = {
  busy: "used",
  idle: "idle",
  unseen: "shared",
  free: "free",
  unknown: "free",
  down: "unavailable",
};
const SEVENTHS = 7;

interface Look {
  colours: Record<State, string>;
  text: string;
  soft: string;
  surface: string;
  font: string;
}

function lookOf(): Look {
  const each = <T>(make: (state: State) => T) =>
    Object.fromEntries((Object.keys(COLOURS) as State[]).map((state) => [state, make(state)])) as Record<State, T>;
  return {
    colours: each((state) => colourOf(COLOURS[state])),
    text: colourOf("text"),
    soft: colourOf("text-3"),
    surface: colourOf("surface"),
    font: getComputedStyle(document.body).fontFamily,
  };
}

function cut(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  let end = text.length;
  while (end > 1 && context.measureText(text.slice(0, end) + "…").width > width) end -= 1;
  return text.slice(0, end) + "…";
}

// The strength of the colour: a half busy GPU is paler than a busy one.
function strength(placed: Placed): number {
  const { state, busy } = placed.tile;
  return state === "busy" && busy !== null ? 0.4 + 0.6 * busy : 1;
}

function drawMig(context: CanvasRenderingContext2D, placed: Placed, width: number, height: number, look: Look) {
  const { mig } = placed.tile.gpu;
  if (mig.length === 0) return;
  context.fillStyle = look.surface;
  let sevenths = 0;
  for (const profile of mig) {
    sevenths += sliceOf(profile);
    if (sevenths < SEVENTHS) {
      context.fillRect(placed.x + Math.round((sevenths / SEVENTHS) * width), placed.y, 1, height);
    }
  }
}

function drawWords(context: CanvasRenderingContext2D, placed: Placed, width: number, look: Look) {
  const { gpu, state, busy } = placed.tile;
  const room = width - 16;
  context.fillStyle = look.text;
  context.font = `600 12px ${look.font}`;
  const shown = busy !== null && gpu.held ? `${Math.round(busy * 100)}%` : "";
  context.textAlign = "right";
  context.fillText(shown, placed.x + width - 8, placed.y + 19);
  context.textAlign = "left";
  context.fillStyle = look.soft;
  context.font = `500 11px ${look.font}`;
  context.fillText(`GPU ${gpu.index}`, placed.x + 10, placed.y + 19);
  context.fillStyle = look.text;
  context.font = `500 12px ${look.font}`;
  const who = gpu.held ? ownersOf(gpu) || "held" : state === "down" ? "not available" : state === "unknown" ? "not watched" : "free";
  if (!gpu.held) context.fillStyle = look.soft;
  context.fillText(cut(context, who, room), placed.x + 10, placed.y + 37);
}

// A large tile has a stripe and a bar; a small one only its colour.
function drawTile(context: CanvasRenderingContext2D, layout: Layout, placed: Placed, look: Look) {
  const { width, height } = layout.measures;
  const { state, busy, gpu } = placed.tile;
  const colour = look.colours[state];
  if (layout.size === "small") {
    const before = context.globalAlpha;
    context.fillStyle = colour;
    context.globalAlpha = before * strength(placed);
    context.fillRect(placed.x, placed.y, width, height);
    context.globalAlpha = before;
    return;
  }
  const radius = layout.size === "large" ? 6 : 4;
  const path = new Path2D();
  path.roundRect(placed.x, placed.y, width, height, radius);
  context.fillStyle = colour;
  if (layout.size !== "large") {
    const before = context.globalAlpha;
    context.globalAlpha = before * strength(placed);
    context.fill(path);
    context.globalAlpha = before;
    drawMig(context, placed, width, height, look);
    return;
  }
  const before = context.globalAlpha;
  context.globalAlpha = before * (state === "free" || state === "unknown" ? 0.35 : 0.16);
  context.fill(path);
  context.globalAlpha = before;
  context.save();
  context.clip(path);
  context.fillRect(placed.x, placed.y, 3, height);
  const bar = placed.y + height - 5;
  if (gpu.held) {
    context.globalAlpha = before * 0.25;
    context.fillRect(placed.x + 3, bar, width - 3, 5);
    context.globalAlpha = before;
    context.fillRect(placed.x + 3, bar, (width - 3) * (busy ?? 0), 5);
  }
  if (gpu.mig.length > 0) drawMig(context, { ...placed, y: bar - 5 }, width, 10, look);
  context.restore();
  drawWords(context, placed, width, look);
}

function drawLabels(context: CanvasRenderingContext2D, layout: Layout, look: Look) {
  context.textAlign = "left";
  for (const label of layout.labels) {
    const isCluster = label.kind === "cluster";
    context.font = isCluster ? `600 13px ${look.font}` : `500 11.5px ${look.font}`;
    context.fillStyle = isCluster ? look.text : look.soft;
    context.fillText(cut(context, label.text, label.width), label.x, label.y + 13);
  }
}

function prepared(canvas: HTMLCanvasElement, layout: Layout): CanvasRenderingContext2D | null {
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(layout.width * scale);
  canvas.height = Math.round(layout.height * scale);
  const context = canvas.getContext("2d");
  context?.scale(scale, scale);
  return context;
}

export function draw(canvas: HTMLCanvasElement, layout: Layout, wanted: Wanted): void {
  const context = prepared(canvas, layout);
  if (!context) return;
  const look = lookOf();
  drawLabels(context, layout, look);
  const everything = wanted.states.size === 0 && wanted.search === "";
  for (const placed of layout.tiles) {
    context.globalAlpha = everything || isWanted(placed.tile, wanted) ? 1 : 0.1;
    drawTile(context, layout, placed, look);
  }
}

// The frames of the tiles under the mouse and the keyboard focus, on a canvas of their own above the tiles,
// so that moving the mouse redraws no tile.
export class Frames {
  private drawn: Placed[] = [];

  show(canvas: HTMLCanvasElement, layout: Layout, hovered: number, focused: number, isNew: boolean): void {
    const context = isNew ? prepared(canvas, layout) : canvas.getContext("2d");
    if (!context) return;
    const { width, height } = layout.measures;
    for (const placed of this.drawn) context.clearRect(placed.x - 4, placed.y - 4, width + 8, height + 8);
    this.drawn = [];
    for (const index of new Set([hovered, focused])) {
      const placed = layout.tiles[index];
      if (!placed) continue;
      context.lineWidth = 2;
      context.strokeStyle = colourOf(index === focused ? "focus" : "text");
      context.beginPath();
      context.roundRect(placed.x - 1, placed.y - 1, width + 2, height + 2, layout.size === "small" ? 3 : 6);
      context.stroke();
      this.drawn.push(placed);
    }
  }
}
