// The server's events: one stream for all tabs (stream_worker.ts), and none while no tab is shown. Where the
// browser has no SharedWorker, each tab has a stream of its own while it is shown.
import { useEffect, useState } from "preact/hooks";
import type { StreamMessage } from "../stream_worker";
import { doubt } from "./connection";
import type { LiveNow } from "./types";

type Handler = (data: unknown) => void;

interface Stream {
  on: () => void;
  off: () => void;
}

const handlers = new Map<string, Set<Handler>>();
const states = new Set<(connected: boolean) => void>();
let stream: Stream | undefined;
let isOn = false;
let connected = false;
let version: unknown; // of the costs that the page has seen
let refused: () => void = () => {};

// Called when the server refuses the stream, as it does when a session is over.
export function onRefused(then: () => void): void {
  refused = then;
}

function setConnected(now: boolean): void {
  connected = now;
  document.documentElement.dataset["events"] = now ? "on" : "off";
  for (const state of states) state(now);
}

function receive({ connected: now, refused: isRefused, name, data }: StreamMessage): void {
  if (now === false && connected) doubt();
  if (now !== undefined) setConnected(now);
  if (isRefused) refused();
  if (name === undefined || data === undefined) return;
  const value = JSON.parse(data) as unknown;
  // Each stream begins with the version of the costs; it is news only if it differs from the page's.
  if (name === "rollup") {
    const { version: next } = value as { version: unknown };
    const isNews = version !== undefined && next !== version;
    version = next;
    if (!isNews) return;
  }
  for (const handler of [...(handlers.get(name) ?? [])]) handler(value);
}

function sharedStream(): Stream {
  const { port } = new SharedWorker("/stream.js", { name: "pennyweight events 1" });
  port.onmessage = (event: MessageEvent<StreamMessage>) => {
    if (isOn) receive(event.data);
  };
  return { on: () => port.postMessage("on"), off: () => port.postMessage("off") };
}

function ownStream(): Stream {
  let source: EventSource | undefined;
  return {
    on: () => {
      const opened = (source = new EventSource("/api/v1/events"));
      opened.onopen = () => receive({ connected: true });
      opened.onerror = () => receive({ connected: false, refused: opened.readyState === EventSource.CLOSED });
      for (const name of ["live", "rollup"]) {
        opened.addEventListener(name, (event) => receive({ name, data: (event as MessageEvent<string>).data }));
      }
    },
    off: () => source?.close(),
  };
}

// Opens or closes the stream, as the page is shown and listens.
function update(isGone = false): void {
  const listens = [...handlers.values()].some((one) => one.size > 0);
  const wanted = listens && !isGone && document.visibilityState === "visible";
  if (wanted === isOn) return;
  isOn = wanted;
  stream ??= typeof SharedWorker === "undefined" ? ownStream() : sharedStream();
  if (wanted) stream.on();
  else stream.off();
}

// A page that the browser keeps for "back" must not hold a connection.
addEventListener("pagehide", () => update(true));
addEventListener("pageshow", () => update());
document.addEventListener("visibilitychange", () => update());

// Returns a function that stops listening.
export function listen(name: string, handler: Handler): () => void {
  const set = handlers.get(name) ?? new Set<Handler>();
  handlers.set(name, set.add(handler));
  update();
  return () => {
    set.delete(handler);
    // From one page to the next there is a moment without listeners.
    setTimeout(() => update(), 1000);
  };
}

// Null: it listens to nothing, as for who may not see the stream.
export function useEvent(name: "live" | "rollup" | null, handler: Handler): void {
  useEffect(() => (name === null ? undefined : listen(name, handler)), [name, handler]);
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
