// Spend over time by owner: the days of this month, or the months of the last year.
import { useMemo } from "preact/hooks";
import { useQuery, type Pages, type Query } from "../../api/hooks";
import type { Annotation, Tables } from "../../api/types";
import { href, navigate, setQuery, useRoute } from "../../app/router";
import { Chart } from "../../charts/chart";
import { Card } from "../../components/card";
import { Segments } from "../../components/controls";
import { Loaded, Skeleton } from "../../components/states";
import { only } from "../../util/filter";
import { OTHERS, pivot } from "../../util/pivot";
import { addMonths, bucketName, daysIn, daysOf } from "../../util/text";
import { Annotate, AnnotationList, daysOfAnnotation } from "../compare/annotations";
import { monthAhead } from "./month_ahead";

const MOST = 9;
const MARGIN_DAYS = 7; // the last days with costs may not be complete: their forecast begins before them

export interface Parts {
  currency: string;
  month: string;
  owner: string;
  days: Query<Tables>;
  kinds: Query<Tables>;
  past: Query<Tables>;
}

// What is written of each bucket of the chart, a day or a month.
function notesOf(annotations: Annotation[], buckets: string[]): string[][] {
  return buckets.map((bucket) => annotations.filter((one) => one.first.slice(0, bucket.length) <= bucket && one.last.slice(0, bucket.length) >= bucket)
    .map((one) => (bucket.length === 7 ? `${daysOfAnnotation(one)}: ${one.text}` : one.text)));
}

// `annotations`: of the days of the chart; they are listed below that of the first currency.
export function SpendChart({ currency, month, owner, days, last, annotations, lists }: Parts & { last: number; annotations: Pages<Annotation>; lists: boolean }) {
  const { query } = useRoute();
  const over = query.get("over") === "year" ? "year" : "month";
  const first = addMonths(month, -11);
  const year = useQuery<Tables>(over === "year" ? "/costs" : null, {
    by: owner,
    from: `${first}-01`,
    to: `${month}-${daysIn(month)}`,
    step: "month",
    top: 30,
  });
  // Both are of all that is seen, whoever it is by.
  const isDays = over === "month" && days.data !== undefined;
  const left = daysIn(month) - last;
  const forecast = useQuery<Tables>(isDays && left > 0 ? "/forecast" : null, { days: left + MARGIN_DAYS, step: "day" });
  const budgets = useQuery<Tables>(isDays ? "/budgets" : null, { whole: true, forecast: false });
  const shown = over === "year" ? year : days;
  const step = over === "year" ? "month" : "day";
  const lastDay = `${month}-${String(Math.max(last, 1)).padStart(2, "0")}`;
  const chart = useMemo(() => {
    const table = shown.data?.tables.find((one) => one.currency === currency);
    const rows = table?.rows ?? [];
    const months = Array.from({ length: 12 }, (_, i) => addMonths(first, i));
    const isShort = (bucket: unknown) => String(bucket).slice(0, 7);
    const asked = step === "month" ? rows.map((row) => ({ ...row, month: isShort(row["month"]) })) : rows;
    const seen = months.slice(months.findIndex((one) => asked.some((row) => row["month"] === one)));
    const spent = step === "month" ? seen : daysOf(month, Math.max(last, 1));
    const ahead = step === "month" ? { days: spent, series: [] } : monthAhead(month, currency, spent, forecast.data?.tables ?? [], budgets.data?.tables ?? []);
    const drawn = pivot(asked, { bucket: step, by: [owner], cost: "effective_cost", most: MOST, buckets: ahead.days });
    return { ...drawn, ahead: ahead.series };
  }, [shown.data, forecast.data, budgets.data, currency, month, owner, step, last]);

  const notes = useMemo(() => notesOf(annotations.rows, chart.buckets), [annotations.rows, chart.buckets]);
  const pick = (index: number) => {
    const bucket = chart.buckets[index];
    if (!bucket) return;
    navigate(step === "month" ? href("/", { month: bucket }) : href("/explore", { by: owner, from: bucket, to: bucket }));
  };
  const brush = (first: number, last: number) => {
    const [from, to] = [chart.buckets[first], chart.buckets[last]];
    if (!from || !to) return;
    navigate(step === "month" ? href("/explore", { by: owner, from: `${from}-01`, to: `${to}-${daysIn(to)}`, step: "month" }) : href("/explore", { by: owner, from, to }));
  };
  const pickSeries = (name: string) => {
    const key = chart.series.find((one) => one.name === name)?.key;
    if (key && key !== OTHERS && key !== "(none)") navigate(href("/explore", { filter: only(owner, key), month }));
  };
  return (
    <Card
      title={`Spend by ${owner}`}
      note={step === "day" ? "by day" : "by month"}
      actions={
        <>
          {lists && <Annotate first={lastDay} last={lastDay} onWritten={annotations.reload} />}
          <Segments label="Over" chosen={over} onChoose={(to) => setQuery({ over: to === "year" ? to : null })}
            options={[{ key: "month", title: "This month" }, { key: "year", title: "Year" }]} />
        </>
      }
    >
      <Loaded query={shown} skeleton={<Skeleton height="chart" />}>
        {() => (
          <Chart kind="bars" title={`Spend by ${owner}, ${step === "day" ? "by day" : "by month"}`} labels={chart.buckets.map(bucketName)}
            series={[...chart.series, ...chart.ahead]} currency={currency} onPick={pick} onBrush={brush} onSeries={pickSeries} notes={notes} />
        )}
      </Loaded>
      {lists && annotations.rows.length > 0 && <AnnotationList of={annotations} />}
    </Card>
  );
}
