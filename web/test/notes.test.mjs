// The lines of what people wrote, in a tooltip.
import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./load.mjs";

const { noteLines } = await load("charts/notes.ts");

test("a text is cut into lines at blanks, and a word without any at 60 characters", () => {
  assert.deepEqual(noteLines(undefined), []);
  assert.deepEqual(noteLines(["moved to\ncluster b", "again"]), ["moved to cluster b", "again"]);
  const lines = noteLines([`${"word ".repeat(20)}${"x".repeat(500)}`]);
  assert.ok(lines.every((line) => line.length <= 60), lines.join("\n"));
  assert.equal(lines.at(-1), "x".repeat(60));
});

test("many are as many lines as there is room for", () => {
  assert.deepEqual(noteLines(["a", "b", "c", "d", "e", "f"]), ["a", "b", "c", "d", "e", "f"]);
  assert.deepEqual(noteLines(["a", "b", "c", "d", "e", "f", "g"]), ["a", "b", "c", "d", "e", "…"]);
});
