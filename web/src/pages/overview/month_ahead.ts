// What is to come of a month, over the bars of what was spent: the forecast of its days with the range that holds
// 80 %, and what the budgets of everything allow a day at an even pace.
import type { Tables } from "../../api/types";
import type { Series } from "../../charts/chart";
import { compare, divideBy, isAmount } from "../../util/money";
import { daysIn, daysOf } from "../../util/text";

const textOf = (value: unknown): string | null => (value === null || value === undefined ? null : String(value));

interface Ahead {
  days: string[]; // of the axis: the whole month once its rest is forecast
  series: Series[];
}

// `shown`: the days that have bars. Of other months than the one that goes on nothing is forecast.
export function monthAhead(month: string, currency: string, shown: string[], forecast: Tables["tables"], budgets: Tables["tables"]): Ahead {
  const rows = forecast.filter((one) => one.currency === currency && one.columns.some((column) => column.name === "day"))
    .flatMap((one) => one.rows).filter((row) => String(row["day"]).startsWith(month) && textOf(row["forecast"]) !== null);
  const days = rows.length > 0 ? daysOf(month, daysIn(month)) : shown;
  const byDay = new Map(rows.map((row) => [String(row["day"]), row]));
  const of = (column: string) => days.map((day) => textOf(byDay.get(day)?.[column]));
  const series: Series[] = [];
  if (of("low_80").some((one) => one !== null)) {
    series.push({ name: "Forecast, 80 % from", colour: "text-2", over: true, band: false, legend: "", values: of("low_80") });
    series.push({ name: "Forecast, 80 % to", colour: "text-2", over: true, band: true, legend: "80 %", values: of("high_80") });
  }
  if (rows.length > 0) series.push({ name: "Forecast", colour: "text-2", over: true, dashed: true, legend: "Forecast", values: of("forecast") });
  const allowed = budgets.filter((one) => one.currency === currency).flatMap((one) => one.rows)
    .filter((row) => row["cost"] === "effective" && row["from"] === `${month}-01` && row["to"] === `${month}-${daysIn(month)}`)
    .map((row) => ({ name: String(row["budget"]), amount: textOf(row["amount"]) }))
    .filter((one): one is { name: string; amount: string } => isAmount(one.amount))
    .sort((a, b) => compare(a.amount, b.amount))[0];
  if (allowed) {
    const pace = divideBy(allowed.amount, daysIn(month));
    const name = `Budget ${allowed.name}, a day`;
    series.push({ name, colour: "bad", over: true, legend: name, values: days.map(() => pace) });
  }
  return { days, series };
}
