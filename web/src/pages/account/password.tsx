// The form of a new password: of one's own, or the one that must follow a one-time password.
import { useState } from "preact/hooks";
import { ApiError, put } from "../../api/client";
import { Button } from "../../components/controls";
import { FormError, TextField } from "../../components/form";

const LEAST = 12; // characters; the server holds to it too

export function PasswordForm({ onDone }: { onDone: () => void }) {
  const [old, setOld] = useState("");
  const [first, setFirst] = useState("");
  const [second, setSecond] = useState("");
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const isShort = first !== "" && first.length < LEAST;
  const differs = second !== "" && second !== first;

  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      await put("/session/password", { old, new: first });
      setOld("");
      setFirst("");
      setSecond("");
      onDone();
    } catch (caught) {
      setError(caught as ApiError);
    } finally {
      setBusy(false);
    }
  };

  return (
    <form class="form" onSubmit={(event) => void submit(event)}>
      <TextField label="Present password" type="password" value={old} onValue={setOld} autoComplete="current-password" required />
      <TextField
        label="New password"
        type="password"
        value={first}
        onValue={setFirst}
        autoComplete="new-password"
        hint={`At least ${LEAST} characters; a few words that only you would put together are good.`}
        error={isShort ? `At least ${LEAST} characters; ${LEAST - first.length} more.` : undefined}
        required
      />
      <TextField
        label="New password, again"
        type="password"
        value={second}
        onValue={setSecond}
        autoComplete="new-password"
        error={differs ? "The two are not the same." : undefined}
        required
      />
      <FormError error={error} />
      <Button tone="primary" type="submit" busy={busy} disabled={first.length < LEAST || first !== second || !old}>
        Change password
      </Button>
    </form>
  );
}
