// Shows a password or token, which can't be shown again.
import { Button } from "../../components/controls";
import { Dialog } from "../../components/dialog";
import { toast } from "../../app/toasts";

export interface Secret {
  title: string;
  secret: string;
  hint: string;
}

export function SecretDialog({ secret, onClose }: { secret: Secret | undefined; onClose: () => void }) {
  if (!secret) return null;
  const copy = () =>
    navigator.clipboard
      .writeText(secret.secret)
      .then(() => toast("Copied."))
      .catch(() => toast("The browser does not allow copying; select the text instead.", "bad"));
  return (
    <Dialog title={secret.title} open onClose={onClose}>
      <div class="dialog-body form">
        <p class="muted">{secret.hint}</p>
        <pre class="command secret" tabIndex={0}>{secret.secret}</pre>
      </div>
      <footer class="dialog-foot">
        <Button icon="copy" onClick={copy}>Copy</Button>
        <Button tone="primary" onClick={onClose}>Done</Button>
      </footer>
    </Dialog>
  );
}
