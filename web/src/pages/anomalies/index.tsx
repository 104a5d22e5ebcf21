// Anomalies: days that cost far more or less than their weekday does, what explains them, and what people say of them.
import { useState } from "preact/hooks";
import { address } from "../../api/client";
import { useQuery } from "../../api/hooks";
import type { Dimension, List, Tables } from "../../api/types";
import { setQuery, useRoute } from "../../app/router";
import { useSession } from "../../app/session";
import { Card, Figure, Grid, PageHead } from "../../components/card";
import { Badge, Button, LinkButton, Segments } from "../../components/controls";
import { Select } from "../../components/form";
import { Money } from "../../components/money";
import { Empty, Loaded } from "../../components/states";
import { Table, type Column } from "../../components/table";
import { add } from "../../util/money";
import { dayShort, plural, shownKey } from "../../util/text";
import { IncidentCard } from "./incident";
import { PutVerdict } from "./put_verdict";
import { isExpected, isOthers, nameOf, readIncidents, type Incident } from "./read";

const OWNERS = ["team", "project", "user"];
const CAUSES = ["instance_type", "node", "cluster", "kind", "service"];
const IMPACTS = ["10", "25", "50"] as const;

const daysOf = (one: Incident) => (one.first === one.last ? dayShort(one.first) : `${dayShort(one.first)} to ${dayShort(one.last)}`);

function columns(currency: string | undefined, onJudge: ((one: Incident) => void) | undefined): Column<Incident>[] {
  return [
    {
      key: "of", title: "Of", wide: true, value: (one) => one.key,
      cell: (one) => (
        <>
          <strong>{shownKey(one.key)}</strong> {one.goesOn && <Badge tone="warn">goes on</Badge>}
          <div class="muted small alert-summary">{daysOf(one)}{one.cause && one.cause !== one.key && !one.cause.startsWith("(all") ? ` · mostly from ${one.cause}` : ""}</div>
          {one.verdict && <div class="small alert-summary"><Badge tone={isExpected(one) ? "good" : "bad"}>{isExpected(one) ? "expected" : "not expected"}</Badge> {one.verdict.replace(/^(not )?expected:? ?/, "")}</div>}
        </>
      ),
    },
    { key: "impact", title: "Impact", numeric: true, value: (one) => one.impact, cell: (one) => <Money amount={one.impact} unit={currency} /> },
    { key: "actual", title: "Actual", numeric: true, hideOnPhone: true, value: (one) => one.actual, cell: (one) => <Money amount={one.actual} unit={currency} /> },
    { key: "expected", title: "Usual", numeric: true, hideOnPhone: true, value: (one) => one.expected, cell: (one) => <Money amount={one.expected} unit={currency} /> },
    ...(onJudge ? [{
      key: "judge", title: "", label: "Judge",
      cell: (one: Incident) => !isOthers(one.key) && <Button small onClick={() => onJudge(one)} label={`Was it expected: ${nameOf(one)}`}>Expected?</Button>,
    }] : []),
  ];
}

export default function AnomaliesPage() {
  const { query } = useRoute();
  const { may, user } = useSession();
  const dimensions = useQuery<List<Dimension>>("/dimensions");
  const names = (dimensions.data?.data ?? []).filter((one) => one.kind === "policy").map((one) => one.name);
  const by = query.get("by") ?? OWNERS.find((name) => names.includes(name)) ?? names[0] ?? "cluster";
  const cause = query.get("cause") ?? "instance_type";
  const impact = IMPACTS.find((one) => one === query.get("impact")) ?? "10";
  const parameters = { by, cause, impact };
  const found = useQuery<Tables>(dimensions.data || dimensions.error ? "/anomalies" : null, { ...parameters, explain: true });
  const [judged, judge] = useState<Incident>();
  // Of a dimension that the user sees a part of, others say what is expected.
  const scope = user?.scope ?? [];
  const mayJudge = may("manage_budgets") && (scope.length === 0 || (scope.length === 1 && scope[0]?.dimension === by));
  const chosen = query.get("of");
  return (
    <div class="stack">
      <PageHead title="Anomalies" lead="Days that cost far more or less than the same weekday of the 8 weeks before, and what explains them.">
        <Segments label="Impact, in percent of a day's cost" chosen={impact} onChoose={(value) => setQuery({ impact: value === "10" ? null : value, of: null })}
          options={IMPACTS.map((one) => ({ key: one, title: `from ${one} %` }))} />
        <Select label="By" value={by} onValue={(value) => setQuery({ by: value, of: null })}
          options={[...new Set([by, ...names, "cluster"])].map((name) => ({ value: name, title: `by ${name}` }))} />
        <Select label="Explained by" value={cause} onValue={(value) => setQuery({ cause: value === "instance_type" ? null : value })}
          options={[...new Set([cause, ...CAUSES, ...names])].map((name) => ({ value: name, title: `explained by ${name.replaceAll("_", " ")}` }))} />
        <LinkButton icon="download" tone="quiet" href={address("/anomalies", { ...parameters, format: "sheet" })} download>CSV</LinkButton>
      </PageHead>
      <Loaded query={found}>
        {({ tables }) => {
          const { incidents, currency, notes } = readIncidents(tables, by);
          if (incidents.length === 0) {
            return (
              <Card>
                <Empty icon="check" title="No unusual day" command="pennyweight anomalies">
                  Six weeks of complete days are needed before anything is said. A day has to differ by {impact} % of its cost, and by far more than its weekday usually does.
                </Empty>
              </Card>
            );
          }
          const shown = incidents.find((one) => nameOf(one) === chosen);
          const open = incidents.filter((one) => !isExpected(one));
          return (
            <>
              <Grid of="figures">
                <Figure label="Incidents" value={String(incidents.length)} sub={`${plural(incidents.filter((one) => one.goesOn).length, "goes", "go")} on`} />
                <Figure label="Nobody expected" value={String(open.length)} sub={`of ${incidents.length}`} />
                <Figure label="Difference from usual" value={<Money amount={add(...open.map((one) => one.impact))} currency={currency} />} sub="of those, all days together" />
              </Grid>
              {shown && (
                <IncidentCard key={nameOf(shown)} incident={shown} by={by} cause={cause} impact={impact} currency={currency}
                  onJudge={mayJudge && !isOthers(shown.key) ? () => judge(shown) : undefined} onClose={() => setQuery({ of: null })} />
              )}
              <Card title={`Unusual days, by ${by}`} note={currency} flush>
                <Table caption={`Unusual days, by ${by}`} columns={columns(currency, mayJudge ? judge : undefined)} rows={incidents} rowKey={nameOf}
                  current={(one) => nameOf(one) === chosen} onRow={(one) => setQuery({ of: nameOf(one) })} />
                {notes.length > 0 && <ul class="table-notes">{notes.map((note) => <li key={note}>{note}</li>)}</ul>}
              </Card>
            </>
          );
        }}
      </Loaded>
      {judged && <PutVerdict incident={judged} by={by} impact={impact} onClose={() => judge(undefined)} onPut={() => { judge(undefined); found.reload(); }} />}
    </div>
  );
}
