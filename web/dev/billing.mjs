// The mock API's answers about billing, policies and people.
import { amount, CURRENCY, MONTHS } from "./world.mjs";

const hash = (n) => Array.from({ length: 4 }, (_, i) => ((n * 2654435761 + i * 40503) >>> 0).toString(16).padStart(8, "0")).join("");
const list = (data) => ({ data, next: null });
const table = (title, columns, rows, total = null, notes = []) => ({ title, currency: CURRENCY, columns: columns.map(([name, heading, kind]) => ({ name, title: heading, kind })), rows, total, notes });

export const runs = () => list(MONTHS.flatMap((month, i) => ["prod", "lab"].map((cluster, c) => ({ cluster, month, number: i * 2 + c + 1, current: true, at: `${month}-28T03:00:00Z`, policy_version: hash(i < 2 ? 1 : 2), catalog_version: hash(9), time_zone: "Europe/Berlin", program_version: "0.1.0", postings: 48210 + i * 311, digest: hash(70 + i) }))));

export const policies = () => list([
  { version: hash(2), first_used: "2026-02-28T03:00:00Z", last_used: "2026-03-19T03:00:00Z", runs: 4, current: true },
  { version: hash(1), first_used: "2025-12-31T03:00:00Z", last_used: "2026-01-31T03:00:00Z", runs: 4, current: false },
]);
export const policy = (version) => ({ version, text: "version: 1\nweights: {compute: 1, memory: " + (version === hash(1) ? "0" : "0.25") + "}\nnode_split: by_request\nidle: {unallocated: show}\n", in_words: [{ title: "Who pays for a device", sentences: ["A device is divided by what each holder asked for or was seen to use, whichever is more."] }, { title: "What nobody held", sentences: ["It stays visible as unallocated.", "Nothing is spread."] }] });
export const compare = (a, b) => ({ a, b, differences: [{ where: "How a card is weighed", a: "Compute alone counts.", b: "Memory counts a quarter." }, { where: "How a node is split", a: null, b: "By request." }] });

export const imports = () => list([
  { number: 5, format: "focus-1.2", name: "aws-2026-03.parquet", at: "2026-03-20T02:10:00Z", style: "replacement", reason: "", charges: 18230, holdings: 0, nodes: 0, gpus: 0, usages: 0, outages: 0, corrections: 0, outcomes: 0, rejected: 3, restated: { removed: 12, reversed: 0, late: 1 } },
  { number: 4, format: "slurm", name: "sacct-prod.txt", at: "2026-03-19T02:00:00Z", style: "delta", reason: "", charges: 0, holdings: 8120, nodes: 0, gpus: 0, usages: 0, outages: 2, corrections: 0, outcomes: 7990, rejected: 0, restated: {} },
  { number: 3, format: "dcgm", name: "live", at: "2026-03-18T02:00:00Z", style: "delta", reason: "", charges: 0, holdings: 0, nodes: 24, gpus: 192, usages: 402112, outages: 0, corrections: 0, outcomes: 0, rejected: 0, restated: {} },
]);
export const rejected = () => list([{ line: 812, column: "EffectiveCost", reason: "is not a decimal", text: "n/a" }, { line: 911, column: "ChargePeriodEnd", reason: "is before its start", text: "2026-03-01T00:00:00Z" }]);
export const reconcile = () => {
  const costs = { billed: "98412.113", effective: "95711.904512", list: "133996.66", contracted: "105283.0949" };
  return { totals: [{ currency: CURRENCY, billed: costs, posted: costs, difference: { billed: "0", effective: "0", list: "0", contracted: "0" }, lines: 18230, lines_off: 0, lines_unposted: 0, transfers: 14, transfers_off: 0, lines_gone: 0, exact: true }] };
};
export const reconcileLines = () => list(Array.from({ length: 30 }, (_, i) => ({ charge: hash(300 + i), description: `p5.48xlarge i-0a${i}`, costs: { effective: "2359.296", billed: "2400", list: "3303.0144", contracted: "2595.2256" }, posted: { effective: "2359.296", billed: "2400", list: "3303.0144", contracted: "2595.2256" }, difference: { effective: "0", billed: "0", list: "0", contracted: "0" }, off: "", postings: 11 + i, exact: true })));
export const restatements = () => ({ tables: [table("Restatements", [["booked_in", "booked in", "text"], ["kind", "kind", "text"], ["before", "before", "exact_money"], ["after", "after", "exact_money"], ["difference", "difference", "exact_money"], ["reason", "reason", "text"], ["charge", "charge", "id"]], [{ booked_in: "2026-03", kind: "adjustment", before: "0", after: "-12.5", difference: "-12.5", reason: "outage of 3 March", charge: hash(44) }])], etag: "r" });
export const periods = () => list(MONTHS.map((month, i) => ({ month, state: i < 3 ? "closed" : "open", closed_at: i < 3 ? `${MONTHS[i + 1]}-05T09:00:00Z` : null, closed_by: i < 3 ? "fin" : null, reason: i < 3 ? "the invoice is paid" : null, digest: i < 3 ? hash(i + 200) : null, lines: 18000 + i, effective: [{ currency: CURRENCY, amount: "95711.904512" }] })).reverse());
export const invoices = () => list(["nlp", "vision", "speech"].map((customer, i) => ({ number: `INV-2026-02-000${i + 1}`, month: "2026-02", customer, kind: "invoice", due_on: "2026-04-04", sent_on: i < 2 ? "2026-03-05" : null, paid_on: i === 0 ? "2026-03-20" : null, overdue: i === 1, issued_at: "2026-03-05T09:10:00Z", digest: hash(500 + i), refers_to: null, total: amount(14_102_333_120 + i * 1e9), currency: CURRENCY })));
export const invoice = (number) => ({ format: "pennyweight-invoice/1", number, month: "2026-02", customer: "nlp", currency: CURRENCY, issued_at: "2026-03-05T09:10:00Z", lines: [{ description: "H100 used", gpu_hours: "4801.2", amount: "12002.11" }, { description: "H100 held and idle", gpu_hours: "811.0", amount: "2100.22312" }], total: "14102.33312", digest: hash(500) });
const draft = (customer, cents, kind = "invoice") => ({ kind, number: "", month: "2026-03", customer, currency: CURRENCY, net: (cents / 100).toFixed(2), total_shown: (cents / 100).toFixed(2), sections: [{ name: "usage", title: "Usage", subtotal: "1", subtotal_shown: (cents / 100).toFixed(2), lines: [{ description: "NVIDIA H100, held and used", remark: "p5.48xlarge, eu-central-1", quantity: { shown: "4,801.2000" }, unit: "GPU h", rate: "2.4998", amount: "12002.11312", amount_shown: "12002.11" }, { description: "NVIDIA H100, held and idle", quantity: { shown: "811.0000" }, unit: "GPU h", rate: "2.5897", amount: "2100.22", amount_shown: "2100.22" }] }] });
export const preview = () => ({ closed: false, issued: [], drafts: [draft("nlp", 1500210), draft("speech", 833019), draft("vision", 2210177)], not_charged: [draft("", 1421010, "not_charged")] });

export function coverage() {
  const cost = ["effective_cost", "effective USD", "money"];
  const stops = [["nobody held the GPU", "11004.12", "11.4971"], ["holder lacks the label", "2410.9", "2.5189"], ["line joins no node", "1086.334512", "1.1350"]];
  const advice = { "nobody held the GPU": "spread it with the policy's rule 'idle', or use the GPUs", "holder lacks the label": "add the label, or a rule under 'dimensions'", "line joins no node": "import these machines' inventory or state join rules: 'pennyweight audit join'" };
  const gap = (dimension) => ({ ...table(`${dimension}: where the gap stops, the most expensive first`, [["reason", "stops because", "text"], cost, ["share", "of GPU spend", "percent"]], stops.map(([reason, effective_cost, share]) => ({ reason, effective_cost, share })), { reason: "gap", effective_cost: "14501.354512", share: "15.1510" }, stops.map(([reason]) => `${reason}: ${advice[reason]}`)) });
  const reach = ["team", "project", "user"].map((dimension, i) => ({ dimension, gpu_spend: "95711.904512", reached: ["81210.55", "81210.55", "64123.1"][i], share: ["84.8489", "84.8489", "66.9959"][i], gap: ["14501.354512", "14501.354512", "31588.804512"][i], largest: "nobody held the GPU" }));
  return { tables: [
    table("2026-03: what of the bill is GPU spend", [["part", "part of the bill", "text"], cost, ["share", "share", "percent"]], [["GPU spend", "95711.904512", "82.5011"], ["CPU and memory of machines", "14201.11", "12.2411"], ["all else", "6100.2", "5.2578"]].map(([part, effective_cost, share]) => ({ part, effective_cost, share })), { part: "all bill lines", effective_cost: "116013.214512", share: "100.0000" }),
    table("2026-03: how much of it reaches somebody", [["dimension", "dimension", "text"], ["gpu_spend", "GPU spend", "money"], ["reached", "reached", "money"], ["share", "of it", "percent"], ["gap", "gap", "money"], ["largest", "most of the gap", "text"]], reach),
    gap("team, project"), gap("user"),
    table("team: who lacks the label", [["place", "where", "text"], ["postings", "postings", "count"], cost, ["remark", "labels that they have", "text"]], [{ place: "namespace research", postings: 812, effective_cost: "2011.4", remark: "namespace, app" }, { place: "namespace sandbox", postings: 113, effective_cost: "399.5", remark: "namespace" }]),
  ], etag: "c" };
}
export function units() {
  return { tables: [table("Cost of each token", [["team", "team", "text"], ["effective_cost", "effective USD", "money"], ["units", "tokens", "count"], ["unit_cost", "USD a million", "exact_money"]], [{ team: "nlp", effective_cost: "30102.5", units: 41200000000, unit_cost: "0.7306" }])], etag: "u" };
}

const users = ["ana:admin", "bo:team_lead", "chen:viewer", "fin:finance", "ops:operator"].map((text, i) => {
  const [name, role] = text.split(":");
  return { name, display_name: ["Ana Lima", "Bo Karlsson", "Chen Wei", "Fin Ance", "Ops Team"][i], email: `${name}@example.com`, role, scope: role === "team_lead" ? [{ dimension: "team", values: ["nlp"] }] : [], local: i !== 2, has_totp: i === 0, disabled: false, must_change_password: false, created_at: "2026-01-02T10:00:00Z", last_sign_in: i === 4 ? null : "2026-03-19T08:00:00Z" };
});
export const allUsers = () => list(users);
export const tokens = () => list([{ id: "t1", name: "grafana", user: "ana", only: ["read_costs", "read_metrics"], scope: [], created_at: "2026-01-10T10:00:00Z", expires_at: "2026-12-31T00:00:00Z", last_used: "2026-03-19T19:00:00Z", revoked: false }, { id: "t2", name: "old script", user: "ana", only: [], scope: [], created_at: "2025-11-10T10:00:00Z", expires_at: "2026-02-01T00:00:00Z", last_used: null, revoked: true }]);
export const PERMISSIONS = ["read_costs", "read_live", "read_fleet", "read_bills", "read_invoices", "read_rules", "read_audit", "read_metrics", "decide_advice", "issue_invoices", "close_periods", "manage_users", "manage_own", "manage_budgets", "manage_alerts", "approve", "send_telemetry"];
export const roles = () => list([["viewer", ["read_costs", "read_live", "read_fleet", "read_invoices", "manage_own"]], ["team_lead", ["read_costs", "read_live", "read_fleet", "read_invoices", "manage_own", "read_rules", "manage_budgets", "decide_advice"]], ["finance", PERMISSIONS.slice(0, 11)], ["operator", ["decide_advice", "read_costs", "read_live", "read_fleet", "read_rules", "read_bills", "read_metrics", "send_telemetry", "manage_own"]], ["admin", PERMISSIONS]].map(([role, permissions]) => ({ role, permissions })));
export const audit = () => list(Array.from({ length: 40 }, (_, i) => ({ number: 40 - i, at: `2026-03-19T${String(20 - Math.floor(i / 2)).padStart(2, "0")}:10:00Z`, actor: users[i % 5].name, peer: "127.0.0.1", action: ["sign_in", "user.change", "period.close", "invoice.issue", "token.add"][i % 5], subject: users[(i * 3) % 5].name, before: i % 5 === 1 ? { role: "viewer" } : null, after: i % 5 === 1 ? { role: "team_lead" } : null, hash: hash(900 + i) })));
export const auditVerify = () => ({ whole: true, head: { number: 40, hash: hash(900) }, bad_line: null, reason: null });

// Advice: a few proposals of each sort, and everything about one of them.
const ADVICE = [
  ["8f9957ca687c", "unneeded-nodes", "lab", "pool gpu, p4d.24xlarge, us-east-1", "Give back 3 nodes that no hour needed", "61200.4", "71773.02", "71773.02", "high", "yes", "", "low"],
  ["1c22d3aa90fe", "commitment", "lab", "p4d.24xlarge, us-east-1, 1 year", "Commit to 6 p4d.24xlarge for 1 year", "-2210", "18233.5", "24410", "medium", "yes", "", "low"],
  ["a3b4c5d6e7f8", "commitment", "lab", "p4d.24xlarge, us-east-1, 3 years", "Commit to 4 p4d.24xlarge for 3 years", "3100", "17110", "19900", "low", "instead", "", "low"],
  ["77aa12cc4e01", "idle", "lab", "user ana", "End what holds GPUs without using them: 812.4 idle GPU-hours", "0", "0", "3325.18", "medium", "yes", "nlp", "low"],
  ["90ab12cd34ef", "right-size", "lab", "work bo/serve-small on A100-SXM4-80GB", "Run it on L40S instead of A100-SXM4-80GB", "1410.22", "1604.9", "1604.9", "low", "yes", "vision", "medium"],
];
const ADVICE_COLUMNS = [["id", "id"], ["kind", "text"], ["cluster", "text"], ["subject", "text"], ["change", "text"], ["low", "money"], ["expected", "money"], ["high", "money"], ["confidence", "text"], ["in_total", "text"], ["team", "text"], ["effort", "text"], ["state", "text"]];

export function advice(query) {
  const id = query.get("id");
  if (id) {
    const one = ADVICE.find((row) => row[0].startsWith(id));
    if (!one) return null;
    const rows = [["id", one[0]], ["change", one[4]], ["kind", one[1]], ["cluster", one[2]], ["what", one[3]], ["saves a month", `${one[6]} USD (low ${one[5]}, high ${one[7]})`],
      ["figures from", "bill"], ["confidence", `${one[8]}: 31 days of records`], ["effort", one[11]], ...(one[10] ? [["workload", "1042"], ["team", one[10]]] : []),
      ["evidence", "744 of 744 hours of the period are covered by the scheduler's records"], ["evidence", "needed in none of their hours, 2232 node-hours in all"],
      ["risk", "A larger or later peak than in these records waits for capacity."], ["apply", "Drain and terminate: gpu-07, gpu-08, gpu-09"], ["state", "done"], ["decided", "accept by ana at 2026-03-04T08:00:00Z"], ["decided", "done by ana at 2026-03-06T08:00:00Z, in effect since 2026-03-05"]];
    return { tables: [{ title: `Advice ${one[0]}`, currency: "USD", columns: [{ name: "field", kind: "text", title: "" }, { name: "value", kind: "id", title: "" }],
      rows: rows.map(([field, value]) => ({ field, value })), notes: [] }] };
  }
  return { tables: [{ title: "Advice, USD a month of 730 hours", currency: "USD", columns: ADVICE_COLUMNS.map(([name, kind]) => ({ name, kind, title: name })),
    rows: ADVICE.map((row) => Object.fromEntries(ADVICE_COLUMNS.map(([name], i) => [name, row[i] ?? "new"]))), notes: ["lab: no telemetry on 2 nodes"] }] };
}

// Unusual days of one team, which add up: 640 = 560 + 40 + 40.
export function anomalies(q) {
  const by = q.get("by") ?? "scope";
  const money = ["actual", "expected", "impact", "volume", "price", "mix", "rest"];
  return { tables: [{
    title: `Unusual days by ${by} in USD`, currency: "USD",
    columns: [{ name: by, kind: "text", title: "of" }, ...["first", "last", "is_open"].map((name) => ({ name, kind: "text", title: name })), ...money.map((name) => ({ name, kind: "money", title: name })), { name: "cause", kind: "text", title: "mostly from" }, { name: "verdict", kind: "text", title: "what people say" }],
    rows: [{ [by]: "nlp", first: "2026-03-16", last: "2026-03-17", is_open: "yes", actual: "1480.00", expected: "840.00", impact: "640.00", volume: "560.00", price: "40.00", mix: "40.00", rest: "0.00", cause: "p5.48xlarge", verdict: "" }],
    notes: ["nlp: 640.00 USD more than usual from 2026-03-16 to 2026-03-17, 88 % from p5.48xlarge"],
  }] };
}
