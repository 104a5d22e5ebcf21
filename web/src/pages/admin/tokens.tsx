// Tokens: for programs that use the API. Each is shown once, has at most its user's permissions, and expires.
import { useState } from "preact/hooks";
import { ApiError, post, remove } from "../../api/client";
import { usePages, useQuery } from "../../api/hooks";
import type { List, Token, User } from "../../api/types";
import { useSession } from "../../app/session";
import { toast } from "../../app/toasts";
import { Card } from "../../components/card";
import { Badge, Button, IconButton } from "../../components/controls";
import { Confirm, Dialog } from "../../components/dialog";
import { CheckField, FormError, SelectField, TextField } from "../../components/form";
import { Empty, ErrorNote, Skeleton } from "../../components/states";
import { Table, type Column } from "../../components/table";
import { instant, plural, words } from "../../util/text";
import { finished, ScopeField, ScopeText, type ScopeRow } from "./scope";
import { SecretDialog, type Secret } from "./secret";

const DAY_MS = 86_400_000;
const DAYS = [30, 90, 365];

function stateOf(token: Token): { title: string; tone: "good" | "bad" | "warn" } {
  if (token.revoked) return { title: "revoked", tone: "bad" };
  const left = Date.parse(token.expires_at) - Date.now();
  if (left <= 0) return { title: "expired", tone: "bad" };
  return left < 14 * DAY_MS ? { title: "ends soon", tone: "warn" } : { title: "active", tone: "good" };
}

function columns(revoke: (token: Token) => void): Column<Token>[] {
  return [
    { key: "name", title: "Token", wide: true, value: (token) => token.name, cell: (token) => <span class="stacked"><strong>{token.name}</strong><small><code>{token.id}</code></small></span> },
    { key: "user", title: "User", value: (token) => token.user, cell: (token) => token.user },
    { key: "only", title: "Permissions", hideOnPhone: true,
      cell: (token) => (token.only.length === 0 ? <span class="muted">all that {token.user} may</span> : <span class="cut" title={token.only.join(", ")}>{token.only.map(words).join(", ")}</span>) },
    { key: "scope", title: "Sees", hideOnPhone: true, cell: (token) => <ScopeText scope={token.scope} /> },
    { key: "expires", title: "Expires", value: (token) => token.expires_at, cell: (token) => instant(token.expires_at) },
    { key: "used", title: "Last used", hideOnPhone: true, value: (token) => token.last_used, cell: (token) => (token.last_used ? instant(token.last_used) : <span class="nothing">never</span>) },
    { key: "state", title: "State", value: (token) => stateOf(token).title, cell: (token) => <Badge tone={stateOf(token).tone}>{stateOf(token).title}</Badge> },
    { key: "do", title: "", label: "Actions", cell: (token) => !token.revoked && <IconButton icon="trash" label={`Revoke ${token.name}`} onClick={() => revoke(token)} /> },
  ];
}

function NewToken({ onClose, onDone }: { onClose: () => void; onDone: (secret: Secret) => void }) {
  const { user, session } = useSession();
  const users = useQuery<List<User>>("/users");
  const [name, setName] = useState("");
  const [of, setOf] = useState(user?.name ?? "");
  const [days, setDays] = useState("90");
  const [only, setOnly] = useState<string[]>([]);
  const [scope, setScope] = useState<ScopeRow[]>([]);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const save = (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    const expires_at = new Date(Date.now() + Number(days) * DAY_MS).toISOString().slice(0, 19) + "Z";
    post<{ secret: string }>("/tokens", { name, user: of, only, scope: finished(scope), expires_at })
      .then(({ secret }) => onDone({ title: `Token ${name}`, secret, hint: "Shown once. Send it as Authorization: Bearer …" }))
      .catch((problem: ApiError) => setError(problem))
      .finally(() => setBusy(false));
  };
  const toggle = (permission: string) => (checked: boolean) =>
    setOnly(checked ? [...only, permission] : only.filter((one) => one !== permission));
  return (
    <Dialog title="New token" open onClose={onClose}>
      <form onSubmit={save}>
        <div class="dialog-body form">
          <TextField label="Name" value={name} onValue={setName} required autoComplete="off" hint="What it is for: grafana, backup, ci." />
          <div class="form-row">
            <SelectField label="User" value={of} onValue={setOf} options={(users.data?.data ?? (user ? [user] : [])).map((one) => ({ value: one.name, title: one.display_name || one.name }))} />
            <SelectField label="Valid for" value={days} onValue={setDays} options={DAYS.map((count) => ({ value: String(count), title: plural(count, "day") }))} />
          </div>
          <fieldset class="scope">
            <legend>Permissions</legend>
            <p class="field-hint">With none selected, all permissions of its user.</p>
            <div class="checks">
              {(session.permissions ?? []).map((permission) => (
                <CheckField key={permission} label={words(permission)} checked={only.includes(permission)} onChecked={toggle(permission)} />
              ))}
            </div>
          </fieldset>
          <ScopeField rows={scope} onRows={setScope} hint="In addition to the scope of its user." />
          <FormError error={error} />
        </div>
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="primary" busy={busy} disabled={!name}>Create</Button>
        </footer>
      </form>
    </Dialog>
  );
}

export function TokensTab() {
  const tokens = usePages<Token>("/tokens", { user: "*" });
  const [isNew, setNew] = useState(false);
  const [revoked, setRevoked] = useState<Token>();
  const [secret, setSecret] = useState<Secret>();
  const [busy, setBusy] = useState(false);
  const revoke = () => {
    if (!revoked) return;
    setBusy(true);
    remove(`/tokens/${encodeURIComponent(revoked.id)}`)
      .then(() => toast(`${revoked.name} was revoked.`))
      .then(() => tokens.reload())
      .catch((problem: ApiError) => toast(problem.message, "bad"))
      .finally(() => {
        setBusy(false);
        setRevoked(undefined);
      });
  };
  if (tokens.error) return <ErrorNote error={tokens.error} retry={tokens.reload} />;
  return (
    <Card title={plural(tokens.rows.length, "token")} flush actions={<Button tone="primary" small icon="plus" onClick={() => setNew(true)}>New token</Button>}>
      {tokens.loading && tokens.rows.length === 0 ? <Skeleton lines={4} /> : (
        <Table
          caption="Tokens"
          columns={columns(setRevoked)}
          rows={tokens.rows}
          rowKey={(token) => token.id}
          sort={{ key: "name", down: false }}
          empty={
            <Empty icon="key" title="No tokens yet">
              Programs use the API with a token: Grafana, scripts, Prometheus that sends samples. Give each its own, with only
              the permissions it needs.
            </Empty>
          }
        />
      )}
      {isNew && (
        <NewToken
          onClose={() => setNew(false)}
          onDone={(next) => {
            setNew(false);
            setSecret(next);
            tokens.reload();
          }}
        />
      )}
      <Confirm title={`Revoke ${revoked?.name}?`} open={revoked !== undefined} onClose={() => setRevoked(undefined)} onConfirm={revoke} confirm="Revoke" danger busy={busy}>
        Programs that use it are refused from now on. This can't be undone.
      </Confirm>
      <SecretDialog secret={secret} onClose={() => setSecret(undefined)} />
    </Card>
  );
}
