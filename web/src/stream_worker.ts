// The one stream of server-sent events that all tabs of a browser share, in a SharedWorker: a browser opens
// no more than six connections to a server over HTTP/1.1, and a stream in each tab would take them all.
//
// A tab says "on" while it is shown and wants events, else "off". The stream is open while any tab does.
// Tabs receive StreamMessage objects. events.ts is the other side.

export interface StreamMessage {
  connected?: boolean;
  refused?: boolean; // the server answered with something else than a stream: the session may be over
  name?: string; // of an event
  data?: string;
}

interface Port {
  onmessage: ((event: { data: unknown }) => void) | null;
  postMessage: (message: StreamMessage) => void;
}

const NAMES = ["live", "rollup"];
const AGAIN_MS = 5000;

const tabs = new Set<Port>();
const last = new Map<string, string>(); // data of the latest event of each name
let source: EventSource | undefined;

function tell(message: StreamMessage): void {
  for (const tab of tabs) tab.postMessage(message);
}

function close(): void {
  source?.close();
  source = undefined;
  last.clear();
}

function open(): void {
  if (source || tabs.size === 0) return;
  const opened = (source = new EventSource("/api/v1/events"));
  opened.onopen = () => tell({ connected: true });
  opened.onerror = () => {
    last.clear();
    tell({ connected: false });
    if (opened.readyState !== EventSource.CLOSED) return; // the browser tries again by itself
    close();
    tell({ refused: true });
    setTimeout(open, AGAIN_MS);
  };
  for (const name of NAMES) {
    opened.addEventListener(name, (event) => {
      const { data } = event as MessageEvent<string>;
      last.set(name, data);
      tell({ name, data });
    });
  }
}

function join(tab: Port): void {
  tabs.add(tab);
  if (source?.readyState === EventSource.OPEN) {
    tab.postMessage({ connected: true });
    for (const [name, data] of last) tab.postMessage({ name, data });
  }
  open();
}

function leave(tab: Port): void {
  tabs.delete(tab);
  if (tabs.size === 0) close();
}

(self as unknown as { onconnect: (event: { ports: Port[] }) => void }).onconnect = ({ ports: [port] }) => {
  if (port) port.onmessage = ({ data }) => (data === "on" ? join(port) : leave(port));
};
