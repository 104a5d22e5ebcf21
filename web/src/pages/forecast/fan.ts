// The fan: what was spent day by day, then the forecast with its three ranges around it.
import type { ApiTable, Tables } from "../../api/types";
import type { Series } from "../../charts/chart";
import { add, toHeight } from "../../util/money";
import { dayShort } from "../../util/text";

export interface ForecastDay {
  day: string;
  value: string | null;
  ranges: Record<string, [string | null, string | null]>; // by percent
}

export interface Forecast {
  currency: string | undefined;
  rows: ForecastDay[];
  notes: string[];
  methods: ApiTable | undefined;
  kept: ApiTable | undefined; // how near earlier forecasts came
}

const PERCENTS = ["95", "80", "50"] as const; // the widest first: the others lie upon it
const VISIBLE = 0.005; // of the chart's height; what is thinner lies under the line
const DAY_MS = 86_400_000;

const textOf = (value: unknown): string | null => (value === null || value === undefined ? null : String(value));

// Nothing where nothing was spent yet.
export function readForecast(tables: Tables["tables"]): Forecast | undefined {
  const table = tables.find((one) => one.columns.some((column) => column.name === "day"));
  if (!table || table.rows.length === 0) return undefined;
  return {
    currency: table.currency,
    notes: table.notes ?? [],
    methods: tables.find((one) => one.columns.some((column) => column.name === "method") && one !== table),
    kept: tables.find((one) => one.columns.some((column) => column.name === "forecasts")),
    rows: table.rows.map((row) => ({
      day: String(row.day),
      value: textOf(row.forecast),
      ranges: Object.fromEntries(PERCENTS.map((percent) => [percent, [textOf(row[`low_${percent}`]), textOf(row[`high_${percent}`])]])),
    })),
  };
}

const dayBefore = (day: string, days: number) => new Date(Date.parse(`${day}T00:00:00Z`) - days * DAY_MS).toISOString().slice(0, 10);

// As many days before the first one of the forecast as it has.
export function historyDays(first: string, days: number): { from: string; to: string } {
  return { from: dayBefore(first, days), to: dayBefore(first, 1) };
}

// What was spent on each day: the sum of the rows of all owners.
export function spentByDay(tables: Tables["tables"], currency: string | undefined): Map<string, string> {
  const spent = new Map<string, string>();
  for (const table of tables.filter((one) => one.currency === currency)) {
    const bucket = table.columns.find((column) => ["day", "date", "time", "bucket", "from"].includes(column.name))?.name ?? table.columns[0]?.name ?? "";
    for (const row of table.rows) {
      const day = String(row[bucket] ?? "").slice(0, 10);
      spent.set(day, add(spent.get(day) ?? "0", textOf(row.effective_cost) ?? "0"));
    }
  }
  return spent;
}

// Whether a band is somewhere wide enough to be seen. Only for the legend: the figures stay exact.
function isVisible(percent: string, forecast: Forecast, spent: Map<string, string>): boolean {
  const heights = forecast.rows.flatMap((row) => [row.value, row.ranges[percent]?.[1], row.ranges["95"]?.[1]]);
  const most = Math.max(...[...spent.values(), ...heights].map((amount) => toHeight(amount ?? "0")));
  return forecast.rows.some(({ ranges }) => {
    const [low, high] = ranges[percent] ?? [null, null];
    return low !== null && high !== null && toHeight(high) - toHeight(low) > VISIBLE * most;
  });
}

export function fan(forecast: Forecast, history: Tables["tables"]): { labels: string[]; series: Series[] } {
  const spent = spentByDay(history, forecast.currency);
  const before = [...spent.keys()].filter((day) => /^\d{4}-\d\d-\d\d$/.test(day)).sort();
  const labels = [...before, ...forecast.rows.map((row) => row.day)].map(dayShort);
  const blank = before.map(() => null);
  const after = forecast.rows.map(() => null);
  const series: Series[] = PERCENTS.filter((percent) => forecast.rows.some((row) => row.ranges[percent]?.[0] != null)).flatMap((percent) => [
    { name: `${percent} % from`, colour: "c1", band: false, legend: "", values: [...blank, ...forecast.rows.map((row) => row.ranges[percent]?.[0] ?? null)] },
    { name: `${percent} % to`, colour: "c1", band: true, legend: isVisible(percent, forecast, spent) ? `${percent} %` : "", values: [...blank, ...forecast.rows.map((row) => row.ranges[percent]?.[1] ?? null)] },
  ]);
  series.push({ name: "Forecast", colour: "c1", dashed: true, values: [...blank, ...forecast.rows.map((row) => row.value)] });
  series.push({ name: "Spent", colour: "c2", values: [...before.map((day) => spent.get(day) ?? null), ...after] });
  return { labels, series };
}
