// Saved views: named addresses, private or shared with users who see as much.
import { useState } from "preact/hooks";
import { ApiError, post, remove } from "../../api/client";
import { useQuery } from "../../api/hooks";
import type { List, SavedView } from "../../api/types";
import { toast } from "../../app/toasts";
import { Badge, Button, IconButton } from "../../components/controls";
import { Dialog } from "../../components/dialog";
import { CheckField, FormError, TextField } from "../../components/form";
import { Loaded } from "../../components/states";

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

function Saved({ views, onDone, onChanged }: { views: SavedView[]; onDone: () => void; onChanged: () => void }) {
  const drop = (view: SavedView) =>
    void remove(`/views/${view.id}`)
      .then(onChanged)
      .catch((error: Error) => toast(error.message, "bad"));
  if (views.length === 0) return <p class="muted">No saved views yet.</p>;
  return (
    <ul class="views">
      {views.map((view) => (
        <li key={view.id}>
          <a href={view.query} onClick={onDone} class="cut" aria-current={view.query === here() ? "true" : undefined}>
            {view.name}
          </a>
          {view.shared && <Badge>{view.mine ? "shared" : "of others"}</Badge>}
          {view.mine && <IconButton icon="trash" label={`Remove ${view.name}`} onClick={() => drop(view)} />}
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
