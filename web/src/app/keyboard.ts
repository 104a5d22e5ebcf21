// Keyboard shortcuts of every page: "g" and a letter opens a page, "/" or Ctrl+K searches, "?" shows help.
import { useEffect } from "preact/hooks";

const CHORD_MS = 1200;

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

export interface Keys {
  go: (letter: string) => void;
  search: () => void;
  help: () => void;
  month: (step: number) => void;
}

export function useKeys(keys: Keys): void {
  useEffect(() => {
    let chordAt = -Infinity;
    const onKey = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        keys.search();
        return;
      }
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector("dialog[open]")) return;
      const isChord = event.timeStamp - chordAt < CHORD_MS;
      chordAt = -Infinity;
      if (isChord) keys.go(event.key);
      else if (event.key === "g") chordAt = event.timeStamp;
      else if (event.key === "/") {
        event.preventDefault();
        keys.search();
      } else if (event.key === "?") keys.help();
      else if (event.key === "[") keys.month(-1);
      else if (event.key === "]") keys.month(1);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [keys]);
}
