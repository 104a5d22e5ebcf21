// What happened to the figures of both periods, on one lane: bills, restatements, new nodes, another policy or price
// list, and closes; each at the time when the ledger learnt of it.
import { usePages } from "../../api/hooks";
import { href } from "../../app/router";
import { useSession } from "../../app/session";
import { Card } from "../../components/card";
import { addMonths, instant, localTime, monthName, plural } from "../../util/text";
import type { Import, Period, Run } from "../bills/types";

export interface LedgerEvent {
  at: string;
  kind: "bill" | "restated" | "nodes" | "policy" | "prices" | "closed";
  said: string;
  href: string;
}

const KINDS: Record<LedgerEvent["kind"], string> = { bill: "Bill", restated: "Restated", nodes: "New nodes", policy: "Policy", prices: "Prices", closed: "Closed" };
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

export function eventsOf(imports: Import[], runs: Run[], periods: Period[], months: string[]): LedgerEvent[] {
  const closed = periods.filter((one) => one.closed_at !== null && months.includes(one.month))
    .map((one): LedgerEvent => ({ at: one.closed_at ?? "", kind: "closed", said: `${monthName(one.month)}${one.closed_by ? `, by ${one.closed_by}` : ""}`, href: href("/bills", { tab: "periods" }) }));
  return [...imports.filter((one) => monthsOf(one).some((month) => months.includes(month))).flatMap(ofImport), ...ofRuns(runs), ...closed].sort((a, b) => b.at.localeCompare(a.at));
}

// For those who may see the books; scoped users may not.
export function Events({ months }: { months: [string, string] }) {
  const { may, user } = useSession();
  const isAllowed = may("read_bills") && may("read_rules") && (user?.scope.length ?? 0) === 0;
  const imports = usePages<Import>(isAllowed ? "/imports" : null, { limit: 200 });
  const periods = usePages<Period>(isAllowed ? "/periods" : null, { limit: 200 });
  const now = usePages<Run>(isAllowed ? "/runs" : null, { month: months[0], limit: 100 });
  const before = usePages<Run>(isAllowed && months[1] !== months[0] ? "/runs" : null, { month: months[1], limit: 100 });
  if (!isAllowed) return null;
  const events = eventsOf(imports.rows, [...now.rows, ...before.rows], periods.rows, months);
  if (events.length === 0) return null;
  const times = events.map((one) => Date.parse(one.at));
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const place = (at: string) => (last > first ? ((Date.parse(at) - first) / (last - first)) * 100 : 50);
  return (
    <Card title="What happened meanwhile" note="when the ledger learnt of it">
      <div class="lane" aria-hidden="true">
        {events.map((one, i) => <span key={i} class={`lane-mark lane-${one.kind}`} style={{ left: `${place(one.at)}%` }} title={`${KINDS[one.kind]}: ${one.said}, ${instant(one.at)}`} />)}
      </div>
      <ul class="lane-list">
        {events.slice(0, SHOWN).map((one, i) => (
          <li key={i}>
            <span class={`lane-key lane-${one.kind}`} aria-hidden="true" />
            <strong>{KINDS[one.kind]}</strong>
            <a href={one.href} class="cut" title={one.said}>{one.said}</a>
            <time class="muted small" dateTime={one.at} title={localTime(one.at)}>{instant(one.at)}</time>
          </li>
        ))}
      </ul>
      {events.length > SHOWN && <p class="muted small">and {events.length - SHOWN} earlier ones: see <a href={href("/bills", { tab: "imports" })}>Imports</a></p>}
    </Card>
  );
}
