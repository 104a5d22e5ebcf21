// Where the user is signed in, and signing out there.
import { remove } from "../../api/client";
import { useQuery } from "../../api/hooks";
import type { List, OpenSession } from "../../api/types";
import { toast } from "../../app/toasts";
import { Card } from "../../components/card";
import { Badge, Button } from "../../components/controls";
import { Loaded } from "../../components/states";
import { Table, type Column } from "../../components/table";
import { instant, plural } from "../../util/text";

function columnsOf(onEnd: (session: OpenSession) => void): Column<OpenSession>[] {
  return [
    { key: "agent", title: "Browser", wide: true, value: (one) => one.agent, cell: (one) => <span class="cut" title={one.agent}>{one.agent || "unknown"}</span> },
    { key: "peer", title: "Address", value: (one) => one.peer, cell: (one) => <span class="num">{one.peer || "unknown"}</span> },
    { key: "begun", title: "Since", hideOnPhone: true, value: (one) => one.created_at, cell: (one) => <span class="num">{instant(one.created_at)}</span> },
    { key: "seen", title: "Last used", value: (one) => one.seen_at, cell: (one) => <span class="num">{instant(one.seen_at)}</span> },
    {
      key: "end",
      title: "",
      label: "Sign out",
      cell: (one) => (one.this_one
        ? <Badge>this one</Badge>
        : <Button small tone="quiet" onClick={() => onEnd(one)} label={`Sign out ${one.agent || one.peer}`}>Sign out</Button>),
    },
  ];
}

export function Sessions() {
  const sessions = useQuery<List<OpenSession>>("/sessions");
  const fail = (error: Error) => toast(error.message, "bad");
  const end = (one: OpenSession) =>
    void remove(`/sessions/${encodeURIComponent(one.id)}`).then(() => (toast("That session is signed out."), sessions.reload())).catch(fail);
  const endOthers = () =>
    void remove<{ ended: number }>("/sessions")
      .then(({ ended }) => (toast(`Signed out of ${plural(ended, "session")}.`), sessions.reload()))
      .catch(fail);
  return (
    <Card title="Signed in" note="browsers in which you are signed in" flush
      actions={(sessions.data?.data.length ?? 0) > 1 && <Button onClick={endOthers}>Sign out everywhere else</Button>}>
      <Loaded query={sessions}>
        {({ data }) => (
          <Table caption="Your sessions" columns={columnsOf(end)} rows={data} rowKey={(one) => one.id} sort={{ key: "seen", down: true }} tall />
        )}
      </Loaded>
    </Card>
  );
}
