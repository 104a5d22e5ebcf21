// Marks of what people wrote of a label, above the bars, and its lines where the pointer is.
import type { Chart, Plugin } from "chart.js";
import { colourOf } from "./colours";

const LINE_CHARACTERS = 60;
const LINES_MOST = 6;
const SIZE = 5;

// A text in lines that a tooltip has room for.
export function noteLines(notes: string[] | undefined): string[] {
  const lines: string[] = [];
  for (const note of notes ?? []) {
    let line = "";
    for (const word of note.split(/\s+/)) {
      if (line && line.length + word.length >= LINE_CHARACTERS) {
        lines.push(line);
        line = "";
      }
      line += `${line && " "}${word.slice(0, LINE_CHARACTERS)}`;
    }
    lines.push(line);
  }
  return lines.length > LINES_MOST ? [...lines.slice(0, LINES_MOST - 1), "…"] : lines;
}

// A small wedge at the top of each label of which something is written.
export function markOf(notes: string[][]): Plugin<"bar" | "line"> {
  return {
    id: "notes",
    afterDatasetsDraw: (chart: Chart<"bar" | "line">) => {
      const { ctx, chartArea, scales } = chart;
      ctx.save();
      ctx.fillStyle = colourOf("text");
      notes.forEach((some, i) => {
        const x = some.length > 0 ? scales["x"]?.getPixelForValue(i) : undefined;
        if (x === undefined) return;
        ctx.beginPath();
        ctx.moveTo(x - SIZE, chartArea.top);
        ctx.lineTo(x + SIZE, chartArea.top);
        ctx.lineTo(x, chartArea.top + 1.6 * SIZE);
        ctx.fill();
      });
      ctx.restore();
    },
  };
}
