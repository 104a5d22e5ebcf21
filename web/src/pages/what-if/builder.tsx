// Builds a scenario: a name, and changes that are added one by one.
import { useState } from "preact/hooks";
import type { WhatIfChoices } from "../../api/types";
import { Button, Chip } from "../../components/controls";
import { Dialog } from "../../components/dialog";
import { SelectField, TextField } from "../../components/form";
import { EXAMPLES, inWords, parts, withoutPart, withPart, type Scenario } from "./line";

const KINDS = [
  { value: "nodes", title: "Nodes: more or fewer" },
  { value: "price", title: "Price of nodes" },
  { value: "list-price", title: "List price: provider, type, tier, date" },
  { value: "replace-model", title: "Another GPU model" },
  { value: "bound", title: "What limits jobs on another GPU model" },
  { value: "commitment-buy", title: "Commitments that are bought" },
  { value: "commitment-end", title: "Commitments that end" },
  { value: "demand", title: "Jobs: more or fewer" },
  { value: "spot", title: "Spot capacity" },
  { value: "checkpoint", title: "Checkpoints (spot)" },
  { value: "slice", title: "MIG instances for one-GPU jobs" },
  { value: "mig-nodes", title: "MIG nodes, by hour" },
  { value: "scheduler", title: "Scheduler" },
  { value: "blocked", title: "While the first job is blocked" },
  { value: "placement", title: "Placement" },
  { value: "weight", title: "Weight of a team (fair queues)" },
  { value: "preempt", title: "Preemption" },
  { value: "fitted", title: "Jobs drawn anew, like the month's" },
  { value: "any-model", title: "Any GPU model" },
  { value: "lengths", title: "What the scheduler knows of lengths" },
  { value: "seed", title: "Seed of chance" },
  { value: "quota", title: "Quota of a team, with borrowing" },
  { value: "off-peak", title: "A team's part of the day" },
  { value: "guard", title: "Guard against starvation" },
  { value: "outage", title: "Outage of nodes" },
  { value: "autoscale", title: "Autoscaled nodes" },
  { value: "spill-over", title: "Spill over to other pools or clusters" },
  { value: "same-rack", title: "Jobs stay in a rack" },
  { value: "slo", title: "How long jobs may wait" },
  { value: "power", title: "What a GPU draws" },
  { value: "new-team", title: "A new team, like another one" },
  { value: "repeat", title: "A job that comes again" },
  { value: "seeds", title: "Ask: range over seeds" },
  { value: "demand-range", title: "Ask: range over demand" },
  { value: "fewest-nodes", title: "Search: fewest nodes" },
  { value: "cheapest-tiers", title: "Search: cheapest mix of tiers" },
  { value: "committed", title: "Search: price of a commitment" },
  { value: "spot-tier", title: "Search: price and risk of spot" },
  { value: "best-mig", title: "Search: best MIG layout" },
  { value: "tries", title: "Search: replays at most" },
];

const HINTS: Record<string, string> = {
  nodes: "-20 takes away, +4 adds copies of the first of its kind.",
  price: "Percent of what they cost.",
  "list-price": "same, a provider or an instance type; then tier, region, date, currency, model and pool as needed: gcp:tier=spot,date=2026-07-30.",
  "replace-model": "Which model is replaced by which. Give its price too.",
  bound: "compute, memory, unknown, or how long jobs take there: 55%.",
  "commitment-buy": "Nodes and the price of an hour of each (40@7.50/1y, 40@committed_1y), or an amount an hour and what it pays of the price on demand (250@60%/3y).",
  demand: "Percent of the jobs there were.",
  "commitment-end": "When; before it which one (ID@…), after it what the next one costs of the price on demand (…=60%).",
  spot: "The share of the nodes that is taken back each hour. Give their price too.",
  checkpoint: "Minutes of work between two checkpoints; 0: none.",
  slice: "A MIG profile, and how long a job takes on it: 1g.5gb@120%; or a part of a shared GPU: 25%@130%. For jobs of a part of the day (UTC): 1g.5gb@120%/08:00-20:00.",
  "mig-nodes": "How many nodes have instances of which profile, and in which part of the day (UTC): 10=1g.5gb/08:00-20:00. Give MIG instances for one-GPU jobs too.",
  quota: "GPUs of its own, and how many it may borrow of other quotas: 16+8.",
  "off-peak": "Its jobs start in that part of the day only, in UTC.",
  guard: "Minutes after which nobody overtakes a job that doesn't fit.",
  outage: "Nodes, from when, for how long.",
  autoscale: "How many stay on, how many there are at most if not all, how long one takes to start, and how long it stays without work: 4-20@5m/10m.",
  "spill-over": "pool, region or cluster, and after what wait a job may leave its own: pool@60m. With cluster all clusters of the month are replayed together.",
  "same-rack": "Nodes of a rack, counted in the order of their names.",
  slo: "Minutes; the share of jobs that wait longer is shown.",
  power: "Watts of a GPU while it is held and while it is idle: 700/100.",
  "new-team": "Its name, and whose jobs it has how many of.",
  repeat: "GPUs, length, day (mon to sun, or daily) and time in UTC.",
  seeds: "Replays under so many seeds; for spot and random placement.",
  "demand-range": "Percent less and more demand.",
  "fewest-nodes": "Minutes that 95 % of jobs may wait.",
  "cheapest-tiers": "Minutes that 95 % of jobs may wait. Give the price of a commitment, of spot, or both.",
  committed: "Percent of the price on demand.",
  "spot-tier": "Percent of the price on demand, and the share taken back each hour.",
  "best-mig": "Minutes that 95 % of jobs may wait. Give MIG instances for one-GPU jobs too.",
  tries: "More replays search more closely, and take longer.",
  weight: "A whole number; 1 where none is given.",
  seed: "The same seed gives the same result.",
};
const PLACEHOLDERS: Record<string, string> = { nodes: "-20", price: "35%", "list-price": "gcp:tier=spot,date=2026-07-30", "replace-model": "A100-SXM4-40GB=H100-SXM5-80GB", bound: "memory", "commitment-buy": "40@7.50/1y", demand: "150%", "commitment-end": "2026-03-15T00:00:00Z", spot: "2%", checkpoint: "30", slice: "1g.5gb@120%", "mig-nodes": "10=1g.5gb/08:00-20:00", weight: "2", seed: "2", quota: "16+8", "off-peak": "20:00-06:00", guard: "240", outage: "4@2026-03-05T00:00:00Z/24h", autoscale: "4@5m/10m", "spill-over": "pool@60m", "same-rack": "8", slo: "60", power: "700/100", "new-team": "acme=nlp@50%", repeat: "8x24h@mon 02:00", seeds: "5", "demand-range": "10", "fewest-nodes": "60", "cheapest-tiers": "60", committed: "60%", "spot-tier": "35%@2%", "best-mig": "60", tries: "60" };
const OF_MODEL = new Set(["nodes", "price", "spot", "autoscale", "mig-nodes", "power"]);
const OF_TEAM = new Set(["demand", "bound", "slice", "weight", "quota", "off-peak", "repeat", "slo"]);
const OF_NODES = new Set(["nodes", "autoscale", "mig-nodes"]); // chosen by model and pool
const NEEDS_TEAM = new Set(["weight", "quota", "off-peak", "repeat"]);

function AddChange({ choices, teams, by, onAdd }: { choices: WhatIfChoices; teams: string[]; by: string; onAdd: (part: string) => void }) {
  const [kind, setKind] = useState("nodes");
  const [value, setValue] = useState("");
  const [model, setModel] = useState("");
  const [pool, setPool] = useState("");
  const [team, setTeam] = useState("");
  const lists: Record<string, string[]> = { scheduler: choices.schedulers, blocked: choices.blocked, placement: choices.placements, lengths: ["true", "limit"] };
  const list = lists[kind];
  const isFlag = kind === "preempt" || kind === "any-model" || kind === "fitted";
  const chosen = list ? (list.includes(value) ? value : (list[0] ?? "")) : value.trim();
  const part = () => {
    if (isFlag) return kind;
    if (OF_NODES.has(kind)) {
      const which = [model && `model=${model}`, pool && `pool=${pool}`].filter(Boolean).join(",");
      return `${kind}=${chosen}${which && `:${which}`}`;
    }
    const chosenTeam = team || (NEEDS_TEAM.has(kind) ? (teams[0] ?? "") : "");
    const chosenModel = model || (kind === "power" ? (choices.models[0]?.name ?? "") : "");
    const name = OF_MODEL.has(kind) ? chosenModel : OF_TEAM.has(kind) ? chosenTeam : "";
    return `${kind}=${name && `${name}=`}${chosen}`;
  };
  const pools = choices.pools.filter((one) => one.name !== "");
  return (
    <form class="what-if-add" onSubmit={(event) => {
      event.preventDefault();
      onAdd(part());
      setValue("");
    }}>
      <SelectField label="Change" value={kind} onValue={(next) => { setKind(next); setValue(""); }} options={KINDS} />
      {list && <SelectField label="Which" value={chosen} onValue={setValue} options={list.map((one) => ({ value: one, title: one }))} />}
      {!list && !isFlag && (
        <TextField label="How much" value={value} onValue={setValue} required maxLength={300} placeholder={PLACEHOLDERS[kind]} hint={HINTS[kind]} />
      )}
      {OF_MODEL.has(kind) && (
        <SelectField label="GPU model" value={kind === "power" && model === "" ? (choices.models[0]?.name ?? "") : model} onValue={setModel}
          options={[...(kind === "power" ? [] : [{ value: "", title: "All" }]), ...choices.models.map((one) => ({ value: one.name, title: `${one.name} (${one.nodes} nodes)` }))]} />
      )}
      {OF_NODES.has(kind) && pools.length > 0 && (
        <SelectField label="Pool" value={pool} onValue={setPool}
          options={[{ value: "", title: "All" }, ...pools.map((one) => ({ value: one.name, title: `${one.name} (${one.nodes} nodes)` }))]} />
      )}
      {OF_TEAM.has(kind) && (
        <SelectField label={by} value={NEEDS_TEAM.has(kind) && team === "" ? (teams[0] ?? "") : team} onValue={setTeam}
          options={[...(NEEDS_TEAM.has(kind) ? [] : [{ value: "", title: "All" }]), ...teams.map((one) => ({ value: one, title: one }))]} />
      )}
      <Button type="submit" icon="plus">Add change</Button>
    </form>
  );
}

export function Builder({ scenario, choices, teams, by, onSave, onClose }: {
  scenario: Scenario;
  choices: WhatIfChoices;
  teams: string[];
  by: string;
  onSave: (scenario: Scenario) => void;
  onClose: () => void;
}) {
  const [name, setName] = useState(scenario.name);
  const [line, setLine] = useState(scenario.line);
  return (
    <Dialog title={scenario.name ? `Change ${scenario.name}` : "New scenario"} open onClose={onClose} wide>
      <div class="dialog-body stack">
        <div class="row">
          <span class="muted">Begin with</span>
          {EXAMPLES.map((one) => (
            <Button key={one.name} small onClick={() => { setName(one.name); setLine(one.line); }}>{one.name}</Button>
          ))}
        </div>
        <TextField label="Name" value={name} onValue={setName} maxLength={80} placeholder="20 nodes fewer" />
        <div>
          <h3 class="what-if-heading">What changes</h3>
          <div class="row">
            {parts(line).length === 0 && <span class="muted">Nothing yet: the month is replayed first come, first served, with backfill.</span>}
            {parts(line).map((part) => (
              <Chip key={part} onRemove={() => setLine(withoutPart(line, part))} removeLabel={`Remove ${inWords(part)}`}>{inWords(part)}</Chip>
            ))}
          </div>
        </div>
        <AddChange choices={choices} teams={teams} by={by} onAdd={(part) => setLine(withPart(line, part))} />
        <TextField label="In one line" value={line} onValue={setLine} maxLength={2000} hint={<>For <code>POST /what-if/runs</code>; the names are those of <code>pennyweight replay</code>.</>} />
      </div>
      <footer class="dialog-foot">
        <Button onClick={onClose}>Cancel</Button>
        <Button tone="primary" onClick={() => onSave({ name: name.trim() || "Scenario", line })}>Keep scenario</Button>
      </footer>
    </Dialog>
  );
}
