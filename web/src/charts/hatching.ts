// Hatching of what is set aside, so that the greys of unallocated, stranded and the like differ without colour too.
// The stylesheet has the same angles for legends.
import { colourOf } from "./colours";

const SIZE = 8;
// Lines from one corner of the tile to the other: up, down; or level.
const LINES: Record<string, ("up" | "down" | "level")[]> = {
  unallocated: ["up"],
  stranded: ["down"],
  unavailable: ["up", "down"],
  overhead: ["level"],
};

// What a series is filled with: its colour, hatched where it is one of those.
export function fillOf(name: string): string | CanvasPattern {
  const colour = colourOf(name);
  const lines = LINES[name];
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = SIZE;
  const pen = lines && canvas.getContext("2d");
  if (!pen) return colour;
  pen.fillStyle = colour;
  pen.fillRect(0, 0, SIZE, SIZE);
  pen.strokeStyle = colourOf("surface");
  pen.globalAlpha = 0.55;
  pen.lineWidth = 1.4;
  pen.beginPath();
  for (const line of lines) {
    // Beyond the edges, so that tiles meet.
    for (const shift of [-SIZE, 0, SIZE]) {
      if (line === "up") pen.moveTo(shift - 1, SIZE + 1), pen.lineTo(shift + SIZE + 1, -1);
      if (line === "down") pen.moveTo(shift - 1, -1), pen.lineTo(shift + SIZE + 1, SIZE + 1);
    }
    if (line === "level") pen.moveTo(0, SIZE / 2), pen.lineTo(SIZE, SIZE / 2);
  }
  pen.stroke();
  return pen.createPattern(canvas, "repeat") ?? colour;
}
