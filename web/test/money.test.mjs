// Amounts are shown as they are: added and rounded as integers, never as binary fractions.
import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./load.mjs";

const money = await load("util/money.ts");

test("sums are exact where binary fractions are not", () => {
  assert.equal(money.add("0.1", "0.2"), "0.3");
  assert.equal(money.add("99999999999999999.000000000000000001", "0.999999999999999999"), "100000000000000000");
  assert.equal(money.subtract("0.3", "0.1"), "0.2");
  assert.equal(money.add("-5", null, undefined, ""), "-5");
  assert.equal(money.add(), "0");
});

test("ticks and back", () => {
  for (const text of ["0", "1", "-1", "0.000000000000000001", "-12.5", "123456789012345678.9"]) {
    assert.equal(money.fromTicks(money.ticks(text)), text);
  }
});

test("rounding is half to even, as the command line's", () => {
  const cases = [
    ["0.125", "0.12"], ["0.135", "0.14"], ["0.1250000000000001", "0.13"], ["-0.125", "−0.12"], ["-0.135", "−0.14"],
    ["2.675", "2.68"], ["1.005", "1.00"], ["1234567.891", "1,234,567.89"], ["999.995", "1,000.00"], ["-0.001", "0.00"],
    ["0", "0.00"],
  ];
  for (const [amount, shown] of cases) assert.equal(money.rounded(amount), shown, amount);
  assert.equal(money.rounded("0.5", 0), "0");
  assert.equal(money.rounded("1.5", 0), "2");
});

test("currencies stand where people expect them", () => {
  assert.equal(money.money("12.5", "USD"), "$12.50");
  assert.equal(money.money("-12.5", "EUR"), "−€12.50");
  assert.equal(money.money("3", "SEK"), "SEK 3.00");
});

test("big figures become brief ones", () => {
  const cases = [
    ["0", "$0.00"], ["12.345", "$12.34"], ["999.4", "$999"], ["999.5", "$1.00k"], ["1234", "$1.23k"], ["12345", "$12.3k"],
    ["123456", "$123k"], ["999499", "$999k"], ["999500", "$1.00M"], ["1234567890", "$1.23B"], ["-1234", "−$1.23k"],
  ];
  for (const [amount, shown] of cases) assert.equal(money.brief(amount, "USD"), shown, amount);
});

test("percentages of exact amounts", () => {
  assert.equal(money.percent("1", "3"), "33.3");
  assert.equal(money.percent("1", "3", 4), "33.3333");
  assert.equal(money.percent("1", "0"), null);
  assert.equal(money.percent("-1", "4"), "-25.0");
});

test("what is no amount is none", () => {
  for (const text of ["", "1e3", "NaN", "1,000", ".5", "5.", " 5"]) assert.equal(money.isAmount(text), false, text);
  for (const text of ["5", "-5", "0.5", "+1"]) assert.equal(money.isAmount(text), true, text);
});

test("comparing has no tolerance", () => {
  assert.equal(money.compare("0.1", "0.10"), 0);
  assert.equal(money.compare("0.100000000000000001", "0.1"), 1);
  assert.equal(money.compare("-2", "1"), -1);
  assert.equal(money.isZero("0.000"), true);
});
