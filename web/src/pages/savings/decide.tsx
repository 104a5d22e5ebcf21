// What somebody decides about an advice: accept, dismiss, done, verify, reopen.
import { useState } from "preact/hooks";
import { ApiError, forgetAnswers, post } from "../../api/client";
import { useSession } from "../../app/session";
import { toast } from "../../app/toasts";
import { Card } from "../../components/card";
import { Badge, Button, type Tone } from "../../components/controls";
import { Dialog } from "../../components/dialog";
import { FormError, TextArea, TextField } from "../../components/form";
import type { AdviceStep } from "../../api/types";
import type { Detail } from "./read";

type Action = AdviceStep["action"];

interface Words {
  title: string;
  toast: string; // afterwards
  day?: { label: string; hint: string };
  needsReason?: boolean;
}

const WORDS: Record<Action, Words> = {
  accept: { title: "Accept", toast: "Accepted" },
  dismiss: {
    title: "Dismiss", toast: "Dismissed", needsReason: true,
    day: { label: "Until", hint: "The day on which it is shown again. Empty: never." },
  },
  done: { title: "Done", toast: "Recorded as done", day: { label: "In effect since", hint: "Empty: today." } },
  verify: { title: "Verify", toast: "Verified" },
  reopen: { title: "Reopen", toast: "Open again" },
};

// What may follow in each state; the first is the usual next step.
const NEXT: Record<string, Action[]> = {
  new: ["accept", "done", "dismiss"],
  accepted: ["done", "dismiss", "reopen"],
  dismissed: ["reopen"],
  done: ["verify", "reopen"],
  verified: ["verify", "reopen"],
};
const TONES: Record<string, Tone> = { new: "neutral", accepted: "accent", dismissed: "neutral", done: "accent", verified: "good" };

function Ask({ action, id, month, onClose, onDone }: { action: Action; id: string; month: string; onClose: () => void; onDone: () => void }) {
  const words = WORDS[action];
  const [reason, setReason] = useState("");
  const [day, setDay] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const decide = (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    post<AdviceStep>(`/advice/${encodeURIComponent(id)}/steps`, { action, reason, ...(month ? { month } : {}), ...(day ? { day } : {}) })
      .then(() => {
        toast(words.toast);
        forgetAnswers(); // the list and its total are others now
        onDone();
      })
      .catch((problem: ApiError) => setError(problem))
      .finally(() => setBusy(false));
  };
  return (
    <Dialog title={`${words.title} this advice`} open onClose={onClose}>
      <form onSubmit={decide}>
        <div class="dialog-body form">
          {action === "verify" && <p class="muted">Compares what the same work cost before and after the day on which the change took effect. Needs at least a week of bills after that day.</p>}
          {words.day && <TextField type="date" label={words.day.label} hint={words.day.hint} value={day} onValue={setDay} />}
          <TextArea label="Reason" hint={words.needsReason ? "For the record: why it will not be followed." : "Optional, for the record."} value={reason} onValue={setReason} required={words.needsReason ?? false} />
          <FormError error={error} />
        </div>
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="primary" type="submit" busy={busy}>{words.title}</Button>
        </footer>
      </form>
    </Dialog>
  );
}

export function Decide({ parts, month, reload }: { parts: Detail; month: string; reload: () => void }) {
  const { may } = useSession();
  const [asked, ask] = useState<Action>();
  const state = parts.state || "new";
  const next = may("decide_advice") ? NEXT[state] ?? [] : [];
  return (
    <Card title="Decision" note={<Badge tone={TONES[state] ?? "neutral"}>{state}</Badge>}
      actions={next.map((action, index) => (
        <Button key={action} small tone={index === 0 ? "primary" : "plain"} onClick={() => ask(action)}>{WORDS[action].title}…</Button>
      ))}>
      {parts.history.length === 0 ? <p class="muted">Nobody has decided yet.</p> : (
        <ul class="savings-evidence">{parts.history.map((line, index) => <li key={index}>{line}</li>)}</ul>
      )}
      {asked && (
        <Ask action={asked} id={parts.id} month={month} onClose={() => ask(undefined)}
          onDone={() => {
            ask(undefined);
            reload();
          }} />
      )}
    </Card>
  );
}
