// The strip of figures: the month's spend, how much of it was used, and the current cost per hour.
import { useQuery } from "../../api/hooks";
import { useLive } from "../../api/events";
import type { LiveNow, SummaryMonth } from "../../api/types";
import { href } from "../../app/router";
import { Figure, Grid } from "../../components/card";
import { Badge } from "../../components/controls";
import { Change, Money, Percent, Quantity } from "../../components/money";
import { add, isZero, percent } from "../../util/money";

export function wasted(one: SummaryMonth): string {
  return add(one.unallocated, one.stranded, one.unavailable);
}

// In the currency of the prices, which no month's rate converts.
function NowFigure({ only }: { only?: string | undefined }) {
  const first = useQuery<LiveNow>("/live/now");
  const { now, connected } = useLive();
  const clusters = ((now ?? first.data)?.clusters ?? []).filter((one) => one.currency !== null && (only === undefined || one.currency === only));
  if (clusters.length === 0) return null;
  const gpus = clusters.reduce((sum, one) => sum + one.gpus, 0);
  const unwatched = clusters.filter((one) => !one.watched);
  const currencies = [...new Set(clusters.map((one) => one.currency))];
  const perHour = (currency: string | null) => add(...clusters.filter((one) => one.currency === currency).map((one) => one.cost_per_hour));
  return (
    <Figure
      label="Cost per hour now"
      href="/live"
      value={currencies.map((currency, i) => <span key={currency}>{i > 0 && " + "}<Money amount={perHour(currency)} currency={currency} /></span>)}
      sub={
        <>
          {unwatched.length === clusters.length ? <Badge title="No source reports what runs; this is the price of the nodes that were imported">not watched</Badge> : connected && <Badge tone="good">live</Badge>}
          <span>{gpus.toLocaleString("en")} GPUs{unwatched.length > 0 && unwatched.length < clusters.length && `, ${unwatched.map((one) => one.cluster).join(", ")} not watched`}</span>
        </>
      }
    />
  );
}

// `several`: this is one of several currencies, whose prices stand with their own.
export function Figures({ now, before, showLive, several }: {
  now: SummaryMonth;
  before: SummaryMonth | undefined;
  showLive: boolean;
  several: boolean;
}) {
  const { currency } = now;
  const share = (part: string) => percent(part, now.total);
  const sub = (part: string, previous: string | undefined) => (
    <>
      <span>{share(part) ?? "0"}% of it</span>
      <Change now={part} before={previous} currency={currency} />
    </>
  );
  const efficiency = share(now.used);
  const earlier = before && percent(before.used, before.total);
  return (
    <Grid of="figures">
      <Figure
        label="Spend"
        why={{ by: ["kind"], month: now.month }}
        value={<Money amount={now.total} currency={currency} digits={0} />}
        sub={
          before ? (
            <>
              <Change now={now.total} before={before.total} currency={currency} />
              <span>
                from <Money amount={before.total} currency={currency} digits={0} />
              </span>
            </>
          ) : (
            "no earlier month to compare with"
          )
        }
      />
      <Figure
        label="Used"
        mark="used"
        why={{ by: ["kind"], values: ["used"], month: now.month }}
        value={<Percent value={efficiency} />}
        sub={
          <>
            <Money amount={now.used} currency={currency} digits={0} />
            {earlier && <span>from {earlier}%</span>}
          </>
        }
      />
      {now.observed_share !== null && isZero(now.observed_share) && isZero(now.held_idle) ? (
        <Figure label="Idle" mark="idle" value={<span class="nothing">–</span>} sub="no telemetry for this month" />
      ) : (
        <Figure label="Idle" mark="idle" why={{ by: ["kind"], values: ["held_idle"], month: now.month }} href={href("/explore", { month: now.month, filter: "kind=held_idle" })}
          value={<Money amount={now.held_idle} currency={currency} digits={0} />} sub={sub(now.held_idle, before?.held_idle)} />
      )}
      <Figure label="Unallocated" mark="unallocated" why={{ by: ["kind"], month: now.month, filter: ["kind=unallocated,stranded,unavailable"] }} href={href("/explore", { month: now.month, by: "node", filter: "kind=unallocated,stranded,unavailable" })}
        value={<Money amount={wasted(now)} currency={currency} digits={0} />} sub={sub(wasted(now), before && wasted(before))} />
      <Figure
        label="GPU-hours held"
        value={<Quantity value={now.gpu_hours_held} digits={0} />}
        sub={
          <span>
            <Quantity value={now.gpu_hours_idle} digits={0} unit="h" /> more unallocated
          </span>
        }
      />
      {showLive && <NowFigure only={several ? currency : undefined} />}
    </Grid>
  );
}
