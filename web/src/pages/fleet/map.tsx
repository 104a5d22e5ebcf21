// The map: a canvas that follows the mouse and the arrow keys, and announces the focused GPU.
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useShownTheme } from "../../app/theme";
import { money } from "../../util/money";
import { draw, Frames } from "./draw";
import { layOut, neighbour, tileAt, type Layout, type Size } from "./layout";
import { ownersOf, STATE_TITLES, type ClusterTiles, type Tile, type Wanted } from "./model";

const ARROWS: Record<string, [number, number]> = {
  ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1],
};

export function tell(tile: Tile): string {
  const { gpu, node } = tile;
  const parts = [`${node.node}, GPU ${gpu.index}`, STATE_TITLES[tile.state]];
  if (gpu.held) parts.push(ownersOf(gpu));
  if (gpu.held && tile.busy !== null) parts.push(`${Math.round(tile.busy * 100)}% busy`);
  if (gpu.mig.length > 0) parts.push(`MIG ${gpu.mig.join(" + ")}`);
  if (gpu.cost_per_hour !== null) parts.push(`${money(gpu.cost_per_hour, node.currency)} an hour`);
  return parts.filter(Boolean).join(" · ");
}

function useWidth(): [preact.RefObject<HTMLDivElement>, number] {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    if (!box.current) return;
    const look = new ResizeObserver(([entry]) => entry && setWidth(Math.floor(entry.contentRect.width)));
    look.observe(box.current);
    return () => look.disconnect();
  }, []);
  return [box, width];
}

export function FleetMap({ clusters, size, wanted, onChoose }: {
  clusters: ClusterTiles[];
  size: Size;
  wanted: Wanted;
  onChoose: (tile: Tile) => void;
}) {
  const [box, width] = useWidth();
  const canvas = useRef<HTMLCanvasElement>(null);
  const above = useRef<HTMLCanvasElement>(null);
  const frames = useRef(new Frames());
  const framed = useRef<Layout>();
  const [hovered, setHovered] = useState(-1);
  const [focused, setFocused] = useState(-1);
  const theme = useShownTheme();
  const id = useId();
  const layout = useMemo(() => layOut(clusters, size, Math.max(width, 1)), [clusters, size, width]);

  useEffect(() => {
    if (!canvas.current || width === 0) return;
    const frame = requestAnimationFrame(() => {
      if (canvas.current) draw(canvas.current, layout, wanted);
    });
    return () => cancelAnimationFrame(frame);
  }, [layout, wanted, theme, width]);
  useEffect(() => {
    const isNew = framed.current !== layout;
    framed.current = layout;
    if (above.current) frames.current.show(above.current, layout, hovered, focused, isNew);
  }, [layout, hovered, focused, theme]);

  const pointed = (event: MouseEvent) => tileAt(layout, event.offsetX, event.offsetY);
  const press = (event: KeyboardEvent) => {
    const arrow = ARROWS[event.key];
    if (arrow) {
      event.preventDefault();
      setFocused(focused < 0 ? 0 : neighbour(layout, focused, ...arrow));
    } else if (event.key === "Home") {
      event.preventDefault();
      setFocused(0);
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      const tile = layout.tiles[focused]?.tile;
      if (tile) onChoose(tile);
    }
  };
  // The browser does not scroll to a focused part of a canvas by itself.
  useEffect(() => {
    const placed = layout.tiles[focused];
    if (!placed || !canvas.current) return;
    const top = canvas.current.getBoundingClientRect().top + placed.y;
    if (top < 80 || top > innerHeight - 80) scrollBy({ top: top - innerHeight / 2 });
  }, [focused]);

  const under = layout.tiles[hovered] ?? layout.tiles[focused];
  return (
    <div class="fleet-map" ref={box}>
      <canvas
        ref={canvas}
        tabIndex={0}
        role="application"
        aria-label={`Map of ${layout.tiles.length.toLocaleString("en")} GPUs. Arrow keys go from one to the next, Enter opens it. The list has the same.`}
        aria-describedby={id}
        style={{ width: `${layout.width}px`, height: `${layout.height}px`, cursor: hovered >= 0 ? "pointer" : "default" }}
        onMouseMove={(event) => setHovered(pointed(event))}
        onMouseLeave={() => setHovered(-1)}
        onClick={(event) => {
          const tile = layout.tiles[pointed(event)]?.tile;
          if (tile) onChoose(tile);
        }}
        onKeyDown={press}
        onFocus={() => focused < 0 && setFocused(0)}
        onBlur={() => setFocused(-1)}
      />
      <canvas ref={above} class="fleet-frames" aria-hidden="true" style={{ width: `${layout.width}px`, height: `${layout.height}px` }} />
      {under && (
        <div
          class="fleet-tip"
          aria-hidden="true"
          style={{
            left: `${Math.max(0, Math.min(under.x, layout.width - 288))}px`,
            top: `${under.y + layout.measures.height + 8}px`,
          }}
        >
          {tell(under.tile)}
        </div>
      )}
      <p id={id} class="sr-only" aria-live="polite">
        {focused >= 0 && layout.tiles[focused] ? tell(layout.tiles[focused].tile) : ""}
      </p>
    </div>
  );
}
