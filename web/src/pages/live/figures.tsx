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
        const sum = (name: "cost_per_hour" | "held_per_hour" | "held_idle_per_hour" | "unallocated_per_hour") =>
          mine.some((one) => one[name] !== null) ? add(...mine.map((one) => one[name])) : null;
        const whole = sum("cost_per_hour");
        const part = (amount: string | null) => (amount === null ? "no known price" : `${percent(amount, whole) ?? "0"}% of it`);
        const unwatched = mine.filter((one) => !one.watched);
        const [all, held, busy] = [gpus(mine, "gpus"), gpus(mine, "gpus_held"), gpus(mine, "gpus_busy")];
        return (
          <Grid of="figures" key={currency}>
            <Figure label="Cost per hour" value={<Money amount={whole} currency={currency} />} sub={mine.map((one) => one.cluster).join(", ")} />
            <Figure label="Held" mark="used" value={<Money amount={sum("held_per_hour")} currency={currency} />} sub={part(sum("held_per_hour"))} />
            <Figure label="Idle" mark="idle" value={<Money amount={sum("held_idle_per_hour")} currency={currency} />} sub={part(sum("held_idle_per_hour"))} />
            <Figure label="Unallocated" mark="unallocated" value={<Money amount={sum("unallocated_per_hour")} currency={currency} />} sub={part(sum("unallocated_per_hour"))} />
            <Figure label="GPUs held" value={<><span class="num">{unwatched.length === mine.length ? "–" : number(held, 0)}</span><span class="unit"> of {number(all, 0)}</span></>} sub={unwatched.length > 0 ? `no source reports what runs on ${unwatched.map((one) => one.cluster).join(", ")}` : `their use is that of ${number(busy, 1)} GPUs`} />
          </Grid>
        );
      })}
    </>
  );
}
