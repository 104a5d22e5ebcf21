// Compare: two periods, or two filters, side by side: a bridge from one to the other that adds up, and the
// owners that changed.
import { useMemo } from "preact/hooks";
import { useQuery } from "../../api/hooks";
import type { Dimension, List, Tables } from "../../api/types";
import { useMonth } from "../../app/month";
import { setQuery, useRoute } from "../../app/router";
import { Card, Figure, Grid, PageHead } from "../../components/card";
import { Chip, Segments } from "../../components/controls";
import { Select, TextField } from "../../components/form";
import { Change, Money } from "../../components/money";
import { Empty, ErrorNote, Loaded, Note, Skeleton } from "../../components/states";
import { Table, type Column } from "../../components/table";
import { Why } from "../../components/why";
import { compare, isZero, subtract, toHeight } from "../../util/money";
import { addMonths, dayShort, daysIn, monthName, shownKey, words } from "../../util/text";
import { COSTS } from "../explore/state";
import { Views } from "../explore/views";
import { Events } from "./events";
import { bridge, type Bridge, type OwnerChange, type Step } from "./bridge";

const STEPS: Record<Step["name"], [string, string]> = {
  quantity: ["Quantity", "more or fewer GPU-hours, at the average rate before"],
  mix: ["Mix", "GPU-hours that moved to owners who pay more or less an hour"],
  price: ["Price", "another rate per GPU-hour of the same owners"],
  new: ["New owners", "held GPUs now, and none before"],
  gone: ["Gone owners", "held GPUs before, and none now"],
  host: ["CPU and memory", "of held machines, and what was not divided"],
  unallocated: ["Not held", "unallocated, stranded, overhead, unavailable"],
  shared: ["Shared", "support, network, tax, purchases"],
  rounding: ["Rounding", "in the last digit, of amounts that are converted one by one"],
};

interface Period {
  month: string | null;
  from: string | null;
  to: string | null;
}

const day = (month: string, date: number) => `${month}-${String(Math.min(date, daysIn(month))).padStart(2, "0")}`;

// Whole months; the same days of both, so that a month that still runs is compared with as much of the other; or
// any days.
type Mode = "months" | "same" | "days";

interface Both {
  mode: Mode;
  now: Period;
  before: Period;
  until: number;
  against: string;
}

function readPeriods(query: URLSearchParams, month: string): Both {
  const against = query.get("against") ?? addMonths(month, -1);
  const until = Math.max(1, Number(query.get("until")) || 15);
  const given = (name: string) => (/^\d{4}-\d\d-\d\d$/.test(query.get(name) ?? "") ? query.get(name) : null);
  const first = (of: string, to: string) => ({ month: null, from: `${of}-01`, to });
  if (query.has("from") || query.has("before_from")) {
    const now = { month: null, from: given("from") ?? `${month}-01`, to: given("to") ?? day(month, 31) };
    const before = { month: null, from: given("before_from") ?? `${against}-01`, to: given("before_to") ?? day(against, 31) };
    return { mode: "days", now, before, until, against };
  }
  if (query.has("until")) return { mode: "same", now: first(month, day(month, until)), before: first(against, day(against, until)), until, against };
  const whole = (of: string) => ({ month: of, from: null, to: null });
  return { mode: "months", now: whole(month), before: whole(against), until, against };
}

// The days of a period.
const spanOf = (period: Period, month: string) => ({ from: period.from ?? `${period.month ?? month}-01`, to: period.to ?? day(period.month ?? month, 31) });

const dayYear = (text: string) => `${dayShort(text)} ${text.slice(0, 4)}`;
const nameOf = (period: Period) => (period.month ? monthName(period.month) : `${dayYear(period.from ?? "")} to ${dayYear(period.to ?? "")}`);

function Steps({ of, currency }: { of: Bridge; currency: string }) {
  const most = Math.max(...of.steps.map((step) => Math.abs(toHeight(step.amount))), 1);
  const line = (name: string, hint: string, amount: string, sign: boolean) => (
    <li key={name}>
      <span><strong>{name}</strong> <small class="muted">{hint}</small></span>
      {sign ? (
        <span class={compare(amount, "0") > 0 ? "mover mover-more" : "mover mover-less"} aria-hidden="true">
          <span style={{ width: `${(Math.abs(toHeight(amount)) / most) * 50}%` }} />
        </span>
      ) : <span />}
      <span class="mover-sum">{sign && compare(amount, "0") > 0 && "+"}<Money amount={amount} currency={currency} /></span>
    </li>
  );
  return (
    <Card title="From before to now" note="adds up to the last digit">
      <ul class="movers bridge">
        {line("Before", "", of.before, false)}
        {of.steps.map((step) => line(...STEPS[step.name], step.amount, true))}
        {line("Now", "", of.now, false)}
      </ul>
    </Card>
  );
}

function Owners({ of, owner, now, before, filters, cost, currency }: {
  of: Bridge;
  owner: string;
  now: Period;
  before: Period;
  filters: { now: string[]; before: string[] };
  cost: string;
  currency: string;
}) {
  const size = (one: OwnerChange) => { const d = subtract(one.now, one.before); return compare(d, "0") < 0 ? subtract("0", d) : d; };
  const rows = useMemo(() => [...of.owners].sort((a, b) => compare(size(b), size(a))), [of]);
  const cell = (amount: string) => (isZero(amount) ? <span class="nothing">–</span> : <Money amount={amount} unit={currency} />);
  const columns: Column<OwnerChange>[] = [
    { key: "key", title: words(owner), value: (one) => one.key, cell: (one) => <span class={one.key.startsWith("(") ? "cut aside" : "cut"} title={one.key}>{shownKey(one.key)}</span>, total: "Total" },
    { key: "before", title: "Before", numeric: true, value: (one) => one.before, total: <Money amount={of.before} unit={currency} />,
      cell: (one) => <span class="figure-why">{cell(one.before)}<Why of={{ by: [owner], values: [one.key], filter: filters.before, cost, ...before }} label={`${shownKey(one.key)} before`} /></span> },
    { key: "now", title: "Now", numeric: true, value: (one) => one.now, total: <Money amount={of.now} unit={currency} />,
      cell: (one) => <span class="figure-why">{cell(one.now)}<Why of={{ by: [owner], values: [one.key], filter: filters.now, cost, ...now }} label={`${shownKey(one.key)} now`} /></span> },
    { key: "difference", title: "Difference", numeric: true, value: (one) => subtract(one.now, one.before), cell: (one) => cell(subtract(one.now, one.before)), total: <Money amount={subtract(of.now, of.before)} unit={currency} /> },
    { key: "change", title: "Change", numeric: true, hideOnPhone: true, cell: (one) => <Change now={one.now} before={one.before} /> },
    { key: "quantity", title: "Quantity", numeric: true, hideOnPhone: true, value: (one) => one.quantity, cell: (one) => cell(one.quantity) },
    { key: "price", title: "Price", numeric: true, hideOnPhone: true, value: (one) => one.price, cell: (one) => cell(one.price) },
    { key: "other", title: "Other", numeric: true, hideOnPhone: true, value: (one) => one.other, cell: (one) => cell(one.other) },
  ];
  return (
    <Card title={`By ${owner}`} note={`${currency}, the largest difference first`} flush>
      <Table caption={`Costs by ${owner} in both periods`} columns={columns} rows={rows} rowKey={(one) => one.key} shown={50} />
    </Card>
  );
}

export default function Compare() {
  const { month, known } = useMonth();
  const { query } = useRoute();
  const dimensions = useQuery<List<Dimension>>("/dimensions");
  const names = dimensions.data?.data.map((one) => one.name).filter((name) => !["kind", "component", "currency"].includes(name)) ?? [];
  const owner = query.get("by") ?? ["team", "project", "user"].find((name) => names.includes(name)) ?? names[0] ?? "cluster";
  const cost = COSTS.find((one) => one === query.get("cost")) ?? "effective";
  const { mode, now, before, until, against } = readPeriods(query, month);
  const filter = query.getAll("filter");
  const other = query.get("other");
  const filters = { now: filter, before: other === null ? filter : [other] };
  const asked = (by: string, period: Period, filter: string[]) => ({ by, filter, cost: cost === "effective" ? null : cost, ...period });
  const isKnown = dimensions.data !== undefined || dimensions.error !== undefined;
  const parts = `${owner},kind,component`;
  const a = useQuery<Tables>(isKnown ? "/costs" : null, asked(parts, before, filters.before));
  const b = useQuery<Tables>(isKnown ? "/costs" : null, asked(parts, now, filters.now));
  const wholeA = useQuery<Tables>(isKnown ? "/costs" : null, asked(owner, before, filters.before));
  const wholeB = useQuery<Tables>(isKnown ? "/costs" : null, asked(owner, now, filters.now));
  const months = [...new Set([...known, addMonths(month, -1), against])].sort().reverse();
  const all = [a, b, wholeA, wholeB];
  const both = {
    data: a.data && b.data && wholeA.data && wholeB.data ? { a: a.data, b: b.data, wholeA: wholeA.data, wholeB: wholeB.data } : undefined,
    error: all.find((one) => one.error)?.error, loading: all.some((one) => one.loading), reload: () => all.forEach((one) => one.reload()),
  };
  const choose = (next: Mode) => setQuery({ until: next === "same" ? String(until) : null, ...Object.fromEntries(["from", "to", "before_from", "before_to"].map((name) => [name, null])),
    ...(next === "days" ? { from: `${month}-01`, to: day(month, 31), before_from: `${against}-01`, before_to: day(against, 31) } : {}) });
  const date = (label: string, name: string, value: string | null) => (
    <TextField label={label} type="date" value={value ?? ""} onValue={(text) => text && setQuery({ [name]: text }, { replace: true })} />
  );
  return (
    <>
      <PageHead title="Compare" lead={`${nameOf(now)} against ${nameOf(before)}.`}><Views /></PageHead>
      <Card>
        <div class="control-row">
          <div class="control"><span class="control-label">By</span>
            <Select label="Owner" value={owner} onValue={(by) => setQuery({ by })} options={[...new Set([owner, ...names])].map((value) => ({ value, title: value }))} /></div>
          <div class="control"><span class="control-label">Cost</span>
            <Select label="Cost" value={cost} onValue={(value) => setQuery({ cost: value === "effective" ? null : value })} options={COSTS.map((value) => ({ value, title: value }))} /></div>
          <div class="control"><span class="control-label">Periods</span>
            <Segments label="Periods" chosen={mode} onChoose={choose} options={[{ key: "months", title: "Whole months" }, { key: "same", title: "Same days" }, { key: "days", title: "Any days" }]} /></div>
          {mode !== "days" && <div class="control"><span class="control-label">Against</span>
            <Select label="Against" value={against} onValue={(value) => setQuery({ against: value })} options={months.map((value) => ({ value, title: monthName(value) }))} /></div>}
          {mode === "same" && <TextField label="Up to day" type="number" value={String(until)} onValue={(value) => setQuery({ until: value || "1" }, { replace: true })} />}
          {mode === "days" && (
            <>
              {date("Before, from", "before_from", before.from)}
              {date("Before, to", "before_to", before.to)}
              {date("Now, from", "from", now.from)}
              {date("Now, to", "to", now.to)}
            </>
          )}
          <TextField label="Filter now" placeholder="team=nlp" value={filter[0] ?? ""} onValue={(value) => setQuery({ filter: value ? [value, ...filter.slice(1)] : filter.slice(1) }, { replace: true })} />
          <TextField label="Filter before, if another" placeholder="the same" value={other ?? ""} onValue={(value) => setQuery({ other: value }, { replace: true })} />
        </div>
        {filter.length > 1 && (
          <p class="chips">
            {filter.slice(1).map((text) => <Chip key={text} onRemove={() => setQuery({ filter: filter.filter((one) => one !== text) })} removeLabel={`Remove ${text}`}>{text}</Chip>)}
          </p>
        )}
      </Card>
      {both.error ? <ErrorNote error={both.error} retry={both.reload} /> : (
        <Loaded query={both} skeleton={<Skeleton lines={8} />}>
          {(data) => {
            const currencies = [...new Set([...data.a.tables, ...data.b.tables].map((table) => table.currency ?? ""))];
            if (currencies.length === 0) return <Card><Empty icon="overview" title="No costs in either period">Choose other months, or remove a filter.</Empty></Card>;
            return (
              <div class="stack">
                {data.a.tables.length === 0 && <Note tone="warn">There are no costs in {nameOf(before)}: everything counts as new. Choose another period to compare with.</Note>}
                {data.b.tables.length === 0 && <Note tone="warn">There are no costs in {nameOf(now)}: everything counts as gone. Choose another period to compare.</Note>}
                {currencies.map((currency) => {
                  const rows = (tables: Tables) => tables.tables.find((table) => table.currency === currency)?.rows ?? [];
                  const of = bridge(rows(data.a), rows(data.b), owner, `${cost}_cost`, { before: rows(data.wholeA), now: rows(data.wholeB) });
                  return (
                    <div class="stack" key={currency}>
                      <Grid of="figures">
                        <Figure label="Before" value={<Money amount={of.before} currency={currency} />} sub={nameOf(before)} why={{ by: [owner], filter: filters.before, cost, ...before }} />
                        <Figure label="Now" value={<Money amount={of.now} currency={currency} />} sub={nameOf(now)} why={{ by: [owner], filter: filters.now, cost, ...now }} />
                        <Figure label="Difference" value={<Money amount={subtract(of.now, of.before)} currency={currency} />} sub={<Change now={of.now} before={of.before} currency={currency} />} />
                      </Grid>
                      <Steps of={of} currency={currency} />
                      <Owners of={of} owner={owner} now={now} before={before} filters={filters} cost={cost} currency={currency} />
                    </div>
                  );
                })}
              </div>
            );
          }}
        </Loaded>
      )}
      <Events now={spanOf(now, month)} before={spanOf(before, against)} filter={filter} />
    </>
  );
}
