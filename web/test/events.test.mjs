// What happened to the figures of two months: events of those months only, and every change of policy between runs.
import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./load.mjs";

const { eventsOf, listed } = await load("pages/compare/events.tsx");

const bill = (name, months, at) => ({ name, months, at, charges: 3, nodes: 0, restated: null });
const run = (cluster, month, number, policy_version) => ({ cluster, month, number, at: `2026-05-0${number}T00:00:00Z`, policy_version, catalog_version: "c" });

test("bills of other months are left out", () => {
  const events = eventsOf([bill("a", ["2026-03"], "2026-06-01T00:00:00Z"), bill("b", ["2026-01", "2026-02"], "2026-06-02T00:00:00Z"), bill("c", ["2026-04"], "2026-03-03T00:00:00Z")], [], [], ["2026-03", "2026-02"]);
  assert.deepEqual(events.map((one) => one.said), ["b: 3 bill lines", "a: 3 bill lines"]);
});

test("nodes count to the month in which they came, and the one before", () => {
  const nodes = (at) => ({ ...bill(at, [], at), charges: 0, nodes: 2 });
  const events = eventsOf([nodes("2026-03-31T00:00:00Z"), nodes("2026-04-02T00:00:00Z"), nodes("2026-05-02T00:00:00Z")], [], [], ["2026-03", "2026-02"]);
  assert.deepEqual(events.map((one) => one.at), ["2026-04-02T00:00:00Z", "2026-03-31T00:00:00Z"]);
});

test("a policy that is changed and changed back is two events; another cluster's is none", () => {
  const events = eventsOf([], [run("x", "2026-03", 1, "p"), run("y", "2026-03", 2, "q"), run("x", "2026-03", 3, "q"), run("x", "2026-03", 4, "p"), run("x", "2026-02", 5, "q")], [], ["2026-03", "2026-02"]);
  assert.deepEqual(events.map((one) => [one.kind, one.at]), [["policy", "2026-05-04T00:00:00Z"], ["policy", "2026-05-03T00:00:00Z"]]);
});

test("what people wrote stands at its first day, and is listed whatever else happened", () => {
  const annotation = (id, first) => ({ id, first, last: first, text: `of ${first}`, filter: [] });
  const bills = Array.from({ length: 20 }, (_, i) => bill(`b${i}`, ["2026-03"], `2026-04-${String(i + 1).padStart(2, "0")}T00:00:00Z`));
  const events = eventsOf(bills, [], [], ["2026-03", "2026-02"], [annotation(1, "2026-03-09"), annotation(2, "2026-04-05")]);
  assert.deepEqual(events.filter((one) => one.annotation).map((one) => [one.kind, one.at, one.said]), [["annotation", "2026-04-05T12:00:00Z", "of 2026-04-05"], ["annotation", "2026-03-09T12:00:00Z", "of 2026-03-09"]]);
  assert.equal(events.length, 22);
  assert.deepEqual(listed(events, 3).map((one) => one.said), ["b19: 3 bill lines", "b18: 3 bill lines", "b17: 3 bill lines", "of 2026-04-05", "of 2026-03-09"]);
});
