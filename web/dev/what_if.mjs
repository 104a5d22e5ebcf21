// Made-up replays for the page What if.
const column = (name, title, kind = "text") => ({ name, title, kind });
let all = [];

export const choices = () => ({
  clusters: ["prod"], cluster: "prod", models: [{ name: "H100-SXM5-80GB", nodes: 24 }], pools: [{ name: "train", nodes: 20 }], dimensions: ["team", "user"],
  schedulers: ["fcfs", "sjf", "fair-share"], blocked: ["wait", "backfill", "skip"], placements: ["first-fit", "best-fit", "worst-fit"],
});

function tables() {
  const jobs = [["jobs", "8,120", "8,120", "8,120"], ["wait, p95", "12 min 00 s", "11 min 40 s", "48 min 10 s"], ["GPU-hours held", "86,100.00", "86,100.00", "85,990.20"]];
  return {
    calibration: { title: "Calibration", columns: [column("figure", ""), column("as_it_was", "as it was"), column("replayed_as_it_was", "its replay"), column("off_by", "off by")], rows: jobs.map(([figure, as_it_was, replayed_as_it_was]) => ({ figure, as_it_was, replayed_as_it_was, off_by: "0.10 %" })), notes: [] },
    jobs: { title: "Jobs", columns: [column("figure", ""), column("as_it_was", "as it was"), column("replayed_as_it_was", "its replay"), column("what_if", "what if")], rows: jobs.map(([figure, as_it_was, replayed_as_it_was, what_if]) => ({ figure, as_it_was, replayed_as_it_was, what_if })), notes: ["Every node is replayed as if there all the time."] },
    teams: { title: "Teams", columns: [column("team", "team"), column("jobs", "jobs"), column("wait_p95", "wait, p95"), column("wait_p95_what_if", "what if"), column("stretch_what_if", "stretch")], rows: ["nlp", "vision"].map((team) => ({ team, jobs: "4,060", wait_p95: "11 min 40 s", wait_p95_what_if: "48 min 10 s", stretch_what_if: "1.310" })), notes: [] },
    costs: [{ title: "Costs", currency: "USD", columns: [column("team", "team"), column("as_it_was", "as it was", "money"), column("what_if", "what if", "money"), column("difference", "difference", "money")], rows: [["nlp", "120000.5", "98000.25"], ["vision", "80000", "76500.75"], ["(unallocated)", "20000", "9000"]].map(([team, as_it_was, what_if]) => ({ team, as_it_was, what_if, difference: "0" })), notes: ["Divided by what was requested on both sides."] }],
    tier_costs: [{ title: "Cost by tier", currency: "USD", columns: [column("tier", "tier"), column("as_it_was", "as it was", "money"), column("what_if", "what if", "money"), column("difference", "difference", "money")], rows: [["on demand", "150000.5", "103501"], ["spot", "0", "30000"], ["committed (Savings Plan)", "70000", "50000"]].map(([tier, as_it_was, what_if]) => ({ tier, as_it_was, what_if, difference: "0" })), notes: [] }],
    moments: { title: "Over time", columns: [column("at", "at")], rows: Array.from({ length: 60 }, (_, i) => ({ at: `2026-03-${String(1 + Math.floor(i / 2)).padStart(2, "0")}T${i % 2 ? "12" : "00"}:00:00Z`, gpus_held: String(120 + (i % 7) * 8), gpus_held_what_if: String(110 + (i % 7) * 7), waiting: i % 5, waiting_what_if: (i % 5) * 4 })), notes: [] },
    waits: { title: "Waits", columns: [column("percent_of_jobs", "%")], rows: Array.from({ length: 101 }, (_, percent) => ({ percent_of_jobs: percent, seconds_at_most: percent * 7, seconds_at_most_what_if: percent * 29 })), notes: [] },
  };
}

export const runs = () => all.map(({ tables: _, is_stale: __, ...run }) => run);
export const run = (id) => all.find((one) => one.id === id);
export function start(body) {
  const made = {
    id: String(all.length + 1).padStart(12, "0"), state: "done", name: body.name ?? "", scenario: body.scenario ?? "", calibration: body.calibration ?? "", month: body.month,
    cluster: "prod", by: body.by ?? "team", cost: "effective", error_max: 5, wait_error_max: 50, user: "ana", mine: true, created_at: new Date().toISOString(), ended_at: new Date().toISOString(),
    error: null, progress: null, is_stale: false, tables: tables(),
  };
  all = [made, ...all];
  return made;
}
export const end = (id) => void (all = all.filter((one) => one.id !== id));
