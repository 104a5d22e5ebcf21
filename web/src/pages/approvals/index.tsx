// Approvals: workloads that a guardrail stops until somebody agrees, and what was decided about them.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { usePages, useQuery } from "../../api/hooks";
import type { Approval, ApprovalDetail } from "../../api/types";
import { useSession } from "../../app/session";
import { toast } from "../../app/toasts";
import { Card, Facts, PageHead } from "../../components/card";
import { Badge, Button, Segments, type Tone } from "../../components/controls";
import { Dialog } from "../../components/dialog";
import { Empty, ErrorNote, Loaded, Note } from "../../components/states";
import { Table, type Column } from "../../components/table";
import { isAmount, minorDigits, rounded } from "../../util/money";
import { instant, localTime, plural, since } from "../../util/text";
import { Decide } from "./decide";

const STATES = ["pending", "approved", "used", "refused", "expired", "all"] as const;
const TONES: Record<Approval["state"], Tone> = { pending: "warn", approved: "good", used: "neutral", refused: "bad", expired: "neutral" };

// "1,287.68 USD" of "1287.68 USD", with all digits in the title.
function Stated({ amount }: { amount: string }) {
  const [value, code] = amount.split(" ");
  const isMoney = isAmount(value) && /^[A-Z]{3}$/.test(code ?? "") && code !== "XXX";
  return <span title={amount}>{isMoney ? `${rounded(value, minorDigits(code))} ${code}` : amount}</span>;
}

const costOf = (one: Approval) => (one.request.cost ? <span><Stated amount={one.request.cost} /> a {one.request.cost_of}</span> : "not known");
const approvals = (one: Approval) => one.decisions.filter((decision) => decision.approves).length;

function Detail({ id, onClose, onDecided }: { id: string; onClose: () => void; onDecided: () => void }) {
  const { may } = useSession();
  const query = useQuery<ApprovalDetail>(`/approvals/${encodeURIComponent(id)}`);
  return (
    <Dialog title={id} open onClose={onClose} wide>
      <div class="dialog-body stack">
        <Loaded query={query}>
          {(one) => (
            <>
              <Facts facts={[
                ["State", <Badge tone={TONES[one.state]}>{one.state}</Badge>],
                ["Workload", one.request.workload],
                ["Asked by", `${one.request.by}, ${instant(one.request.at)}`],
                ["Why it is needed", one.request.reason || "not stated"],
                ["Stopped by", `${one.request.rules.join(", ")}: ${one.request.because}`],
                ["Cost at most", costOf(one)],
                ...one.request.alternatives.map((text): [string, string] => ["Cheaper", text]),
                ...one.budgets.map((budget): [string, ComponentChildren] => [`Budget ${budget.name}`, (
                  <><Stated amount={budget.left} /> left, <Stated amount={budget.after} /> after it{budget.is_certain ? "" : ", if it is charged to it"}</>
                )]),
                ...one.decisions.map((decision): [string, string] => [
                  decision.approves ? "Approved by" : "Refused by",
                  `${decision.by}${decision.on_behalf && ` for ${decision.on_behalf}`}, ${instant(decision.at)}${decision.until ? `, until ${instant(decision.until)}, ${decision.is_once ? "once" : "any number of times"}` : ""}${decision.note ? `: ${decision.note}` : ""}`,
                ]),
                ...one.uses.map((use): [string, string] => ["Used by", `${use.by}, ${instant(use.at)}`]),
              ]} />
              {one.token && (
                <Note>
                  Put this token into the annotation <code>pennyweight.io/approval</code> of the object:
                  <br /><code class="approval-token">{one.token}</code>
                </Note>
              )}
              {one.needed > 1 && one.state === "pending" && <Note>It takes two persons; {approvals(one)} of them has agreed.</Note>}
              {may("approve") && (one.state === "pending" || one.state === "approved") && (
                <Decide approval={one} onDecided={(decided) => {
                  toast(`${id} is ${decided.state}`);
                  query.reload();
                  onDecided();
                }} />
              )}
            </>
          )}
        </Loaded>
      </div>
    </Dialog>
  );
}

function List({ state }: { state: (typeof STATES)[number] }) {
  const pages = usePages<Approval>("/approvals", { state });
  const [shown, show] = useState<string>();
  const columns: Column<Approval>[] = [
    {
      key: "workload", title: "Workload", wide: true, value: (one) => one.request.workload,
      cell: (one) => (
        <>
          <strong>{one.request.workload}</strong>
          <div class="muted small">{one.request.because}{one.request.reason && ` · ${one.request.reason}`}</div>
        </>
      ),
    },
    { key: "cost", title: "Cost at most", value: (one) => one.request.cost?.split(" ")[0] ?? null, cell: costOf },
    { key: "by", title: "Asked by", hideOnPhone: true, value: (one) => one.request.by, cell: (one) => one.request.by },
    { key: "at", title: state === "pending" ? "Waits for" : "Asked for", hideOnPhone: true, value: (one) => one.request.at, cell: (one) => <span title={localTime(one.request.at)}>{since(one.request.at)}</span> },
    { key: "state", title: "State", value: (one) => one.state, cell: (one) => <Badge tone={TONES[one.state]}>{one.needed > 1 && one.state === "pending" ? `${approvals(one)} of 2` : one.state}</Badge> },
    { key: "open", title: "", label: "Open", cell: (one) => <Button small onClick={() => show(one.request.id)} label={`Open ${one.request.id}`}>Open…</Button> },
  ];
  return (
    <>
      {pages.rows.length === 0 ? !pages.loading && !pages.error && (
        <Card>
          <Empty icon="check" title={state === "pending" ? "Nothing waits for a decision" : "None in this state"}>
            A rule with the effect require_approval stops a workload until somebody else has agreed to it.
          </Empty>
        </Card>
      ) : (
        <Card title="Requests" note={plural(pages.rows.length, "request")} flush>
          <Table caption="Requests for approvals" columns={columns} rows={pages.rows} rowKey={(one) => one.request.id} />
        </Card>
      )}
      {pages.error && <ErrorNote error={pages.error} retry={pages.reload} />}
      {pages.hasMore && <Button onClick={pages.loadMore}>More</Button>}
      {shown && <Detail id={shown} onClose={() => show(undefined)} onDecided={pages.reload} />}
    </>
  );
}

export default function ApprovalsPage() {
  const [state, setState] = useState<(typeof STATES)[number]>("pending");
  return (
    <div class="stack">
      <PageHead title="Approvals" lead="Workloads that a guardrail stops until somebody else has agreed to them.">
        <Segments label="State" options={STATES.map((one) => ({ key: one, title: one }))} chosen={state} onChoose={setState} />
      </PageHead>
      <List key={state} state={state} />
    </div>
  );
}
