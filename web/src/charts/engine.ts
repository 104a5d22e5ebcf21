// Chart.js with only the parts in use. Loaded with the first chart, so the first page does not contain it.
import {
  BarController, BarElement, CategoryScale, Chart, Filler, LinearScale, LineController, LineElement,
  PointElement, Tooltip,
  type ChartConfiguration, type ChartDataset, type TooltipItem,
} from "chart.js";
import { brushOver } from "./brush";
import { colourOf } from "./colours";
import { fillOf } from "./hatching";
import { markOf, noteLines } from "./notes";
import type { ChartProps } from "./chart";

Chart.register(
  BarController, BarElement, CategoryScale, Filler, LinearScale, LineController, LineElement,
  PointElement, Tooltip,
);

type Kind = "bar" | "line";

function datasets(props: ChartProps): ChartDataset<Kind>[] {
  return props.series.map((series) => {
    const colour = colourOf(series.colour);
    const data = props.labels.map((_, i) => {
      const value = series.values[i];
      return value === null || value === undefined ? null : Number(value);
    });
    if (props.kind === "bars" && !series.over) {
      return { type: "bar", label: series.name, data, backgroundColor: fillOf(series.colour), stack: series.stack ?? "all",
        borderWidth: 0, borderRadius: 2, maxBarThickness: 56, categoryPercentage: 0.82, barPercentage: 0.94 };
    }
    const isArea = props.kind === "area";
    if (series.band !== undefined) {
      // The edges of a band: no lines, and the room between them paler than a line.
      return { type: "line", label: series.name, data, stack: series.name, borderColor: "transparent", borderWidth: 0,
        backgroundColor: series.band ? `color-mix(in srgb, ${colour} 22%, transparent)` : "transparent",
        fill: series.band ? "-1" : false, pointRadius: 0, pointHoverRadius: 0, pointHitRadius: 0, tension: 0, spanGaps: false };
    }
    return { type: "line", label: series.name, data, ...(series.over ? { stack: series.name } : {}), borderColor: colour, borderWidth: isArea ? 1.25 : 2,
      backgroundColor: isArea ? `color-mix(in srgb, ${colour} 55%, transparent)` : colour,
      fill: isArea ? (props.series.indexOf(series) === 0 ? "origin" : "-1") : false,
      borderDash: series.dashed ? [5, 4] : [], pointRadius: props.labels.length === 1 ? 3 : 0,
      pointHoverRadius: 4, pointHitRadius: 12, tension: 0, spanGaps: false };
  });
}

function configuration(props: ChartProps): ChartConfiguration<Kind> {
  const rem = Number.parseInt(getComputedStyle(document.documentElement).fontSize, 10);
  const font = { family: getComputedStyle(document.body).fontFamily, size: 0.79 * rem };
  const text = colourOf("text-3");
  const line = colourOf("line");
  const stacked = props.kind !== "line";
  return {
    type: props.kind === "bars" ? "bar" : "line",
    data: { labels: props.labels, datasets: datasets(props) },
    plugins: [markOf(props.notes)],
    options: {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      normalized: true,
      interaction: { mode: "index", intersect: false },
      onClick: (_, __, chart) => {
        if (!props.onPick) return;
        const active = chart.tooltip?.dataPoints?.[0];
        if (active) props.onPick(active.dataIndex);
      },
      scales: {
        x: {
          stacked,
          border: { color: colourOf("line-strong") },
          grid: { display: false },
          ticks: { color: text, font, maxRotation: 0, autoSkipPadding: 16 },
        },
        y: {
          stacked,
          beginAtZero: true,
          border: { display: false },
          grid: { color: line, tickLength: 0 },
          ticks: { color: text, font, padding: 8, maxTicksLimit: 5,
            callback: (value) => props.axis(String(value)) },
        },
      },
      plugins: {
        tooltip: {
          backgroundColor: colourOf("tip"),
          titleColor: colourOf("tip-text"),
          bodyColor: colourOf("tip-text"),
          footerColor: colourOf("tip-text"),
          titleFont: { ...font, size: 0.86 * rem, weight: 600 },
          bodyFont: { ...font, size: 0.86 * rem },
          footerFont: { ...font, size: 0.86 * rem, weight: 600 },
          padding: 10,
          cornerRadius: 8,
          boxWidth: 8,
          boxHeight: 8,
          boxPadding: 5,
          usePointStyle: true,
          filter: (item: TooltipItem<Kind>) => Number(item.raw ?? 0) !== 0,
          itemSort: (a, b) => b.datasetIndex - a.datasetIndex,
          callbacks: {
            afterTitle: (items) => noteLines(props.notes[items[0]?.dataIndex ?? -1]),
            // The exact text of the API, not the number for the height.
            label: (item) => {
              const series = props.series[item.datasetIndex];
              return ` ${series?.name ?? ""}  ${props.tell(series?.values[item.dataIndex] ?? null)}`;
            },
            footer: (items) => {
              const index = items[0]?.dataIndex;
              return index === undefined || !props.sum || items.length < 2 ? "" : `Total  ${props.sum(index)}`;
            },
          },
        },
      },
    },
  };
}

export interface Drawn {
  update: (props: ChartProps) => void;
  destroy: () => void;
}

export function draw(canvas: HTMLCanvasElement, props: ChartProps): Drawn {
  let chart = new Chart<Kind>(canvas, configuration(props));
  let latest = props;
  const indexAt = (x: number) => {
    const index = chart.scales["x"]?.getValueForPixel(x);
    return index === undefined ? undefined : Math.max(0, Math.min(latest.labels.length - 1, Math.round(index)));
  };
  const unbrush = props.onBrush ? brushOver(canvas, indexAt, (first, last) => latest.onBrush?.(first, last)) : () => {};
  return {
    update(next) {
      latest = next;
      chart.destroy();
      chart = new Chart<Kind>(canvas, configuration(next));
    },
    destroy: () => (unbrush(), chart.destroy()),
  };
}
