// The bridge between two periods adds up exactly, whatever the figures are.
import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./load.mjs";

const { bridge } = await load("pages/compare/bridge.ts");
const { add, subtract } = await load("util/money.ts");

function random(seed) {
  let state = seed;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

function rows(next) {
  const all = [];
  for (const team of ["a", "b", "c", "d"].filter(() => next() < 0.8)) {
    for (const kind of ["used", "held_idle", "unallocated", "shared"]) {
      for (const component of ["gpu", "cpu", "whole"]) {
        if (next() < 0.4) continue;
        const digits = String(Math.floor(next() * 1e15)).padStart(18, "0");
        all.push({ team, kind, component, effective_cost: `${next() < 0.1 ? "-" : ""}${Math.floor(next() * 1e5)}.${digits}`,
          gpu_hours: component === "gpu" && next() < 0.8 ? `${Math.floor(next() * 1e4)}.${String(Math.floor(next() * 1e4)).padStart(4, "0")}` : "0" });
      }
    }
  }
  return all;
}

test("steps and owners add up to the difference", () => {
  for (let seed = 1; seed <= 500; ++seed) {
    const next = random(seed);
    const [before, now] = [rows(next), rows(next)];
    const of = bridge(before, now, "team", "effective_cost");
    assert.equal(of.before, add(...before.map((row) => row.effective_cost)));
    assert.equal(of.now, add(...now.map((row) => row.effective_cost)));
    assert.equal(add(of.before, ...of.steps.map((step) => step.amount)), of.now, `seed ${seed}`);
    for (const one of of.owners) {
      assert.equal(add(one.before, one.quantity, one.price, one.other), one.now);
    }
    const parts = of.owners.map((one) => subtract(one.now, one.before));
    assert.equal(add(...parts), subtract(of.now, of.before));
  }
});

test("more hours at the same rate are quantity, the same hours at a higher rate are price", () => {
  const row = (team, cost, hours) => ({ team, kind: "used", component: "gpu", effective_cost: cost, gpu_hours: hours });
  const more = bridge([row("a", "100", "50")], [row("a", "200", "100")], "team", "effective_cost");
  assert.deepEqual(more.steps, [{ name: "quantity", amount: "100" }]);
  const dearer = bridge([row("a", "100", "50")], [row("a", "150", "50")], "team", "effective_cost");
  assert.deepEqual(dearer.steps, [{ name: "price", amount: "50" }]);
  // The hours move from the cheap team to the dear one.
  const moved = bridge([row("a", "100", "50"), row("b", "200", "50")], [row("a", "50", "25"), row("b", "300", "75")], "team", "effective_cost");
  assert.deepEqual(moved.steps, [{ name: "mix", amount: "50" }]);
});

test("hours are exact, however few they are", () => {
  const row = (team, cost, seconds) => ({ team, kind: "used", component: "gpu", effective_cost: cost, gpu_hours: (seconds / 3600).toFixed(4), gpu_hours_exact: `${seconds}/3600` });
  // A second is 0.0003 hours when rounded, and a tenth of one none.
  const more = bridge([row("a", "1", 1)], [row("a", "3", 3)], "team", "effective_cost");
  assert.deepEqual(more.steps, [{ name: "quantity", amount: "2" }]);
  const tiny = bridge([{ ...row("a", "1", 1), gpu_hours: "0.0000", gpu_hours_exact: "1/36000" }], [{ ...row("a", "2", 1), gpu_hours: "0.0000", gpu_hours_exact: "1/36000" }], "team", "effective_cost");
  assert.deepEqual(tiny.steps, [{ name: "price", amount: "1" }]);
});
