// What a page shows while loading, without data, and after an error.
import { Component, type ComponentChildren } from "preact";
import type { ApiError } from "../api/client";
import { Button, LinkButton } from "./controls";
import { Icon, type IconName } from "./icons";

// An empty state that says what to do next: `command` to type, or `href` of a page that helps.
export function Empty({ icon = "info", title, children, command, action }: {
  icon?: IconName;
  title: string;
  children?: ComponentChildren;
  command?: string;
  action?: { href: string; title: string };
}) {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon name={icon} size={22} />
      </span>
      <h3>{title}</h3>
      {children && <p>{children}</p>}
      {command && <pre class="command">{command}</pre>}
      {action && <LinkButton href={action.href}>{action.title}</LinkButton>}
    </div>
  );
}

export function Skeleton({ lines = 3, height }: { lines?: number; height?: "chart" | "figure" }) {
  if (height) return <div class={`skeleton skeleton-${height}`} aria-hidden="true" />;
  return (
    <div class="skeleton-lines" aria-hidden="true">
      {Array.from({ length: lines }, (_, i) => (
        <div key={i} class="skeleton skeleton-line" />
      ))}
    </div>
  );
}

const TITLES: Record<number, string> = {
  0: "No answer from the server",
  403: "You may not see this",
  404: "Not found",
  429: "Too many requests",
  503: "The server is busy",
};

export function ErrorNote({ error, retry }: { error: ApiError | Error; retry?: (() => void) | undefined }) {
  const status = "status" in error ? error.status : -1;
  return (
    <div class="note note-bad" role="alert">
      <Icon name="warn" />
      <div>
        <strong>{TITLES[status] ?? "Something went wrong"}</strong>
        <p>{error.message}</p>
      </div>
      {retry && (
        <Button small onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  );
}

export function Note({ children, tone = "info" }: { children: ComponentChildren; tone?: "info" | "warn" }) {
  return (
    <div class={`note note-${tone}`}>
      <Icon name={tone === "warn" ? "warn" : "info"} />
      <div>{children}</div>
    </div>
  );
}

// The states of a query: an error, a skeleton, or the data (dimmed while it reloads).
export function Loaded<T>({ query, skeleton, children }: {
  query: { data: T | undefined; error: ApiError | undefined; loading: boolean; reload?: () => void };
  skeleton?: ComponentChildren;
  children: (data: T) => ComponentChildren;
}) {
  if (query.error) return <ErrorNote error={query.error} retry={query.reload} />;
  if (query.data === undefined) {
    return (
      <div role="status" aria-label="Loading">
        {skeleton ?? <Skeleton />}
      </div>
    );
  }
  return (
    <div class={query.loading ? "loaded is-loading" : "loaded"} aria-busy={query.loading}>
      {children(query.data)}
    </div>
  );
}

// Contains the failure of a page.
export class ErrorBoundary extends Component<{ resetKey: string; children: ComponentChildren }, { error?: Error }> {
  override state: { error?: Error } = {};
  static override getDerivedStateFromError(error: Error) {
    return { error };
  }
  override componentDidUpdate(before: { resetKey: string }) {
    if (before.resetKey !== this.props.resetKey && this.state.error) this.setState({ error: undefined });
  }
  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return <ErrorNote error={error} retry={() => this.setState({ error: undefined })} />;
  }
}
