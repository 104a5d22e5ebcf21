// The address says all of a page's state, and comes back the same.
import assert from "node:assert/strict";
import fs from "node:fs";
import test from "node:test";
import { load } from "./load.mjs";

const explore = await load("pages/explore/state.ts");
const client = await load("api/client.ts");
const pivots = await load("util/pivot.ts");
const text = await load("util/text.ts");
const colours = await load("charts/colours.ts");

const DIMENSIONS = [{ name: "user", kind: "policy" }, { name: "team", kind: "policy" }, { name: "kind", kind: "built_in" }];
const read = (search, dimensions = DIMENSIONS) => explore.readQuestion(new URLSearchParams(search), "2026-03", dimensions);

test("filters come back as they were written", () => {
  for (const one of ["team=nlp", "team!=nlp,cv", "job=a=b", "team=(unallocated)", "team=", "team=a\\,b,c", "user=corp\\ann", "team=x\\\\,y"]) {
    assert.equal(explore.filterText(explore.parseFilter(one)), one);
  }
  assert.equal(explore.parseFilter("team"), null);
});

test("a file that is saved is named by what is in it", () => {
  assert.equal(client.fileName("/api/v1/costs?by=team&month=2026-03&format=sheet"), "costs-2026-03.csv");
  assert.equal(client.fileName("/api/v1/costs?by=team&month=2026-03&format=csv"), "costs-2026-03.csv");
  assert.equal(client.fileName("/api/v1/costs?from=2026-03-01&to=2026-05-31&format=json"), "costs-2026-03-01-2026-05-31.json");
  assert.equal(client.fileName("/api/v1/coverage"), "coverage.csv");
});

test("a value may have commas and backslashes", () => {
  for (const values of [["a,b"], ["a,b", "c"], ["x\\", "y"], ["corp\\ann"], ["\\,", ",\\"], ["\\\\,"], [""], ["", ""]]) {
    assert.deepEqual(explore.parseFilter(explore.filterText({ dimension: "team", negate: false, values })).values, values);
  }
  assert.deepEqual(explore.parseFilter("team=a\\,b").values, ["a,b"]);
  assert.equal(explore.keyOf(["a,b"]), "a,b");
  assert.equal(explore.keyOf(["a,b", "c"]), "a\\,b,c");
});

test("the usual grouping is that of views that are sent", () => {
  const lines = fs.readFileSync(new URL("../../tests/web_units/usual_grouping.txt", import.meta.url), "utf8").trimEnd().split("\n").filter((line) => !line.startsWith("#"));
  assert.ok(lines.length > 10);
  for (const line of lines) {
    const [dimensions, filters, by] = line.split("|").map((part) => part.trim());
    const known = dimensions.split(" ").filter(Boolean).map((name) => ({ name, kind: "policy" }));
    assert.equal(explore.usualBy(known, filters.split(" ").filter(Boolean).map(explore.parseFilter)), by, line);
  }
});

test("what an address does not say has its usual value", () => {
  const question = read("");
  assert.deepEqual(question.by, ["team"]);
  assert.equal(question.step, "day");
  assert.equal(question.cost, "effective");
  assert.equal(read("step=hour&cost=all&chart=pie").step, "day");
  assert.equal(read("step=hour&cost=all&chart=pie").chart, "bars");
  assert.equal(read("by=a,b,c,d").by.length, 3);
});

test("by what, is what the filters leave open", () => {
  assert.deepEqual(read("filter=team=nlp").by, ["user"]);
  assert.deepEqual(read("filter=team=nlp,cv").by, ["team"]);
  assert.deepEqual(read("filter=team!=nlp").by, ["team"]);
  assert.deepEqual(read("filter=team=nlp&filter=user=ana").by, ["workload"]);
  assert.deepEqual(read("", [{ name: "client", kind: "policy" }]).by, ["client"]);
});

test("days in an address come before the month", () => {
  assert.equal(explore.parameters(read("")).month, "2026-03");
  const asked = explore.parameters(read("from=2026-01-01&to=2026-01-31"));
  assert.equal(asked.month, null);
  assert.equal(asked.from, "2026-01-01");
});

test("a row leads one step deeper", () => {
  const to = explore.drillDown(read("by=team&filter=cluster=prod"), { team: "nlp" }, ["team", "user"]);
  const query = new URL(to, "http://x").searchParams;
  assert.deepEqual(query.getAll("filter"), ["cluster=prod", "team=nlp"]);
  assert.equal(query.get("by"), "user");
  const nobody = new URL(explore.drillDown(read(""), { team: "(unallocated)" }, ["team"]), "http://x").searchParams;
  assert.equal(nobody.get("by"), "node");
  assert.equal(explore.drillDown(read(""), { team: "(12 others)" }, ["team"]), null);
  const comma = new URL(explore.drillDown(read(""), { team: "a,b" }, ["team"]), "http://x").searchParams;
  assert.deepEqual(explore.parseFilter(comma.get("filter")).values, ["a,b"]);
});

test("a pivot keeps every cent", () => {
  const rows = [
    { day: "2026-03-01", team: "a", effective_cost: "0.1" },
    { day: "2026-03-01", team: "b", effective_cost: "0.2" },
    { day: "2026-03-02", team: "a", effective_cost: "5" },
    { day: "2026-03-02", team: "(3 others)", effective_cost: "7" },
    { day: "2026-03-02", team: "(unallocated)", effective_cost: "1" },
  ];
  const made = pivots.pivot(rows, { bucket: "day", by: ["team"], cost: "effective_cost", most: 2 });
  assert.deepEqual(made.buckets, ["2026-03-01", "2026-03-02"]);
  assert.deepEqual(made.series.map((one) => one.key), ["a", "Others", "(unallocated)"]);
  assert.deepEqual(made.series[1].values, ["0.2", "7"]);
  assert.deepEqual(made.series[0].values, ["0.1", "5"]);
});

test("a kind has its colour, others are grey", () => {
  assert.equal(colours.seriesName("(unallocated)", 0), "unallocated");
  assert.equal(colours.seriesName("held_idle", 3), "idle");
  assert.equal(colours.seriesName("(4 others)", 0), "others");
  assert.equal(colours.seriesName("nlp", 10), "c1");
});

test("months and days", () => {
  assert.equal(text.addMonths("2026-01", -1), "2025-12");
  assert.equal(text.addMonths("2025-12", 14), "2027-02");
  assert.equal(text.daysIn("2028-02"), 29);
  assert.equal(text.daysOf("2026-02", 3).join(), "2026-02-01,2026-02-02,2026-02-03");
  assert.equal(text.monthName("2026-03"), "March 2026");
});
