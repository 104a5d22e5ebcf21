// Alerts: what holds now, who is told, what is silenced and until when, and what has ended.
import { useState } from "preact/hooks";
import { ApiError, post, remove } from "../../api/client";
import type { Alert, AlertSilence, Alerts } from "../../api/types";
import { isTold, useAlertsNow } from "../../app/alerts";
import { useSession } from "../../app/session";
import { toast } from "../../app/toasts";
import { Card, PageHead } from "../../components/card";
import { Badge, Button } from "../../components/controls";
import { Confirm } from "../../components/dialog";
import { Empty, Loaded, Note } from "../../components/states";
import { Table, type Column } from "../../components/table";
import { instant, localTime, plural, since, words } from "../../util/text";
import { PutSilence } from "./put_silence";
import { Receivers } from "./receivers";

const keyOf = (alert: Alert) => `${alert.rule} ${alert.scope} ${alert.since}`;

// Critical ones first, then those that began last.
function ordered(alerts: Alert[]): Alert[] {
  const rank = (alert: Alert) => (alert.severity === "critical" ? 0 : 1);
  return [...alerts].sort((a, b) => rank(a) - rank(b) || (a.since < b.since ? 1 : a.since > b.since ? -1 : 0));
}

function Severity({ alert }: { alert: Alert }) {
  return <Badge tone={alert.severity === "critical" ? "bad" : "warn"}>{alert.severity}</Badge>;
}

const COMMON: Column<Alert>[] = [
  {
    key: "summary", title: "Alert", wide: true, value: (one) => one.summary,
    cell: (one) => (
      <>
        <Severity alert={one} /> <span class="alert-summary">{one.summary}</span>
        <div class="muted small alert-summary">{[words(one.rule), one.subject, one.owner && `owner ${one.owner}`].filter(Boolean).join(" · ")}</div>
      </>
    ),
  },
];

function Firing({ alerts, onSilence, note }: { alerts: Alert[]; onSilence: ((alert: Alert) => void) | undefined; note: string }) {
  const columns: Column<Alert>[] = [
    ...COMMON,
    { key: "since", title: "For", hideOnPhone: true, value: (one) => one.since, cell: (one) => <span title={`${instant(one.since)}; ${localTime(one.since)}`}>{since(one.since)}</span> },
    {
      key: "told", title: "Told", hideOnPhone: true, value: (one) => one.told,
      cell: (one) => one.is_silent ? <Badge tone="neutral" title="Silenced, or a graver alert says it already">silent</Badge>
        : one.told ? <span title={localTime(one.told)}>{instant(one.told)}</span> : <span class="muted">not yet</span>,
    },
    ...(onSilence ? [{
      key: "silence", title: "", label: "Silence",
      cell: (one: Alert) => <Button small onClick={() => onSilence(one)} label={`Silence ${one.summary}`}>Silence…</Button>,
    }] : []),
  ];
  return (
    <Card title="Now" note={note} flush>
      <Table caption="Alerts that hold now" columns={columns} rows={ordered(alerts)} rowKey={keyOf} />
    </Card>
  );
}

const ENDED: Column<Alert>[] = [
  ...COMMON,
  { key: "since", title: "From", hideOnPhone: true, value: (one) => one.since, cell: (one) => <span title={localTime(one.since)}>{instant(one.since)}</span> },
  { key: "ended", title: "To", value: (one) => one.ended, cell: (one) => <span title={localTime(one.ended)}>{instant(one.ended)}</span> },
];

function Silences({ silences, onLift }: { silences: AlertSilence[]; onLift: ((one: AlertSilence) => void) | undefined }) {
  const columns: Column<AlertSilence>[] = [
    {
      key: "what", title: "Silenced", wide: true, value: (one) => `${one.rule} ${one.scope}`,
      cell: (one) => (
        <>
          <strong>{one.rule ? words(one.rule) : "Every rule"}</strong>{one.scope && ` of ${one.scope}`}
          {one.reason && <div class="muted small">{one.reason}</div>}
        </>
      ),
    },
    { key: "state", title: "State", value: (one) => (one.is_active ? 0 : 1), cell: (one) => <Badge tone={one.is_active ? "accent" : "neutral"}>{one.is_active ? "active" : "over, or not begun"}</Badge> },
    { key: "to", title: "Last day", value: (one) => one.to, cell: (one) => one.to ?? <span class="muted">no end</span> },
    { key: "by", title: "By", value: (one) => one.by, cell: (one) => one.by ?? <span class="muted">the configuration</span> },
    ...(onLift ? [{
      key: "lift", title: "", label: "Lift",
      cell: (one: AlertSilence) => one.id && <Button small onClick={() => onLift(one)}>Lift…</Button>,
    }] : []),
  ];
  return (
    <Card title="Silences" note={plural(silences.length, "silence")} flush>
      <Table caption="Silences" columns={columns} rows={silences} rowKey={(one, index) => one.id ?? String(index)} />
    </Card>
  );
}

function Shown({ alerts, reload }: { alerts: Alerts; reload: () => void }) {
  const { may, user } = useSession();
  const [silencing, silence] = useState<{ rule: string; scope: string }>();
  const [lifting, lift] = useState<AlertSilence>();
  const mayManage = may("manage_alerts");
  const loud = alerts.alerts.filter(isTold).length;
  const note = loud === alerts.alerts.length ? plural(loud, "alert") : `${plural(loud, "alert")}, ${alerts.alerts.length - loud} more silent`;
  return (
    <>
      {!alerts.is_evaluated && <Note>Alerts are not evaluated: the server has just started, or there is neither a budget nor a receiver. Set a budget, or configure a receiver.</Note>}
      {alerts.alerts.length > 0 && (
        <Firing alerts={alerts.alerts} note={note}
          onSilence={mayManage ? (one) => silence({ rule: one.rule, scope: one.scope }) : undefined} />
      )}
      {alerts.is_evaluated && alerts.alerts.length === 0 && (
        <Card>
          <Empty icon="bell" title="Nothing to tell">
            No budget is in danger, no day was unusual, and no device complains. Budgets and receivers are configured under budgets and alerts.
          </Empty>
        </Card>
      )}
      {alerts.silences.length > 0 && <Silences silences={alerts.silences} onLift={mayManage ? lift : undefined} />}
      {(user?.scope.length ?? 0) === 0 && <Receivers receivers={alerts.receivers} mayTest={mayManage} />}
      {alerts.ended.length > 0 && (
        <Card title="Ended" note={alerts.ended.length === 500 ? "the last 500" : plural(alerts.ended.length, "alert")} flush>
          <Table caption="Alerts that have ended" columns={ENDED} rows={alerts.ended} rowKey={keyOf} tall />
        </Card>
      )}
      {silencing && (
        <PutSilence {...silencing} rules={alerts.rules} onClose={() => silence(undefined)}
          onPut={(one) => {
            silence(undefined);
            toast(`Silenced until ${one.to ?? ""}`);
            reload();
          }}
          send={(body) => post<AlertSilence>("/alerts/silences", body)} />
      )}
      {lifting && (
        <Confirm title="Lift this silence" open confirm="Lift" onClose={() => lift(undefined)}
          onConfirm={() => void remove(`/alerts/silences/${encodeURIComponent(lifting.id ?? "")}`)
            .then(() => {
              lift(undefined);
              toast("Lifted");
              reload();
            })
            .catch((problem: ApiError) => toast(problem.message, "bad"))}>
          Receivers are told again of {lifting.rule ? words(lifting.rule).toLowerCase() : "every alert"}{lifting.scope && ` of ${lifting.scope}`} where it still holds.
        </Confirm>
      )}
    </>
  );
}

export default function AlertsPage() {
  const query = useAlertsNow();
  const { may } = useSession();
  const [asked, ask] = useState(false);
  return (
    <div class="stack">
      <PageHead title="Alerts" lead="What needs somebody now, who was told, and what is silenced until when.">
        {may("manage_alerts") && <Button icon="plus" onClick={() => ask(true)}>New silence</Button>}
      </PageHead>
      <Loaded query={query}>{(alerts) => <Shown alerts={alerts} reload={query.reload} />}</Loaded>
      {asked && query.data && (
        <PutSilence rule="" scope="" rules={query.data.rules} onClose={() => ask(false)}
          onPut={(one) => {
            ask(false);
            toast(`Silenced until ${one.to ?? ""}`);
            query.reload();
          }}
          send={(body) => post<AlertSilence>("/alerts/silences", body)} />
      )}
    </div>
  );
}
