// The layout of a page: its head, cards and figures.
import type { ComponentChildren } from "preact";
import type { Explained } from "../pages/explain/address";
import { Why } from "./why";

export function PageHead({ title, children, lead }: {
  title: string;
  lead?: ComponentChildren; // a sentence about the page
  children?: ComponentChildren; // actions, at the right
}) {
  return (
    <header class="page-head">
      <div>
        <h1 tabIndex={-1}>{title}</h1>
        {lead && <p class="lead">{lead}</p>}
      </div>
      {children && <div class="page-actions">{children}</div>}
    </header>
  );
}

export function Card({ title, children, actions, flush = false, note, wide = false }: {
  title?: ComponentChildren;
  note?: ComponentChildren; // small, beside the title
  actions?: ComponentChildren;
  children: ComponentChildren;
  flush?: boolean; // no padding: a table fills the card
  wide?: boolean; // all columns of a grid
}) {
  return (
    <section class={`card${flush ? " card-flush" : ""}${wide ? " wide" : ""}`}>
      {(title || actions) && (
        <header class="card-head">
          {title && (
            <h2>
              {title}
              {note && <small>{note}</small>}
            </h2>
          )}
          {actions && <div class="card-actions">{actions}</div>}
        </header>
      )}
      <div class="card-body">{children}</div>
    </section>
  );
}

// Cards side by side, as many as there is room for.
export function Grid({ children, of = "cards" }: { children: ComponentChildren; of?: "cards" | "figures" }) {
  return <div class={`grid grid-${of}`}>{children}</div>;
}

// One large number, what it is, and how it moved.
export function Figure({ label, value, sub, mark, href, why }: {
  label: string;
  value: ComponentChildren;
  sub?: ComponentChildren;
  mark?: string; // "used", "idle", …: the colour that charts give it
  href?: string;
  why?: Explained; // what the value is, so that it can be explained
}) {
  return (
    <div class="figure">
      <div class="figure-label">
        {mark && <span class={`mark mark-${mark}`} aria-hidden="true" />}
        {href ? <a href={href}>{label}</a> : label}
        {why && <Why of={why} label={label} />}
      </div>
      <div class="figure-value">{value}</div>
      {sub && <div class="figure-sub">{sub}</div>}
    </div>
  );
}

// Names and values, one per line.
export function Facts({ facts }: { facts: [ComponentChildren, ComponentChildren][] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value], i) => (
        <div key={i}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
