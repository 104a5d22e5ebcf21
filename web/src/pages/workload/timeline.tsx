// Attempts over time, one below the other: when each ran, on which devices, and how it ended.
import type { Attempt } from "../../api/types";
import { Card } from "../../components/card";
import { Badge, type Tone } from "../../components/controls";
import { Empty } from "../../components/states";
import { Table, type Column } from "../../components/table";
import { dayShort, duration, instant, localTime, plural } from "../../util/text";

const SHOWN = 40; // bars; the table has all

const TONES: [RegExp, Tone][] = [
  [/^(completed|succeeded|done|success)/i, "good"],
  [/^(failed|error|oom|out_of_memory|node_fail|timeout|boot_fail|deadline)/i, "bad"],
  [/^(preempted|cancel|evicted|requeued|suspended)/i, "warn"],
];

function toneOf(attempt: Attempt): Tone {
  if (attempt.to === null && !attempt.ended) return "accent";
  return TONES.find(([pattern]) => pattern.test(attempt.ended))?.[1] ?? "neutral";
}

function endOf(attempt: Attempt): string {
  return attempt.ended || (attempt.to === null ? "running" : "ended");
}

function span(attempts: Attempt[]): { from: number; to: number } {
  const froms = attempts.map((one) => Date.parse(one.from));
  const ends = attempts.map((one) => Date.parse(one.to ?? one.from));
  const isOpen = attempts.some((one) => one.to === null);
  const [from, last] = [Math.min(...froms), Math.max(...ends, ...froms)];
  // A running attempt is drawn a little beyond the last known time, not up to now, which may be far off.
  const to = isOpen ? last + Math.max((last - from) * 0.25, 3_600_000) : last;
  return { from, to: to > from ? to : from + 1 };
}

function Bars({ attempts }: { attempts: Attempt[] }) {
  const { from, to } = span(attempts);
  const part = (at: number) => ((at - from) / (to - from)) * 100;
  const marks = [0, 0.25, 0.5, 0.75].map((share) => from + (to - from) * share);
  const isShort = to - from < 2 * 86_400_000;
  const label = (at: number) => {
    const text = new Date(at).toISOString();
    return isShort ? text.slice(11, 16) : dayShort(text.slice(0, 10));
  };
  return (
    <div class="timeline" aria-hidden="true">
      <div class="timeline-axis">
        <span />
        <span class="timeline-track">
          {marks.map((at) => (
            <span key={at} class="timeline-mark" style={{ left: `${part(at)}%` }}>{label(at)}</span>
          ))}
        </span>
      </div>
      {attempts.slice(0, SHOWN).map((attempt) => {
        const begin = part(Date.parse(attempt.from));
        const end = attempt.to === null ? 100 : part(Date.parse(attempt.to));
        return (
          <div class="timeline-row" key={attempt.attempt} title={`${endOf(attempt)}: ${instant(attempt.from)} to ${instant(attempt.to)}`}>
            <span class="timeline-name">{attempt.name || attempt.attempt}</span>
            <span class="timeline-track">
              <span class={`timeline-bar timeline-${toneOf(attempt)}${attempt.to === null ? " timeline-open" : ""}`}
                style={{ left: `${begin}%`, width: `${Math.max(end - begin, 0.4)}%` }} />
            </span>
          </div>
        );
      })}
    </div>
  );
}

const COLUMNS: Column<Attempt>[] = [
  { key: "attempt", title: "Attempt", value: (one) => one.attempt, cell: (one) => <span class="num">{one.name || one.attempt}</span> },
  { key: "ended", title: "Ended", value: endOf, cell: (one) => <Badge tone={toneOf(one)}>{endOf(one)}</Badge> },
  { key: "from", title: "From", value: (one) => one.from, cell: (one) => <span class="num" title={localTime(one.from)}>{instant(one.from)}</span> },
  { key: "to", title: "To", hideOnPhone: true, value: (one) => one.to, cell: (one) => <span class="num" title={localTime(one.to)}>{instant(one.to)}</span> },
  {
    key: "for", title: "For", numeric: true, value: (one) => (one.to ? Date.parse(one.to) - Date.parse(one.from) : null),
    cell: (one) => (one.to ? duration(Date.parse(one.to) - Date.parse(one.from)) : <span class="nothing">–</span>),
  },
  { key: "device", title: "Device", hideOnPhone: true, value: (one) => one.device, cell: (one) => <span class="cut" title={one.placement}>{one.device || "–"}</span> },
  { key: "nodes", title: "Nodes", wide: true, value: (one) => one.nodes.length, cell: (one) => <span class="cut" title={one.nodes.join(", ")}>{one.nodes.length > 3 ? plural(one.nodes.length, "node") : one.nodes.join(", ")}</span> },
];

export function Timeline({ attempts }: { attempts: Attempt[] }) {
  return (
    <Card title="Attempts" note={attempts.length > SHOWN ? `the first ${SHOWN} of ${attempts.length} drawn` : undefined} flush>
      {attempts.length === 0 ? (
        <Empty icon="workload" title="No run times are known">Its cost comes from spreading or a correction.</Empty>
      ) : (
        <>
          <Bars attempts={attempts} />
          <Table caption="Attempts" columns={COLUMNS} rows={attempts} rowKey={(one, i) => `${one.attempt} ${i}`} dense shown={50} />
        </>
      )}
    </Card>
  );
}
