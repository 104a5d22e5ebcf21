// Who is told: whether deliveries arrive, and a test that sends one.
import { useState } from "preact/hooks";
import { ApiError, post } from "../../api/client";
import type { Alerts } from "../../api/types";
import { toast } from "../../app/toasts";
import { Card } from "../../components/card";
import { Badge, Button } from "../../components/controls";
import { Empty } from "../../components/states";
import { Table, type Column } from "../../components/table";
import { plural } from "../../util/text";

type Receiver = Alerts["receivers"][number];

interface Tested {
  is_delivered: boolean;
  problem: string | null;
}

function TestButton({ name }: { name: string }) {
  const [busy, setBusy] = useState(false);
  const [tested, setTested] = useState<Tested>();
  const send = () => {
    setBusy(true);
    post<Tested>(`/alerts/receivers/${encodeURIComponent(name)}/test`, {})
      .then(setTested)
      .catch((problem: ApiError) => toast(problem.message, "bad"))
      .finally(() => setBusy(false));
  };
  return (
    <span class="receiver-test">
      <Button small busy={busy} onClick={send} label={`Send a test to ${name}`}>Test</Button>
      <span role="status" class="small">{tested && (tested.is_delivered ? "It has arrived." : tested.problem)}</span>
    </span>
  );
}

export function Receivers({ receivers, mayTest }: { receivers: Receiver[]; mayTest: boolean }) {
  if (receivers.length === 0) {
    return (
      <Card title="Receivers">
        <Empty icon="bell" title="Nobody is told">
          Alerts are shown here only. Add receivers to the configuration under alerts: Slack, Teams, PagerDuty, mail, webhooks or an Alertmanager.
        </Empty>
      </Card>
    );
  }
  const columns: Column<Receiver>[] = [
    { key: "name", title: "Receiver", wide: true, value: (one) => one.name, cell: (one) => <strong>{one.name}</strong> },
    { key: "kind", title: "Kind", hideOnPhone: true, value: (one) => one.kind, cell: (one) => one.kind },
    {
      key: "state", title: "Deliveries", value: (one) => one.waiting,
      cell: (one) => one.problem ? <><Badge tone="bad">failing</Badge> <span class="small alert-summary">{one.problem}</span></>
        : <Badge tone="good">{one.waiting === 0 ? "nothing waits" : `${plural(one.waiting, "notification")} to be sent`}</Badge>,
    },
    { key: "given_up", title: "Given up", hideOnPhone: true, numeric: true, value: (one) => one.given_up, cell: (one) => one.given_up },
    ...(mayTest ? [{ key: "test", title: "", label: "Test", cell: (one: Receiver) => <TestButton name={one.name} /> }] : []),
  ];
  return (
    <Card title="Receivers" flush>
      <Table caption="Receivers" columns={columns} rows={receivers} rowKey={(one) => one.name} />
    </Card>
  );
}
