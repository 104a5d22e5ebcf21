// The ranked list of what would save money, narrowed by team, kind, effort and confidence.
import type { ApiTable } from "../../api/types";
import { href, navigate, setQuery } from "../../app/router";
import { Card, Figure, Grid } from "../../components/card";
import { Badge, Button, type Tone } from "../../components/controls";
import { SelectField } from "../../components/form";
import { Money } from "../../components/money";
import { Empty } from "../../components/states";
import { Table, type Column } from "../../components/table";
import { plural, words } from "../../util/text";
import { isInTotal, kindName, matches, proposalsOf, together, valuesOf, type Filters, type Proposal } from "./read";

const TONES: Record<string, Tone> = { high: "good", medium: "neutral", low: "warn" };

// "Team", or what the policy calls it.
const teamTitle = (table: ApiTable): string => words(table.columns.find((column) => column.name === "team")?.title ?? "team");

function columnsOf(table: ApiTable, month: string): Column<Proposal>[] {
  const unit = table.currency;
  const money = (key: "low" | "expected" | "high", title: string): Column<Proposal> => ({
    key, title, numeric: true, value: (one) => one[key], cell: (one) => <Money amount={one[key]} unit={unit} />,
    ...(key === "expected" ? {} : { hideOnPhone: true }),
  });
  return [
    {
      key: "change", title: "Change", wide: true, value: (one) => one.change,
      cell: (one) => (
        <div class="savings-change">
          <a href={href("/savings", { id: one.id, month })}>{one.change}</a>
          {one.state !== "" && one.state !== "new" && <> <Badge tone="accent">{one.state}</Badge></>}
          <div class="muted small">{[kindName(one.kind), one.cluster, one.subject].filter(Boolean).join(" · ")}</div>
        </div>
      ),
    },
    money("expected", `Expected ${unit ?? ""}`),
    money("low", "Low"),
    money("high", "High"),
    { key: "confidence", title: "Confidence", value: (one) => one.confidence, cell: (one) => <Badge tone={TONES[one.confidence] ?? "neutral"}>{one.confidence}</Badge> },
    { key: "effort", title: "Effort", hideOnPhone: true, value: (one) => one.effort, cell: (one) => one.effort },
    {
      key: "team", title: teamTitle(table), hideOnPhone: true, value: (one) => one.team,
      cell: (one) => one.team || <span class="nothing">–</span>,
    },
    {
      key: "total", title: "In total", hideOnPhone: true, value: (one) => one.total,
      cell: (one) => isInTotal(one) ? "yes" : <span class="muted" title={one.total === "instead" ? "An alternative to another row; the total has only the best of them" : "It was decided"}>{one.total}</span>,
    },
  ];
}

function Choice({ label, name, value, options, all = "All" }: {
  label: string;
  name: string;
  value: string;
  options: { value: string; title: string }[];
  all?: string;
}) {
  return (
    <SelectField label={label} value={value} onValue={(chosen) => setQuery({ [name]: chosen }, { replace: true })}
      options={[{ value: "", title: all }, ...options]} />
  );
}

function Choices({ proposals, filters, team }: { proposals: Proposal[]; filters: Filters; team: string }) {
  const as = (values: string[], title: (value: string) => string = (value) => value) => values.map((value) => ({ value, title: title(value) }));
  // What the address asks for can be chosen, even where nothing of it is left.
  const withChosen = (values: string[], chosen: string) => (chosen && !values.includes(chosen) ? [...values, chosen] : values);
  const isNarrowed = Object.values(filters).some((value) => value !== "");
  return (
    <div class="savings-choices" role="group" aria-label="Narrow down">
      <Choice label={team} name="team" value={filters.team} options={as(withChosen(valuesOf(proposals, (one) => one.team), filters.team))} />
      <Choice label="Kind" name="kind" value={filters.kind} options={as(withChosen(valuesOf(proposals, (one) => one.kind), filters.kind), kindName)} />
      <Choice label="Effort at most" name="effort" value={filters.effort} options={as(["low", "medium"])} all="Any" />
      <Choice label="Confidence at least" name="confidence" value={filters.confidence} options={as(["medium", "high"])} all="Any" />
      {isNarrowed && <Button tone="quiet" icon="close" onClick={() => setQuery({ team: null, kind: null, effort: null, confidence: null, sure: null })}>All of it</Button>}
    </div>
  );
}

export function Savings({ table, filters, month, csv }: { table: ApiTable; filters: Filters; month: string; csv: string }) {
  const all = proposalsOf(table);
  const shown = all.filter((one) => matches(one, filters));
  const sums = together(shown);
  const best = shown[0];
  return (
    <div class="stack">
      <Grid of="figures">
        <Figure label="Possible savings per month" value={<Money amount={sums.expected} currency={table.currency} />} sub={`${plural(shown.filter(isInTotal).length, "change")} together`} />
        <Figure label="Low" value={<Money amount={sums.low} currency={table.currency} />} sub="with a large reserve" />
        <Figure label="High" value={<Money amount={sums.high} currency={table.currency} />} sub="without a reserve" />
        {best && (
          <Figure label="Largest" href={href("/savings", { id: best.id, month })} value={<Money amount={best.expected} currency={table.currency} />} sub={kindName(best.kind)} />
        )}
      </Grid>
      <Card title="What to change" note={`${table.currency ?? ""} a month`} flush>
        <Choices proposals={all} filters={filters} team={teamTitle(table)} />
        <Table
          caption={table.title}
          columns={columnsOf(table, month)}
          rows={shown}
          rowKey={(one) => one.id}
          onRow={(one) => navigate(href("/savings", { id: one.id, month }))}
          csv={csv}
          empty={<Empty icon="filter" title="No advice matches">Relax the filters above.</Empty>}
        />
        {(table.notes ?? []).length > 0 && <ul class="table-notes">{(table.notes ?? []).map((note) => <li key={note}>{note}</li>)}</ul>}
      </Card>
    </div>
  );
}
