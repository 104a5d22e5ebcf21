// Buttons, badges, tabs, chips and meters.
import type { ComponentChildren, JSX } from "preact";
import { fileName } from "../api/client";
import { Icon, type IconName } from "./icons";

type Press = JSX.MouseEventHandler<HTMLButtonElement>;

export interface ButtonProps {
  children: ComponentChildren;
  onClick?: Press;
  tone?: "plain" | "primary" | "danger" | "quiet";
  icon?: IconName;
  type?: "button" | "submit";
  disabled?: boolean;
  busy?: boolean;
  small?: boolean;
  label?: string; // if the text alone does not tell
  pressed?: boolean;
  expanded?: boolean;
}

export function Button(props: ButtonProps) {
  const { tone = "plain", icon, type = "button", busy = false, small = false } = props;
  return (
    <button
      class={`button button-${tone}${small ? " button-small" : ""}`}
      type={type}
      onClick={props.onClick}
      disabled={props.disabled || busy}
      aria-busy={busy || undefined}
      aria-label={props.label}
      aria-pressed={props.pressed}
      aria-expanded={props.expanded}
    >
      {icon && <Icon name={icon} />}
      {props.children}
    </button>
  );
}

export function LinkButton(props: {
  href: string;
  children: ComponentChildren;
  icon?: IconName;
  tone?: "plain" | "primary" | "quiet";
  download?: boolean | string;
  small?: boolean;
  elsewhere?: boolean; // in another tab
}) {
  const { tone = "plain", small = false } = props;
  return (
    <a
      class={`button button-${tone}${small ? " button-small" : ""}`}
      href={props.href}
      target={props.elsewhere ? "_blank" : undefined}
      // A browser would take "true" for a file name.
      download={props.download === true ? fileName(props.href) : props.download}
    >
      {props.icon && <Icon name={props.icon} />}
      {props.children}
    </a>
  );
}

export function IconButton(props: {
  icon: IconName;
  label: string;
  onClick?: Press;
  pressed?: boolean;
  expanded?: boolean;
  disabled?: boolean;
}) {
  return (
    <button
      class="icon-button"
      type="button"
      onClick={props.onClick}
      disabled={props.disabled}
      aria-label={props.label}
      title={props.label}
      aria-pressed={props.pressed}
      aria-expanded={props.expanded}
    >
      <Icon name={props.icon} />
    </button>
  );
}

export type Tone = "neutral" | "good" | "warn" | "bad" | "accent";

export function Badge({ children, tone = "neutral", title }: {
  children: ComponentChildren;
  tone?: Tone;
  title?: string;
}) {
  return (
    <span class={`badge badge-${tone}`} title={title}>
      {children}
    </span>
  );
}

export interface Tab {
  key: string;
  title: string;
  count?: number;
}

// A choice of views; the page keeps the chosen one, best in its address.
export function Tabs({ tabs, chosen, onChoose, label }: {
  tabs: Tab[];
  chosen: string;
  onChoose: (key: string) => void;
  label: string;
}) {
  const move = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const index = tabs.findIndex((tab) => tab.key === chosen);
    const next = tabs[(index + step + tabs.length) % tabs.length];
    if (!next) return;
    onChoose(next.key);
    const list = event.currentTarget as HTMLElement;
    requestAnimationFrame(() => list.querySelector<HTMLElement>('[aria-selected="true"]')?.focus());
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
      {tabs.map((tab) => (
        <button
          key={tab.key}
          class="tab"
          type="button"
          role="tab"
          aria-selected={tab.key === chosen}
          tabIndex={tab.key === chosen ? 0 : -1}
          onClick={() => onChoose(tab.key)}
        >
          {tab.title}
          {tab.count !== undefined && <span class="tab-count">{tab.count.toLocaleString("en")}</span>}
        </button>
      ))}
    </div>
  );
}

// A choice of one of a few options, side by side.
export function Segments<K extends string>({ options, chosen, onChoose, label }: {
  options: { key: K; title: string; icon?: IconName }[];
  chosen: K;
  onChoose: (key: K) => void;
  label: string;
}) {
  return (
    <div class="segments" role="group" aria-label={label}>
      {options.map((option) => (
        <button
          key={option.key}
          type="button"
          class="segment"
          aria-pressed={option.key === chosen}
          onClick={() => onChoose(option.key)}
          title={option.icon ? option.title : undefined}
          aria-label={option.icon ? option.title : undefined}
        >
          {option.icon ? <Icon name={option.icon} /> : option.title}
        </button>
      ))}
    </div>
  );
}

export function Chip({ children, onRemove, removeLabel }: {
  children: ComponentChildren;
  onRemove?: () => void;
  removeLabel?: string;
}) {
  return (
    <span class="chip">
      <span class="chip-text">{children}</span>
      {onRemove && (
        <button class="chip-remove" type="button" onClick={onRemove} aria-label={removeLabel ?? "Remove"}>
          <Icon name="close" size={12} />
        </button>
      )}
    </span>
  );
}

// A share as a bar, from 0 to 100.
export function Meter({ percent, tone = "accent", label }: {
  percent: number | null;
  tone?: Tone;
  label?: string;
}) {
  const width = Math.max(0, Math.min(100, percent ?? 0));
  return (
    <span
      class={`meter meter-${tone}`}
      role={label ? "img" : undefined}
      aria-label={label}
      aria-hidden={label ? undefined : "true"}
    >
      <span class="meter-fill" style={{ width: `${width}%` }} />
    </span>
  );
}
