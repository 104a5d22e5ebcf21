// Reconcile: the bill, what was posted of it, and the difference, with every digit. It is the proof
// that nothing was lost and nothing was made.
import { useState } from "preact/hooks";
import { usePages, useQuery } from "../../api/hooks";
import { href } from "../../app/router";
import { Card, Facts } from "../../components/card";
import { Badge, Button, Segments } from "../../components/controls";
import { Icon } from "../../components/icons";
import { Empty, ErrorNote, Loaded } from "../../components/states";
import { Table, type Column } from "../../components/table";
import { isZero } from "../../util/money";
import { monthName, plural } from "../../util/text";
import { COSTS, type Reconciled, type ReconcileLine, type ReconcileTotals } from "./types";

const NAMES = { billed: "Billed", effective: "Effective", list: "At list price", contracted: "Contracted" };

// All digits, the same number of them in a column, so that the eye can compare.
function aligned(amounts: string[]): string[] {
  const digits = Math.max(0, ...amounts.map((amount) => amount.split(".")[1]?.length ?? 0));
  return amounts.map((amount) => {
    const [whole = "0", fraction = ""] = amount.split(".");
    const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
    return digits === 0 ? grouped : `${grouped}.${fraction.padEnd(digits, "0")}`;
  });
}

function Proof({ totals }: { totals: ReconcileTotals }) {
  const columns = COSTS.map((cost) => ({
    cost,
    amounts: aligned([totals.billed[cost], totals.posted[cost], totals.difference[cost]]),
    zero: isZero(totals.difference[cost]),
  }));
  const row = (title: string, index: number) => (
    <tr>
      <th scope="row">{title}</th>
      {columns.map(({ cost, amounts }) => <td key={cost} class="r num">{amounts[index]}</td>)}
    </tr>
  );
  return (
    <div class="table-scroll" role="region" tabIndex={0} aria-label={`Proof in ${totals.currency}`}>
      <table class="table proof">
        <caption class="sr-only">The bill beside what was posted, in {totals.currency}</caption>
        <thead>
          <tr>
            <th scope="col">{totals.currency}</th>
            {columns.map(({ cost }) => <th key={cost} scope="col" class="r">{NAMES[cost]}</th>)}
          </tr>
        </thead>
        <tbody>
          {row("Bill lines", 0)}
          {row("Posted to owners", 1)}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Difference</th>
            {columns.map(({ cost, amounts, zero }) => (
              <td key={cost} class={`r num ${zero ? "proof-zero" : "proof-off"}`}>{zero ? "0" : amounts[2]}</td>
            ))}
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

function Verdict({ totals }: { totals: ReconcileTotals }) {
  return (
    <div class={totals.exact ? "verdict verdict-good" : "verdict verdict-bad"}>
      <Icon name={totals.exact ? "check" : "warn"} size={22} />
      <div>
        <strong>{totals.exact ? "Reconciles to zero" : "Does not reconcile"}</strong>
        <p>
          {totals.exact
            ? `Every one of ${plural(totals.lines, "bill line")} is posted to its last digit, in all four costs.`
            : `${plural(totals.lines_off, "line")} of ${totals.lines.toLocaleString("en")} ${totals.lines_off === 1 ? "is" : "are"} off; they are listed below.`}
        </p>
      </div>
    </div>
  );
}

function Counts({ totals, month }: { totals: ReconcileTotals; month: string }) {
  const say = (count: number, advice: string) =>
    count === 0 ? "0" : <>{count.toLocaleString("en")} <span class="muted">· {advice}</span></>;
  return (
    <Facts
      facts={[
        ["Lines never allocated", say(totals.lines_unposted, `pennyweight allocate --month ${month}`)],
        ["Lines taken back since", say(totals.lines_gone, "allocate the month again")],
        ["Transfers", `${totals.transfers.toLocaleString("en")}, ${totals.transfers_off === 0 ? "each adds up to zero" : `${totals.transfers_off} of them do not add up to zero`}`],
      ]}
    />
  );
}

const LINE_COLUMNS: Column<ReconcileLine>[] = [
  { key: "what", title: "Bill line", wide: true, value: (line) => line.description ?? line.resource ?? line.charge,
    cell: (line) => (
      <a class="cut" href={href("/workload", { charge: line.charge })} title={line.charge}>
        {line.description || line.resource || line.charge.slice(0, 12)}
      </a>
    ) },
  { key: "effective", title: "Effective", numeric: true, value: (line) => line.costs.effective,
    cell: (line) => <span class="num">{line.costs.effective}</span> },
  { key: "posted", title: "Posted", numeric: true, value: (line) => line.posted.effective,
    cell: (line) => <span class="num">{line.posted.effective}</span> },
  { key: "difference", title: "Difference", numeric: true, value: (line) => line.difference.effective,
    cell: (line) => <span class="num">{line.difference.effective}</span> },
  { key: "postings", title: "Postings", numeric: true, value: (line) => line.postings, cell: (line) => line.postings.toLocaleString("en") },
  { key: "exact", title: "", label: "Exact", cell: (line) => (line.exact ? <Badge tone="good">exact</Badge> : <Badge tone="bad" title={line.off ?? undefined}>off</Badge>) },
];

function Lines({ month }: { month: string }) {
  const [which, setWhich] = useState<"off" | "all">("off");
  const lines = usePages<ReconcileLine>("/reconcile/lines", { month, only_off: which === "off" ? "true" : null });
  return (
    <Card
      title="Bill lines"
      flush
      actions={
        <Segments
          label="Which lines"
          chosen={which}
          onChoose={setWhich}
          options={[{ key: "off", title: "Those off" }, { key: "all", title: "All" }]}
        />
      }
    >
      {lines.error ? <ErrorNote error={lines.error} retry={lines.reload} /> : (
        <>
          <Table
            caption="Bill lines beside their postings"
            columns={LINE_COLUMNS}
            rows={lines.rows}
            rowKey={(line) => line.charge}
            shown={1000}
            empty={lines.loading ? undefined : <Empty icon="check" title="No line is off">Every line is posted to its last digit.</Empty>}
          />
          {lines.hasMore && (
            <div class="table-foot">
              <Button small onClick={lines.loadMore} busy={lines.loading}>Show more</Button>
            </div>
          )}
        </>
      )}
    </Card>
  );
}

export function ReconcileTab({ month }: { month: string }) {
  const answer = useQuery<Reconciled>("/reconcile", { month });
  if (answer.error?.status === 404) return <NoLines month={month} />;
  return (
    <Loaded query={answer}>
      {({ totals }) =>
        totals.length === 0 ? <NoLines month={month} /> : (
          <div class="stack">
            {totals.map((one) => (
              <Card
                key={one.currency}
                title={monthName(month)}
                note={one.currency}
              >
                <Verdict totals={one} />
                <Proof totals={one} />
                <Counts totals={one} month={month} />
              </Card>
            ))}
            <Lines key={month} month={month} />
          </div>
        )
      }
    </Loaded>
  );
}

function NoLines({ month }: { month: string }) {
  return (
    <Card>
      <Empty icon="bills" title={`No bill line of ${monthName(month)}`} command="pennyweight import bill.csv">
        Import the month's bill: AWS, Azure, Google Cloud, Oracle and anything in FOCUS. Machines that nobody bills are
        priced from a rate card: pennyweight price --month {month}.
      </Empty>
    </Card>
  );
}
