// Users: who may sign in, with which role and scope.
import { useState } from "preact/hooks";
import { ApiError, post, remove } from "../../api/client";
import { usePages } from "../../api/hooks";
import type { User } from "../../api/types";
import { useSession } from "../../app/session";
import { toast } from "../../app/toasts";
import { Card } from "../../components/card";
import { Badge, Button, IconButton } from "../../components/controls";
import { Confirm } from "../../components/dialog";
import { ErrorNote, Skeleton } from "../../components/states";
import { Table, type Column } from "../../components/table";
import { instant, plural, words } from "../../util/text";
import { ScopeText } from "./scope";
import { SecretDialog, type Secret } from "./secret";
import { UserDialog } from "./user_dialog";

interface Asked {
  what: "remove" | "password";
  user: User;
}

function columns(me: string | undefined, edit: (user: User) => void, ask: (asked: Asked) => void): Column<User>[] {
  return [
    { key: "name", title: "User", wide: true, value: (user) => user.name,
      cell: (user) => (
        <span class="stacked">
          <button type="button" class="linkish" onClick={() => edit(user)}>{user.display_name || user.name}</button>
          <small>{user.name}{user.email && ` · ${user.email}`}</small>
        </span>
      ) },
    { key: "role", title: "Role", value: (user) => user.role, cell: (user) => words(user.role) },
    { key: "scope", title: "Sees", cell: (user) => <ScopeText scope={user.scope} /> },
    { key: "sign_in", title: "Signs in by", hideOnPhone: true, value: (user) => String(user.local),
      cell: (user) => (
        <span class="row">
          {user.local ? "password" : "single sign-on"}
          {user.has_totp && <Badge tone="good" title="Signs in with a second factor">2nd factor</Badge>}
          {user.must_change_password && <Badge tone="warn">must change password</Badge>}
        </span>
      ) },
    { key: "last", title: "Last sign-in", hideOnPhone: true, value: (user) => user.last_sign_in, cell: (user) => (user.last_sign_in ? instant(user.last_sign_in) : <span class="nothing">never</span>) },
    { key: "state", title: "State", value: (user) => String(user.disabled), cell: (user) => (user.disabled ? <Badge tone="bad">disabled</Badge> : <Badge tone="good">active</Badge>) },
    { key: "do", title: "", label: "Actions",
      cell: (user) => (
        <span class="actions">
          {user.local && <IconButton icon="key" label={`New password for ${user.name}`} onClick={() => ask({ what: "password", user })} />}
          {user.name !== me && <IconButton icon="trash" label={`Remove ${user.name}`} onClick={() => ask({ what: "remove", user })} />}
        </span>
      ) },
  ];
}

export function UsersTab() {
  const users = usePages<User>("/users");
  const { user: me } = useSession();
  const [edited, setEdited] = useState<User | null>();
  const [asked, setAsked] = useState<Asked>();
  const [secret, setSecret] = useState<Secret>();
  const [busy, setBusy] = useState(false);

  const answer = () => {
    if (!asked) return;
    const { what, user } = asked;
    setBusy(true);
    const path = `/users/${encodeURIComponent(user.name)}`;
    const done = what === "remove"
      ? remove(path).then(() => toast(`${user.name} was removed.`))
      : post<{ password: string }>(`${path}/password`).then(({ password }) =>
          setSecret({ title: `New password for ${user.name}`, secret: password, hint: "Shown once. It must be changed at the next sign-in; all sessions have ended." }));
    done
      .then(() => users.reload())
      .catch((problem: ApiError) => toast(problem.message, "bad"))
      .finally(() => {
        setBusy(false);
        setAsked(undefined);
      });
  };

  if (users.error) return <ErrorNote error={users.error} retry={users.reload} />;
  return (
    <Card title={plural(users.rows.length, "user")} flush actions={<Button tone="primary" small icon="plus" onClick={() => setEdited(null)}>New user</Button>}>
      {users.loading && users.rows.length === 0 ? <Skeleton lines={5} /> : (
        <Table caption="Users" columns={columns(me?.name, setEdited, setAsked)} rows={users.rows} rowKey={(user) => user.name} sort={{ key: "name", down: false }} shown={1000} />
      )}
      {users.hasMore && <div class="table-foot"><Button small onClick={users.loadMore}>Show more</Button></div>}
      {edited !== undefined && (
        <UserDialog
          user={edited}
          onClose={() => setEdited(undefined)}
          onDone={(next) => {
            setEdited(undefined);
            setSecret(next);
            users.reload();
          }}
        />
      )}
      <Confirm
        title={asked?.what === "remove" ? `Remove ${asked.user.name}?` : `New password for ${asked?.user.name}?`}
        open={asked !== undefined}
        onClose={() => setAsked(undefined)}
        onConfirm={answer}
        confirm={asked?.what === "remove" ? "Remove" : "Create"}
        danger={asked?.what === "remove"}
        busy={busy}
      >
        {asked?.what === "remove"
          ? "Sessions and tokens end at once. The audit log stays."
          : "The current password stops working, and all sessions end."}
      </Confirm>
      <SecretDialog secret={secret} onClose={() => setSecret(undefined)} />
    </Card>
  );
}
