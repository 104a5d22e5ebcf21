// The query's result over time: the largest owners, and all others as one.
import { useMemo } from "preact/hooks";
import { useQuery } from "../../api/hooks";
import type { Row, Tables } from "../../api/types";
import { setQuery } from "../../app/router";
import { Chart } from "../../charts/chart";
import { Card } from "../../components/card";
import { Loaded, Skeleton } from "../../components/states";
import { pivot } from "../../util/pivot";
import { addMonths, bucketName, daysIn, plural, words } from "../../util/text";
import { parameters, type Question } from "./state";

const MOST = 10;
const BUCKETS_MOST = 400;

// Every bucket from the first to the last, so that a day without costs shows as a gap.
function allBuckets(step: string, seen: string[]): string[] {
  const sorted = [...new Set(seen)].sort();
  const [first, last] = [sorted[0], sorted[sorted.length - 1]];
  if (!first || !last) return [];
  const all = [first];
  for (let at = first; at < last && all.length < BUCKETS_MOST; all.push(at)) {
    if (step === "month") {
      at = addMonths(at, 1);
    } else {
      const date = new Date(at);
      date.setUTCDate(date.getUTCDate() + (step === "week" ? 7 : 1));
      at = date.toISOString().slice(0, 10);
    }
  }
  return all;
}

function dayAfter(day: string, count: number): string {
  const date = new Date(day);
  date.setUTCDate(date.getUTCDate() + count);
  return date.toISOString().slice(0, 10);
}

// A week of which the period has only some days says so: "30 Mar (2 days)".
function weekName(week: string, from: string, to: string): string {
  const days = Array.from({ length: 7 }, (_, i) => dayAfter(week, i)).filter((day) => day >= from && day <= to).length;
  return days > 0 && days < 7 ? `${bucketName(week)} (${plural(days, "day")})` : bucketName(week);
}

function withShortMonth(row: Row): Row {
  return { ...row, month: String(row["month"] ?? "").slice(0, 7) };
}

export function CostChart({ question, currency }: { question: Question; currency: string }) {
  const { by, step, cost } = question;
  const costs = useQuery<Tables>("/costs", { ...parameters(question), step, top: 40 });
  const chart = useMemo(() => {
    const table = costs.data?.tables.find((one) => (one.currency ?? "") === currency);
    const rows = step === "month" ? (table?.rows ?? []).map(withShortMonth) : (table?.rows ?? []);
    const buckets = allBuckets(step, rows.map((row) => String(row[step])));
    const owners = by.filter((name) => name !== step);
    return pivot(rows, { bucket: step, by: owners, cost: `${cost}_cost`, most: MOST, buckets });
  }, [costs.data, currency, by, step, cost]);

  const pick = (index: number) => {
    const bucket = chart.buckets[index];
    if (!bucket) return;
    if (step === "month") setQuery({ from: null, to: null, month: bucket, step: "day" });
    else if (step === "day") setQuery({ from: bucket, to: bucket, step: null });
    else {
      setQuery({ from: bucket, to: dayAfter(bucket, 6), step: "day" });
    }
  };
  const brush = (first: number, last: number) => {
    const [from, to] = [chart.buckets[first], chart.buckets[last]];
    if (!from || !to) return;
    if (step === "month") setQuery({ from: `${from}-01`, to: `${to}-${daysIn(to)}`, step: "week" });
    else setQuery({ from, to: step === "week" ? dayAfter(to, 6) : to, step: from === to ? null : step });
  };
  const [begin, end] = [question.from ?? `${question.month}-01`, question.to ?? `${question.month}-${daysIn(question.month)}`];
  const labels = chart.buckets.map((bucket) => (step === "week" ? weekName(bucket, begin, end) : bucketName(bucket)));
  const title = `${words(cost)} cost by ${by.join(", ")}, each ${step}`;
  return (
    <Card>
      <Loaded query={costs} skeleton={<Skeleton height="chart" />}>
        {() => (
          <Chart kind={question.chart} size="large" title={title} labels={labels} series={chart.series}
            currency={currency} onPick={pick} onBrush={brush} legend />
        )}
      </Loaded>
    </Card>
  );
}

