// Periods: which months are open, and closing one. A closed month never changes again; late charges are
// booked in the first open month.
import { useState } from "preact/hooks";
import { ApiError, post } from "../../api/client";
import { usePages, useQuery } from "../../api/hooks";
import { useSession } from "../../app/session";
import { toast } from "../../app/toasts";
import { Card } from "../../components/card";
import { Badge, Button } from "../../components/controls";
import { Dialog } from "../../components/dialog";
import { CheckField, FormError, TextArea } from "../../components/form";
import { Money } from "../../components/money";
import { Empty, ErrorNote, Note, Skeleton } from "../../components/states";
import { Table, type Column } from "../../components/table";
import { instant, monthName, plural } from "../../util/text";
import type { Period, Reconciled } from "./types";

function columns(close: ((period: Period) => void) | undefined): Column<Period>[] {
  return [
    { key: "month", title: "Month", value: (one) => one.month, cell: (one) => monthName(one.month) },
    { key: "state", title: "State", value: (one) => one.state,
      cell: (one) => (one.state === "closed" ? <Badge tone="good">closed</Badge> : <Badge tone="accent">open</Badge>) },
    { key: "lines", title: "Charges", numeric: true, value: (one) => one.lines, cell: (one) => (one.lines === null ? <span class="nothing">–</span> : one.lines.toLocaleString("en")) },
    { key: "effective", title: "Effective cost", numeric: true,
      cell: (one) => (one.effective.length === 0 ? <span class="nothing">–</span> : one.effective.map((sum) => (
        <div key={sum.currency}><Money amount={sum.amount} currency={sum.currency} /></div>
      ))) },
    { key: "closed_at", title: "Closed", value: (one) => one.closed_at, hideOnPhone: true,
      cell: (one) => (one.closed_at ? <span>{instant(one.closed_at)} <span class="muted">by {one.closed_by}</span></span> : <span class="nothing">–</span>) },
    { key: "reason", title: "Reason", wide: true, hideOnPhone: true,
      cell: (one) => (one.reason ? <span class="cut" title={one.reason}>{one.reason}</span> : <span class="nothing">–</span>) },
    { key: "digest", title: "Fingerprint", hideOnPhone: true,
      cell: (one) => (one.digest ? <code class="id" title={one.digest}>{one.digest.slice(0, 10)}</code> : <span class="nothing">–</span>) },
    ...(close ? [{ key: "close", title: "", label: "Close",
      cell: (one: Period) => one.state === "open" && <Button small onClick={() => close(one)} label={`Close ${monthName(one.month)}`}>Close…</Button> }] : []),
  ];
}

function CloseDialog({ period, onClose, onDone }: { period: Period; onClose: () => void; onDone: () => void }) {
  const [reason, setReason] = useState("");
  const [evenSo, setEvenSo] = useState("");
  const [sure, setSure] = useState(false);
  // Months of bills are in UTC.
  const isOver = new Date().toISOString().slice(0, 7) > period.month;
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const proof = useQuery<Reconciled>("/reconcile", { month: period.month });
  const totals = proof.data?.totals ?? [];
  const isExact = totals.length > 0 && totals.every((one) => one.exact);
  const close = (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    post(`/periods/${period.month}/close`, isOver ? { reason } : { reason, even_so: evenSo })
      .then(() => {
        toast(`${monthName(period.month)} is closed.`);
        onDone();
      })
      .catch((problem: ApiError) => setError(problem))
      .finally(() => setBusy(false));
  };
  return (
    <Dialog title={`Close ${monthName(period.month)}`} open onClose={onClose}>
      <form onSubmit={close}>
        <div class="dialog-body form">
          <p class="muted">
            Its charges and their postings are sealed by a fingerprint. From then on, runs of the month are refused, and late
            charges are booked in the first open month. It can't be opened again.
          </p>
          {proof.loading ? <Skeleton lines={1} /> : isExact ? (
            <Note>The month reconciles to zero, charge by charge.</Note>
          ) : (
            <Note tone="warn">
              {totals.length === 0 ? "The month is not reconciled: it has no charges." : `${plural(totals.reduce((sum, one) => sum + one.lines_off, 0), "line")} of it ${totals.reduce((sum, one) => sum + one.lines_off, 0) === 1 ? "is" : "are"} off. See Reconcile before you close it.`}
            </Note>
          )}
          <TextArea label="Reason" value={reason} onValue={setReason} rows={2} hint="Shown beside the month, and in the audit log." />
          {!isOver && (
            <>
              <Note tone="warn">The month is not over: what is still to be billed of it would be booked in the next month.</Note>
              <TextArea label="Why close it all the same" value={evenSo} onValue={setEvenSo} rows={2} hint="Becomes part of the reason." />
            </>
          )}
          <CheckField label="I know that it can't be opened again" checked={sure} onChecked={setSure} />
          <FormError error={error} />
        </div>
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="danger" disabled={!sure || (!isOver && evenSo.trim() === "")} busy={busy}>Close the month</Button>
        </footer>
      </form>
    </Dialog>
  );
}

export function PeriodsTab() {
  const periods = usePages<Period>("/periods");
  const { may } = useSession();
  const [closing, setClosing] = useState<Period>();
  if (periods.error) return <ErrorNote error={periods.error} retry={periods.reload} />;
  if (periods.loading && periods.rows.length === 0) return <Card><Skeleton lines={6} /></Card>;
  return (
    <Card flush>
      <Table
        caption="Months"
        columns={columns(may("close_periods") ? setClosing : undefined)}
        rows={periods.rows}
        rowKey={(one) => one.month}
        sort={{ key: "month", down: true }}
        empty={<Empty icon="bills" title="No month has a bill yet" command="pennyweight import bill.csv" />}
      />
      {periods.hasMore && (
        <div class="table-foot">
          <Button small onClick={periods.loadMore} busy={periods.loading}>Show more</Button>
        </div>
      )}
      {closing && (
        <CloseDialog
          period={closing}
          onClose={() => setClosing(undefined)}
          onDone={() => {
            setClosing(undefined);
            periods.reload();
          }}
        />
      )}
    </Card>
  );
}
