// What people know of days to come: the list, and the dialog in which those who may set budgets keep an event.
import { useState } from "preact/hooks";
import { type ApiError, put, remove } from "../../api/client";
import { useQuery } from "../../api/hooks";
import type { KnownEvent, KnownEventEntry, List } from "../../api/types";
import { useSession } from "../../app/session";
import { toast } from "../../app/toasts";
import { Card } from "../../components/card";
import { Button } from "../../components/controls";
import { Confirm, Dialog } from "../../components/dialog";
import { FormError, SelectField, TextField } from "../../components/form";
import { Empty, Loaded } from "../../components/states";
import { type Column, Table } from "../../components/table";
import { dayShort } from "../../util/text";

type Effect = "per_day" | "percent";

const EFFECTS = [
  { value: "per_day", title: "adds an amount to each day" },
  { value: "percent", title: "leaves a percentage of each day" },
];
const ALL = "";

const dayYear = (day: string) => `${dayShort(day)} ${day.slice(0, 4)}`;
const daysOf = ({ from, to }: KnownEvent) => (to === undefined ? `from ${dayYear(from)} on` : to === from ? dayYear(from) : `${dayYear(from)} to ${dayYear(to)}`);
const valueOf = ({ by, key }: KnownEvent) => (key ? (by ? `${by.replaceAll("_", " ")} ${key}` : key) : "everything");

function Form({ known, names, onKept }: { known: KnownEvent | undefined; names: string[]; onKept: () => void }) {
  const { user } = useSession();
  const own = (user?.scope ?? [])[0]; // users with a scope know something of its values
  const [name, setName] = useState(known?.name ?? "");
  const [from, setFrom] = useState(known?.from ?? "");
  const [to, setTo] = useState(known?.to ?? "");
  const [by, setBy] = useState(known?.by ?? own?.dimension ?? ALL);
  const [key, setKey] = useState(known?.key ?? own?.values[0] ?? "");
  const [effect, setEffect] = useState<Effect>(known?.percent === undefined ? "per_day" : "percent");
  const [amount, setAmount] = useState(known?.per_day ?? "");
  const [percent, setPercent] = useState(known?.percent === undefined ? "" : String(known.percent));
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const submit = (event: Event) => {
    event.preventDefault();
    setError(undefined);
    setBusy(true);
    const body: KnownEvent = { from, ...(to && { to }), ...(key.trim() && { key: key.trim(), ...(by && { by }) }),
      ...(effect === "per_day" ? { per_day: amount.trim() } : { percent: parseInt(percent, 10) }) };
    put(`/known-events/${encodeURIComponent(name.trim())}`, body)
      .then(() => (toast(`Event ${name.trim()} is kept.`), onKept()))
      .catch((problem: ApiError) => setError(problem))
      .finally(() => setBusy(false));
  };
  return (
    <form class="form" onSubmit={submit}>
      <TextField label="Name" value={name} onValue={setName} required maxLength={200} disabled={known !== undefined} placeholder="a client starts" />
      <div class="row">
        <TextField label="First day" type="date" value={from} onValue={setFrom} required />
        <TextField label="Last day" type="date" value={to} onValue={setTo} min={from} hint="Empty: it lasts." />
      </div>
      <div class="row">
        <SelectField label="Of" value={by} onValue={setBy} options={[...(own ? [] : [{ value: ALL, title: "everything, or any" }]), ...names.map((one) => ({ value: one, title: one.replaceAll("_", " ") }))]} />
        <TextField label="Value" value={key} onValue={setKey} maxLength={200} required={by !== ALL} hint="Such as a team; it need not have costs yet." />
      </div>
      <SelectField label="It" value={effect} onValue={(value) => setEffect(value as Effect)} options={EFFECTS} />
      {effect === "per_day" ? (
        <TextField label="Amount a day" value={amount} onValue={setAmount} placeholder="120 USD" required hint="Below 0: what it saves. In GPU-hours: 24 gpu_hours." />
      ) : (
        <TextField label="Percent that remain" type="number" min="0" value={percent} onValue={setPercent} placeholder="10" required hint="0 on a holiday; 150 is half as much more." />
      )}
      <FormError error={error} />
      <Button tone="primary" type="submit" busy={busy} disabled={!name.trim()}>Keep</Button>
    </form>
  );
}

function columnsOf(onChange: (one: KnownEventEntry) => void, onRemove: (one: KnownEventEntry) => void): Column<KnownEventEntry>[] {
  return [
    { key: "name", title: "Event", wide: true, value: ({ event }) => event.name ?? "", cell: ({ event }) => <strong>{event.name}</strong> },
    { key: "days", title: "Days", value: ({ event }) => event.from, cell: ({ event }) => daysOf(event) },
    { key: "of", title: "Of", value: ({ event }) => valueOf(event), cell: ({ event }) => valueOf(event) },
    { key: "effect", title: "A day", value: (one) => one.effect, cell: (one) => <span class="num">{one.effect}</span> },
    {
      key: "change", title: "", label: "Change",
      cell: (one) => one.changeable ? (
        <span class="row">
          <Button small tone="quiet" onClick={() => onChange(one)} label={`Change ${one.event.name}`}>Change</Button>
          <Button small tone="quiet" onClick={() => onRemove(one)} label={`Remove ${one.event.name}`}>Remove</Button>
        </span>
      ) : <span class="muted small">{one.is_configured ? "in the configuration" : ""}</span>,
    },
  ];
}

// `names`: dimensions; `onChanged`: forecasts are to be read again.
export function KnownEvents({ names, onChanged }: { names: string[]; onChanged: () => void }) {
  const { may } = useSession();
  const events = useQuery<List<KnownEventEntry>>("/known-events", { limit: 1000 });
  const [changing, setChanging] = useState<KnownEventEntry | "new">();
  const [removing, setRemoving] = useState<KnownEventEntry>();
  const changed = () => {
    setChanging(undefined);
    events.reload();
    onChanged();
  };
  const take = () => {
    if (!removing) return;
    remove(`/known-events/${encodeURIComponent(removing.event.name ?? "")}`)
      .then(() => (toast("The event is removed."), changed()))
      .catch((error: Error) => toast(error.message, "bad"))
      .finally(() => setRemoving(undefined));
  };
  return (
    <Card title="Known events" note="what forecasts and budgets count of days to come" flush
      actions={may("manage_budgets") && <Button icon="plus" onClick={() => setChanging("new")}>New event</Button>}>
      <Loaded query={events}>
        {({ data }) => (
          <Table caption="Known events" columns={columnsOf(setChanging, setRemoving)} rows={data} rowKey={({ event }) => `${event.from} ${event.name}`}
            empty={<Empty icon="forecast" title="Nothing is known of days to come">A client that starts, a training run or a holiday changes the forecast from its first day on.</Empty>} />
        )}
      </Loaded>
      <Dialog title={changing && changing !== "new" ? `Event ${changing.event.name}` : "New event"} open={changing !== undefined} onClose={() => setChanging(undefined)}>
        <div class="dialog-body">{changing && <Form known={changing === "new" ? undefined : changing.event} names={names} onKept={changed} />}</div>
      </Dialog>
      <Confirm title={`Remove ${removing?.event.name ?? ""}?`} open={removing !== undefined} onClose={() => setRemoving(undefined)} onConfirm={take} confirm="Remove" danger>
        <p>Forecasts no longer count it. What it was stays in its history.</p>
      </Confirm>
    </Card>
  );
}
