// A scenario's changes in words, and how its line grows.
import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./load.mjs";

const { inWords, withPart } = await load("pages/what-if/line.ts");

test("list prices, other GPUs and bought commitments are said in words", () => {
  for (const [part, words] of [
    ["list-price=gcp:tier=spot,date=2026-07-30", "List price: gcp, tier spot, date 2026-07-30"],
    ["replace-model=A100-SXM4-40GB=H100-SXM5-80GB", "A100-SXM4-40GB replaced by H100-SXM5-80GB"],
    ["bound=nlp=compute", "nlp: jobs are limited by compute"],
    ["bound=70%", "Other jobs take 70% of their time there"],
    ["bound=unknown", "Other jobs are limited by what nobody says"],
    ["commitment-buy=40@7.50/1y", "Commitment bought: 40 at 7.50 an hour for 1y"],
    ["commitment-buy=250@60%", "Commitment bought: 250 an hour at 60% of the price"],
  ]) assert.equal(inWords(part), words);
});

test("changes that may stand several times do", () => {
  assert.equal(withPart("bound=memory;list-price=same", "bound=nlp=compute"), "bound=memory;list-price=same;bound=nlp=compute");
  assert.equal(withPart("seed=1", "seed=2"), "seed=2");
});
