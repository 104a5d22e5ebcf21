// Compare: two periods, or two filters, side by side: a bridge from one to the other that adds up, and the
// owners that changed.
import { useMemo } from "preact/hooks";
import { useQuery } from "../../api/hooks";
import type { Dimension, List, Tables } from "../../api/types";
import { useMonth } from "../../app/month";
import { setQuery, useRoute } from "../../app/router";
import { Card, Figure, Grid, PageHead } from "../../components/card";
import { CheckField, Select, TextField } from "../../components/form";
import { Change, Money } from "../../components/money";
import { Empty, ErrorNote, Loaded, Skeleton } from "../../components/states";
import { Table, type Column } from "../../components/table";
import { Why } from "../../components/why";
import { compare, isZero, subtract, toHeight } from "../../util/money";
import { addMonths, daysIn, monthName, shownKey, words } from "../../util/text";
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
};

interface Period {
  month: string | null;
  from: string | null;
  to: string | null;
}

const day = (month: string, date: number) => `${month}-${String(Math.min(date, daysIn(month))).padStart(2, "0")}`;

// With the same days of both months, a month that still runs is compared with as much of the other.
function periods(month: string, against: string, until: number | null): { now: Period; before: Period } {
  if (until === null) return { now: { month, from: null, to: null }, before: { month: against, from: null, to: null } };
  return {
    now: { month: null, from: `${month}-01`, to: day(month, until) },
    before: { month: null, from: `${against}-01`, to: day(against, until) },
  };
}

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

function Owners({ of, owner, now, before, filters }: { of: Bridge; owner: string; now: Period; before: Period; filters: { now: string[]; before: string[] } }) {
  const size = (one: OwnerChange) => { const d = subtract(one.now, one.before); return compare(d, "0") < 0 ? subtract("0", d) : d; };
  const rows = useMemo(() => [...of.owners].sort((a, b) => compare(size(b), size(a))), [of]);
  const cell = (amount: string) => (isZero(amount) ? <span class="nothing">–</span> : <Money amount={amount} />);
  const columns: Column<OwnerChange>[] = [
    { key: "key", title: words(owner), value: (one) => one.key, cell: (one) => <span class={one.key.startsWith("(") ? "cut aside" : "cut"} title={one.key}>{shownKey(one.key)}</span>, total: "Total" },
    { key: "before", title: "Before", numeric: true, value: (one) => one.before, total: <Money amount={of.before} />,
      cell: (one) => <span class="figure-why">{cell(one.before)}<Why of={{ by: [owner], values: [one.key], filter: filters.before, ...before }} label={`${shownKey(one.key)} before`} /></span> },
    { key: "now", title: "Now", numeric: true, value: (one) => one.now, total: <Money amount={of.now} />,
      cell: (one) => <span class="figure-why">{cell(one.now)}<Why of={{ by: [owner], values: [one.key], filter: filters.now, ...now }} label={`${shownKey(one.key)} now`} /></span> },
    { key: "difference", title: "Difference", numeric: true, value: (one) => subtract(one.now, one.before), cell: (one) => cell(subtract(one.now, one.before)), total: <Money amount={subtract(of.now, of.before)} /> },
    { key: "change", title: "Change", numeric: true, hideOnPhone: true, cell: (one) => <Change now={one.now} before={one.before} /> },
    { key: "quantity", title: "Quantity", numeric: true, hideOnPhone: true, value: (one) => one.quantity, cell: (one) => cell(one.quantity) },
    { key: "price", title: "Price", numeric: true, hideOnPhone: true, value: (one) => one.price, cell: (one) => cell(one.price) },
    { key: "other", title: "Other", numeric: true, hideOnPhone: true, value: (one) => one.other, cell: (one) => cell(one.other) },
  ];
  return (
    <Card title={`By ${owner}`} note="the largest difference first" flush>
      <Table caption={`Costs by ${owner} in both periods`} columns={columns} rows={rows} rowKey={(one) => one.key} shown={50} />
    </Card>
  );
}

export default function Compare() {
  const { month, known } = useMonth();
  const { query } = useRoute();
  const dimensions = useQuery<List<Dimension>>("/dimensions");
  const names = dimensions.data?.data.map((one) => one.name).filter((name) => !["kind", "component", "currency"].includes(name)) ?? [];
  const owner = query.get("by") ?? names[0] ?? "cluster";
  const against = query.get("against") ?? addMonths(month, -1);
  const until = query.get("until") === null ? null : Math.max(1, Number(query.get("until")) || 31);
  const { now, before } = periods(month, against, until);
  const filter = query.getAll("filter");
  const other = query.get("other");
  const filters = { now: filter, before: other === null ? filter : [other] };
  const asked = (period: Period, filter: string[]) => ({ by: `${owner},kind,component`, filter, ...period });
  const isKnown = dimensions.data !== undefined || dimensions.error !== undefined;
  const a = useQuery<Tables>(isKnown ? "/costs" : null, asked(before, filters.before));
  const b = useQuery<Tables>(isKnown ? "/costs" : null, asked(now, filters.now));
  const months = [...new Set([...known, addMonths(month, -1), against])].sort().reverse();
  const both = { data: a.data && b.data ? { a: a.data, b: b.data } : undefined, error: a.error ?? b.error, loading: a.loading || b.loading, reload: () => (a.reload(), b.reload()) };
  const name = (period: string) => (until === null ? monthName(period) : `1 to ${Math.min(until, daysIn(period))} ${monthName(period)}`);
  return (
    <>
      <PageHead title="Compare" lead={`${name(month)} against ${name(against)}.`} />
      <Card>
        <div class="control-row">
          <div class="control"><span class="control-label">By</span>
            <Select label="Owner" value={owner} onValue={(by) => setQuery({ by })} options={[...new Set([owner, ...names])].map((value) => ({ value, title: value }))} /></div>
          <div class="control"><span class="control-label">Against</span>
            <Select label="Against" value={against} onValue={(value) => setQuery({ against: value })} options={months.map((value) => ({ value, title: monthName(value) }))} /></div>
          <CheckField label="Only the same days" checked={until !== null} onChecked={(on) => setQuery({ until: on ? "15" : null })} />
          {until !== null && <TextField label="Up to day" type="number" value={String(until)} onValue={(value) => setQuery({ until: value || "1" }, { replace: true })} />}
          <TextField label="Filter now" placeholder="team=nlp" value={filter[0] ?? ""} onValue={(value) => setQuery({ filter: value ? [value] : null }, { replace: true })} />
          <TextField label="Filter before, if another" placeholder="the same" value={other ?? ""} onValue={(value) => setQuery({ other: value }, { replace: true })} />
        </div>
      </Card>
      {both.error ? <ErrorNote error={both.error} retry={both.reload} /> : (
        <Loaded query={both} skeleton={<Skeleton lines={8} />}>
          {(data) => {
            const currencies = [...new Set([...data.a.tables, ...data.b.tables].map((table) => table.currency ?? ""))];
            if (currencies.length === 0) return <Card><Empty icon="overview" title="No costs in either period">Choose other months, or remove a filter.</Empty></Card>;
            return (
              <div class="stack">
                {currencies.map((currency) => {
                  const rows = (tables: Tables) => tables.tables.find((table) => table.currency === currency)?.rows ?? [];
                  const of = bridge(rows(data.a), rows(data.b), owner, "effective_cost");
                  return (
                    <div class="stack" key={currency}>
                      <Grid of="figures">
                        <Figure label="Before" value={<Money amount={of.before} currency={currency} />} sub={name(against)} why={{ by: [owner, "kind", "component"], filter: filters.before, ...before }} />
                        <Figure label="Now" value={<Money amount={of.now} currency={currency} />} sub={name(month)} why={{ by: [owner, "kind", "component"], filter: filters.now, ...now }} />
                        <Figure label="Difference" value={<Money amount={subtract(of.now, of.before)} currency={currency} />} sub={<Change now={of.now} before={of.before} currency={currency} />} />
                      </Grid>
                      <Steps of={of} currency={currency} />
                      <Owners of={of} owner={owner} now={now} before={before} filters={filters} />
                    </div>
                  );
                })}
              </div>
            );
          }}
        </Loaded>
      )}
    </>
  );
}
