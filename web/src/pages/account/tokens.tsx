// The user's own tokens: for programs, with an expiry, and at most the user's permissions.
import { useState } from "preact/hooks";
import { ApiError, post, remove } from "../../api/client";
import { useQuery } from "../../api/hooks";
import type { List, Token } from "../../api/types";
import { useSession } from "../../app/session";
import { toast } from "../../app/toasts";
import { Card } from "../../components/card";
import { Badge, Button } from "../../components/controls";
import { Confirm, Dialog } from "../../components/dialog";
import { CheckField, FormError, SelectField, TextField } from "../../components/form";
import { Empty, Loaded, Note } from "../../components/states";
import { Table, type Column } from "../../components/table";
import { instant, words } from "../../util/text";

const LASTS = [
  { value: "7", title: "a week" },
  { value: "30", title: "30 days" },
  { value: "90", title: "90 days" },
  { value: "365", title: "a year" },
];

interface NewToken {
  token: Token;
  secret: string;
}

function inDays(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 19) + "Z";
}

function Make({ permissions, onMade }: { permissions: string[]; onMade: (made: NewToken) => void }) {
  const [name, setName] = useState("");
  const [days, setDays] = useState("90");
  const [only, setOnly] = useState<string[]>(permissions.filter((one) => one.startsWith("read_")));
  const [error, setError] = useState<ApiError>();
  const toggle = (one: string, on: boolean) => setOnly(on ? [...only, one] : only.filter((other) => other !== one));
  const submit = async (event: Event) => {
    event.preventDefault();
    setError(undefined);
    try {
      onMade(await post<NewToken>("/tokens", { name: name.trim(), only, expires_at: inDays(Number(days)) }));
    } catch (caught) {
      setError(caught as ApiError);
    }
  };
  return (
    <form class="form" onSubmit={(event) => void submit(event)}>
      <TextField label="What it is for" value={name} onValue={setName} placeholder="Grafana" required maxLength={100} />
      <SelectField label="Valid for" value={days} onValue={setDays} options={LASTS} />
      <fieldset class="choices">
        <legend>Permissions</legend>
        {permissions.map((one) => (
          <CheckField key={one} label={words(one)} checked={only.includes(one)} onChecked={(on) => toggle(one, on)} />
        ))}
      </fieldset>
      <FormError error={error} />
      <Button tone="primary" type="submit" disabled={!name.trim() || only.length === 0}>
        Create token
      </Button>
    </form>
  );
}

function Secret({ secret }: { secret: string }) {
  const copy = () =>
    void navigator.clipboard
      .writeText(secret)
      .then(() => toast("Token copied."))
      .catch(() => toast("The browser does not allow copying; select the text instead.", "bad"));
  return (
    <div class="form">
      <Note tone="warn">It is shown only once. Store it with your secrets.</Note>
      <pre class="command">{secret}</pre>
      <div class="row">
        <Button icon="copy" onClick={copy}>
          Copy
        </Button>
      </div>
      <p class="small muted">
        Send it as <code>Authorization: Bearer {secret.slice(0, 8)}…</code>
      </p>
    </div>
  );
}

function stateOf(token: Token): { text: string; tone: "good" | "neutral" } {
  if (token.revoked) return { text: "revoked", tone: "neutral" };
  return Date.parse(token.expires_at) < Date.now() ? { text: "expired", tone: "neutral" } : { text: "active", tone: "good" };
}

function columnsOf(onRevoke: (token: Token) => void): Column<Token>[] {
  return [
    { key: "name", title: "For", wide: true, value: (one) => one.name, cell: (one) => <span class="cut">{one.name}</span> },
    { key: "state", title: "State", value: (one) => stateOf(one).text, cell: (one) => <Badge tone={stateOf(one).tone}>{stateOf(one).text}</Badge> },
    { key: "only", title: "Permissions", hideOnPhone: true, cell: (one) => <span class="cut" title={one.only.map(words).join(", ")}>{one.only.length > 0 ? one.only.map(words).join(", ") : "all that you may"}</span> },
    { key: "made", title: "Made", hideOnPhone: true, value: (one) => one.created_at, cell: (one) => <span class="num">{instant(one.created_at)}</span> },
    { key: "ends", title: "Ends", value: (one) => one.expires_at, cell: (one) => <span class="num">{instant(one.expires_at)}</span> },
    { key: "used", title: "Last used", hideOnPhone: true, value: (one) => one.last_used, cell: (one) => <span class="num">{one.last_used ? instant(one.last_used) : "never"}</span> },
    { key: "revoke", title: "", label: "Revoke", cell: (one) => (stateOf(one).text === "active" ? <Button small tone="quiet" onClick={() => onRevoke(one)} label={`Revoke ${one.name}`}>Revoke</Button> : "") },
  ];
}

export function Tokens({ permissions }: { permissions: string[] }) {
  const { user } = useSession();
  const tokens = useQuery<List<Token>>("/tokens");
  const [making, setMaking] = useState(false);
  const [made, setMade] = useState<NewToken>();
  const [revoking, setRevoking] = useState<Token>();
  const close = () => {
    setMaking(false);
    setMade(undefined);
  };
  const revoke = () => {
    if (!revoking) return;
    remove(`/tokens/${encodeURIComponent(revoking.id)}`)
      .then(() => (toast("The token is revoked."), tokens.reload()))
      .catch((error: Error) => toast(error.message, "bad"))
      .finally(() => setRevoking(undefined));
  };
  return (
    <Card title="Tokens" note="for programs that act on your behalf" flush
      actions={<Button icon="plus" onClick={() => setMaking(true)}>New token</Button>}>
      <Loaded query={tokens}>
        {({ data }) => (
          <Table caption="Your tokens" columns={columnsOf(setRevoking)} rows={data.filter((one) => one.user === user?.name)} rowKey={(one) => one.id}
            sort={{ key: "made", down: true }} tall
            empty={<Empty icon="key" title="No tokens yet">A program that asks for costs, such as Grafana or a notebook, needs one.</Empty>} />
        )}
      </Loaded>
      <Dialog title={made ? `The token for ${made.token.name}` : "New token"} open={making} onClose={close}>
        <div class="dialog-body">
          {made ? <Secret secret={made.secret} /> : <Make permissions={permissions} onMade={(one) => (setMade(one), tokens.reload())} />}
        </div>
      </Dialog>
      <Confirm title={`Revoke ${revoking?.name ?? ""}?`} open={revoking !== undefined} onClose={() => setRevoking(undefined)} onConfirm={revoke} confirm="Revoke" danger>
        <p>Programs that use it are refused from now on. It does not come back.</p>
      </Confirm>
    </Card>
  );
}
