// Scenarios that have a result, side by side: figures, charts, jobs and cost by team.
import { address } from "../../api/client";
import type { ApiTable as Data, Row, WhatIfDetail } from "../../api/types";
import { Chart, type Series } from "../../charts/chart";
import { Card, Grid } from "../../components/card";
import { LinkButton } from "../../components/controls";
import { Money } from "../../components/money";
import { Note } from "../../components/states";
import { Table, type Column } from "../../components/table";
import { add, compare, isZero, subtract } from "../../util/money";
import { shownKey, words } from "../../util/text";
import { Gantt } from "./gantt";
import { Searches } from "./searches";

export interface Result {
  name: string;
  run: WhatIfDetail;
  tables: NonNullable<WhatIfDetail["tables"]>;
}

const COLOURS = ["c1", "c2", "c3"];
const text = (row: Row | undefined, column: string) => String(row?.[column] ?? "–");

// The figures of all scenarios: one that only some have, such as GPU-hours off, stands where these have it.
export function figuresOf(tables: Data[]): string[] {
  const all: string[] = [];
  for (const table of tables) {
    let at = 0;
    for (const row of table.rows) {
      const figure = text(row, "figure");
      const known = all.indexOf(figure);
      if (known >= 0) at = known + 1;
      else all.splice(at++, 0, figure);
    }
  }
  return all;
}

function Figures({ results }: { results: Result[] }) {
  const find = (table: Data, figure: string) => table.rows.find((row) => row["figure"] === figure);
  const any = (figure: string) => results.map((one) => find(one.tables.jobs, figure)).find((row) => row !== undefined);
  const columns: Column<string>[] = [
    { key: "figure", title: "Figure", wide: true, cell: (figure) => figure },
    { key: "was", title: "As it was", numeric: true, hideOnPhone: true, cell: (figure) => text(any(figure), "as_it_was") },
    { key: "replayed", title: "Its replay", numeric: true, cell: (figure) => text(any(figure), "replayed_as_it_was") },
    ...results.map((one): Column<string> => ({
      key: one.run.id, title: one.name, numeric: true, cell: (figure) => text(find(one.tables.jobs, figure), "what_if"),
    })),
  ];
  return (
    <Card title="Jobs and GPUs" note="its replay: the month as it was, under the scheduling that really ran" flush>
      <Table caption="Figures of the scenarios" columns={columns} rows={figuresOf(results.map((one) => one.tables.jobs))} rowKey={(figure) => figure} dense tall />
    </Card>
  );
}

// The replay of what was, and each scenario, as lines.
function lines(results: Result[], table: (one: Result) => Data, was: string, is: string): Series[] {
  const column = (data: Data, name: string) => data.rows.map((row) => (row[name] === null || row[name] === undefined ? null : String(row[name])));
  return [
    { name: "As it was, replayed", colour: "other", values: column(table(results[0]!), was), dashed: true },
    ...results.map((one, i): Series => ({ name: one.name, colour: COLOURS[i] ?? "c4", values: column(table(one), is) })),
  ];
}

// Waits in a unit in which the longest one is read: seconds, minutes or hours.
function waitUnit(all: Series[]): { unit: string; named: string; seconds: number } {
  const longest = Math.max(0, ...all.flatMap((one) => one.values.map((value) => Number(value ?? 0))));
  if (longest >= 3 * 3600) return { unit: "h", named: "hours", seconds: 3600 };
  return longest >= 600 ? { unit: "min", named: "minutes", seconds: 60 } : { unit: "s", named: "seconds", seconds: 1 };
}

function Charts({ results }: { results: Result[] }) {
  const waits = lines(results, (one) => one.tables.waits, "seconds_at_most", "seconds_at_most_what_if");
  const { unit, named, seconds } = waitUnit(waits);
  const scaled = waits.map((one): Series => ({ ...one, values: one.values.map((value) => (value === null || seconds === 1 ? value : (Number(value) / seconds).toFixed(2))) }));
  const moments = results[0]!.tables.moments.rows.map((row) => text(row, "at").slice(0, 16).replace("T", " "));
  const percents = results[0]!.tables.waits.rows.map((row) => `${text(row, "percent_of_jobs")} %`);
  return (
    <Grid>
      <Card title="Jobs waiting" note="over the period">
        <Chart kind="line" title="Jobs waiting over the period" labels={moments} series={lines(results, (one) => one.tables.moments, "waiting", "waiting_what_if")} digits={0} legend />
      </Card>
      <Card title="GPUs held" note="over the period">
        <Chart kind="line" title="GPUs held over the period" labels={moments} series={lines(results, (one) => one.tables.moments, "gpus_held", "gpus_held_what_if")} digits={0} legend />
      </Card>
      <Card title="How long jobs wait" note={`so many percent of the jobs wait at most so many ${named}`} wide>
        <Chart kind="line" title={`${named} that so many percent of the jobs wait at most`} labels={percents} series={scaled} unit={unit} digits={seconds === 1 ? 0 : 1} legend />
      </Card>
    </Grid>
  );
}

// The rows of all results by the same key, in the order in which they appear.
function keys(results: Result[], table: (one: Result) => Data | undefined, column: string): string[] {
  return [...new Set(results.flatMap((one) => table(one)?.rows.map((row) => text(row, column)) ?? []))];
}

// "nlp pays 12.00 USD less; …", as the server explains the largest changes.
const isAboutPayers = (note: string) => / pays [\d,.]+ [A-Z]{3} (less|more)/.test(note);

// The rates stand above all figures of the page.
const isAboutRates = (note: string) => note.startsWith("Converted at ");

// Whose cost or wait changes most, for each scenario.
function Explained({ results, notes }: { results: Result[]; notes: (one: Result) => string[] }) {
  const told = results.flatMap((one) => notes(one).map((note) => ({ name: one.name, note })));
  if (told.length === 0) return null;
  return <ul class="what-if-explained">{told.map(({ name, note }) => <li key={`${name} ${note}`}><strong>{name}</strong>: {note}</li>)}</ul>;
}

// By who pays, or by how it was bought: another table with the same total.
function Costs({ results, by, currency, name = "costs" }: { results: Result[]; by: string; currency: string; name?: "costs" | "tier_costs" }) {
  const table = (one: Result) => one.tables[name].find((data) => data.currency === currency);
  const amount = (one: Result, key: string, column: string) => String(table(one)?.rows.find((row) => text(row, by) === key)?.[column] ?? "0");
  const total = (one: Result, column: string) => (table(one)?.rows ?? []).reduce((sum, row) => add(sum, String(row[column] ?? "0")), "0");
  const was = (key: string) => results.map((one) => amount(one, key, "as_it_was")).find((value) => !isZero(value)) ?? "0";
  const all = total(results[0]!, "as_it_was");
  const cell = (now: string, before: string) => {
    const difference = subtract(now, before);
    return (
      <span class="what-if-cost">
        <Money amount={now} unit={currency} />
        <small class="muted">{compare(difference, "0") > 0 && "+"}<Money amount={difference} unit={currency} /></small>
      </span>
    );
  };
  const columns: Column<string>[] = [
    { key: "key", title: words(by), value: (key) => key, wide: true, cell: (key) => <span class={key.startsWith("(") ? "aside" : ""}>{shownKey(key)}</span>, total: "Total" },
    { key: "was", title: "As it was", numeric: true, value: was, cell: (key) => <Money amount={was(key)} unit={currency} />, total: <Money amount={all} unit={currency} /> },
    ...results.map((one): Column<string> => ({
      key: one.run.id, title: one.name, numeric: true, value: (key) => amount(one, key, "what_if"),
      cell: (key) => cell(amount(one, key, "what_if"), was(key)), total: cell(total(one, "what_if"), all),
    })),
  ];
  return (
    <Card title={`Cost by ${by}`} note={`${currency}; below each, the difference to what was`} flush>
      <Table caption={`Cost by ${by} under each scenario`} columns={columns} rows={keys(results, table, by)} rowKey={(key) => key} shown={50} />
      <Explained results={results} notes={(one) => (table(one)?.notes ?? []).filter(isAboutPayers)} />
    </Card>
  );
}

function Teams({ results, by }: { results: Result[]; by: string }) {
  const find = (one: Result, key: string) => one.tables.teams.rows.find((row) => text(row, by) === key);
  const any = (key: string) => results.map((one) => find(one, key)).find((row) => row !== undefined);
  const columns: Column<string>[] = [
    { key: "key", title: words(by), wide: true, cell: (key) => shownKey(key) },
    { key: "jobs", title: "Jobs", numeric: true, hideOnPhone: true, cell: (key) => text(any(key), "jobs") },
    { key: "was", title: "Wait, p95", numeric: true, cell: (key) => text(any(key), "wait_p95") },
    ...results.flatMap((one): Column<string>[] => [
      { key: `${one.run.id}-wait`, title: one.name, label: `Wait, p95: ${one.name}`, numeric: true, cell: (key) => text(find(one, key), "wait_p95_what_if") },
      { key: `${one.run.id}-stretch`, title: "stretch", label: `Stretch: ${one.name}`, numeric: true, hideOnPhone: true, cell: (key) => text(find(one, key), "stretch_what_if") },
    ]),
  ];
  return (
    <Card title={`Who waits, by ${by}`} note="95 % of the jobs wait no longer; stretch: how many times as long they take" flush>
      <Table caption={`Waits by ${by} under each scenario`} columns={columns} rows={keys(results, (one) => one.tables.teams, by)} rowKey={(key) => key} shown={50} />
      <Explained results={results} notes={(one) => (one.tables.teams.notes ?? []).filter((note) => note.includes(" wait at most "))} />
    </Card>
  );
}

function Calibration({ of }: { of: Result }) {
  const columns: Column<Row>[] = [
    { key: "figure", title: "Figure", wide: true, cell: (row) => text(row, "figure") },
    { key: "was", title: "As it was", numeric: true, cell: (row) => text(row, "as_it_was") },
    { key: "is", title: "Its replay", numeric: true, cell: (row) => text(row, "replayed_as_it_was") },
    { key: "off", title: "Off by", numeric: true, cell: (row) => text(row, "off_by") },
  ];
  return (
    <Card title="How near the replay comes" note="before anything is changed" flush>
      <Table caption="Calibration" columns={columns} rows={of.tables.calibration.rows} rowKey={(row) => text(row, "figure")} dense />
      {(of.tables.calibration.notes ?? []).map((note) => <p class="card-lead" key={note}>{note}</p>)}
    </Card>
  );
}

// The tables that a result has.
const files = (one: Result) => ["costs", "tier_costs", "teams", "jobs", ...(["range", "fleets", "tiers", "mig", "prices", "speeds", "commitments"] as const).filter((name) => one.tables[name]), "moments", "waits", "gantt"];

export function Results({ results }: { results: Result[] }) {
  const first = results[0];
  if (!first) return null;
  const by = first.run.by;
  const currencies = [...new Set(results.flatMap((one) => one.tables.costs.map((table) => table.currency ?? "")))];
  const notesOf = (one: Result) => [...(one.tables.jobs.notes ?? []), ...[...(one.tables.costs[0]?.notes ?? []), ...(one.tables.tier_costs[0]?.notes ?? [])].filter((note) => !isAboutPayers(note) && !isAboutRates(note))];
  const notes = [...new Set(results.flatMap(notesOf))];
  // Of which scenarios a note is, where it is not of all.
  const whose = (note: string) => {
    const which = results.filter((one) => notesOf(one).includes(note));
    return which.length === results.length ? "" : `${which.map((one) => one.name).join(", ")}: `;
  };
  return (
    <div class="stack">
      <Calibration of={first} />
      {currencies.map((currency) => <Costs key={currency} results={results} by={by} currency={currency} />)}
      {currencies.map((currency) => <Costs key={currency} results={results} by="tier" currency={currency} name="tier_costs" />)}
      <Figures results={results} />
      <Searches results={results} />
      <Charts results={results} />
      <Gantt results={results} />
      <Teams results={results} by={by} />
      <Note>
        <strong>What it does not know</strong>
        <ul>{notes.map((note) => <li key={note}>{whose(note) && <strong>{whose(note)}</strong>}{note}</li>)}</ul>
      </Note>
      <Card title="As files">
        <div class="what-if-files">
          {results.map((one) => (
            <div class="row" key={one.run.id}>
              <span>{one.name}</span>
              <LinkButton small download href={address(`/what-if/runs/${one.run.id}/report`)}>Report (PDF)</LinkButton>
              {files(one).map((name) => (
                <span class="what-if-file" key={name}>
                  <LinkButton small download href={address(`/what-if/runs/${one.run.id}/${name}`, { format: "sheet" })}>{words(name)} (CSV)</LinkButton>
                  <LinkButton small tone="quiet" download href={address(`/what-if/runs/${one.run.id}/${name}`, { format: "parquet" })}>Parquet</LinkButton>
                </span>
              ))}
            </div>
          ))}
        </div>
      </Card>
    </div>
  );
}
