// Finance: the month against the one before, and the check-list for closing it.
import { usePages, useQuery, type Query } from "../../api/hooks";
import type { IssuedInvoice, Staleness, Tables } from "../../api/types";
import { useMonth } from "../../app/month";
import { href } from "../../app/router";
import { useSession } from "../../app/session";
import { Card, Figure, Grid } from "../../components/card";
import { LinkButton } from "../../components/controls";
import { Change, Money, Percent } from "../../components/money";
import { Loaded, Skeleton } from "../../components/states";
import { dayShort, monthName, plural, thisMonth } from "../../util/text";
import type { Import, Period, Reconciled } from "../bills/types";
import { readCoverage } from "../coverage/read";
import { Checklist, type Check } from "./checklist";
import { sumsOf, useFirstOf, useSameDays } from "./read";

function Figures({ month }: { month: string }) {
  const days = useSameDays(month);
  const owner = useFirstOf(["team", "project", "client"]);
  const now = useQuery<Tables>(days ? "/costs" : null, { by: "kind", ...days?.now });
  const before = useQuery<Tables>(days ? "/costs" : null, { by: "kind", ...days?.before });
  const coverage = useQuery<Tables>(owner ? "/coverage" : null, { month, by: owner });
  const reach = coverage.data ? readCoverage(coverage.data.tables) : [];
  if (!days) return <Skeleton height="figure" />;
  return (
    <Loaded query={now} skeleton={<Skeleton height="figure" />}>
      {(data) => [...new Set([...sumsOf(data).keys(), ...sumsOf(before.data).keys()])].map((currency) => {
        const total = sumsOf(data).get(currency) ?? "0";
        const earlier = sumsOf(before.data).get(currency);
        const one = reach.find((each) => each.currency === currency)?.reach[0];
        return (
          <Grid of="figures" key={currency}>
            <Figure label="Cost" value={<Money amount={total} currency={currency} />} why={{ by: ["kind"], ...days.now }}
              sub={`${dayShort(days.now.from)} to ${dayShort(days.now.to)} ${month.slice(0, 4)}`} />
            <Figure label="Same days before" value={<Money amount={earlier ?? null} currency={currency} />} why={{ by: ["kind"], ...days.before }}
              sub={<><Change now={total} before={earlier} currency={currency} /><a href={href("/compare", { month })}>What changed</a></>} />
            {owner && !one && coverage.loading && <Figure label={`GPU spend that reaches a ${owner}`} value={<span class="nothing">…</span>} sub="being looked up" />}
            {one && <Figure label={`GPU spend that reaches a ${one.dimension}`} href={href("/coverage", { month })} value={<Percent value={one.share} />} sub={<span><Money amount={one.gap} currency={currency} /> missing</span>} />}
          </Grid>
        );
      })}
    </Loaded>
  );
}

const asking = (title: string): Check => ({ title, state: "asking", said: "being looked up" });
// No answer is not a good one: the month is closed on what this list says.
const unanswered = (title: string, problem: { message: string }): Check => ({ title, state: "asking", said: `not known: ${problem.message}` });

function billCheck(month: string, proof: Query<Reconciled>): Check[] {
  const [bill, posted] = ["The month's bill is imported", "Every bill line is posted to its last digit"];
  if (proof.loading && !proof.data) return [asking(bill), asking(posted)];
  const totals = proof.data?.totals ?? [];
  const lines = totals.reduce((sum, one) => sum + one.lines, 0);
  const off = totals.reduce((sum, one) => sum + one.lines_off, 0);
  return [
    { title: bill, state: lines > 0 ? "done" : "open", said: lines > 0 ? `${plural(lines, "bill line")} in ${totals.map((one) => one.currency).join(" and ")}` : "The ledger has no bill line of it.", href: href("/bills", { tab: "imports", month }), command: "pennyweight import bill.csv" },
    { title: posted, state: lines > 0 && off === 0 && totals.every((one) => one.exact) ? "done" : "open", said: lines === 0 ? "There is no bill yet." : off === 0 ? "The bill minus its postings is zero, in all four costs." : `${plural(off, "line")} ${off === 1 ? "is" : "are"} off.`, href: href("/bills", { month }), command: `pennyweight allocate --month ${month}` },
  ];
}

function CloseList({ month }: { month: string }) {
  const { may } = useSession();
  const proof = useQuery<Reconciled>("/reconcile", { month });
  const stale = useQuery<Staleness>("/staleness", { month });
  const imports = usePages<Import>("/imports", { limit: 1000 });
  const periods = usePages<Period>("/periods", { limit: 100 });
  const invoices = usePages<IssuedInvoice>(may("read_invoices") ? "/invoices" : null, { month, limit: 100 });
  const behind = stale.data?.months[0]?.imports_since ?? 0;
  const aside = imports.rows.filter((one) => one.rejected > 0);
  const rows = aside.reduce((sum, one) => sum + one.rejected, 0);
  const period = periods.rows.find((one) => one.month === month);
  const isOver = thisMonth() > month;
  const isClosed = period?.state === "closed";
  const checks: Check[] = [
    { title: "The month is over", state: isOver ? "done" : "later", said: isOver ? `${monthName(month)} has ended.` : `${monthName(month)} still runs; what is billed later would be booked in the next month.` },
    ...billCheck(month, proof),
    stale.error ? unanswered("Everything imported is allocated", stale.error)
      : stale.loading && !stale.data ? asking("Everything imported is allocated")
      : { title: "Everything imported is allocated", state: behind === 0 ? "done" : "open", said: behind === 0 ? "Nothing came since the last run." : `${plural(behind, "import")} came since.`, href: href("/bills", { tab: "runs", month }), command: `pennyweight allocate --month ${month}` },
    imports.error ? unanswered("No row was set aside", imports.error)
      : imports.loading && imports.rows.length === 0 ? asking("No row was set aside")
      : { title: "No row was set aside", state: rows === 0 ? "done" : "open", said: rows === 0 ? `Every row of ${imports.hasMore ? "the last 1,000 imports" : "all imports"} could be read.` : `${plural(rows, "row")} of ${plural(aside.length, "import")} could not be read, whatever their month.`, href: href("/bills", { tab: "imports", month }) },
    periods.error ? unanswered("The month is closed", periods.error)
      : periods.loading && !period ? asking("The month is closed")
      : { title: "The month is closed", state: isClosed ? "done" : isOver ? "open" : "later", said: isClosed ? `By ${period.closed_by}: ${period.reason}` : "Closing seals it; it can't be opened again.", href: href("/bills", { tab: "periods", month }) },
    ...(may("read_invoices") ? [{ title: "Its invoices are issued", state: invoices.rows.length > 0 ? "done" as const : isClosed ? "open" as const : "later" as const, said: invoices.rows.length > 0 ? plural(invoices.rows.length, "invoice") : isClosed ? "None was issued yet." : "After the month is closed.", href: href("/invoices", { tab: may("issue_invoices") && invoices.rows.length === 0 ? "preview" : null, month }) }] : []),
  ];
  const done = checks.filter((check) => check.state === "done").length;
  return (
    <Card title={`Closing ${monthName(month)}`} note={`${done} of ${checks.length} done`} actions={<LinkButton small tone="quiet" href={href("/bills", { tab: "periods", month })}>Periods</LinkButton>}>
      <Checklist checks={checks} />
    </Card>
  );
}

export function Finance() {
  const { month } = useMonth();
  return (
    <>
      <Figures month={month} />
      <CloseList key={month} month={month} />
    </>
  );
}
