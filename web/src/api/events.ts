// The server's events: one connection for all listeners, closed when there are none.
import { useEffect, useState } from "preact/hooks";
import type { LiveNow } from "./types";

type Handler = (data: unknown) => void;

const handlers = new Map<string, Set<Handler>>();
const states = new Set<(connected: boolean) => void>();
let source: EventSource | undefined;
let connected = false;

function setConnected(now: boolean): void {
  connected = now;
  for (const state of states) state(now);
}

function attach(name: string): void {
  source?.addEventListener(name, (event) => {
    const data = JSON.parse((event as MessageEvent<string>).data) as unknown;
    for (const handler of [...(handlers.get(name) ?? [])]) handler(data);
  });
}

function open(): void {
  source = new EventSource("/api/v1/events");
  source.onopen = () => setConnected(true);
  source.onerror = () => setConnected(false); // the browser tries again by itself
  for (const name of handlers.keys()) attach(name);
}

// Returns a function that stops listening.
export function listen(name: string, handler: Handler): () => void {
  const isNew = !handlers.has(name);
  const set = handlers.get(name) ?? new Set<Handler>();
  handlers.set(name, set.add(handler));
  if (!source) open();
  else if (isNew) attach(name);
  return () => {
    set.delete(handler);
    if ([...handlers.values()].every((one) => one.size === 0)) {
      source?.close();
      source = undefined;
      handlers.clear();
      connected = false;
    }
  };
}

export function useEvent(name: "live" | "rollup", handler: Handler): void {
  useEffect(() => listen(name, handler), [name, handler]);
}

// The latest "live" event, and whether the connection is up.
export function useLive(): { now: LiveNow | undefined; connected: boolean } {
  const [now, setNow] = useState<LiveNow>();
  const [isConnected, setState] = useState(connected);
  useEffect(() => {
    states.add(setState);
    const stop = listen("live", (data) => setNow(data as LiveNow));
    return () => {
      states.delete(setState);
      stop();
    };
  }, []);
  return { now, connected: isConnected };
}
