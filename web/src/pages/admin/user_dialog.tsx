// Adds or changes a user.
import { useState } from "preact/hooks";
import { ApiError, patch, post } from "../../api/client";
import type { RoleName, User } from "../../api/types";
import { toast } from "../../app/toasts";
import { Button } from "../../components/controls";
import { Dialog } from "../../components/dialog";
import { CheckField, FormError, SelectField, TextField } from "../../components/form";
import { words } from "../../util/text";
import { finished, rowsOf, ScopeField } from "./scope";
import type { Secret } from "./secret";

export const ROLES: RoleName[] = ["viewer", "team_lead", "finance", "operator", "admin", "client"];
export const ROLE_HINTS: Record<RoleName, string> = {
  viewer: "Sees costs, what runs, the fleet, and invoices.",
  team_lead: "A viewer who also sees by which rules costs are divided.",
  finance: "Reads bills, issues invoices, closes months, reads the audit log.",
  operator: "Sends telemetry and watches the service.",
  admin: "May do everything, including managing users and tokens.",
  client: "Sees what they are charged and their invoices, and nothing of costs, fleets or others. Limit them to their own name below: without that they see nothing.",
};

export function UserDialog({ user, onClose, onDone }: {
  user: User | null; // null: a new one
  onClose: () => void;
  onDone: (secret?: Secret) => void;
}) {
  const [name, setName] = useState(user?.name ?? "");
  const [display, setDisplay] = useState(user?.display_name ?? "");
  const [email, setEmail] = useState(user?.email ?? "");
  const [role, setRole] = useState<RoleName>(user?.role ?? "viewer");
  const [scope, setScope] = useState(rowsOf(user?.scope ?? []));
  const [disabled, setDisabled] = useState(user?.disabled ?? false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();

  const save = (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    const said = { display_name: display, email, role, scope: finished(scope) };
    const asked = user
      ? patch(`/users/${encodeURIComponent(user.name)}`, { ...said, disabled }).then(() => undefined)
      : post<{ password?: string }>("/users", { name, ...said }).then(({ password }) =>
          password ? { title: `First password of ${name}`, secret: password, hint: "Shown once. It has to be changed at the first sign-in." } : undefined,
        );
    asked
      .then((secret) => {
        toast(user ? `${user.name} was changed.` : `${name} was added.`);
        onDone(secret);
      })
      .catch((problem: ApiError) => setError(problem))
      .finally(() => setBusy(false));
  };

  return (
    <Dialog title={user ? user.display_name || user.name : "New user"} open onClose={onClose}>
      <form onSubmit={save}>
        <div class="dialog-body form">
          {!user && (
            <TextField label="Name" value={name} onValue={setName} required autoComplete="off" autoCapitalize="none" spellcheck={false} hint="For signing in: lower-case letters, digits, dots." />
          )}
          <div class="form-row">
            <TextField label="Shown as" value={display} onValue={setDisplay} autoComplete="off" />
            <TextField label="Email" type="email" value={email} onValue={setEmail} autoComplete="off" />
          </div>
          <SelectField
            label="Role"
            value={role}
            onValue={(next) => setRole(next as RoleName)}
            options={ROLES.map((one) => ({ value: one, title: words(one) }))}
            hint={ROLE_HINTS[role]}
          />
          <ScopeField rows={scope} onRows={setScope} hint="Without one, the user sees everything that the role allows. Limited to a team, the user sees only that team, on every page." />
          {user && <CheckField label="Sign-in blocked" checked={disabled} onChecked={setDisabled} hint="Sessions and tokens end at once; the audit log stays." />}
          <FormError error={error} />
        </div>
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="primary" busy={busy}>{user ? "Save" : "Add"}</Button>
        </footer>
      </form>
    </Dialog>
  );
}
