// The form for a new password, by choice or after a one-time password.
import { useState } from "preact/hooks";
import { ApiError, put } from "../../api/client";
import { Button } from "../../components/controls";
import { FormError, TextField } from "../../components/form";

const LEAST = 12; // characters; the server checks it as well

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
      <TextField label="Current password" type="password" value={old} onValue={setOld} autoComplete="current-password" required />
      <TextField
        label="New password"
        type="password"
        value={first}
        onValue={setFirst}
        autoComplete="new-password"
        hint={`At least ${LEAST} characters; a few unrelated words work well.`}
        error={isShort ? `At least ${LEAST} characters; ${LEAST - first.length} more.` : undefined}
        required
      />
      <TextField
        label="New password, again"
        type="password"
        value={second}
        onValue={setSecond}
        autoComplete="new-password"
        error={differs ? "The passwords differ." : undefined}
        required
      />
      <FormError error={error} />
      <Button tone="primary" type="submit" busy={busy} disabled={first.length < LEAST || first !== second || !old}>
        Change password
      </Button>
    </form>
  );
}
