// The audit log: who did what and when, with the state before and after; and the proof that no line was
// changed, removed or inserted.
import { useCallback, useEffect, useState } from "preact/hooks";
import { ApiError, get } from "../../api/client";
import type { AuditEntry, List } from "../../api/types";
import { Card, Facts } from "../../components/card";
import { Badge, Button } from "../../components/controls";
import { Dialog } from "../../components/dialog";
import { Icon } from "../../components/icons";
import { Empty, ErrorNote, Skeleton } from "../../components/states";
import { Table, type Column } from "../../components/table";
import { instant, plural } from "../../util/text";

interface Verdict {
  whole: boolean;
  head: { number: number; hash: string } | null;
  bad_line: number | null;
  reason: string | null;
}

const COLUMNS: Column<AuditEntry>[] = [
  { key: "number", title: "No.", numeric: true, value: (entry) => entry.number, cell: (entry) => entry.number },
  { key: "at", title: "When", value: (entry) => entry.at, cell: (entry) => <span class="num">{instant(entry.at)}</span> },
  { key: "actor", title: "Who", value: (entry) => entry.actor, cell: (entry) => entry.actor },
  { key: "action", title: "Action", value: (entry) => entry.action,
    cell: (entry) => <Badge tone={/fail|refus|lock/.test(entry.action) ? "bad" : "neutral"}>{entry.action}</Badge> },
  { key: "subject", title: "Subject", wide: true, value: (entry) => entry.subject, cell: (entry) => <span class="cut" title={entry.subject}>{entry.subject}</span> },
  { key: "peer", title: "From", hideOnPhone: true, value: (entry) => entry.peer, cell: (entry) => entry.peer || <span class="nothing">–</span> },
  { key: "hash", title: "Hash", hideOnPhone: true, cell: (entry) => <code class="id" title={entry.hash}>{entry.hash.slice(0, 10)}</code> },
];

// Pages by `before`: the number of the last entry shown.
function useAudit(actor: string, action: string) {
  const [rows, setRows] = useState<AuditEntry[]>([]);
  const [next, setNext] = useState<string | number | null>(null);
  const [error, setError] = useState<ApiError>();
  const [loading, setLoading] = useState(true);
  const load = useCallback((before: string | number | null, shown: AuditEntry[]) => {
    setLoading(true);
    setError(undefined);
    get<List<AuditEntry>>("/audit", { before, actor, action, limit: 100 })
      .then((list) => {
        setRows([...shown, ...list.data]);
        setNext(list.next ?? null);
      })
      .catch((problem: ApiError) => setError(problem))
      .finally(() => setLoading(false));
  }, [actor, action]);
  useEffect(() => {
    const timer = setTimeout(() => load(null, []), 200);
    return () => clearTimeout(timer);
  }, [load]);
  return { rows, error, loading, hasMore: next !== null, more: () => load(next, rows), reload: () => load(null, []) };
}

function Verify() {
  const [verdict, setVerdict] = useState<Verdict>();
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const verify = () => {
    setBusy(true);
    setError(undefined);
    get<Verdict>("/audit/verify")
      .then(setVerdict)
      .catch((problem: ApiError) => setError(problem))
      .finally(() => setBusy(false));
  };
  return (
    <Card title="Integrity" actions={<Button icon="check" onClick={verify} busy={busy}>Verify</Button>}>
      {error ? <ErrorNote error={error} /> : !verdict ? (
        <p class="muted">
          Each line has the hash of the line before it, so changed, removed and inserted lines are found. Verify reads the
          whole log. On the command line: <code>pennyweight audit verify</code>.
        </p>
      ) : (
        <div class={verdict.whole ? "verdict verdict-good" : "verdict verdict-bad"} role="status">
          <Icon name={verdict.whole ? "check" : "warn"} size={22} />
          <div>
            <strong>{verdict.whole ? `Intact: ${plural(verdict.head?.number ?? 0, "line")}` : `Line ${verdict.bad_line} is damaged`}</strong>
            <p>{verdict.whole ? <>The last hash is <code>{verdict.head?.hash}</code>. Store it elsewhere to detect later whether the end was cut off.</> : verdict.reason}</p>
          </div>
        </div>
      )}
    </Card>
  );
}

const shown = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

function Entry({ entry, onClose }: { entry: AuditEntry; onClose: () => void }) {
  const side = (title: string, value: unknown) => (
    <div>
      <h3>{title}</h3>
      {value === null || value === undefined || value === "" ? <p class="muted">none</p> : <pre class="command" tabIndex={0} aria-label={title}>{shown(value)}</pre>}
    </div>
  );
  return (
    <Dialog title={`Line ${entry.number}`} open onClose={onClose} wide>
      <div class="dialog-body stack">
        <Facts facts={[["When", entry.at], ["Who", entry.actor], ["From", entry.peer || "–"], ["Action", entry.action], ["Subject", entry.subject || "–"], ["Hash", <code>{entry.hash}</code>]]} />
        <div class="form-row">
          {side("Before", entry.before)}
          {side("After", entry.after)}
        </div>
      </div>
    </Dialog>
  );
}

export function AuditTab() {
  const [actor, setActor] = useState("");
  const [action, setAction] = useState("");
  const [entry, setEntry] = useState<AuditEntry>();
  const audit = useAudit(actor, action);
  return (
    <div class="stack">
      <Verify />
      <Card
        title="Log"
        flush
        actions={
          <>
            <input class="input input-small" type="search" placeholder="Who: ana" aria-label="Who (full name)" value={actor} onInput={(event) => setActor(event.currentTarget.value)} />
            <input class="input input-small" type="search" placeholder="Action: sign_in" aria-label="Action (full name)" value={action} onInput={(event) => setAction(event.currentTarget.value)} />
          </>
        }
      >
        {audit.error ? <ErrorNote error={audit.error} retry={audit.reload} /> : audit.loading && audit.rows.length === 0 ? <Skeleton lines={6} /> : (
          <Table caption="Audit log" columns={COLUMNS} rows={audit.rows} rowKey={(one) => String(one.number)} onRow={setEntry} dense shown={5000}
            empty={<Empty icon="search" title="No matching entries" />} />
        )}
        {audit.hasMore && <div class="table-foot"><Button small onClick={audit.more} busy={audit.loading}>Show older</Button></div>}
      </Card>
      {entry && <Entry entry={entry} onClose={() => setEntry(undefined)} />}
    </div>
  );
}
