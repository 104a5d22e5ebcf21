// A stand-in for the API, to look at pages without the program.
//
//   node web/dev/mock.mjs --port 8123 [--scenario demo|empty|huge|error|scoped]
//   node web/dev/mock.mjs --port 8123 --api http://127.0.0.1:8080    the pages of this tree, the API of a running program
//
// It serves the bundle, built anew when a source has changed, with the same headers as the program.
// Sign in as ana with any password; as "totp" a code is asked for (any six digits), as "new" the
// password must be changed, and the password "wrong" is wrong. A cookie scenario=NAME overrides.
import { createServer, request as ask } from "node:http";
import { readdirSync, statSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "../build.mjs";
import * as billing from "./billing.mjs";
import * as costs from "./costs.mjs";
import * as now from "./now.mjs";
import * as whatIf from "./what_if.mjs";
import { makePostings } from "./world.mjs";

const option = (name, otherwise) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : process.argv[at + 1];
};
const PORT = Number(option("port", "8123"));
const SCENARIO = option("scenario", "demo");
const API = option("api", null);
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
const worlds = { demo: makePostings(), huge: makePostings({ teams: 42 }), empty: [] };
const sourceFolder = path.join(path.dirname(fileURLToPath(import.meta.url)), "../src");

let files = new Map();
let builtAt = 0;
const newest = (folder) =>
  Math.max(...readdirSync(folder, { withFileTypes: true }).map((entry) => {
    const name = path.join(folder, entry.name);
    return entry.isDirectory() ? newest(name) : statSync(name).mtimeMs;
  }));
async function built() {
  const changed = newest(sourceFolder);
  if (changed > builtAt) {
    files = new Map((await bundle({ dev: true })).map((file) => [file.path, file]));
    builtAt = changed;
  }
  return files;
}

let user = process.argv.includes("--signed-out") ? null : "ana";
let views = [{ id: 1, name: "Idle by user", query: "/explore?by=user&filter=kind=held_idle", shared: true, mine: true }];
const eventEntry = (event) => ({ event, effect: event.percent === undefined ? `+${event.per_day}` : `${event.percent} % remain`, is_configured: event.name === "Christmas", changeable: event.name !== "Christmas" });
let knownEvents = [{ name: "Acme starts", from: "2026-04-01", by: "team", key: "acme", per_day: "120 USD" }, { name: "Christmas", from: "2026-12-25", to: "2026-12-26", percent: 10 }].map(eventEntry);
let annotations = [{ id: 1, first: "2026-03-09", last: "2026-03-11", filter: ["team=nlp"], for_everyone: false, text: "The yearly evaluation runs on all nodes.", who: "ana", at: "2026-03-12T08:00:00Z", removable: true }];
let look = 0;

function session(scenario) {
  const sign_in = { password: true, openid: { name: "Example SSO" } };
  if (!user) return { user: null, sign_in, version: "0.1.0" };
  const isScoped = scenario === "scoped";
  const role = isScoped ? "team_lead" : "admin";
  const permissions = billing.roles().data.find((one) => one.role === role).permissions;
  return {
    user: { name: user, display_name: isScoped ? "Bo Karlsson" : "Ana Lima", role, scope: isScoped ? [{ dimension: "team", values: ["nlp"] }] : [], local: true, has_totp: false },
    permissions, csrf: "mock-csrf", must_change_password: user === "new", version: "0.1.0", sign_in,
  };
}

const problem = (status, title, detail, more = {}) => ({ status, body: { title, status, detail, ...more } });

function signIn(body, scenario) {
  if (body.password === "wrong") return problem(401, "Unauthorized", "The name or the password is wrong.");
  if (body.user === "totp" && !body.code) return problem(401, "Unauthorized", "A second factor is needed.", { needs: "code" });
  if (body.user === "locked") return problem(429, "Too many requests", "Too many failures; wait 15 minutes.");
  user = body.user;
  return { body: session(scenario) };
}

// METHOD path → (query, params, body, postings, scenario) → { status?, body }
const routes = [
  ["GET /session", (q, p, b, w, s) => ({ body: session(s) })],
  ["POST /session", (q, p, b, w, s) => signIn(b, s)],
  ["DELETE /session", () => ((user = null), { status: 204 })],
  ["PUT /session/password", () => ((user = user === "new" ? "ana" : user), { status: 204 })],
  ["POST /session/totp", () => ({ body: { secret: "JBSWY3DPEHPK3PXP", uri: "otpauth://totp/pennyweight:ana?secret=JBSWY3DPEHPK3PXP", qr_svg: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 4"><rect width="4" height="4" fill="#fff"/><path d="M0 0h2v2H0zM3 0h1v1H3zM2 3h2v1H2zM0 3h1v1H0z"/></svg>' } })],
  ["PUT /session/totp", (q, p, b) => (b.code === "000000" ? problem(422, "Wrong code", "The code is wrong or too old.") : { status: 204 })],
  ["DELETE /session/totp", () => ({ status: 204 })],
  ["POST /session/totp/codes", () => ({ status: 201, body: { codes: ["bcdf-ghjk-mnpq-rstv", "wxyz-2345-6789-bcdf"] } })],
  ["POST /session/confirm", (q, p, b) => (b.password === "wrong" ? problem(422, "Wrong password", "The password is wrong.") : { status: 204 })],
  ["GET /sessions", () => ({ body: { data: [
    { id: "s_1", user, by: "password", created_at: "2026-03-02T08:00:00Z", seen_at: "2026-03-02T09:10:00Z", expires_at: "2026-03-02T20:00:00Z", peer: "10.0.0.7", agent: "Firefox", this_one: true },
    { id: "s_2", user, by: "password", created_at: "2026-03-01T08:00:00Z", seen_at: "2026-03-02T07:00:00Z", expires_at: "2026-03-02T20:00:00Z", peer: "10.0.0.9", agent: "Chromium", this_one: false },
  ], next: null } })],
  ["DELETE /sessions", () => ({ body: { ended: 1 } })],
  ["DELETE /sessions/:id", () => ({ status: 204 })],
  ["GET /views", () => ({ body: { data: views } })],
  ["POST /views", (q, p, b) => { const view = { id: views.length + 1, mine: true, ...b }; views = [...views, view]; return { status: 201, body: view }; }],
  ["DELETE /views/:id", (q, p) => ((views = views.filter((view) => String(view.id) !== p.id)), { status: 204 })],
  ["GET /currencies", (q, p, b, w) => ({ body: { report: null, shown: null, billed: w.length ? ["USD"] : [], convertible: [], rates: [], missing: null, as_of: w.length ? "2026-03-19" : null } })],
  ["GET /search", (q, p, b, w) => ({ body: { data: ["team", "user", "workload", "node"].flatMap((dimension) => costs.values(w, dimension, new URLSearchParams({ month: q.get("month") ?? "", limit: "1000" })).filter((one) => one.value.toLowerCase().includes((q.get("text") ?? "").toLowerCase())).slice(0, 5).map((one) => ({ dimension, ...one }))), next: null } })],
  ["GET /dimensions", () => ({ body: { data: [...["team", "user", "model"].map((name) => ({ name, kind: "policy" })), ...["cluster", "kind", "workload", "month", "node", "component", "service", "region", "instance_type"].map((name) => ({ name, kind: "built_in" }))] } })],
  ["GET /dimensions/:name/values", (q, p, b, w) => ({ body: { data: costs.values(w, p.name, q), next: null } })],
  ["GET /costs", (q, p, b, w) => ({ body: costs.costs(w, q) })],
  ["GET /summary", (q, p, b, w) => ({ body: costs.summary(w, q) })],
  ["GET /explain", (q, p, b, w) => ({ body: costs.explain(w, q) })],
  ["GET /workloads", (q, p, b, w) => { const all = costs.workloads(w, q); const at = Number(q.get("cursor") ?? 0); const limit = Number(q.get("limit") ?? 100); return { body: { data: all.slice(at, at + limit), next: at + limit < all.length ? String(at + limit) : null } }; }],
  ["GET /workload", (q, p, b, w) => { const found = costs.workload(w, q); return found ? { body: found } : problem(404, "Not found", "There is no such workload in that month."); }],
  ["GET /advice", (q, p, b, w) => { const found = w.length ? billing.advice(q) : null; return found ? { body: found } : problem(404, "Not found", "The ledger has no charges: import a bill."); }],
  ["GET /advice/decisions", () => ({ body: { tables: [{ title: "Decisions", columns: ["id", "state", "kind", "change", "by", "at", "expected", "realised"].map((name) => ({ name, kind: "text", title: name })), rows: [{ id: "8f9957ca687c", state: "verified", kind: "unneeded-nodes", change: "Give back 2 nodes that no hour needed", by: "ana", at: "2026-03-04T08:00:00Z", expected: "7300.00", realised: "7120.20" }], notes: [] }] } })],
  ["GET /advice/progress", () => ({ body: { tables: [{ title: "Progress", currency: "USD", columns: [{ name: "team", kind: "text", title: "team" }, ...["found", "accepted", "done", "realised"].map((name) => ({ name, kind: "money", title: name }))], rows: [{ team: "(fleet)", found: "90006.52", accepted: "7300", done: "7300", realised: "7120.2" }, { team: "nlp", found: "0", accepted: "0", done: "0", realised: "0" }], notes: [] }] } })],
  ["GET /catalog", () => ({ body: { tables: [{ title: "GPU models, and USD for an hour of one GPU, at list prices of 2026-03-31", currency: "USD", columns: [["model", "id"], ["tier", "text"], ["memory_gib", "count"], ["provider", "text"], ["instance_type", "id"], ["region", "text"], ["on_demand", "money"], ["spot", "money"]].map(([name, kind]) => ({ name, kind, title: name.replace("_", " ") })), rows: [{ model: "A100-SXM4-80GB", tier: "training", memory_gib: "80", provider: "aws", instance_type: "p4de.24xlarge", region: "us-east-1", on_demand: "3.43", spot: "1.72" }, { model: "L40S", tier: "inference", memory_gib: "48", provider: "aws", instance_type: "g6e.xlarge", region: "us-east-1", on_demand: "1.86", spot: null }], notes: [] }] } })],
  ["POST /advice/:id/steps", (q, p, b) => ({ status: 201, body: { advice: p.id, ...b } })],
  ["GET /anomalies", (q, p, b, w) => ({ body: w.length ? billing.anomalies(q) : { tables: [] } })],
  ["GET /known-events", () => ({ body: { data: knownEvents, next: null } })],
  ["PUT /known-events/:name", (q, p, b) => { const one = eventEntry({ name: p.name, ...b }); knownEvents = [...knownEvents.filter(({ event }) => event.name !== p.name), one]; return { body: one }; }],
  ["DELETE /known-events/:name", (q, p) => ((knownEvents = knownEvents.filter(({ event }) => event.name !== p.name)), { status: 204 })],
  ["GET /annotations", (q) => ({ body: { data: annotations.filter((one) => (!q.get("from") || one.last >= q.get("from")) && (!q.get("to") || one.first <= q.get("to"))), next: null } })],
  ["POST /annotations", (q, p, b) => { const one = { id: annotations.length + 1, last: b.first, filter: [], for_everyone: false, ...b, who: user, at: "2026-03-19T09:10:00Z", removable: true }; annotations = [one, ...annotations]; return { status: 201, body: one }; }],
  ["DELETE /annotations/:id", (q, p) => ((annotations = annotations.filter((one) => String(one.id) !== p.id)), { status: 204 })],
  ["POST /anomalies/verdicts", (q, p, b) => ({ status: 201, body: { by: "", reason: "", who: user, at: "2026-03-19T09:10:00Z", ...b, impact: undefined } })],
  ["GET /units", () => ({ body: billing.units() })],
  ["GET /coverage", (q, p, b, w) => ({ body: w.length ? billing.coverage() : { tables: [] } })],
  ["GET /live", (q, p, b, w) => ({ body: now.live(w, q, look) })],
  ["GET /live/now", (q, p, b, w) => ({ body: now.liveNow(w, look) })],
  ["GET /guardrails/replay", () => ({ body: { tables: [{ title: "What the rules would have decided, March 2026", currency: "USD", columns: [["decision", "text"], ["means", "text"], ["workloads", "count"], ["gpu_hours", "gpu_hours"], ["cost", "money"]].map(([name, kind]) => ({ name, kind, title: name.replace("_", " ") })), rows: [{ decision: "allowed", means: "runs", workloads: 812, gpu_hours: "40120.5", cost: "81210.22" }, { decision: "denied", means: "does not run", workloads: 3, gpu_hours: "960", cost: "2496" }], notes: ["Ledgers have no time limits: a run is judged by the time it took."] }, { title: "Rules", columns: ["rule", "effect", "mode"].map((name) => ({ name, kind: "text", title: name })), rows: [{ rule: "owner", effect: "deny", mode: "enforce" }], notes: [] }] } })],
  ["GET /limits", () => ({ body: { tables: [{ title: "Limits of money, this month", currency: "USD", columns: [["limit", "text"], ["scope", "text"], ["enforcement", "text"], ["used", "money"], ["amount", "money"], ["left", "money"], ["state", "text"]].map(([name, kind]) => ({ name, kind, title: name === "amount" ? "limit" : name })), rows: [{ limit: "nlp", scope: "team=nlp", enforcement: "hard", used: "18250.40", amount: "20000", left: "1749.60", state: "near" }], notes: [] }] } })],
  ["GET /compliance", () => ({ body: { tables: [{ title: "Clients, March 2026", currency: "USD", columns: [["client", "text"], ["charged", "money"], ["findings", "count"]].map(([name, kind]) => ({ name, kind, title: name })), rows: [{ client: "acme", charged: "4120.10", findings: 1 }], notes: [] }, { title: "Findings", columns: ["client", "finding", "evidence"].map((name) => ({ name, kind: "text", title: name })), rows: [{ client: "acme", finding: "region", evidence: "node n7 is charged in us-east-1" }], notes: [] }] } })],
  ["GET /approvals", () => ({ body: { data: [now.approval()], next: null } })],
  ["GET /approvals/:id", () => ({ body: { ...now.approval(), token: null, budgets: [{ name: "nlp", owner: "ana", amount: "5000 USD", left: "812.50 USD", after: "-1246.30 USD", is_certain: true }] } })],
  ["POST /approvals/:id/decisions", () => ({ body: { ...now.approval(), state: "approved", token: `ap-5d8f0c1e2b7a9436.${"0".repeat(64)}`, budgets: [] } })],
  ["GET /what-if/choices", () => ({ body: whatIf.choices() })],
  ["GET /what-if/runs", () => ({ body: { data: whatIf.runs(), next: null } })],
  ["POST /what-if/runs", (q, p, b) => ({ status: 202, body: whatIf.start(b) })],
  ["GET /what-if/runs/:id", (q, p) => { const run = whatIf.run(p.id); return run ? { body: run } : problem(404, "Not found", "There is no such run."); }],
  ["DELETE /what-if/runs/:id", (q, p) => (whatIf.end(p.id), { status: 204 })],
  ["GET /fleet", (q, p, b, w) => ({ body: now.fleet(w, q) })],
  ["GET /policies/compare", (q) => ({ body: billing.compare(q.get("a"), q.get("b")) })],
  ["GET /policies/:version", (q, p) => ({ body: billing.policy(p.version) })],
  ["GET /imports/:number/rejected", () => ({ body: billing.rejected() })],
  ["GET /reconcile", () => ({ body: billing.reconcile() })],
  ["GET /reconcile/lines", () => ({ body: billing.reconcileLines() })],
  ["GET /restatements", () => ({ body: billing.restatements() })],
  ["POST /periods/:month/close", (q, p, b) => ({ status: 201, body: { month: p.month, state: "closed", reason: b.reason } })],
  ["POST /invoices/preview", () => ({ body: billing.preview() })],
  ["POST /invoices", () => ({ status: 201, body: billing.invoices() })],
  ["GET /invoices/:number", (q, p) => ({ body: billing.invoice(p.number) })],
  ["GET /users", () => ({ body: billing.allUsers() })],
  ["POST /users", (q, p, b) => ({ status: 201, body: { user: { ...billing.allUsers().data[2], ...b }, password: "correct-horse-battery-4821" } })],
  ["PATCH /users/:name", (q, p, b) => ({ body: { ...billing.allUsers().data.find((one) => one.name === p.name), ...b } })],
  ["DELETE /users/:name", () => ({ status: 204 })],
  ["POST /users/:name/password", () => ({ body: { password: "one-time-3391-harbour" } })],
  ["GET /tokens", () => ({ body: billing.tokens() })],
  ["POST /tokens", (q, p, b) => ({ status: 201, body: { token: { ...billing.tokens().data[0], id: "t9", ...b }, secret: "pwt_7Qm2w8v0Zs4kT1yB6nXc" } })],
  ["DELETE /tokens/:id", () => ({ status: 204 })],
  ["GET /roles", () => ({ body: billing.roles() })],
  ["GET /audit", () => ({ body: billing.audit() })],
  ["GET /audit/verify", () => ({ body: billing.auditVerify() })],
  ...["runs", "policies", "imports", "periods", "invoices"].map((name) => [`GET /${name}`, (q, p, b, w) => ({ body: w.length ? billing[name]() : { data: [], next: null } })]),
].map(([key, handler]) => {
  const [method, pattern] = key.split(" ");
  return { method, pattern: new RegExp("^" + pattern.replace(/:(\w+)/g, "(?<$1>[^/]+)") + "$"), handler };
});

function events(request, response, postings) {
  response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
  const tell = () => response.write(`event: live\ndata: ${JSON.stringify(now.liveNow(postings, ++look))}\n\n`);
  tell();
  const timer = setInterval(tell, 3000);
  request.on("close", () => clearInterval(timer));
}

async function bodyOf(request) {
  let text = "";
  for await (const piece of request) text += piece;
  return text ? JSON.parse(text) : {};
}

async function answerApi(request, response, url) {
  const scenario = /scenario=(\w+)/.exec(request.headers.cookie ?? "")?.[1] ?? SCENARIO;
  const postings = worlds[scenario] ?? worlds.demo;
  const name = url.pathname.slice("/api/v1".length);
  if (name === "/events") return events(request, response, postings);
  const found = routes.map((route) => ({ route, match: route.method === request.method && route.pattern.exec(name) })).find((one) => one.match);
  let answer = problem(404, "Not found", `${request.method} ${url.pathname}`);
  if (scenario === "error" && !name.startsWith("/session")) answer = problem(503, "Busy", "The ledger is being written; try again in a moment.");
  else if (!user && !name.startsWith("/session")) answer = problem(401, "Unauthorized", "Sign in first.");
  else if (found) {
    const params = Object.fromEntries(Object.entries(found.match.groups ?? {}).map(([key, value]) => [key, decodeURIComponent(value)]));
    answer = found.route.handler(url.searchParams, params, await bodyOf(request), postings, scenario);
  }
  const status = answer.status ?? 200;
  response.writeHead(status, { "Content-Type": status >= 400 ? "application/problem+json" : "application/json", "Cache-Control": "no-store" });
  response.end(answer.body === undefined ? "" : JSON.stringify(answer.body));
}

// To the running program, as if the browser had asked it.
function forward(request, response) {
  const { host } = new URL(API);
  const headers = { ...request.headers, host, ...(request.headers.origin ? { origin: API } : {}) };
  const asked = ask(new URL(request.url, API), { method: request.method, headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  asked.on("error", () => response.destroy());
  response.on("close", () => asked.destroy());
  request.pipe(asked);
}

createServer((request, response) => {
  if (API && request.url.startsWith("/api/")) return forward(request, response);
  void (async () => {
    const url = new URL(request.url, "http://localhost");
    response.setHeader("Content-Security-Policy", CSP);
    if (url.pathname.startsWith("/api/v1/")) return answerApi(request, response, url);
    const all = await built();
    const file = all.get(url.pathname) ?? (path.extname(url.pathname) ? undefined : all.get("/index.html"));
    response.writeHead(file ? 200 : 404, { "Content-Type": file?.type ?? "text/plain" });
    response.end(file?.bytes ?? "not found");
  })().catch((error) => {
    response.writeHead(500, { "Content-Type": "text/plain" });
    response.end(String(error.message));
  });
}).listen(PORT, "127.0.0.1", function listening() {
  console.log(`http://127.0.0.1:${this.address().port}`);
});
