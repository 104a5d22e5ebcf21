// One workload: its cost, its attempts over time, its days, and an explanation of its cost.
import type { ComponentChildren } from "preact";
import { useQuery } from "../../api/hooks";
import type { List, WorkloadDay, WorkloadDetail, WorkloadLine } from "../../api/types";
import { useMonth } from "../../app/month";
import { href } from "../../app/router";
import { Chart } from "../../charts/chart";
import { Card, Facts, Figure, Grid, PageHead } from "../../components/card";
import { Badge, LinkButton } from "../../components/controls";
import { Money, Quantity } from "../../components/money";
import { ErrorNote, Loaded, Skeleton } from "../../components/states";
import { only } from "../../util/filter";
import { add, isAmount, isZero, percent } from "../../util/money";
import { bucketName, monthName, plural, shownWorkload } from "../../util/text";
import { whyAddress, type Explained } from "../explain/address";
import { Timeline } from "./timeline";

function Sums({ detail, month, days, currency }: { month: string; detail: WorkloadDetail; days: WorkloadDay[]; currency: string }) {
  const used = add(...days.map((day) => day.used_cost));
  const idle = add(...days.map((day) => day.held_idle_cost));
  const other = add(...days.map((day) => day.other_cost));
  const total = add(used, idle, other);
  const part = (amount: string) => `${percent(amount, total) ?? "0"}% of it`;
  const amount = (value: string) => <Money amount={value} currency={currency} />;
  return (
    <Grid of="figures">
      <Figure label="Cost" value={amount(total)} sub={plural(days.length, "day")} why={explained(detail, month)} />
      <Figure label="Used" mark="used" value={amount(used)} sub={part(used)} why={{ ...explained(detail, month), filter: ["kind=used"] }} />
      <Figure label="Idle" mark="idle" value={amount(idle)} sub={part(idle)} why={{ ...explained(detail, month), filter: ["kind=held_idle"] }} />
      {!isZero(other) && <Figure label="Other" mark="overhead" value={amount(other)} sub="spread and shared costs" />}
      {isAmount(detail.lost_cost) && (
        <Figure label="Lost" mark="unavailable" value={amount(detail.lost_cost)} sub="in lost attempts" />
      )}
      <Figure label="GPU-hours" value={<Quantity value={add(...days.map((day) => day.gpu_hours))} />}
        sub={`${detail.attempts.length} ${detail.attempts.length === 1 ? "attempt" : "attempts"}`} />
    </Grid>
  );
}

function Days({ days, currency }: { days: WorkloadDay[]; currency: string }) {
  const other = days.map((day) => day.other_cost);
  const series = [
    { name: "Used", colour: "used", values: days.map((day) => day.used_cost) },
    { name: "Idle", colour: "idle", values: days.map((day) => day.held_idle_cost) },
    ...(other.every(isZero) ? [] : [{ name: "Other", colour: "overhead", values: other }]),
  ];
  return (
    <Card title="By day">
      <Chart kind="bars" size="small" title="Cost by day" labels={days.map((day) => bucketName(day.day))} series={series} currency={currency} />
    </Card>
  );
}

function About({ detail, month }: { detail: WorkloadDetail; month: string }) {
  const dimensions = Object.entries(detail.dimensions).map(([name, value]): [string, ComponentChildren] => [
    name,
    value && value !== "(none)" ? <a href={href("/explore", { by: "workload", filter: only(name, value), month })}>{value}</a> : "–",
  ]);
  const labels = Object.entries(detail.labels).map(([name, value]): [string, string] => [name, value]);
  return (
    <Grid>
      <Card title="Owner"><Facts facts={[["cluster", detail.cluster || "–"], ...dimensions]} /></Card>
      {labels.length > 0 && <Card title="Labels" note="from the scheduler"><Facts facts={labels} /></Card>}
    </Grid>
  );
}

function explained({ cluster, workload }: WorkloadDetail, month: string): Explained {
  return cluster === "" ? { by: ["workload"], values: [workload], month } : { by: ["cluster", "workload"], values: [cluster, workload], month };
}

const OUTCOMES = { useful: "good", lost: "bad", running: "accent", unknown: "neutral" } as const;

// The cluster if the link has none: the one in which the workload cost most.
export function Find({ workload }: { workload: string }) {
  const { month } = useMonth();
  const found = useQuery<List<WorkloadLine>>("/workloads", { month, filter: only("workload", workload), limit: 1 });
  return (
    <Loaded query={found} skeleton={<Skeleton lines={8} />}>
      {({ data }) => <Detail workload={workload} cluster={data[0]?.cluster ?? ""} />}
    </Loaded>
  );
}

export function Detail({ workload, cluster }: { workload: string; cluster: string }) {
  const { month } = useMonth();
  const query = useQuery<WorkloadDetail>("/workload", { cluster, workload, month });
  const { data, error } = query;
  return (
    <>
      <PageHead title={shownWorkload(workload)} lead={`${cluster ? `${cluster}, ` : ""}${monthName(month)}.`}>
        {data?.outcome && <Badge tone={OUTCOMES[data.outcome]}>{data.outcome}</Badge>}
        {data && <LinkButton href={whyAddress(explained(data, month))} icon="help">Cost explained</LinkButton>}
        <LinkButton href={href("/workload", { month })} icon="left" tone="quiet">All workloads</LinkButton>
      </PageHead>
      {error?.status === 404 ? (
        <ErrorNote error={error} />
      ) : (
        <Loaded query={query} skeleton={<Skeleton lines={8} />}>
          {(detail) => {
            const currencies = [...new Set(detail.days.map((day) => day.currency))];
            return (
              <div class="stack">
                {currencies.map((currency) => {
                  const days = detail.days.filter((day) => day.currency === currency);
                  return (
                    <div class="stack" key={currency}>
                      <Sums detail={detail} month={month} days={days} currency={currency} />
                      <Days days={days} currency={currency} />
                    </div>
                  );
                })}
                <Timeline attempts={detail.attempts} />
                <About detail={detail} month={month} />
              </div>
            );
          }}
        </Loaded>
      )}
    </>
  );
}
