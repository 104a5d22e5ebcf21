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
        toast(answer === "yes" ? "Kept: nobody is told of these days, nor of smaller ones like them." : "Kept: people are told of days like these.");
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
              ? "No alert is raised for these days. For half a year, a change of the same direction that is no larger is expected too."
              : "Days like these raise alerts, also where something larger was expected before."}
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
