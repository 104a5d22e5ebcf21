// A chart, and the same figures as a table.
//
//   <Chart kind="bars" title="Spend by team" labels={days} series={[{ name, colour, values }]}
//          currency="EUR" />
//
// kind: "bars" (stacked), "area" (stacked), "line". Values are decimal strings of the API, which become numbers
// only for heights. `colour` is a name in the stylesheet: "c1"…"c10", "used", "idle".
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { useShownTheme } from "../app/theme";
import { IconButton } from "../components/controls";
import { Skeleton } from "../components/states";
import { Table, type Column } from "../components/table";
import { add, brief, money, number } from "../util/money";
import type { Drawn } from "./engine";

export interface Series {
  name: string;
  colour: string;
  values: (string | null)[];
  dashed?: boolean;
  stack?: string;
  band?: boolean; // of a line: the room between the one before and it is filled
  legend?: string; // its name in the legend; "": none
  over?: boolean; // among bars: a line over them, which is part of no sum
}

export interface ChartProps {
  kind: "bars" | "area" | "line";
  labels: string[];
  series: Series[];
  onPick?: ((index: number) => void) | undefined;
  onBrush?: ((first: number, last: number) => void) | undefined;
  tell: (value: string | null) => string;
  axis: (value: string) => string;
  sum: ((index: number) => string) | null;
  notes: string[][]; // what people wrote of each label; it is marked, and said where the pointer is
}

interface Props {
  kind: "bars" | "area" | "line";
  title: string;
  labels: string[];
  series: Series[];
  currency?: string | undefined; // of money; else `unit`
  unit?: string;
  digits?: number;
  onPick?: (index: number) => void; // a click on a label's bars
  onBrush?: (first: number, last: number) => void; // a drag over labels
  legend?: boolean;
  onSeries?: (name: string) => void; // a click on a name of the legend
  notes?: string[][];
  size?: "small" | "medium" | "large";
}

function useDrawn(props: ChartProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawn = useRef<Drawn>();
  const latest = useRef(props);
  latest.current = props;
  const [ready, setReady] = useState(false);
  const theme = useShownTheme();
  const key = JSON.stringify([props.kind, props.labels, props.series, props.notes]);
  useEffect(() => {
    let gone = false;
    void import("./engine").then(({ draw }) => {
      if (gone || !canvas.current) return;
      drawn.current = draw(canvas.current, latest.current);
      setReady(true);
    });
    const again = () => drawn.current?.update(latest.current);
    addEventListener("beforeprint", again);
    return () => {
      gone = true;
      removeEventListener("beforeprint", again);
      drawn.current?.destroy();
      drawn.current = undefined;
    };
  }, []);
  useEffect(() => drawn.current?.update(latest.current), [key, theme]);
  return { canvas, ready };
}

function DataTable({ title, labels, series, tell }: Props & { tell: ChartProps["tell"] }) {
  const columns: Column<number>[] = [
    { key: "label", title: "", label: "When", cell: (i) => labels[i], wide: true },
    ...series.map((one, s): Column<number> => ({
      key: String(s),
      title: one.name,
      numeric: true,
      value: (i) => one.values[i],
      cell: (i) => tell(one.values[i] ?? null),
    })),
  ];
  return <Table caption={title} columns={columns} rows={labels.map((_, i) => i)} rowKey={String} dense />;
}

export function Legend({ series, onSeries }: { series: Series[]; onSeries?: (name: string) => void }) {
  return (
    <ul class="legend">
      {series.filter((one) => one.legend !== "").map((one) => (
        <li key={one.name}>
          <span class={`mark mark-${one.colour}${one.dashed ? " mark-dashed" : ""}${one.band ? ` mark-band-${one.legend?.slice(0, 2)}` : ""}`} aria-hidden="true" />
          {onSeries && !one.over ? (
            <button type="button" class="legend-name" onClick={() => onSeries(one.name)} title={one.name}>
              {one.name}
            </button>
          ) : (
            <span class="legend-name" title={one.name}>{one.legend ?? one.name}</span>
          )}
        </li>
      ))}
    </ul>
  );
}

export function Chart(props: Props) {
  const { title, labels, series, currency, unit = "", digits = 2, legend = series.length > 1 } = props;
  const [asTable, setAsTable] = useState(false);
  const id = useId();
  const tell = (value: string | null) =>
    value === null ? "–" : currency ? money(value, currency, digits) : number(value, digits) + (unit ? ` ${unit}` : "");
  const drawn = useDrawn({
    kind: props.kind,
    labels,
    series,
    onPick: props.onPick,
    onBrush: props.onBrush,
    notes: props.notes ?? [],
    tell,
    axis: (value) => brief(value, currency).replace(/(\.\d*?)0+(?=[kMB]?$)/, "$1").replace(/\.(?=[kMB]?$)/, "") + (currency || !unit ? "" : ` ${unit}`),
    sum: props.kind === "line" ? null : (index) => tell(add(...series.filter((one) => !one.over).map((one) => one.values[index]))),
  });
  return (
    <figure class={`chart chart-${props.size ?? "medium"}`} aria-labelledby={id}>
      <div class="chart-top">
        <figcaption id={id} class="sr-only">{title}</figcaption>
        {legend ? <Legend series={series} onSeries={props.onSeries} /> : <span />}
        <IconButton
          icon="table"
          label={asTable ? "Show the chart" : "Show as a table"}
          pressed={asTable}
          onClick={() => setAsTable(!asTable)}
        />
      </div>
      <div class="chart-box" hidden={asTable}>
        {!drawn.ready && <Skeleton height="chart" />}
        <canvas ref={drawn.canvas} role="img" aria-label={`${title}. The figures are in the table that the button beside shows.`} />
      </div>
      {asTable && <DataTable {...props} tell={tell} />}
    </figure>
  );
}
