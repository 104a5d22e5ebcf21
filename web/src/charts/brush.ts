// Selecting some of a chart's labels by dragging over them. By keyboard the same is chosen by dates.

const DRAG_LEAST_PX = 8;

// Calls `onBrush` with the first and last index, and returns what takes it off again. A drag is no click.
export function brushOver(canvas: HTMLCanvasElement, indexAt: (x: number) => number | undefined, onBrush: (first: number, last: number) => void): () => void {
  const shade = document.createElement("div");
  shade.className = "brush";
  shade.hidden = true;
  canvas.parentElement?.append(shade);
  let begun: number | null = null;
  const at = (event: PointerEvent) => event.clientX - canvas.getBoundingClientRect().left;
  const down = (event: PointerEvent) => {
    if (event.button === 0 && event.pointerType === "mouse") begun = at(event);
  };
  const move = (event: PointerEvent) => {
    if (begun === null) return;
    const x = at(event);
    shade.hidden = Math.abs(x - begun) < DRAG_LEAST_PX;
    shade.style.left = `${Math.min(x, begun)}px`;
    shade.style.width = `${Math.abs(x - begun)}px`;
  };
  const up = (event: PointerEvent) => {
    const [from, to] = [begun, at(event)];
    begun = null;
    shade.hidden = true;
    if (from === null || Math.abs(to - from) < DRAG_LEAST_PX) return;
    const [first, last] = [indexAt(Math.min(from, to)), indexAt(Math.max(from, to))];
    // The click that ends the drag comes at once, or not at all where the button is released beside the chart.
    const ignore = (click: Event) => click.stopImmediatePropagation();
    canvas.addEventListener("click", ignore, { capture: true, once: true });
    setTimeout(() => canvas.removeEventListener("click", ignore, { capture: true }));
    if (first !== undefined && last !== undefined) onBrush(first, last);
  };
  canvas.addEventListener("pointerdown", down);
  addEventListener("pointermove", move);
  addEventListener("pointerup", up);
  return () => {
    canvas.removeEventListener("pointerdown", down);
    removeEventListener("pointermove", move);
    removeEventListener("pointerup", up);
    shade.remove();
  };
}
