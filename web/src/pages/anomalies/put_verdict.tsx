// Says whether unusual days were expected, and why.
import { useState } from "preact/hooks";
import { type ApiError, post } from "../../api/client";
import { toast } from "../../app/toasts";
import { Button, Segments } from "../../components/controls";
import { Dialog } from "../../components/dialog";
import { FormError, TextArea } from "../../components/form";
import { shownKey } from "../../util/text";
import type { Incident } from "./read";

type Answer = "yes" | "no";
const ANSWERS: { key: Answer; title: string }[] = [{ key: "yes", title: "Expected" }, { key: "no", title: "Not expected" }];

export function PutVerdict({ incident, by, impact, onPut, onClose }: { incident: Incident; by: string; impact: string; onPut: () => void; onClose: () => void }) {
  const [answer, choose] = useState<Answer>("yes");
  const [reason, setReason] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const put = (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    post("/anomalies/verdicts", { by, key: incident.key, first: incident.first, impact: Number(impact), expected: answer === "yes", reason: reason.trim() })
      .then(() => {
        toast(answer === "yes" ? "Kept: these days count as expected, and smaller ones like them." : "Kept: days like these stay unusual.");
        onPut();
      })
      .catch((problem: ApiError) => setError(problem))
      .finally(() => setBusy(false));
  };
  return (
    <Dialog title={`Was this expected of ${shownKey(incident.key)}?`} open onClose={onClose}>
      <form onSubmit={put}>
        <div class="dialog-body form">
          <p class="alert-summary">{incident.sentence}</p>
          <Segments label="Answer" chosen={answer} onChoose={choose} options={ANSWERS} />
          <p class="muted small">
            {answer === "yes"
              ? `These days count as expected. For half a year, so does a change of the same direction that is no larger. Where alerts look at unusual days by ${by} (alerts.anomalies_by), none is raised for them.`
              : `Days like these stay unusual, also where something larger was expected before. Where alerts look at unusual days by ${by} (alerts.anomalies_by), they are raised.`}
          </p>
          <TextArea label="Reason" hint="For those who see it later." value={reason} onValue={setReason} />
          <FormError error={error} />
        </div>
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="primary" type="submit" busy={busy}>Keep</Button>
        </footer>
      </form>
    </Dialog>
  );
}
