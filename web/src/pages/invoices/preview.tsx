// The drafts of a month's invoices, and issuing them once the month is closed.
import { useEffect, useState } from "preact/hooks";
import { ApiError, post } from "../../api/client";
import { href } from "../../app/router";
import { useSession } from "../../app/session";
import { toast } from "../../app/toasts";
import { Card } from "../../components/card";
import { Button, LinkButton } from "../../components/controls";
import { Confirm } from "../../components/dialog";
import { FormError, TextArea } from "../../components/form";
import { Empty, ErrorNote, Note, Skeleton } from "../../components/states";
import { monthName, plural } from "../../util/text";
import { Drafts } from "./draft";
import type { Preview } from "./types";

function usePreview(month: string) {
  const [preview, setPreview] = useState<Preview>();
  const [error, setError] = useState<ApiError>();
  const [round, setRound] = useState(0);
  useEffect(() => {
    let gone = false;
    setPreview(undefined);
    setError(undefined);
    post<Preview>("/invoices/preview", { month, view: "books" })
      .then((answer) => !gone && setPreview(answer))
      .catch((problem: ApiError) => !gone && setError(problem));
    return () => {
      gone = true;
    };
  }, [month, round]);
  return { preview, error, reload: () => setRound((n) => n + 1) };
}

function IssueDialog({ month, count, onClose, onDone }: { month: string; count: number; onClose: () => void; onDone: () => void }) {
  const [reason, setReason] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const issue = () => {
    setBusy(true);
    post<{ notes: string[] }>("/invoices", { month, ...(reason ? { reason } : {}) })
      .then(({ notes }) => {
        toast([`Invoices for ${monthName(month)} issued.`, ...notes].join(" "));
        onDone();
      })
      .catch((problem: ApiError) => setError(problem))
      .finally(() => setBusy(false));
  };
  return (
    <Confirm title={`Issue ${plural(count, "invoice")} for ${monthName(month)}`} open onClose={onClose} onConfirm={issue} confirm="Issue" busy={busy}>
      <div class="form">
        <p class="muted">
          Each gets a number, without gaps and in the order of the customers' names, and is stored in the ledger. It never
          changes again; later corrections become a credit note or a supplementary invoice.
        </p>
        <TextArea label="Reason for corrections" value={reason} onValue={setReason} rows={2} hint="Needed only if invoices for the month were issued before." />
        <FormError error={error} />
      </div>
    </Confirm>
  );
}

export function PreviewTab({ month, onIssued }: { month: string; onIssued: () => void }) {
  const { preview, error, reload } = usePreview(month);
  const { may } = useSession();
  const [issuing, setIssuing] = useState(false);
  if (error?.status === 404) {
    return (
      <Card>
        <Empty icon="invoices" title={`Nothing to charge for ${monthName(month)}`} command={`pennyweight allocate --month ${month}`}>
          The month has no charges yet. Import its bill and allocate it; then its drafts appear here.
        </Empty>
      </Card>
    );
  }
  if (error) return <ErrorNote error={error} retry={reload} />;
  if (!preview) return <Card><Skeleton lines={6} /></Card>;
  const { drafts = [], not_charged = [], closed, notes = [] } = preview;
  const canIssue = may("issue_invoices");
  return (
    <div class="stack">
      {!closed && (
        <Note>
          {monthName(month)} is open: these are drafts, and free to change. A month is issued as a whole, once it is closed
          {may("close_periods") && <> in <a href={href("/bills", { tab: "periods", month })}>Bills, Periods</a></>}.
        </Note>
      )}
      <Card
        title={closed ? "To be issued" : "Drafts"}
        note={plural(drafts.length, "document")}
        actions={canIssue && closed && drafts.length > 0 && <Button tone="primary" icon="check" onClick={() => setIssuing(true)}>Issue…</Button>}
      >
        {drafts.length > 0 ? <Drafts documents={drafts} /> : (
          <Empty icon="check" title="Nothing to issue">The month's invoices already match its costs.</Empty>
        )}
        {notes.length > 0 && <ul class="table-notes">{notes.map((note) => <li key={note}>{note}</li>)}</ul>}
      </Card>
      {not_charged.length > 0 && (
        <Card title="Not charged to anyone" note="completes the bill" actions={<LinkButton small tone="quiet" href={href("/coverage", { month })}>Where it stops</LinkButton>}>
          <Drafts documents={not_charged} />
        </Card>
      )}
      {issuing && (
        <IssueDialog
          month={month}
          count={drafts.length}
          onClose={() => setIssuing(false)}
          onDone={() => {
            setIssuing(false);
            reload();
            onIssued();
          }}
        />
      )}
    </div>
  );
}
