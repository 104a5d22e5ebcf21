// One incident: what it is made of, its days among those around it, and where to look on.
import { useQuery } from "../../api/hooks";
import type { Tables } from "../../api/types";
import { href } from "../../app/router";
import { Chart } from "../../charts/chart";
import { Card, Facts } from "../../components/card";
import { Button, LinkButton } from "../../components/controls";
import { Money } from "../../components/money";
import { Loaded } from "../../components/states";
import { only } from "../../util/filter";
import { add } from "../../util/money";
import { dayShort, shownKey } from "../../util/text";
import { spentByDay } from "../forecast/fan";
import { isOthers, nameOf, readIncidents, shiftDay, type Incident } from "./read";

const DAYS_BEFORE = 28;
const DAYS_AFTER = 7;

function Days({ incident, by, currency }: { incident: Incident; by: string; currency: string | undefined }) {
  const from = shiftDay(incident.first, -DAYS_BEFORE);
  const to = shiftDay(incident.last, DAYS_AFTER);
  const filter = by && !isOthers(incident.key) ? [only(by, incident.key)] : [];
  const costs = useQuery<Tables>("/costs", { by: "cluster", step: "day", from, to, filter });
  return (
    <Loaded query={costs}>
      {({ tables }) => {
        const spent = spentByDay(tables, currency);
        const days = [...spent.keys()].filter((day) => /^\d{4}-\d\d-\d\d$/.test(day)).sort();
        const isUnusual = (day: string) => day >= incident.first && day <= incident.last;
        const series = [
          { name: "Unusual", colour: "c2", values: days.map((day) => (isUnusual(day) ? spent.get(day) ?? null : null)) },
          { name: "Other days", colour: "c1", values: days.map((day) => (isUnusual(day) ? null : spent.get(day) ?? null)) },
        ];
        return <Chart kind="bars" title={`Cost of ${shownKey(incident.key)} by day`} labels={days.map(dayShort)} series={series} currency={currency} legend />;
      }}
    </Loaded>
  );
}

// With the hour in which it began, which the ledger is asked for; until then, with its days.
function Sentence({ incident, by, cause, impact }: { incident: Incident; by: string; cause: string; impact: string }) {
  const closer = useQuery<Tables>("/anomalies", { by, cause, impact, since: incident.first, explain: true, hours: true });
  const found = closer.data && readIncidents(closer.data.tables, by).incidents.find((one) => nameOf(one) === nameOf(incident));
  return <p class="alert-summary">{found?.sentence || incident.sentence}</p>;
}

export function IncidentCard({ incident, by, cause, impact, currency, onJudge, onClose }: {
  incident: Incident;
  by: string;
  cause: string;
  impact: string;
  currency: string | undefined;
  onJudge: (() => void) | undefined;
  onClose: () => void;
}) {
  const filter = by && !isOthers(incident.key) ? [only(by, incident.key)] : [];
  const whole = incident.split.reduce((sum, [, amount]) => add(sum, amount), "0");
  return (
    <Card title={`${shownKey(incident.key)}, from ${dayShort(incident.first)}`} note={incident.verdict || undefined}
      actions={<>{onJudge && <Button small onClick={onJudge}>Was it expected?</Button>}<Button small tone="quiet" onClick={onClose}>Close</Button></>}>
      <Sentence incident={incident} by={by} cause={cause} impact={impact} />
      <Days incident={incident} by={by} currency={currency} />
      <h3>What the difference is made of</h3>
      <Facts facts={[
        ...incident.split.map(([title, amount]): [string, preact.JSX.Element] => [title, <Money amount={amount} currency={currency} />]),
        ["Together, beside the mean of the 4 weeks before", <strong><Money amount={whole} currency={currency} /></strong>],
        ...(incident.cause ? [[`Mostly from (${(cause || by).replaceAll("_", " ")})`, incident.cause] as [string, string]] : []),
      ]} />
      <p class="ways-on">
        <LinkButton href={href("/explore", { from: incident.first, to: incident.last, filter, by: cause || by || "cluster" })}>These days in Explore</LinkButton>
        <LinkButton href={href("/workload", { month: incident.first.slice(0, 7), filter })}>Workloads of the month</LinkButton>
      </p>
    </Card>
  );
}
