// Saved views: named addresses, private or shared with users who see as much.
import { useState } from "preact/hooks";
import { ApiError, post, put, remove } from "../../api/client";
import { useQuery } from "../../api/hooks";
import type { Alerts, List, SavedView } from "../../api/types";
import { useSession } from "../../app/session";
import { toast } from "../../app/toasts";
import { Badge, Button, IconButton } from "../../components/controls";
import { Dialog } from "../../components/dialog";
import { CheckField, FormError, SelectField, TextField } from "../../components/form";
import { Loaded, Note } from "../../components/states";
import { dayShort } from "../../util/text";

function here(): string {
  return location.pathname + location.search;
}

function Save({ onSaved }: { onSaved: () => void }) {
  const [name, setName] = useState("");
  const [shared, setShared] = useState(false);
  const [error, setError] = useState<ApiError>();
  const save = async (event: Event) => {
    event.preventDefault();
    setError(undefined);
    try {
      await post("/views", { name: name.trim(), query: here(), shared });
      setName("");
      onSaved();
      toast("View saved.");
    } catch (caught) {
      setError(caught as ApiError);
    }
  };
  return (
    <form class="form" onSubmit={(event) => void save(event)}>
      <TextField label="Save this view as" value={name} onValue={setName} maxLength={100} required placeholder="Idle of nlp, by user" />
      <CheckField label="Share it" hint="With users whose scope is at least as wide as yours." checked={shared} onChecked={setShared} />
      <FormError error={error} />
      <div class="row">
        <Button tone="primary" type="submit" disabled={!name.trim()}>
          Save
        </Button>
      </div>
    </form>
  );
}

const EVERY = { day: "Every day", week: "Every week, on Monday", month: "Every month" } as const;
type Every = keyof typeof EVERY;
const OWN = ""; // the own mail address

// When a view is sent, and to whom. What it sends is what its owner sees then.
function Send({ view, onDone }: { view: SavedView; onDone: () => void }) {
  const { may } = useSession();
  const receivers = useQuery<Alerts>(may("manage_budgets") ? "/alerts" : null);
  const [every, setEvery] = useState<Every | "">(view.schedule?.every ?? "week");
  const [receiver, setReceiver] = useState(view.schedule?.receiver ?? OWN);
  const [error, setError] = useState<ApiError>();
  const known = (receivers.data?.receivers ?? []).filter((one) => ["email", "webhook", "slack"].includes(one.kind)).map((one) => one.name);
  const save = async (event: Event) => {
    event.preventDefault();
    setError(undefined);
    try {
      if (every === "") await remove(`/views/${view.id}/schedule`);
      else await put(`/views/${view.id}/schedule`, { every, ...(receiver === OWN ? {} : { receiver }) });
      toast(every === "" ? `${view.name} is sent no longer.` : `${view.name} is sent; the last whole ${every} comes within a minute.`);
      onDone();
    } catch (caught) {
      setError(caught as ApiError);
    }
  };
  return (
    <form class="form view-send" onSubmit={(event) => void save(event)}>
      <div class="form-row">
        <SelectField label={`Send ${view.name}`} value={every} onValue={(value) => setEvery(value as Every | "")}
          options={[...Object.entries(EVERY).map(([value, title]) => ({ value, title })), { value: "", title: "Never" }]} />
        <SelectField label="To" value={receiver} onValue={setReceiver}
          options={[{ value: OWN, title: "My mail address" }, ...[...new Set([...known, ...(receiver ? [receiver] : [])])].map((value) => ({ value, title: value }))]} />
      </div>
      <FormError error={error} />
      <div class="row"><Button small tone="primary" type="submit">Set</Button><Button small onClick={onDone}>Cancel</Button></div>
    </form>
  );
}

function sentText({ schedule }: SavedView): string {
  if (!schedule) return "";
  return `${EVERY[schedule.every].toLowerCase()} to ${schedule.receiver ?? "my mail address"}${schedule.sent_until ? `, sent up to ${dayShort(schedule.sent_until)}` : ""}`;
}

function Saved({ views, onDone, onChanged }: { views: SavedView[]; onDone: () => void; onChanged: () => void }) {
  const drop = (view: SavedView) =>
    void remove(`/views/${view.id}`)
      .then(onChanged)
      .catch((error: Error) => toast(error.message, "bad"));
  const [sending, send] = useState<number>();
  if (views.length === 0) return <p class="muted">No saved views yet.</p>;
  return (
    <ul class="views">
      {views.map((view) => (
        <li key={view.id}>
          <a href={view.query} onClick={onDone} class="cut" aria-current={view.query === here() ? "true" : undefined}>
            {view.name}
          </a>
          {view.shared && <Badge>{view.mine ? "shared" : "of others"}</Badge>}
          {view.mine && view.query.startsWith("/explore") && (
            <IconButton icon="bell" label={`Send ${view.name} by day, week or month`} expanded={sending === view.id} onClick={() => send(sending === view.id ? undefined : view.id)} />
          )}
          {view.mine && <IconButton icon="trash" label={`Remove ${view.name}`} onClick={() => drop(view)} />}
          {view.schedule && <small class="muted view-sent">{sentText(view)}</small>}
          {view.schedule?.problem && <Note tone="warn">It could not be sent: {view.schedule.problem}</Note>}
          {sending === view.id && <Send view={view} onDone={() => (send(undefined), onChanged())} />}
        </li>
      ))}
    </ul>
  );
}

export function Views() {
  const [open, setOpen] = useState(false);
  const views = useQuery<List<SavedView>>(open ? "/views" : null);
  const close = () => setOpen(false);
  return (
    <>
      <Button icon="star" onClick={() => setOpen(true)}>
        Views
      </Button>
      <Dialog title="Saved views" open={open} onClose={close}>
        <div class="dialog-body stack">
          <Loaded query={views}>{({ data }) => <Saved views={data} onDone={close} onChanged={views.reload} />}</Loaded>
          <Save onSaved={views.reload} />
        </div>
      </Dialog>
    </>
  );
}
