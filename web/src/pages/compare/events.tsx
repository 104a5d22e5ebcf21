// What happened to the figures of both periods, on one lane: bills, restatements, new nodes, another policy or price
// list, and closes, each at the time when the ledger learnt of it; and what people wrote beside days of theirs.
import { usePages } from "../../api/hooks";
import type { Annotation } from "../../api/types";
import { href } from "../../app/router";
import { useSession } from "../../app/session";
import { Card } from "../../components/card";
import { addMonths, instant, localTime, monthName, plural } from "../../util/text";
import type { Import, Period, Run } from "../bills/types";
import { Annotate, AnnotationText, daysOfAnnotation, useAnnotations } from "./annotations";

export interface LedgerEvent {
  at: string;
  kind: "bill" | "restated" | "nodes" | "policy" | "prices" | "closed" | "annotation";
  said: string;
  href: string;
  annotation?: Annotation;
}

const KINDS: Record<LedgerEvent["kind"], string> = { bill: "Bill", restated: "Restated", nodes: "New nodes", policy: "Policy", prices: "Prices", closed: "Closed", annotation: "Annotation" };
const SHOWN = 12;

function ofImport(one: Import): LedgerEvent[] {
  const to = href("/bills", { tab: "imports" });
  const events: LedgerEvent[] = [];
  const { removed = 0, reversed = 0, late = 0 } = one.restated ?? {};
  if (removed + reversed + late > 0) {
    const parts = [removed > 0 && `${plural(removed, "line")} taken back`, reversed > 0 && `${plural(reversed, "line")} of a closed month reversed`, late > 0 && `${plural(late, "line")} booked late`];
    events.push({ at: one.at, kind: "restated", said: `${one.name}: ${parts.filter(Boolean).join(", ")}`, href: href("/bills", { tab: "restatements" }) });
  } else if (one.charges > 0) {
    events.push({ at: one.at, kind: "bill", said: `${one.name}: ${plural(one.charges, "bill line")}`, href: to });
  }
  if (one.nodes > 0) events.push({ at: one.at, kind: "nodes", said: `${one.name}: ${plural(one.nodes, "node")}`, href: to });
  return events;
}

// An import that is no bill does not say which month it is meant for: that in which it came, or the one before.
const monthsOf = (one: Import) => {
  const came = one.at.slice(0, 7);
  return one.months.length > 0 ? one.months : [came, addMonths(came, -1)];
};

// Runs by another policy, or another version of prices and GPU models, than the run before of the same cluster and
// month.
function ofRuns(runs: Run[]): LedgerEvent[] {
  const events: LedgerEvent[] = [];
  const before = new Map<string, Run>();
  for (const run of [...runs].sort((a, b) => a.at.localeCompare(b.at) || a.number - b.number)) {
    const key = `${run.month} ${run.cluster}`;
    const last = before.get(key);
    before.set(key, run);
    if (!last) continue;
    for (const [kind, version, previous] of [["policy", run.policy_version, last.policy_version], ["prices", run.catalog_version, last.catalog_version]] as const) {
      if (version !== previous) events.push({ at: run.at, kind, said: `${kind === "policy" ? "another policy" : "another list of prices and GPU models"} for ${monthName(run.month)}`, href: kind === "policy" ? href("/policies", { version }) : href("/bills", { tab: "runs", month: run.month }) });
    }
  }
  return events;
}

// What people wrote is of days, not of the time when they wrote it: it stands at the first day's noon.
function ofAnnotations(annotations: Annotation[]): LedgerEvent[] {
  return annotations.map((one) => ({ at: `${one.first}T12:00:00Z`, kind: "annotation", said: one.text, href: "", annotation: one }));
}

export function eventsOf(imports: Import[], runs: Run[], periods: Period[], months: string[], annotations: Annotation[] = []): LedgerEvent[] {
  const closed = periods.filter((one) => one.closed_at !== null && months.includes(one.month))
    .map((one): LedgerEvent => ({ at: one.closed_at ?? "", kind: "closed", said: `${monthName(one.month)}${one.closed_by ? `, by ${one.closed_by}` : ""}`, href: href("/bills", { tab: "periods" }) }));
  return [...imports.filter((one) => monthsOf(one).some((month) => months.includes(month))).flatMap(ofImport), ...ofRuns(runs), ...closed, ...ofAnnotations(annotations)].sort((a, b) => b.at.localeCompare(a.at));
}

// Those to list: what people wrote, and the newest of the rest.
export function listed(events: LedgerEvent[], most = SHOWN): LedgerEvent[] {
  const rest = events.filter((one) => !one.annotation).slice(0, most);
  return events.filter((one) => one.annotation || rest.includes(one));
}

interface Span {
  from: string;
  to: string;
}
const isWithin = (one: Annotation, span: Span) => one.first <= span.to && one.last >= span.from;

// The ledger's events are for those who may see the books; scoped users may not.
export function Events({ now: shown, before: other, filter }: { now: Span; before: Span; filter: string[] }) {
  const { may, user } = useSession();
  const months = [shown.from.slice(0, 7), other.from.slice(0, 7)];
  const isAllowed = may("read_bills") && may("read_rules") && (user?.scope.length ?? 0) === 0;
  const imports = usePages<Import>(isAllowed ? "/imports" : null, { limit: 200 });
  const periods = usePages<Period>(isAllowed ? "/periods" : null, { limit: 200 });
  const now = usePages<Run>(isAllowed ? "/runs" : null, { month: months[0], limit: 100 });
  const before = usePages<Run>(isAllowed && months[1] !== months[0] ? "/runs" : null, { month: months[1], limit: 100 });
  const annotations = useAnnotations(...([shown.from, other.from, shown.to, other.to].sort().filter((_, i) => i % 3 === 0) as [string, string]));
  const events = eventsOf(imports.rows, [...now.rows, ...before.rows], periods.rows, months, annotations.rows.filter((one) => isWithin(one, shown) || isWithin(one, other)));
  if (events.length === 0 && !may("manage_budgets")) return null;
  const times = events.map((one) => Date.parse(one.at));
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const place = (at: string) => (last > first ? ((Date.parse(at) - first) / (last - first)) * 100 : 50);
  const list = listed(events);
  return (
    <Card title="What happened meanwhile" note="when the ledger learnt of it; annotations by their days"
      actions={<Annotate first={shown.from} last={shown.to} filter={filter} onWritten={annotations.reload} />}>
      {events.length === 0 && <p class="muted">Nothing is known of these days. Annotate them for those who see these costs later.</p>}
      {events.length > 0 && (
        <div class="lane" aria-hidden="true">
          {events.map((one, i) => <span key={i} class={`lane-mark lane-${one.kind}`} style={{ left: `${place(one.at)}%` }} title={`${KINDS[one.kind]}: ${one.said}, ${one.annotation ? daysOfAnnotation(one.annotation) : instant(one.at)}`} />)}
        </div>
      )}
      <ul class="lane-list">
        {list.map((one, i) => (
          <li key={one.annotation?.id ?? i}>
            <span class={`lane-key lane-${one.kind}`} aria-hidden="true" />
            <strong>{KINDS[one.kind]}</strong>
            {one.annotation ? <AnnotationText of={one.annotation} onRemoved={annotations.reload} /> : <a href={one.href} class="cut" title={one.said}>{one.said}</a>}
            {one.annotation ? <span class="muted small">{daysOfAnnotation(one.annotation)}</span>
              : <time class="muted small" dateTime={one.at} title={localTime(one.at)}>{instant(one.at)}</time>}
          </li>
        ))}
      </ul>
      {events.length > list.length && <p class="muted small">and {events.length - list.length} earlier ones: see <a href={href("/bills", { tab: "imports" })}>Imports</a></p>}
    </Card>
  );
}
