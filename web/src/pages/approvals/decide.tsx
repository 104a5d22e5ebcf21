// Approves or refuses a request, with a note.
import { useState } from "preact/hooks";
import { post, type ApiError } from "../../api/client";
import type { ApprovalDetail } from "../../api/types";
import { Button } from "../../components/controls";
import { CheckField, FormError, TextArea } from "../../components/form";

export function Decide({ approval, onDecided }: { approval: ApprovalDetail; onDecided: (decided: ApprovalDetail) => void }) {
  const [note, setNote] = useState("");
  const [often, setOften] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const send = (decision: "approve" | "refuse") => {
    setBusy(true);
    setError(undefined);
    post<ApprovalDetail>(`/approvals/${encodeURIComponent(approval.request.id)}/decisions`,
      { decision, note, ...(decision === "approve" && often ? { is_once: false } : {}) })
      .then((decided) => {
        setNote(""); // it was of this decision
        onDecided(decided);
      })
      .catch((problem: ApiError) => setError(problem))
      .finally(() => setBusy(false));
  };
  const waits = approval.state === "pending";
  return (
    <form class="form" onSubmit={(event) => event.preventDefault()}>
      <TextArea label="Note" hint="Why; a refusal needs one." value={note} onValue={setNote} />
      {waits && <CheckField label="It may be used until its end" hint="Otherwise once." checked={often} onChecked={setOften} />}
      <FormError error={error} />
      <footer class="dialog-foot">
        <Button onClick={() => send("refuse")} busy={busy}>{waits ? "Refuse" : "Take back"}</Button>
        {waits && <Button tone="primary" onClick={() => send("approve")} busy={busy}>Approve</Button>}
      </footer>
    </form>
  );
}
