// Asks who is signed in to confirm it, when a change needs a fresh sign-in: by password and code, or at
// the OpenID provider in another tab, so that nothing that was typed here is lost.
import { useEffect, useState } from "preact/hooks";
import { address, ApiError, onStaleSignIn, post } from "../api/client";
import { CodeField } from "../components/code_field";
import { Button, LinkButton } from "../components/controls";
import { Dialog } from "../components/dialog";
import { FormError, TextField } from "../components/form";
import { loadSession, useSession } from "./session";

interface Question {
  by: string;
  answer: (isConfirmed: boolean) => void;
}

function ByPassword({ onDone, onOver }: { onDone: () => void; onOver: () => void }) {
  const { user } = useSession();
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  const [needsCode, setNeedsCode] = useState(user?.has_totp ?? false);
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      await post("/session/confirm", { password, ...(code ? { code } : {}) });
      onDone();
    } catch (caught) {
      const problem = caught as ApiError;
      if (problem.problem?.needs === "code") setNeedsCode(true);
      else if (problem.status === 401) onOver();
      else setError(problem);
      setCode("");
    } finally {
      setBusy(false);
    }
  };
  return (
    <form class="form" onSubmit={(event) => void submit(event)}>
      <input type="text" value={user?.name} autoComplete="username" hidden readOnly />
      <TextField label="Your password" type="password" value={password} onValue={setPassword} autoComplete="current-password" autoFocus required />
      {needsCode && <CodeField value={code} onValue={setCode} />}
      <FormError error={error} />
      <Button tone="primary" type="submit" busy={busy} disabled={!password || (needsCode && !code)}>
        Confirm
      </Button>
    </form>
  );
}

function AtProvider({ onDone }: { onDone: () => void }) {
  const { session, user } = useSession();
  const [error, setError] = useState<ApiError>();
  const goOn = async () => {
    setError(undefined);
    try {
      const now = await loadSession();
      // Whoever signed in there is another person: this page is not theirs.
      if (now.user?.name !== user?.name) location.reload();
      else onDone();
    } catch (caught) {
      setError(caught as ApiError);
    }
  };
  return (
    <div class="form">
      <p>Sign in again in another tab, then continue here.</p>
      <div class="row">
        <LinkButton icon="key" href={address("/session/openid", { next: "/account" })} elsewhere>
          Sign in with {session.sign_in.openid?.name ?? "OpenID Connect"}
        </LinkButton>
        <Button tone="primary" onClick={() => void goOn()}>Go on</Button>
      </div>
      <FormError error={error} />
    </div>
  );
}

export function ConfirmSignIn() {
  const { refresh } = useSession();
  const [questions, setQuestions] = useState<Question[]>([]);
  useEffect(
    () =>
      onStaleSignIn(
        (problem) => new Promise((answer) => setQuestions((all) => [...all, { by: problem.by ?? "password", answer }])),
      ),
    [],
  );
  // One answer is for all that wait.
  const end = (isConfirmed: boolean) => {
    for (const question of questions) question.answer(isConfirmed);
    setQuestions([]);
  };
  const first = questions[0];
  return (
    <Dialog title="Is it still you?" open={first !== undefined} onClose={() => end(false)}>
      <div class="dialog-body form">
        <p class="muted">Changes of users, tokens, second factors and months need a recent sign-in.</p>
        {first?.by === "openid"
          ? <AtProvider onDone={() => end(true)} />
          : <ByPassword onDone={() => end(true)} onOver={() => (end(false), void refresh())} />}
      </div>
    </Dialog>
  );
}
