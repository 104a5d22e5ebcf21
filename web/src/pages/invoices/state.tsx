// The state of an issued invoice: paid, sent, due on a day, or overdue since it; and the notes that it was sent and paid.
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

function Sent({ of }: { of: IssuedInvoice }) {
  if (!of.sent_on) return <Badge>{of.kind === "credit_note" ? "credit" : "issued"}</Badge>;
  return <Badge tone="accent" title={`on ${dayYear(of.sent_on)}`}>{of.kind === "credit_note" ? "credit, sent" : "sent"}</Badge>;
}

export function InvoiceState({ of }: { of: IssuedInvoice }) {
  if (of.paid_on) return <Badge tone="good" title={`on ${dayYear(of.paid_on)}`}>paid</Badge>;
  if (!isToBePaid(of)) return <Sent of={of} />;
  if (of.overdue && of.due_on) return <Badge tone="bad">overdue since {dayYear(of.due_on)}</Badge>;
  if (!of.due_on) return <Sent of={of} />;
  return <><Sent of={of} /> <Badge>due {dayYear(of.due_on)}</Badge></>;
}

const NOTES = {
  dispatch: { title: "was sent", button: "Sent…", icon: "send", back: "Not sent", done: "sent", day: "sent_on" },
  payment: { title: "was paid", button: "Paid…", icon: "check", back: "Not paid", done: "paid", day: "paid_on" },
} as const;
type Note = keyof typeof NOTES;

// On the page of an invoice, for those who may issue them.
export function Notes({ number }: { number: string }) {
  const all = useQuery<List<IssuedInvoice>>("/invoices", { number });
  const [asked, ask] = useState<Note>();
  const [day, setDay] = useState("");
  const [error, setError] = useState<ApiError>();
  const one = all.data?.data.find((known) => known.number === number);
  if (!one) return null;
  const path = (note: Note) => `/invoices/${encodeURIComponent(number)}/${note}`;
  const close = () => (ask(undefined), setError(undefined), setDay(""));
  const change = (done: Promise<unknown>, text: string) =>
    void done.then(() => (close(), toast(text), all.reload())).catch((caught: ApiError) => setError(caught));
  const takeBack = (note: Note) =>
    void remove(path(note)).then(() => (toast(`${number} is not ${NOTES[note].done}.`), all.reload())).catch((caught: ApiError) => toast(caught.message, "bad"));
  const notes = (Object.keys(NOTES) as Note[]).filter((note) => note === "dispatch" || isToBePaid(one));
  return (
    <>
      <InvoiceState of={one} />
      {notes.map((note) => {
        const { button, icon, back, day: field } = NOTES[note];
        return one[field]
          ? <Button key={note} tone="quiet" onClick={() => takeBack(note)}>{back}</Button>
          : <Button key={note} icon={icon} onClick={() => ask(note)}>{button}</Button>;
      })}
      {asked && (
        <Confirm title={`${number} ${NOTES[asked].title}`} open onClose={close} onConfirm={() => change(put(path(asked), day ? { [NOTES[asked].day]: day } : {}), `${number} is ${NOTES[asked].done}.`)}
          confirm={NOTES[asked].done === "paid" ? "Paid" : "Sent"}>
          <div class="form">
            <TextField label="On" type="date" value={day} onValue={setDay} hint="Empty: today." />
            <FormError error={error} />
          </div>
        </Confirm>
      )}
    </>
  );
}
