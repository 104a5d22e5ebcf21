// My team: its cost against the same days of the month before, who it comes from, its budgets, and what would
// save money.
import { useQuery } from "../../api/hooks";
import type { Row, Tables } from "../../api/types";
import { useMonth } from "../../app/month";
import { href } from "../../app/router";
import { useSession } from "../../app/session";
import { Card, Figure, Grid } from "../../components/card";
import { LinkButton } from "../../components/controls";
import { Change, Money } from "../../components/money";
import { Empty, ErrorNote, Loaded, Skeleton } from "../../components/states";
import { Table, type Column } from "../../components/table";
import { Why } from "../../components/why";
import { only } from "../../util/filter";
import { isZero, percent } from "../../util/money";
import { dayShort, monthName, plural, shownKey, words } from "../../util/text";
import { BudgetTable } from "../budgets/budget_table";
import { proposalsOf, together } from "../savings/read";
import { Choice, Nobody, useChosen } from "./choice";
import { sumsOf, textOf, useFirstOf, useSameDays, useValues, type Period } from "./read";

const isIdle = (row: Row) => textOf(row, "kind") === "held_idle";

interface Person {
  name: string;
  currency: string;
  cost: string;
  idle: string;
  before: string;
}

function peopleOf(now: Tables, before: Tables, by: string): Person[] {
  const of = (name: string) => (row: Row) => textOf(row, by) === name;
  const names = [...new Set([now, before].flatMap((tables) => tables.tables.flatMap((table) => table.rows.map((row) => textOf(row, by)))))];
  return names.flatMap((name) => [...new Set([...sumsOf(now).keys(), ...sumsOf(before).keys()])].map((currency) => ({
    name,
    currency,
    cost: sumsOf(now, "effective_cost", of(name)).get(currency) ?? "0",
    idle: sumsOf(now, "effective_cost", (row) => of(name)(row) && isIdle(row)).get(currency) ?? "0",
    before: sumsOf(before, "effective_cost", of(name)).get(currency) ?? "0",
  })));
}

function People({ own, by, now, before, days }: { own: string; by: string; now: Tables; before: Tables; days: { now: Period; before: Period } }) {
  const columns: Column<Person>[] = [
    { key: "name", title: words(by), wide: true, value: (one) => one.name, cell: (one) => <a class="cut" href={href("/home", { view: "runs", of: one.name, month: days.now.from.slice(0, 7) })}>{shownKey(one.name)}</a> },
    { key: "cost", title: "Cost", numeric: true, unit: (one) => one.currency, value: (one) => one.cost,
      cell: (one) => <span class="figure-why"><Money amount={one.cost} currency={one.currency} /><Why of={{ by: [by], values: [one.name], filter: [own], ...days.now }} label={one.name} /></span> },
    { key: "change", title: "Same days before", numeric: true, hideOnPhone: true, unit: (one) => one.currency, value: (one) => one.before, cell: (one) => before.tables.length === 0 ? <span class="nothing">–</span> : <><Money amount={one.before} currency={one.currency} /> <Change now={one.cost} before={one.before} currency={one.currency} /></> },
    { key: "idle", title: "Idle", numeric: true, unit: (one) => one.currency, value: (one) => one.idle, cell: (one) => <Money amount={one.idle} currency={one.currency} /> },
  ];
  return (
    <Card title="Who" flush>
      <Table caption={`Cost by ${by}`} columns={columns} rows={peopleOf(now, before, by)} rowKey={(one) => `${one.name} ${one.currency}`} sort={{ key: "cost", down: true }} shown={30} />
    </Card>
  );
}

function Budgets({ dimension, name }: { dimension: string; name: string }) {
  const budgets = useQuery<Tables>("/budgets");
  const scope = only(dimension, name);
  const mine = (budgets.data?.tables ?? []).map((table) => ({ ...table, rows: table.rows.filter((row) => textOf(row, "scope").split(/[ ,;]+/).includes(scope)) })).filter((table) => table.rows.length > 0);
  return (
    <Card title="Budgets" flush actions={<LinkButton small tone="quiet" href="/budgets">All budgets</LinkButton>}>
      {mine.length === 0 ? <Empty icon="coverage" title={`No budget is for ${name} alone`} /> : mine.map((table) => (
        <div key={table.title}>
          <p class="card-lead muted">{table.title}</p>
          <BudgetTable table={{ ...table, notes: [] }} />
        </div>
      ))}
    </Card>
  );
}

function Advice({ name, month }: { name: string; month: string }) {
  const advice = useQuery<Tables>("/advice", { month });
  const mine = (advice.data?.tables ?? []).map((table) => ({ currency: table.currency ?? "", some: proposalsOf(table).filter((one) => one.team === name) })).filter(({ some }) => some.length > 0);
  return (
    <Card title="What would save money" actions={<LinkButton small tone="quiet" href={href("/savings", { team: name, month })}>Savings</LinkButton>}>
      {advice.error && advice.error.status !== 404 ? <ErrorNote error={advice.error} retry={advice.reload} /> : mine.length === 0 ? <p class="muted">No proposal is for {name} alone.</p> : (
        <ul class="plain">
          {mine.map(({ currency, some }) => (
            <li key={currency}>
              <strong><Money amount={together(some).expected} currency={currency} /></strong> a month by {plural(some.length, "proposal")}; the largest: <a href={href("/savings", { id: some[0]?.id ?? "", month })}>{some[0]?.change}</a>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function Team({ dimension, name, by }: { dimension: string; name: string; by: string }) {
  const { month } = useMonth();
  const days = useSameDays(month);
  const own = only(dimension, name);
  const asked = { by: by === "kind" ? "kind" : `${by},kind`, filter: [own] };
  const now = useQuery<Tables>(days ? "/costs" : null, { ...asked, ...days?.now });
  const before = useQuery<Tables>(days ? "/costs" : null, { ...asked, ...days?.before });
  if (!days) return <Skeleton lines={8} />;
  return (
    <Loaded query={{ ...now, error: now.error ?? before.error, data: now.data && before.data && { now: now.data, before: before.data } }} skeleton={<Skeleton lines={8} />}>
      {(both) => {
        const earlier = sumsOf(both.before);
        const same = `${dayShort(days.before.from)} to ${dayShort(days.before.to)}`;
        return (
          <div class="stack">
            {[...new Set([...sumsOf(both.now).keys(), ...earlier.keys()])].map((currency) => {
              const total = sumsOf(both.now).get(currency) ?? "0";
              const idle = sumsOf(both.now, "effective_cost", isIdle).get(currency) ?? "0";
              return (
                <Grid of="figures" key={currency}>
                  <Figure label="Cost" value={<Money amount={total} currency={currency} />} sub={`${dayShort(days.now.from)} to ${dayShort(days.now.to)} ${month.slice(0, 4)}`} why={{ by: ["kind"], filter: [own], ...days.now }} />
                  <Figure label="Same days before" value={<Money amount={earlier.size === 0 ? null : (earlier.get(currency) ?? "0")} currency={currency} />} sub={earlier.size === 0 ? `no costs from ${same}` : <><Change now={total} before={earlier.get(currency) ?? "0"} currency={currency} /><span>{same}</span></>} why={{ by: ["kind"], filter: [own], ...days.before }} />
                  <Figure label="Idle" mark="idle" value={<Money amount={idle} currency={currency} />} sub={isZero(idle) ? "none was seen" : `${percent(idle, total) ?? "0"}% of it`} why={{ by: ["kind"], values: ["held_idle"], filter: [own], ...days.now }} />
                </Grid>
              );
            })}
            {by !== "kind" && <People own={own} by={by} now={both.now} before={both.before} days={days} />}
          </div>
        );
      }}
    </Loaded>
  );
}

export function MyTeam() {
  const { month } = useMonth();
  const { user } = useSession();
  const dimension = useFirstOf(["team", "project", "client"]);
  const person = useFirstOf(["user"]);
  const scoped = user?.scope.find((one) => one.dimension === dimension)?.values ?? [];
  const values = useValues(dimension, month, scoped);
  const chosen = useChosen(values?.all, scoped);
  if (dimension === null || person === null || values === undefined || chosen === undefined) return <Skeleton lines={8} />;
  if (chosen === "") return <Nobody dimension={dimension || "team"} month={month} />;
  return (
    <>
      <Choice dimension={dimension} values={values} chosen={chosen} />
      <Team key={chosen} dimension={dimension} name={chosen} by={person || "kind"} />
      <Budgets dimension={dimension} name={chosen} />
      <Advice name={chosen} month={month} />
      <p><LinkButton href={href("/compare", { month, filter: only(dimension, chosen), by: person || "kind" })}>{`Why ${monthName(month)} differs from the month before`}</LinkButton></p>
    </>
  );
}
