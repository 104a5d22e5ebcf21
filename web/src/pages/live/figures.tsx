// The current cost per hour in each currency: in total, held, idle, unallocated.
import type { LiveCluster, LiveNow } from "../../api/types";
import { Figure, Grid } from "../../components/card";
import { Money } from "../../components/money";
import { add, number, percent } from "../../util/money";

function gpus(clusters: LiveCluster[], name: "gpus" | "gpus_held" | "gpus_busy"): string {
  return add(...clusters.map((one) => (one[name] === null ? "0" : String(one[name]))));
}

export function ClusterFigures({ now }: { now: LiveNow }) {
  const currencies = [...new Set(now.clusters.map((one) => one.currency))];
  return (
    <>
      {currencies.map((currency) => {
        const mine = now.clusters.filter((one) => one.currency === currency);
        const unwatched = mine.filter((one) => !one.watched);
        const sum = (name: "cost_per_hour" | "held_per_hour" | "held_idle_per_hour" | "unallocated_per_hour", of = mine) =>
          of.some((one) => one[name] !== null) ? add(...of.map((one) => one[name])) : null;
        const whole = sum("cost_per_hour");
        // What is held, idle or free is known only where a source reports it.
        const seen = mine.filter((one) => one.watched);
        const figure = (label: string, mark: string, name: "held_per_hour" | "held_idle_per_hour" | "unallocated_per_hour") => {
          const amount = sum(name, seen);
          const sub = seen.length === 0 ? "not known" : amount === null ? "no known price" : `${percent(amount, sum("cost_per_hour", seen)) ?? "0"}% ${unwatched.length > 0 ? "of what is watched" : "of it"}`;
          return <Figure label={label} mark={mark} value={seen.length === 0 ? <span class="nothing">–</span> : <Money amount={amount} currency={currency} />} sub={sub} />;
        };
        const [all, held, busy] = [gpus(mine, "gpus"), gpus(seen, "gpus_held"), gpus(seen, "gpus_busy")];
        return (
          <Grid of="figures" key={currency}>
            <Figure label="Cost per hour" value={<Money amount={whole} currency={currency} />} sub={mine.map((one) => one.cluster).join(", ")} />
            {figure("Held", "used", "held_per_hour")}
            {figure("Idle", "idle", "held_idle_per_hour")}
            {figure("Unallocated", "unallocated", "unallocated_per_hour")}
            <Figure label="GPUs held" value={<><span class="num">{unwatched.length === mine.length ? "–" : number(held, 0)}</span><span class="unit"> of {number(all, 0)}</span></>} sub={unwatched.length > 0 ? `no source reports what runs on ${unwatched.map((one) => one.cluster).join(", ")}` : `their use is that of ${number(busy, 1)} GPUs`} />
          </Grid>
        );
      })}
    </>
  );
}
