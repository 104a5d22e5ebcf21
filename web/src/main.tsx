// Starts the dashboard: loads the session, then shows the page of the address.
import { render } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { ApiError, onSignedOut } from "./api/client";
import { onRefused } from "./api/events";
import type { Session } from "./api/types";
import { ConfirmSignIn } from "./app/confirm_sign_in";
import { followLinks, href, navigate, useRoute } from "./app/router";
import { loadSession, SessionContext, sessionState } from "./app/session";
import { Shell } from "./app/shell";
import { Toasts } from "./app/toasts";
import { ErrorNote } from "./components/states";
import { pageAt } from "./pages/registry";
import { SignIn } from "./pages/signin/index";

// Where somebody begins who asked for no page: what their role looks at first.
const HOME = "/home";

function hereOrHome(): string {
  const next = new URLSearchParams(location.search).get("next");
  // Only our own addresses, not "//elsewhere".
  return next && /^\/(?![/\\])/.test(next) ? next : HOME;
}

const SLOW_MS = 4000;

// Until it is known who is signed in: blank for a moment, and not for longer.
function Waiting() {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), SLOW_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <main class="alone" aria-busy="true">
      {isSlow && <p class="muted" role="status">The server is slow to answer. Still waiting.</p>}
    </main>
  );
}

function App() {
  const [session, setSession] = useState<Session>();
  const [error, setError] = useState<ApiError>();
  const [isExpired, setExpired] = useState(false);
  const { path } = useRoute();
  const load = () => {
    setError(undefined);
    loadSession().then(setSession).catch(setError);
  };
  useEffect(() => {
    onSignedOut(() => {
      setExpired(true);
      load();
    });
    // Another tab may have signed out.
    onRefused(load);
    load();
  }, []);
  const set = (next: Session) => {
    setExpired(false);
    setSession(next);
  };
  const state = useMemo(() => session && sessionState(session, set), [session]);
  const isIn = Boolean(session?.user) && !session?.must_change_password;

  useEffect(() => {
    if (!session) return;
    if (isIn && path === "/signin") navigate(hereOrHome(), { replace: true });
    if (!session.user && path !== "/signin") {
      const here = location.pathname + location.search;
      navigate(href("/signin", { next: here === "/" ? null : here }), { replace: true });
    }
  }, [isIn, session, path]);

  if (error && !session) {
    return (
      <main class="alone">
        <ErrorNote error={error} retry={load} />
      </main>
    );
  }
  if (!state) return <Waiting />;
  return (
    <SessionContext.Provider value={state}>
      {isIn ? <Shell /> : <SignIn isExpired={isExpired && !session?.user} />}
      <ConfirmSignIn />
      <Toasts />
    </SessionContext.Provider>
  );
}

followLinks();
// The page's code loads while the session is being requested.
void pageAt(location.pathname)?.load().catch(() => undefined);
const root = document.getElementById("app");
if (root) render(<App />, root);
