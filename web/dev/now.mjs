// What the API answers about the present of the made-up company: what runs, and its machines.
import { amount, CURRENCY, random } from "./world.mjs";

export function jobs(postings) {
  const next = random(11);
  const seen = new Map(postings.filter((one) => one.workload).map((one) => [one.workload, one]));
  return [...seen.values()].map((one, i) => {
    const gpus = [1, 1, 2, 4, 8, 8, 16][Math.floor(next() * 7)];
    return { ...one, gpus, perHour: gpus * (2.4 + next()) * 1e6, busy: next() < 0.1 ? null : 0.2 + next() * 0.8,
      since: new Date(Date.UTC(2026, 2, 19, 20) - Math.floor(next() * 9e8)).toISOString().slice(0, 19) + "Z",
      node: `${one.cluster}-h100-${String((i % 12) + 1).padStart(2, "0")}` };
  });
}

// Values move a little with each look, as real ones do.
function wobble(value, look, i) {
  return value * (1 + Math.sin(look * 0.7 + i * 1.3) * 0.04);
}

export function live(postings, query, look) {
  const by = (query.get("by") || "").split(",").filter(Boolean);
  const filters = query.getAll("filter").map((text) => text.split("="));
  const mine = jobs(postings).filter((job) => filters.every(([name, value]) => String(job[name]) === value));
  const columns = [["cluster", "cluster", "text"], ["workload", "workload", "text"], ...by.map((name) => [name, name, "text"]), ["nodes", "nodes", "text"], ["device", "device", "text"], ["gpus", "GPUs", "count"], ["since", "since", "count"], ["cost_per_hour", "an hour", "money"], ["idle_per_hour", "of it idle", "money"], ["cost_today", "today", "money"], ["cost_month", "this month", "money"], ["busy", "used", "percent"]].map(([name, title, kind]) => ({ name, title, kind }));
  const nobody = { cluster: "prod", workload: "(nobody)", nodes: "prod-h100-11,prod-h100-12", device: "", gpus: "14", since: "", cost_per_hour: amount(37.4e6), idle_per_hour: null, cost_today: amount(801.2e6), cost_month: amount(14_210e6), busy: null };
  const rows = mine.map((job, i) => {
    const busy = job.busy === null ? null : Math.min(1, wobble(job.busy, look, i));
    const perHour = Math.round(job.perHour);
    return { cluster: job.cluster, workload: job.workload, ...Object.fromEntries(by.map((name) => [name, job[name] ?? ""])), nodes: job.node, device: "H100 80GB HBM3", gpus: String(job.gpus), since: job.since,
      cost_per_hour: amount(perHour), idle_per_hour: busy === null ? null : amount(Math.round(perHour * (1 - busy))), cost_today: amount(perHour * 20), cost_month: amount(perHour * 310), busy: busy === null ? null : (busy * 100).toFixed(4) };
  });
  if (rows.length === 0) return { tables: [], etag: String(look) };
  const orders = { cost: "cost_per_hour", idle: "idle_per_hour", today: "cost_today", gpus: "gpus", busy: "busy" };
  const order = orders[query.get("sort") || "cost"];
  if (order) rows.sort((a, b) => Number(b[order] ?? -1) - Number(a[order] ?? -1));
  const total = { cluster: "total", gpus: String(mine.reduce((all, job) => all + job.gpus, 14)), cost_per_hour: amount(mine.reduce((all, job) => all + Math.round(job.perHour), 37.4e6)) };
  return { tables: [{ title: "Running now", currency: CURRENCY, columns, rows: [nobody, ...rows], total, notes: ["prices are list prices of 2026-02-01 where no bill has come yet"] }], etag: String(look) };
}

export function liveNow(postings, look) {
  if (postings.length === 0) return { at: null, clusters: [] };
  return {
    at: new Date().toISOString().slice(0, 19) + "Z",
    clusters: ["prod", "lab"].map((cluster, i) => {
      const mine = jobs(postings).filter((job) => job.cluster === cluster);
      const held = mine.reduce((all, job) => all + job.perHour, 0);
      const idle = wobble(held * 0.18, look, i);
      const gpus = mine.reduce((all, job) => all + job.gpus, 0);
      return { cluster, watched: true, currency: CURRENCY, cost_per_hour: amount(Math.round(held + 37.4e6)), held_per_hour: amount(Math.round(held)), held_idle_per_hour: amount(Math.round(idle)), unallocated_per_hour: amount(37.4e6), gpus: gpus + 14, gpus_held: gpus, gpus_busy: Math.round(wobble(gpus * 0.78, look, i)), notes: i === 1 ? ["no usage has been seen of node lab-h100-07 for 12 minutes"] : [] };
    }),
  };
}

export function fleet(postings, query) {
  const next = random(5);
  const running = jobs(postings);
  const nodes = [];
  for (const cluster of ["prod", "lab"]) {
    if (query.get("cluster") && query.get("cluster") !== cluster) continue;
    for (let n = 1; n <= 12; ++n) {
      const name = `${cluster}-h100-${String(n).padStart(2, "0")}`;
      const holders = running.filter((job) => job.node === name);
      nodes.push({
        cluster, node: name, instance_type: n % 4 === 0 ? "a2-ultragpu-8g" : "p5.48xlarge", region: cluster === "prod" ? "us-east-1" : "eu-west-3",
        state: n === 10 ? "free" : "held", price_per_hour: n === 10 ? null : "55.04", currency: CURRENCY,
        gpus: Array.from({ length: 8 }, (_, index) => {
          const holder = holders[index % Math.max(1, holders.length)];
          const isMig = n === 3 && index < 2;
          const held = Boolean(holder) && n !== 10 && next() < 0.85;
          return { index, uuid: `GPU-${cluster}-${n}-${index}-7f0d`, model: n % 4 === 0 ? "NVIDIA A100 80GB" : "NVIDIA H100 80GB HBM3", mig: isMig ? ["1g.10gb", "1g.10gb", "2g.20gb", "3g.40gb"] : [], held, busy: held ? (next() * 0.98).toFixed(2) : next() < 0.1 ? null : "0.00", memory: held ? next().toFixed(2) : "0.01",
            holders: held ? [{ workload: holder.workload, share: isMig ? "0.25" : "1", owner: holder.team, placed: true }] : [], cost_per_hour: n === 10 ? null : "6.88" };
        }),
      });
    }
  }
  return { at: postings.length ? "2026-03-19T20:15:00Z" : null, clusters: postings.length ? ["lab", "prod"].map((cluster) => ({ cluster, watched: true, last_held: "2026-03-19" })) : [], nodes: postings.length ? nodes : [], next: null };
}

export function approval() {
  return {
    state: "pending", needed: 2,
    request: {
      id: "ap-5d8f0c1e2b7a9436", at: new Date(Date.now() - 7_200_000).toISOString(), by: "kubernetes:bo", source: "admission",
      workload: "Job ml/pretrain", content: "c0ffee".repeat(10) + "c0ff", rules: ["large runs"], because: "2,058.80 USD a run is more than 2,000.00 USD",
      reason: "the yearly run", namespace: "ml", labels: { team: "nlp" }, cost: "2058.8 USD", cost_of: "run",
      alternatives: ["4 x aws p4d.24xlarge (another GPU): 12.40 USD less an hour"],
    },
    decisions: [{ at: new Date(Date.now() - 3_600_000).toISOString(), by: "cy", approves: true, note: "in the plan", until: new Date(Date.now() + 86_400_000).toISOString(), is_once: true, on_behalf: "" }],
    uses: [],
  };
}
