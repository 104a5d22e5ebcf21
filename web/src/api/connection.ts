// Whether the server answers. While it does not, pages keep what they show, and it is asked again and again.
import { useEffect, useState } from "preact/hooks";

const AGAIN_MS = 3000;

const watchers = new Set<() => void>();
const returns = new Set<() => void>();
let awaySince: Date | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

async function look(): Promise<void> {
  timer = undefined;
  try {
    const { status } = await fetch("/api/v1/session", { credentials: "same-origin", cache: "no-store" });
    if (status < 500) return answered();
  } catch {
    // still away
  }
  lost();
}

// A request had no answer.
export function lost(): void {
  timer ??= setTimeout(() => void look(), AGAIN_MS);
  if (awaySince) return;
  awaySince = new Date();
  for (const watcher of [...watchers]) watcher();
}

export function answered(): void {
  if (!awaySince) return;
  awaySince = undefined;
  clearTimeout(timer);
  timer = undefined;
  for (const watcher of [...watchers]) watcher();
  for (const back of [...returns]) back();
}

// The stream of events ended: the server may be away.
export function doubt(): void {
  if (!awaySince && timer === undefined) void look();
}

export function isAway(): boolean {
  return awaySince !== undefined;
}

// Since when there is no answer; nothing: there is.
export function useAway(): Date | undefined {
  const [since, set] = useState(awaySince);
  useEffect(() => {
    const watcher = () => set(awaySince);
    watchers.add(watcher);
    watcher();
    return () => void watchers.delete(watcher);
  }, []);
  return since;
}

// Runs `again` when the server is back.
export function useReturn(again: () => void): void {
  useEffect(() => {
    returns.add(again);
    return () => void returns.delete(again);
  }, [again]);
}
