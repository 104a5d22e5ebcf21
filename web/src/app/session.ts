// Who is signed in, for all pages: loaded once, and again after a sign-in or sign-out.
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { forgetAnswers, get, remove, setCsrf } from "../api/client";
import type { Permission, Session, SessionUser } from "../api/types";

export interface SessionState {
  session: Session;
  user: SessionUser | null;
  // Whether the server would let the user do it; it checks again itself.
  may: (permission: Permission) => boolean;
  set: (session: Session) => void;
  refresh: () => Promise<void>;
  signOut: () => Promise<void>;
}

export const SessionContext = createContext<SessionState | null>(null);

export function useSession(): SessionState {
  const state = useContext(SessionContext);
  if (!state) throw new Error("pages are used inside the shell");
  return state;
}

export async function loadSession(): Promise<Session> {
  const session = await get<Session>("/session");
  setCsrf(session.csrf ?? "");
  return session;
}

export function sessionState(session: Session, set: (session: Session) => void): SessionState {
  const accept = (next: Session) => {
    setCsrf(next.csrf ?? "");
    if (!next.user) forgetAnswers();
    set(next);
  };
  return {
    session,
    user: session.user,
    may: (permission) => session.permissions?.includes(permission) ?? false,
    set: accept,
    refresh: async () => accept(await loadSession()),
    signOut: async () => {
      await remove("/session");
      accept(await loadSession());
    },
  };
}
