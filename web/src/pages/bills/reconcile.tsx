// Reconcile: the bill, its postings and the difference, with every digit: the proof that nothing was lost or
// added.
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

const NAMES = { billed: "Billed", effective: "Effective", list: "List", contracted: "Contracted" };

// All digits, the same number of decimals in a column, so that amounts are easy to compare.
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
        <caption class="sr-only">The bill and its postings, in {totals.currency}</caption>
        <thead>
          <tr>
            <th scope="col">{totals.currency}</th>
            {columns.map(({ cost }) => <th key={cost} scope="col" class="r">{NAMES[cost]}</th>)}
          </tr>
        </thead>
        <tbody>
          {row("Charges", 0)}
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
            ? `Every one of ${plural(totals.lines, "charge")} is posted to its last digit, in all four costs.`
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
        ["Charges never allocated", say(totals.lines_unposted, `pennyweight allocate --month ${month}`)],
        ["Charges retired since", say(totals.lines_gone, "allocate the month again")],
        ["Transfers", `${totals.transfers.toLocaleString("en")}, ${totals.transfers_off === 0 ? "each adds up to zero" : `${totals.transfers_off} of them do not add up to zero`}`],
      ]}
    />
  );
}

const LINE_COLUMNS: Column<ReconcileLine>[] = [
  { key: "what", title: "Charge", wide: true, value: (line) => line.description ?? line.resource ?? line.charge,
    cell: (line) => (
      <a class="cut" href={href("/explain", { charge: line.charge })} title={line.charge}>
        {line.description || line.resource || line.charge.slice(0, 12)}
      </a>
    ) },
  { key: "currency", title: "Currency", value: (line) => line.currency, cell: (line) => line.currency },
  { key: "effective", title: "Effective", numeric: true, unit: (line) => line.currency ?? "", value: (line) => line.costs.effective,
    cell: (line) => <span class="num">{line.costs.effective}</span> },
  { key: "posted", title: "Posted", numeric: true, unit: (line) => line.currency ?? "", value: (line) => line.posted.effective,
    cell: (line) => <span class="num">{line.posted.effective}</span> },
  { key: "difference", title: "Difference", numeric: true, unit: (line) => line.currency ?? "", value: (line) => line.difference.effective,
    cell: (line) => <span class="num">{line.difference.effective}</span> },
  { key: "postings", title: "Postings", numeric: true, value: (line) => line.postings, cell: (line) => line.postings.toLocaleString("en") },
  { key: "exact", title: "", label: "Exact", cell: (line) => (line.exact ? <Badge tone="good">exact</Badge> : <Badge tone="bad" title={line.off ?? undefined}>off</Badge>) },
];

function Lines({ month }: { month: string }) {
  const [which, setWhich] = useState<"off" | "all">("off");
  const lines = usePages<ReconcileLine>("/reconcile/lines", { month, only_off: which === "off" ? "true" : null });
  return (
    <Card
      title="Charges"
      flush
      actions={
        <Segments
          label="Which charges"
          chosen={which}
          onChoose={setWhich}
          options={[{ key: "off", title: "With differences" }, { key: "all", title: "All" }]}
        />
      }
    >
      {lines.error ? <ErrorNote error={lines.error} retry={lines.reload} /> : (
        <>
          <Table
            caption="Charges and their postings"
            columns={LINE_COLUMNS}
            rows={lines.rows}
            rowKey={(line) => line.charge}
            shown={1000}
            empty={lines.loading ? undefined : <Empty icon="check" title="No differences">Every charge is posted to its last digit.</Empty>}
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
        Import the month's bill: AWS, Azure, Google Cloud, Oracle and anything in FOCUS. Your own machines are
        priced from a rate card: pennyweight price --month {month}.
      </Empty>
    </Card>
  );
}
