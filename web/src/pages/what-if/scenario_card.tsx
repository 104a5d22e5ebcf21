// A scenario: what it changes, how far its run is, and what one can do with it.
import { ApiError } from "../../api/client";
import type { WhatIfDetail, WhatIfRun } from "../../api/types";
import { toast } from "../../app/toasts";
import { Card } from "../../components/card";
import { Badge, Button, IconButton, Meter, type Tone } from "../../components/controls";
import { Note } from "../../components/states";
import { number } from "../../util/money";
import { since } from "../../util/text";
import { inWords, parts, type Scenario } from "./line";

const TONES: Record<WhatIfRun["state"], Tone> = { queued: "neutral", running: "accent", done: "good", failed: "bad", cancelled: "neutral" };
const STAGES: Record<string, string> = {
  cost_was: "Dividing the month as it was",
  calibration: "Replaying what really ran",
  scenario: "Replaying the scenario",
  cost_would_be: "Dividing the changed month",
  done: "Writing the tables",
};

function Progress({ run }: { run: WhatIfRun }) {
  if (run.state === "queued") return <p class="muted small">Waits for its turn.</p>;
  const at = run.progress;
  if (!at) return null;
  const percent = at.jobs > 0 ? Math.floor((at.jobs_ended * 100) / at.jobs) : null;
  return (
    <div class="what-if-progress" role="status">
      <span>{STAGES[at.stage] ?? at.stage}{percent !== null && `: ${number(String(at.jobs_ended), 0)} of ${number(String(at.jobs), 0)} jobs`}</span>
      <Meter percent={percent} label={percent === null ? "under way" : `${percent} %`} />
    </div>
  );
}

export function ScenarioCard({ scenario, run, isKnown, mayEnd, onStart, onEnd, onEdit, onDrop }: {
  scenario: Scenario;
  run: WhatIfRun | WhatIfDetail | undefined;
  isKnown: boolean; // whether there is no run if none is given
  mayEnd: boolean;
  onStart: () => Promise<void>;
  onEnd: (run: WhatIfRun) => Promise<void>;
  onEdit: () => void;
  onDrop: () => void;
}) {
  const tell = (caught: unknown) => toast((caught as ApiError).message, "bad");
  const underWay = run?.state === "running" || run?.state === "queued";
  const isStale = run !== undefined && "is_stale" in run && run.is_stale === true;
  return (
    <Card title={scenario.name || "Scenario"} note={run ? <Badge tone={TONES[run.state]}>{run.state}</Badge> : isKnown && <Badge tone="neutral">not run</Badge>}
      actions={<><Button small onClick={onEdit} label={`Edit ${scenario.name}`}>Edit…</Button><IconButton icon="trash" label={`Remove ${scenario.name}`} onClick={onDrop} /></>}>
      <div class="what-if-scenario">
        <ul class="what-if-changes">
          {parts(scenario.line).length === 0 && <li class="muted">As it is, with backfill</li>}
          {parts(scenario.line).map((part) => <li key={part}>{inWords(part)}</li>)}
        </ul>
        {run && <Progress run={run} />}
        {run?.error && <Note tone="warn">{run.error}</Note>}
        {isStale && <Note tone="warn">The ledger has changed since this was replayed.</Note>}
        <div class="row">
          {!underWay && (run?.state !== "done" || isStale) && (
            <Button small tone="primary" onClick={() => void onStart().catch(tell)} label={`Run ${scenario.name}`}>Run</Button>
          )}
          {underWay && run && mayEnd && <Button small tone="danger" onClick={() => void onEnd(run).catch(tell)} label={`Cancel ${scenario.name}`}>Cancel</Button>}
          {run && <span class="muted small">{run.mine ? "yours" : `by ${run.user}`}, {since(run.created_at)}</span>}
        </div>
      </div>
    </Card>
  );
}
