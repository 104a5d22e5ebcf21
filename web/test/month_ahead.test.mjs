// What the Overview draws over the bars of a month: what is forecast of it, and what a budget allows a day.
import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./load.mjs";

const { monthAhead } = await load("pages/overview/month_ahead.ts");
const { divideBy } = await load("util/money.ts");

const forecast = (rows, currency = "USD") => [{ currency, columns: [{ name: "day" }], rows }];
const row = (day, value, low = null, high = null) => ({ day, forecast: value, low_80: low, high_80: high });
const budget = (more = {}) => [{ currency: "USD", rows: [{ budget: "all", cost: "effective", from: "2026-04-01", to: "2026-04-30", amount: "3000", ...more }] }];
const shown = ["2026-04-01", "2026-04-02"];

test("a month whose rest is forecast is shown to its end", () => {
  const rows = [row("2026-04-02", "10", "8", "12"), row("2026-04-03", "11", "8", "13"), row("2026-05-01", "99")];
  const { days, series } = monthAhead("2026-04", "USD", shown, forecast(rows), []);
  assert.equal(days.length, 30);
  assert.deepEqual(series.map((one) => one.legend), ["", "80 %", "Forecast"]);
  assert.deepEqual(series.at(-1).values.slice(0, 4), [null, "10", "11", null]);
  assert.ok(series.every((one) => one.over), "no part of a sum");
});

test("a range that has not held is not drawn", () => {
  const { series } = monthAhead("2026-04", "USD", shown, forecast([row("2026-04-03", "11")]), []);
  assert.deepEqual(series.map((one) => one.name), ["Forecast"]);
});

test("without a forecast the days are those with bars", () => {
  for (const tables of [[], forecast([row("2026-05-01", "9")]), forecast([row("2026-04-03", "9")], "EUR")]) {
    const ahead = monthAhead("2026-04", "USD", shown, tables, []);
    assert.deepEqual(ahead, { days: shown, series: [] });
  }
});

test("a budget of the month is a line at an even pace, the smallest of several", () => {
  const { series } = monthAhead("2026-04", "USD", shown, [], [...budget(), ...budget({ budget: "less", amount: "300" })]);
  assert.deepEqual(series.map((one) => [one.name, ...one.values]), [["Budget less, a day", "10", "10"]]);
  assert.equal(divideBy("100", 30), "3.333333333333333333");
});

test("another period, cost or currency is no line of this month", () => {
  for (const other of [{ to: "2026-06-30" }, { from: "2026-03-01", to: "2026-03-31" }, { cost: "list" }, { amount: null }]) {
    assert.deepEqual(monthAhead("2026-04", "USD", shown, [], budget(other)).series, []);
  }
  assert.deepEqual(monthAhead("2026-04", "EUR", shown, [], budget()).series, []);
});
