// A list of steps, each done, open, or not known yet, with the way to do it.
import type { ComponentChildren } from "preact";
import { Badge } from "../../components/controls";
import { Icon } from "../../components/icons";

export interface Check {
  title: string;
  state: "done" | "open" | "later" | "asking"; // later: nothing to do about it now
  said: ComponentChildren; // what is known
  href?: string; // where it is done
  command?: string; // what to type
}

const WORDS = { done: "done", open: "to do", later: "later", asking: "…" } as const;
const TONES = { done: "good", open: "warn", later: "neutral", asking: "neutral" } as const;

export function Checklist({ checks }: { checks: Check[] }) {
  return (
    <ol class="todo-list">
      {checks.map(({ title, state, said, href, command }) => (
        <li key={title} class={`todo todo-${state}`}>
          <span class="todo-mark" aria-hidden="true"><Icon name={state === "done" ? "check" : "right"} size={14} /></span>
          <div>
            <strong>{href ? <a href={href}>{title}</a> : title}</strong>
            <p class="muted small">{said}</p>
            {state === "open" && command && <pre class="command">{command}</pre>}
          </div>
          <Badge tone={TONES[state]}>{WORDS[state]}</Badge>
        </li>
      ))}
    </ol>
  );
}
