// Annotations: what people write beside the costs of some days. Overview and Compare list them, and let those who may
// set budgets add one.
import { useState } from "preact/hooks";
import { type ApiError, post, remove } from "../../api/client";
import { usePages, type Pages } from "../../api/hooks";
import type { Annotation, ScopeFilter } from "../../api/types";
import { useSession } from "../../app/session";
import { toast } from "../../app/toasts";
import { Badge, Button, IconButton } from "../../components/controls";
import { Confirm, Dialog } from "../../components/dialog";
import { CheckField, FormError, TextArea, TextField } from "../../components/form";
import { filterText } from "../../util/filter";
import { dayShort, instant, localTime } from "../../util/text";

const MOST = 200;

export function useAnnotations(from: string | null, to: string | null): Pages<Annotation> {
  return usePages<Annotation>(from && to ? "/annotations" : null, { from, to, limit: MOST });
}

const dayYear = (day: string) => `${dayShort(day)} ${day.slice(0, 4)}`;
export const daysOfAnnotation = (one: Annotation) => (one.first === one.last ? dayYear(one.first) : `${dayYear(one.first)} to ${dayYear(one.last)}`);

// What a new one is about: what the page shows, or all that the user sees.
function scopeOf(filter: string[], scope: ScopeFilter[]): string {
  const parts = filter.length > 0 ? filter : scope.map((one) => filterText({ ...one, negate: false }));
  return parts.join("; ");
}

// A semicolon between filters, as in scopes.
export const readFilters = (text: string) => text.split(";").map((one) => one.trim()).filter(Boolean);

function Write({ first, last, filter, onWritten, onClose }: { first: string; last: string; filter: string[]; onWritten: () => void; onClose: () => void }) {
  const { user } = useSession();
  const isScoped = (user?.scope.length ?? 0) > 0;
  const [text, setText] = useState("");
  const [days, setDays] = useState({ first, last });
  const [about, setAbout] = useState(scopeOf(filter, user?.scope ?? []));
  const [everyone, setEveryone] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const write = (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    post("/annotations", { first: days.first, last: days.last || days.first, filter: readFilters(about), for_everyone: everyone, text: text.trim() })
      .then(() => {
        toast("Annotation kept.");
        onWritten();
      })
      .catch((problem: ApiError) => setError(problem))
      .finally(() => setBusy(false));
  };
  return (
    <Dialog title="Annotate days" open onClose={onClose}>
      <form onSubmit={write}>
        <div class="dialog-body form">
          <TextArea label="Annotation" hint="What happened, for those who see these costs later: at most 500 characters." value={text} onValue={setText} required />
          <div class="row">
            <TextField label="First day" type="date" required value={days.first} onValue={(value) => setDays({ first: value, last: value > days.last ? value : days.last })} />
            <TextField label="Last day" type="date" required min={days.first} value={days.last} onValue={(value) => setDays({ ...days, last: value })} />
          </div>
          <TextField label="Costs that it is about" hint="Filters with a semicolon between them; empty: all costs. Shown to those who see all of these costs." placeholder="team=nlp; cluster=a" value={about} onValue={setAbout} />
          {!isScoped && <CheckField label="Shown to everyone" hint="Also to those who see a part of these costs or none." checked={everyone} onChecked={setEveryone} />}
          <FormError error={error} />
        </div>
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="primary" type="submit" busy={busy} disabled={!text.trim()}>Keep</Button>
        </footer>
      </form>
    </Dialog>
  );
}

// Nothing for those who may not write any.
export function Annotate({ first, last, filter = [], onWritten }: { first: string; last: string; filter?: string[]; onWritten: () => void }) {
  const { may } = useSession();
  const [open, setOpen] = useState(false);
  if (!may("manage_budgets")) return null;
  return (
    <>
      <Button small icon="plus" onClick={() => setOpen(true)}>Annotate</Button>
      {open && <Write first={first} last={last} filter={filter} onClose={() => setOpen(false)} onWritten={() => (setOpen(false), onWritten())} />}
    </>
  );
}

// One of a list: its text, what it is about, who wrote it, and its days.
export function AnnotationText({ of, onRemoved }: { of: Annotation; onRemoved: () => void }) {
  const [asks, setAsks] = useState(false);
  const [busy, setBusy] = useState(false);
  const drop = () => {
    setBusy(true);
    remove(`/annotations/${of.id}`)
      .then(() => {
        toast("Annotation removed.");
        onRemoved();
      })
      .catch((error: Error) => toast(error.message, "bad"))
      .finally(() => (setBusy(false), setAsks(false)));
  };
  return (
    <>
      <span class="annotation">
        <span class="annotation-text">{of.text}</span>{" "}
        <span class="muted small">
          {of.filter.length > 0 && <>{of.filter.join("; ")} · </>}
          {of.who}, <time dateTime={of.at} title={localTime(of.at)}>{instant(of.at)}</time>
        </span>{" "}
        {of.for_everyone && <Badge>for everyone</Badge>}
        {of.removable && <IconButton icon="trash" label={`Remove the annotation of ${daysOfAnnotation(of)}: ${of.text.slice(0, 40)}`} onClick={() => setAsks(true)} />}
      </span>
      <Confirm title="Remove this annotation?" open={asks} onClose={() => setAsks(false)} onConfirm={drop} confirm="Remove" danger busy={busy}>
        <p class="annotation-text">{of.text}</p>
        <p class="muted small">The audit log keeps it.</p>
      </Confirm>
    </>
  );
}

export function AnnotationList({ of }: { of: Pages<Annotation> }) {
  return (
    <ul class="lane-list">
      {of.rows.map((one) => (
        <li key={one.id}>
          <span class="lane-key lane-annotation" aria-hidden="true" />
          <strong>{daysOfAnnotation(one)}</strong>
          <AnnotationText of={one} onRemoved={of.reload} />
        </li>
      ))}
      {of.hasMore && <li class="muted small">Only the latest {MOST} are shown.</li>}
    </ul>
  );
}
