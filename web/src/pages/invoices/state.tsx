// The state of an issued invoice: paid, due on a day, or overdue since it; and the note that it was paid.
import { useState } from "preact/hooks";
import { ApiError, put, remove } from "../../api/client";
import { useQuery } from "../../api/hooks";
import type { IssuedInvoice, List } from "../../api/types";
import { toast } from "../../app/toasts";
import { Badge, Button } from "../../components/controls";
import { Confirm } from "../../components/dialog";
import { FormError, TextField } from "../../components/form";
import { compare } from "../../util/money";
import { dayShort } from "../../util/text";

const dayYear = (day: string) => `${dayShort(day)} ${day.slice(0, 4)}`;
const isToBePaid = (one: Pick<IssuedInvoice, "total" | "kind">) => compare(one.total, "0") > 0 && one.kind !== "credit_note";

// For sorting: what is overdue comes first.
export const stateRank = (one: IssuedInvoice): string => (one.paid_on ? `2 ${one.paid_on}` : one.due_on ? `0 ${one.due_on}` : "1");

export function InvoiceState({ of }: { of: IssuedInvoice }) {
  if (of.paid_on) return <Badge tone="good" title={`on ${dayYear(of.paid_on)}`}>paid</Badge>;
  if (!isToBePaid(of)) return <Badge>{of.kind === "credit_note" ? "credit" : "issued"}</Badge>;
  if (of.overdue && of.due_on) return <Badge tone="bad">overdue since {dayYear(of.due_on)}</Badge>;
  return of.due_on ? <Badge>due {dayYear(of.due_on)}</Badge> : <Badge>issued</Badge>;
}

// On the page of an invoice, for those who may issue them.
export function Payment({ number }: { number: string }) {
  const all = useQuery<List<IssuedInvoice>>("/invoices", { number });
  const [open, setOpen] = useState(false);
  const [day, setDay] = useState("");
  const [error, setError] = useState<ApiError>();
  const one = all.data?.data.find((known) => known.number === number);
  if (!one) return null;
  const path = `/invoices/${encodeURIComponent(number)}/payment`;
  const change = (done: Promise<unknown>, text: string) =>
    void done.then(() => (setOpen(false), setError(undefined), toast(text), all.reload())).catch((caught: ApiError) => setError(caught));
  return (
    <>
      <InvoiceState of={one} />
      {isToBePaid(one) && (one.paid_on
        ? <Button tone="quiet" onClick={() => change(remove(path), `${number} is not paid.`)}>Not paid</Button>
        : <Button icon="check" onClick={() => setOpen(true)}>Paid…</Button>)}
      <Confirm title={`${number} was paid`} open={open} onClose={() => setOpen(false)} onConfirm={() => change(put(path, day ? { paid_on: day } : {}), `${number} is paid.`)} confirm="Paid">
        <div class="form">
          <TextField label="On" type="date" value={day} onValue={setDay} hint="Empty: today." />
          <FormError error={error} />
        </div>
      </Confirm>
    </>
  );
}
