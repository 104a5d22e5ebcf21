// Puts a silence: which rule, of what, until which day, and why.
import { useState } from "preact/hooks";
import type { ApiError } from "../../api/client";
import type { AlertSilence } from "../../api/types";
import { Button } from "../../components/controls";
import { Dialog } from "../../components/dialog";
import { FormError, SelectField, TextArea, TextField } from "../../components/form";
import { words } from "../../util/text";

export function PutSilence({ rule, scope, rules, send, onPut, onClose }: {
  rule: string;
  scope: string;
  rules: string[];
  send: (body: Record<string, string>) => Promise<AlertSilence>;
  onPut: (put: AlertSilence) => void;
  onClose: () => void;
}) {
  const [which, setRule] = useState(rule);
  const [of, setOf] = useState(scope);
  const [to, setTo] = useState("");
  const [reason, setReason] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const put = (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    send({ ...(which ? { rule: which } : {}), ...(of ? { scope: of } : {}), to, reason })
      .then(onPut)
      .catch((problem: ApiError) => setError(problem))
      .finally(() => setBusy(false));
  };
  return (
    <Dialog title="Silence alerts" open onClose={onClose}>
      <form onSubmit={put}>
        <div class="dialog-body form">
          <p class="muted">Nobody is told of them until the last day is over. They stay on this page, and receivers are told afterwards if they still hold.</p>
          <SelectField label="Rule" value={which} onValue={setRule}
            options={[{ value: "", title: "Any" }, ...rules.map((one) => ({ value: one, title: words(one) }))]} />
          <TextField label="Of" hint="A budget, team, workload, node or cluster, as the alert names it. Empty: of everything." value={of} onValue={setOf} />
          <TextField type="date" label="Last day" value={to} onValue={setTo} required />
          <TextArea label="Reason" hint="For those who wonder why they heard nothing." value={reason} onValue={setReason} required />
          <FormError error={error} />
        </div>
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="primary" type="submit" busy={busy}>Silence</Button>
        </footer>
      </form>
    </Dialog>
  );
}
