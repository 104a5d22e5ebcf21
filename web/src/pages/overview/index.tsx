// Overview: this month's cost so far compared with the same days of the last month, by owner, and how much
// of it is idle.
import { useMemo } from "preact/hooks";
import { useEvent } from "../../api/events";
import { useQuery, type Query } from "../../api/hooks";
import type { Dimension, List, Summary, Tables } from "../../api/types";
import { useMonth } from "../../app/month";
import { setQuery, useRoute } from "../../app/router";
import { useSession } from "../../app/session";
import { Grid, PageHead } from "../../components/card";
import { Segments } from "../../components/controls";
import { Empty, Loaded, Skeleton } from "../../components/states";
import { addMonths, dayShort, daysIn, monthName } from "../../util/text";
import { useAnnotations } from "../compare/annotations";
import { Figures } from "./figures";
import { Breakdown } from "./breakdown";
import { SpendChart } from "./spend_chart";
import { Movers, Teams } from "./teams";

const ROWS_MOST = 1000; // owners; the rest are one row
const PREFERRED = ["team", "project", "user"];

// The owners of this page: teams, or the first dimension that label rules define.
function useOwner(): { owner: string | null; choices: string[] } {
  const { query } = useRoute();
  const dimensions = useQuery<List<Dimension>>("/dimensions");
  const names = dimensions.data?.data.filter((one) => one.kind === "policy").map((one) => one.name) ?? [];
  const first = PREFERRED.find((name) => names.includes(name)) ?? names[0] ?? "cluster";
  const owner = dimensions.data || dimensions.error ? (query.get("by") ?? first) : null;
  return { owner, choices: [...new Set([first, ...PREFERRED.filter((name) => names.includes(name)), ...names, "cluster"])].slice(0, 4) };
}

// The last day of a month with costs: a past month is complete, the newest one is not.
function lastDay(summary: Summary | undefined, month: string): number {
  const last = summary?.as_of;
  return last?.startsWith(month) ? Number(last.slice(8, 10)) : daysIn(month);
}

function Nothing({ month }: { month: string }) {
  const { known } = useMonth();
  if (known.length > 0) {
    return (
      <Empty icon="overview" title={`No costs in ${monthName(month)}`} action={{ href: `/?month=${known[0]}`, title: `Go to ${monthName(known[0] ?? month)}` }}>
        This month has no costs.
      </Empty>
    );
  }
  return (
    <Empty icon="overview" title="No costs yet" command={"pennyweight import bill.csv\npennyweight import --cluster prod nodes.csv sacct.txt\npennyweight allocate"}>
      Import a bill and what ran; then every cent is allocated here. Bills of AWS, Azure, Google Cloud, Oracle and anything
      in FOCUS are read; what ran comes from Slurm, Kubernetes or Prometheus.
    </Empty>
  );
}

export default function Overview() {
  const { month } = useMonth();
  const { may } = useSession();
  const { query } = useRoute();
  const { owner, choices } = useOwner();
  const summary = useQuery<Summary>("/summary", { month });
  const days = useQuery<Tables>(owner && "/costs", { by: owner, month, step: "day", top: 30 });
  const end = lastDay(summary.data, month);
  const isWhole = end >= daysIn(month);
  const earlier = addMonths(month, -1);
  const same = Math.min(isWhole ? 31 : end, daysIn(earlier));
  const kinds = useQuery<Tables>(owner && "/costs", { by: `${owner},kind`, month, top: ROWS_MOST });
  const past = useQuery<Tables>(owner && summary.data ? "/costs" : null, {
    by: owner ?? "",
    from: `${earlier}-01`,
    to: `${earlier}-${String(same).padStart(2, "0")}`,
    top: ROWS_MOST,
  });
  const shownFrom = query.get("over") === "year" ? addMonths(month, -11) : month; // as the chart has it
  const annotations = useAnnotations(`${shownFrom}-01`, `${month}-${daysIn(month)}`);
  const queries: Query<unknown>[] = [summary, days, kinds, past];
  useEvent("rollup", useMemo(() => () => queries.forEach((one) => one.reload()), [month, owner]));

  const currencies = [...new Set((summary.data?.months ?? []).filter((one) => one.month === month).map((one) => one.currency))];
  const lead = isWhole ? monthName(month) : `1 to ${dayShort(`${month}-${String(end).padStart(2, "0")}`)} ${month.slice(0, 4)}`;
  const sameDays = isWhole ? monthName(earlier) : `1 to ${dayShort(`${earlier}-${String(same).padStart(2, "0")}`)}`;
  return (
    <>
      <PageHead title="Overview" lead={currencies.length > 0 ? `${lead}, against ${sameDays}.` : " "}>
        {owner && choices.length > 1 && (
          <Segments label="By" chosen={owner} onChoose={(by) => setQuery({ by: by === choices[0] ? null : by })}
            options={choices.map((key) => ({ key, title: key }))} />
        )}
      </PageHead>
      <Loaded query={summary} skeleton={<Skeleton lines={6} />}>
        {(data) =>
          currencies.length === 0 ? (
            <Nothing month={month} />
          ) : (
            currencies.map((currency) => {
              const now = data.months.find((one) => one.month === month && one.currency === currency);
              if (!now || !owner) return null;
              const parts = { currency, month, owner, days, kinds, past };
              return (
                <div class="stack" key={currency}>
                  <Figures now={now} before={data.previous_to_date.find((one) => one.currency === currency)} showLive={may("read_live")} several={currencies.length > 1} />
                  <SpendChart {...parts} last={end} annotations={annotations} lists={currency === currencies[0]} />
                  <Grid>
                    <Teams {...parts} />
                    <div class="stack stack-top">
                      <Breakdown now={now} />
                      <Movers {...parts} sameDays={sameDays} />
                    </div>
                  </Grid>
                </div>
              );
            })
          )
        }
      </Loaded>
    </>
  );
}
