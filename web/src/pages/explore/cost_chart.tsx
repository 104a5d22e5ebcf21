// The query's result over time: the largest owners, and all others as one.
import { useMemo } from "preact/hooks";
import { useQuery } from "../../api/hooks";
import type { Row, Tables } from "../../api/types";
import { setQuery } from "../../app/router";
import { Chart } from "../../charts/chart";
import { Card } from "../../components/card";
import { Loaded, Skeleton } from "../../components/states";
import { pivot } from "../../util/pivot";
import { addMonths, bucketName, words } from "../../util/text";
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
      const date = new Date(bucket);
      date.setUTCDate(date.getUTCDate() + 6);
      setQuery({ from: bucket, to: date.toISOString().slice(0, 10), step: "day" });
    }
  };
  const title = `${words(cost)} cost by ${by.join(", ")}, each ${step}`;
  return (
    <Card>
      <Loaded query={costs} skeleton={<Skeleton height="chart" />}>
        {() => (
          <Chart kind={question.chart} size="large" title={title} labels={chart.buckets.map(bucketName)} series={chart.series}
            currency={currency} onPick={pick} legend />
        )}
      </Loaded>
    </Card>
  );
}

