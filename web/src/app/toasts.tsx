// Short messages that disappear by themselves, announced by screen readers: toast("Saved").
import { useEffect, useState } from "preact/hooks";
import { IconButton } from "../components/controls";

interface Toast {
  id: number;
  text: string;
  tone: "plain" | "bad";
}

const STAYS_MS = 6000;
let show: (toast: Toast) => void = () => {};
let count = 0;

export function toast(text: string, tone: Toast["tone"] = "plain"): void {
  show({ id: ++count, text, tone });
}

export function Toasts() {
  const [toasts, set] = useState<Toast[]>([]);
  const close = (id: number) => set((all) => all.filter((one) => one.id !== id));
  useEffect(() => {
    show = (next) => {
      set((all) => [...all.slice(-3), next]);
      setTimeout(() => close(next.id), STAYS_MS);
    };
  }, []);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.map((one) => (
        <div key={one.id} class={`toast toast-${one.tone}`}>
          <span>{one.text}</span>
          <IconButton icon="close" label="Dismiss" onClick={() => close(one.id)} />
        </div>
      ))}
    </div>
  );
}
