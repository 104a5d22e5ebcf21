// What if: a month replayed under up to three scenarios, side by side. The scenarios are in the address, so a
// link shows the same, and whoever may see it can run it again.
import { useState } from "preact/hooks";
import { ApiError } from "../../api/client";
import { useQuery } from "../../api/hooks";
import type { DimensionValue, List, WhatIfChoices, WhatIfDetail, WhatIfRun } from "../../api/types";
import { useMonth } from "../../app/month";
import { setQuery, useRoute } from "../../app/router";
import { useSession } from "../../app/session";
import { toast } from "../../app/toasts";
import { Card, PageHead } from "../../components/card";
import { Button } from "../../components/controls";
import { Select, TextField } from "../../components/form";
import { Empty, ErrorNote, Loaded, Note } from "../../components/states";
import { monthName } from "../../util/text";
import { Views } from "../explore/views";
import { Builder } from "./builder";
import { fromAddress, SCENARIOS_MAX, toAddress, type Scenario } from "./line";
import { Results, type Result } from "./results";
import { useRuns } from "./runs";
import { ScenarioCard } from "./scenario_card";

const hasTables = (run: WhatIfRun | WhatIfDetail | undefined): run is WhatIfDetail => run !== undefined && "tables" in run && run.tables !== null;

function copyLink() {
  navigator.clipboard.writeText(location.href).then(
    () => toast("Link copied."),
    () => toast("The browser does not allow copying; the address of the page is the link.", "bad"),
  );
}

function Scenarios({ month, cluster, by, choices }: { month: string; cluster: string; by: string; choices: WhatIfChoices }) {
  const { query } = useRoute();
  const { user } = useSession();
  const [edited, edit] = useState<number>(); // its number; as many as there are: a new one
  const calibration = query.get("ran") ?? "";
  const scenarios = query.getAll("s").slice(0, SCENARIOS_MAX).map(fromAddress);
  const runs = useRuns({ month, cluster, by, calibration, currency: query.get("currency") ?? "" }, scenarios);
  const teams = useQuery<List<DimensionValue>>(edited === undefined ? null : `/dimensions/${encodeURIComponent(by)}/values`, { month, limit: 500 });
  const keep = (all: Scenario[]) => setQuery({ s: all.map(toAddress) });
  const isDone = (one: Scenario) => {
    const run = runs.of(one);
    return run !== undefined && ["done", "running", "queued"].includes(run.state) && !("is_stale" in run && run.is_stale === true);
  };
  const runAll = async () => {
    for (const one of scenarios) if (!isDone(one)) await runs.start(one);
  };
  const results = scenarios.flatMap((one): Result[] => {
    const run = runs.of(one);
    return hasTables(run) && run.tables ? [{ name: one.name || "Scenario", run, tables: run.tables }] : [];
  });
  // Who is not compared, and why: after an edit the results of before are none of this scenario.
  const missing = scenarios.filter((one) => runs.isKnown && runs.of(one)?.state !== "done");
  const current = edited === undefined ? undefined : (scenarios[edited] ?? { name: "", line: "" });
  return (
    <>
      {runs.error && <ErrorNote error={runs.error} />}
      {scenarios.length === 0 ? (
        <Card>
          <Empty icon="forecast" title="No scenario yet">
            Fewer nodes, spot, other prices, another scheduler: every job of {monthName(month)} is placed anew, and its cost divided anew.
            <p><Button tone="primary" icon="plus" onClick={() => edit(0)}>New scenario</Button></p>
          </Empty>
        </Card>
      ) : (
        <>
          <div class="what-if-scenarios">
            {scenarios.map((one, i) => (
              <ScenarioCard key={`${i} ${one.line}`} scenario={one} run={runs.of(one)} isKnown={runs.isKnown} mayEnd={runs.of(one)?.mine === true || user?.role === "admin"}
                onStart={() => runs.start(one)} onEnd={runs.end} onEdit={() => edit(i)} onDrop={() => keep(scenarios.filter((_, at) => at !== i))} />
            ))}
          </div>
          <div class="row">
            {scenarios.length < SCENARIOS_MAX && <Button icon="plus" onClick={() => edit(scenarios.length)}>Add scenario</Button>}
            {!scenarios.every(isDone) && (
              <Button tone="primary" onClick={() => void runAll().catch((caught: ApiError) => toast(caught.message, "bad"))}>Run all</Button>
            )}
          </div>
        </>
      )}
      {current && (
        <Builder scenario={current} choices={choices} by={by} teams={teams.data?.data.map((one) => one.value) ?? []} onClose={() => edit(undefined)}
          onSave={(saved) => {
            const all = [...scenarios];
            all[edited ?? all.length] = saved;
            keep(all);
            edit(undefined);
          }} />
      )}
      {results.length > 0 && missing.length > 0 && (
        <Note tone="warn">
          What follows is without {missing.map((one, i) => (
            <span key={`${i} ${one.line}`}>{i > 0 && ", "}<strong>{one.name || "Scenario"}</strong> ({runs.of(one)?.state ?? "not run as it is now"})</span>
          ))}.
        </Note>
      )}
      <Results results={results} />
    </>
  );
}

export default function WhatIf() {
  const { month } = useMonth();
  const { query } = useRoute();
  const wanted = query.get("cluster") ?? "";
  const choices = useQuery<WhatIfChoices>("/what-if/choices", { month, cluster: wanted });
  const isNothing = choices.error !== undefined && [404, 422].includes(choices.error.status);
  return (
    <div class="stack">
      <PageHead title="What if" lead={`${monthName(month)}, replayed under another scheduler, fleet, demand or price. Nothing of the ledger changes.`}>
        <Views />
        <Button onClick={copyLink}>Copy link</Button>
      </PageHead>
      {isNothing ? <Empty icon="forecast" title="Nothing to replay">{choices.error?.message}</Empty> : <Loaded query={choices}>
        {(found) => {
          const by = query.get("by") ?? (found.dimensions.includes("team") ? "team" : (found.dimensions[0] ?? "team"));
          return (
            <>
              <Card>
                <div class="control-row">
                  <div class="control"><span class="control-label">Cluster</span>
                    <Select label="Cluster" value={found.cluster} onValue={(cluster) => setQuery({ cluster })} options={found.clusters.map((value) => ({ value, title: value }))} /></div>
                  <div class="control"><span class="control-label">By</span>
                    <Select label="By" value={by} onValue={(value) => setQuery({ by: value })} options={found.dimensions.map((value) => ({ value, title: value }))} /></div>
                  <TextField label="Scheduling that really ran" value={query.get("ran") ?? ""} onValue={(ran) => setQuery({ ran }, { replace: true })} maxLength={200} placeholder="scheduler=fcfs;blocked=skip" />
                </div>
              </Card>
              <Scenarios month={month} cluster={found.cluster} by={by} choices={found} />
            </>
          );
        }}
      </Loaded>}
    </div>
  );
}
