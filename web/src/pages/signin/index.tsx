// Sign-in: name and password, a code if there is a second factor, or the OpenID provider; then a new
// password if the old one was a one-time password.
import { useEffect, useState } from "preact/hooks";
import { address, ApiError, post } from "../../api/client";
import type { Session } from "../../api/types";
import { href } from "../../app/router";
import { useSession } from "../../app/session";
import { CodeField } from "../../components/code_field";
import { Button, LinkButton } from "../../components/controls";
import { FormError, TextField } from "../../components/form";
import { Logo } from "../../components/icons";
import { PasswordForm } from "../account/password";

function nextPath(): string {
  return new URLSearchParams(location.search).get("next") ?? "/home";
}

function Credentials() {
  const { set } = useSession();
  const [user, setUser] = useState("");
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  const [needsCode, setNeedsCode] = useState(false);
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);

  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      set(await post<Session>("/session", { user: user.trim(), password, ...(code ? { code } : {}) }));
    } catch (caught) {
      const problem = caught as ApiError;
      if (problem.problem?.needs === "code" && !needsCode) setNeedsCode(true);
      else setError(problem);
      setCode("");
    } finally {
      setBusy(false);
    }
  };

  return (
    <form class="form" onSubmit={(event) => void submit(event)}>
      {needsCode ? (
        <CodeField value={code} onValue={setCode} focus />
      ) : (
        <>
          <TextField label="Name" value={user} onValue={setUser} autoComplete="username" autoFocus required autoCapitalize="none" spellcheck={false} />
          <TextField label="Password" type="password" value={password} onValue={setPassword} autoComplete="current-password" required />
        </>
      )}
      <FormError error={error} />
      <Button tone="primary" type="submit" busy={busy}>
        {needsCode ? "Confirm" : "Sign in"}
      </Button>
      {needsCode && (
        <Button tone="quiet" onClick={() => (setNeedsCode(false), setError(undefined))}>
          Back
        </Button>
      )}
    </form>
  );
}

function Ways() {
  const { session } = useSession();
  const { password, openid } = session.sign_in;
  return (
    <>
      {openid && (
        <LinkButton tone={password ? "plain" : "primary"} icon="key" href={address("/session/openid", { next: nextPath() })}>
          Sign in with {openid.name}
        </LinkButton>
      )}
      {openid && password && <div class="signin-or">or</div>}
      {password && <Credentials />}
    </>
  );
}

export function SignIn({ isExpired = false }: { isExpired?: boolean }) {
  const { session, refresh, signOut } = useSession();
  const mustChange = Boolean(session.user && session.must_change_password);
  useEffect(() => {
    document.title = "Sign in · pennyweight";
  }, []);
  return (
    <main class="signin">
      <div class="signin-box">
        <header class="signin-head">
          <Logo size={36} />
          <h1>{mustChange ? "Choose a password" : "Sign in to pennyweight"}</h1>
          <p class="muted">
            {mustChange ? "The one-time password was only for the first sign-in." : "Every cent of the GPU bill, and why."}
          </p>
          {isExpired && !mustChange && <p class="signin-expired" role="status">Your session is over. Sign in again to go on where you were.</p>}
        </header>
        <div class="signin-card">
          {mustChange ? <PasswordForm onDone={() => void refresh()} /> : <Ways />}
        </div>
        <p class="signin-foot small muted">
          {mustChange ? (
            <Button tone="quiet" small onClick={() => void signOut().then(() => location.assign(href("/signin")))}>
              Sign out
            </Button>
          ) : (
            <>Version {session.version}</>
          )}
        </p>
      </div>
    </main>
  );
}
