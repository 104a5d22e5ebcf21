// The mock API's answers about costs, computed from the made-up company's postings.
import { amount, CURRENCY, daysOf, hours, keyOf, MONTHS, TODAY } from "./world.mjs";

function chosen(postings, query) {
  const month = query.get("month");
  const [from, to] = [query.get("from"), query.get("to")];
  const filters = query.getAll("filter").map((text) => {
    const [, dimension, not, values] = /^([^=!]+)(!?)=(.*)$/.exec(text) ?? [];
    return { dimension, negate: not === "!", values: (values ?? "").split(",") };
  });
  return postings.filter((one) => {
    if (month && one.month !== month) return false;
    if ((from && one.day < from) || (to && one.day > to)) return false;
    return filters.every((f) => f.values.includes(keyOf(one, f.dimension)) !== f.negate);
  });
}

function bucketOf(day, step) {
  if (step === "day") return day;
  if (step === "month") return day.slice(0, 7);
  const date = new Date(day);
  date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
  return date.toISOString().slice(0, 10);
}

const COSTS = { effective: 1, billed: 1.03, list: 1.4, contracted: 1.1 };

function sum(postings, keys) {
  const groups = new Map();
  for (const one of postings) {
    const key = JSON.stringify(keys.map((name) => (name.startsWith("@") ? bucketOf(one.day, name.slice(1)) : keyOf(one, name))));
    const group = groups.get(key) ?? { keys: JSON.parse(key), micros: 0, milli: 0, idleMilli: 0 };
    group.micros += one.micros;
    group.milli += one.milli;
    group.idleMilli += one.idleMilli;
    groups.set(key, group);
  }
  return [...groups.values()];
}

const percentOf = (part, whole) => (whole === 0 ? null : ((part / whole) * 100).toFixed(4));

export function costs(postings, query) {
  const by = (query.get("by") || "team").split(",").filter(Boolean);
  const step = query.get("step") ?? "none";
  const kinds = query.get("cost") === "all" ? Object.keys(COSTS) : [query.get("cost") ?? "effective"];
  const keys = step === "none" ? by : [`@${step}`, ...by];
  const mine = chosen(postings, query);
  let groups = sum(mine, keys).sort((a, b) => b.micros - a.micros);
  const whole = mine.reduce((all, one) => all + one.micros, 0);
  const top = Number(query.get("top") ?? 0);
  const notes = [];
  if (top > 0) {
    const most = new Set(sum(mine, by).sort((a, b) => b.micros - a.micros).slice(0, top).map((g) => JSON.stringify(g.keys)));
    const isShown = (group) => most.has(JSON.stringify(group.keys.slice(keys.length - by.length)));
    const hidden = groups.filter((group) => !isShown(group));
    const rest = new Map();
    for (const group of hidden) {
      const bucket = step === "none" ? "" : group.keys[0];
      const one = rest.get(bucket) ?? { keys: [...(step === "none" ? [] : [bucket]), `(${new Set(hidden.map((g) => g.keys.join())).size} others)`, ...by.slice(1).map(() => "")], micros: 0, milli: 0, idleMilli: 0 };
      one.micros += group.micros;
      one.milli += group.milli;
      one.idleMilli += group.idleMilli;
      rest.set(bucket, one);
    }
    groups = [...groups.filter(isShown), ...rest.values()];
  }
  if (step !== "none") groups.sort((a, b) => (a.keys[0] < b.keys[0] ? -1 : a.keys[0] > b.keys[0] ? 1 : b.micros - a.micros));
  const names = keys.map((name) => (name.startsWith("@") ? name.slice(1) : name));
  const row = (group) => {
    const out = Object.fromEntries(names.map((name, i) => [name, group.keys[i] ?? null]));
    for (const kind of kinds) out[`${kind}_cost`] = amount(Math.round(group.micros * COSTS[kind]));
    out.share_percent = percentOf(group.micros, whole);
    for (const [name, milli] of [["gpu_hours", group.milli], ["idle_gpu_hours", group.idleMilli]]) {
      const { hours: shown, exact } = hours(milli);
      out[name] = shown;
      out[`${name}_exact`] = exact;
    }
    return out;
  };
  const columns = [
    ...names.map((name) => ({ name, title: name, kind: "text" })),
    ...kinds.map((kind) => ({ name: `${kind}_cost`, title: `${kind} ${CURRENCY}`, kind: "money" })),
    { name: "share_percent", title: "share", kind: "percent" },
    { name: "gpu_hours", title: "GPU-hours", kind: "gpu_hours" },
    { name: "idle_gpu_hours", title: "idle GPU-hours", kind: "gpu_hours" },
  ];
  if (groups.length === 0) return { tables: [], etag: "none" };
  const all = { keys: ["total"], micros: whole, milli: 0, idleMilli: 0 };
  for (const one of mine) {
    all.milli += one.milli;
    all.idleMilli += one.idleMilli;
  }
  return { tables: [{ title: `Cost by ${by.join(", ")}`, currency: CURRENCY, columns, rows: groups.map(row), total: row(all), notes }], etag: "1" };
}

function figures(postings, month) {
  const of = (kind) => postings.filter((one) => one.kind === kind).reduce((all, one) => all + one.micros, 0);
  const held = postings.reduce((all, one) => all + one.milli, 0);
  const idle = postings.reduce((all, one) => all + one.idleMilli, 0);
  return {
    month, currency: CURRENCY,
    total: amount(postings.reduce((all, one) => all + one.micros, 0)),
    used: amount(of("used")), held_idle: amount(of("held_idle")), unallocated: amount(of("unallocated")),
    stranded: amount(of("stranded")), overhead: amount(of("overhead")), unavailable: "0", shared: "0",
    gpu_hours_held: (held / 1000).toFixed(4), gpu_hours_idle: (idle / 1000).toFixed(4), observed_share: "94.2100",
  };
}

export function summary(postings, query) {
  const month = query.get("month") || MONTHS[MONTHS.length - 1];
  const before = MONTHS[MONTHS.indexOf(month) - 1];
  const days = daysOf(month).length;
  const months = [month, before].filter(Boolean).map((one) => figures(postings.filter((p) => p.month === one), one));
  const same = postings.filter((p) => p.month === before && Number(p.day.slice(8)) <= days);
  return {
    months: postings.length ? months : [],
    previous_to_date: before && same.length ? [figures(same, before)] : [],
    as_of: postings.length ? (month < TODAY.slice(0, 7) ? daysOf(month).pop() : TODAY) : null,
    rates: [],
  };
}

export function values(postings, dimension, query) {
  const prefix = query.get("prefix") ?? "";
  return sum(chosen(postings, query), [dimension])
    .filter((group) => group.keys[0].toLowerCase().startsWith(prefix.toLowerCase()))
    .sort((a, b) => b.micros - a.micros)
    .slice(0, Number(query.get("limit") ?? 100))
    .map((group) => ({ value: group.keys[0], currency: CURRENCY, effective_cost: amount(group.micros) }));
}

export function workloads(postings, query) {
  const groups = new Map();
  for (const one of chosen(postings, query)) {
    if (!one.workload) continue;
    const key = `${one.cluster}/${one.workload}`;
    const group = groups.get(key) ?? { one, first: one.day, last: one.day, used: 0, idle: 0, milli: 0 };
    group.last = one.day > group.last ? one.day : group.last;
    group[one.kind === "used" ? "used" : "idle"] += one.micros;
    group.milli += one.milli;
    groups.set(key, group);
  }
  return [...groups.values()]
    .sort((a, b) => b.used + b.idle - a.used - a.idle)
    .map(({ one, first, last, used, idle, milli }) => ({
      cluster: one.cluster, workload: one.workload, first, last,
      effective_cost: amount(used + idle), used_cost: amount(used), held_idle_cost: amount(idle), currency: CURRENCY,
      gpu_hours: hours(milli).hours, gpu_hours_exact: hours(milli).exact, observed_share: "91.5000",
      dimensions: { team: one.team, user: one.user, model: one.model },
    }));
}

export function workload(postings, query) {
  const name = query.get("workload");
  const mine = postings.filter((one) => one.workload === name && (!query.get("month") || one.month === query.get("month")));
  if (mine.length === 0) return null;
  const one = mine[0];
  const days = [...new Set(mine.map((p) => p.day))].map((day) => {
    const of = (kind) => mine.filter((p) => p.day === day && p.kind === kind).reduce((all, p) => all + p.micros, 0);
    const milli = mine.filter((p) => p.day === day).reduce((all, p) => all + p.milli, 0);
    return { day, used_cost: amount(of("used")), held_idle_cost: amount(of("held_idle")), other_cost: amount(of("used") / 50), currency: CURRENCY, gpu_hours: hours(milli).hours };
  });
  const at = (day, time) => `${days[Math.min(day, days.length - 1)].day}T${time}Z`;
  const attempts = [
    { attempt: 1, name: "", from: at(0, "08:12:00"), to: at(2, "03:40:00"), ended: "failed", placement: "node", device: "gpu:8", nodes: ["prod-h100-01"] },
    { attempt: 2, name: "", from: at(2, "04:02:11"), to: at(9, "17:31:55"), ended: "preempted", placement: "node", device: "gpu:8", nodes: ["prod-h100-03"] },
    { attempt: 3, name: "", from: at(9, "18:00:00"), to: null, ended: "", placement: "node", device: "gpu:8", nodes: ["prod-h100-03", "prod-h100-04"] },
  ];
  return {
    cluster: one.cluster, workload: one.workload, dimensions: { team: one.team, user: one.user, model: one.model },
    labels: { partition: "h100", qos: "normal", "job-name": "finetune", account: "acc-114" }, attempts, days,
    outcome: "running", lost_cost: amount(days.slice(0, 2).length * 312_400_123),
  };
}

export function explain(postings, query) {
  const key = query.get("key") ?? query.get("charge") ?? "";
  const by = (query.get("by") ?? "team").split(",");
  const keys = by.length > 1 ? key.split(",") : [key];
  const everything = chosen(postings, query).filter((one) => query.get("charge") || query.get("key") === null || by.every((name, i) => keyOf(one, name) === keys[i])).sort((a, b) => b.micros - a.micros);
  const offset = Number(query.get("offset") ?? 0);
  const mine = everything.slice(offset, offset + Number(query.get("top") ?? 5));
  const kinds = [...new Set(everything.map((one) => one.kind))];
  const sum = (some) => amount(some.reduce((total, one) => total + one.micros, 0));
  const columns = [["day", "day", "text"], ["node", "node", "text"], ["workload", "workload", "text"], ["kind", "kind", "text"], ["component", "component", "text"], ["effective_cost", `effective ${CURRENCY}`, "money"], ["gpu_hours", "GPU-hours", "gpu_hours"], ["charge", "charge", "id"]].map(([name, title, kind]) => ({ name, title, kind }));
  const rows = mine.map((one, i) => ({ day: one.day, node: `prod-h100-0${(i % 4) + 1}`, workload: one.workload, kind: one.kind, component: "gpu", effective_cost: amount(one.micros), gpu_hours: hours(one.milli).hours, gpu_hours_exact: hours(one.milli).exact, charge: `9f2c71ab04de5566778899aabbccdd${10 + i}` }));
  return {
    exact: true,
    warnings: [],
    cost: "effective",
    total: [{ currency: CURRENCY, amount: sum(everything) }],
    parts: kinds.map((kind) => { const some = everything.filter((one) => one.kind === kind); const { hours: h, exact } = hours(some.reduce((total, one) => total + one.milli, 0)); return { kind, component: "gpu", currency: CURRENCY, amount: sum(some), gpu_hours: h, gpu_hours_exact: exact, postings: some.length }; }),
    months: [{ month: query.get("month") ?? "2026-03", currency: CURRENCY, amount: sum(everything), shown_currency: CURRENCY, shown: sum(everything) }],
    postings_total: everything.length,
    rates: [],
    offset,
    lines: rows.map(({ effective_cost, ...row }, i) => ({ ...row, number: offset + i, currency: CURRENCY, amount: effective_cost })),
    posting: Number(query.get("posting") ?? offset),
    bucket: null,
    postings: { title: `The ${rows.length} largest postings`, currency: CURRENCY, columns, rows, notes: [] },
    explanation: [
      { title: "1. The bill line", facts: [{ name: "charge", value: rows[0]?.charge ?? "" }, { name: "service", value: "AmazonEC2" }, { name: "resource", value: "i-0a11111111111111a" }, { name: "period", value: "2026-03-12T00:00:00Z to 2026-03-13T00:00:00Z" }, { name: "effective cost", value: "2359.296 USD" }] },
      { title: "2. The split of its price", facts: [{ name: "gpu", value: "2241.3312 USD (95%)" }, { name: "cpu", value: "70.77888 USD (3%)" }, { name: "memory", value: "47.18592 USD (2%)" }, { name: "by", value: "host unit rates of 2026-02-01" }] },
      { title: "3. Who held the node", facts: [{ name: key || "holder", value: "6 of 8 GPUs, 24 h" }, { name: "others", value: "1 of 8 GPUs, 24 h" }, { name: "nobody", value: "1 of 8 GPUs, 24 h" }] },
      { title: "4. Its share", facts: [{ name: "weights", value: "6 / 8" }, { name: "cost", value: "2241.3312 × 6 / 8 = 1680.9984 USD" }, { name: "exact", value: "yes: all shares add up to the line" }] },
    ],
  };
}
