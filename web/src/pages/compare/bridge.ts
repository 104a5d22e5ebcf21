// Why a cost rose or fell between two periods: quantity, mix, price and the rest, which add up to the difference
// exactly.
//
// Held GPUs of an owner cost rate × GPU-hours. At the rate before, the change of hours is the owner's quantity;
// what is left is its price. Over all owners, quantity is the change of all hours at the average rate before, and
// mix what the owners' quantities differ from it: hours moved to owners who pay more or less an hour.
import type { Row } from "../../api/types";
import { add, fromTicks, isZero, subtract, ticks, type Amount } from "../../util/money";

// GPU-hours as a fraction: rounded ones would move money between quantity and price where few were held.
export interface Hours {
  over: bigint;
  under: bigint;
}
export interface Side {
  cost: Amount;
  hours: Hours;
}
export interface OwnerChange {
  key: string;
  before: Amount;
  now: Amount;
  quantity: Amount; // of held GPUs
  price: Amount; // of held GPUs
  other: Amount; // CPU, memory, shared, unallocated, …; and GPUs of owners that are new or gone
}
export interface Step {
  name: "quantity" | "mix" | "price" | "new" | "gone" | "host" | "unallocated" | "shared" | "rounding";
  amount: Amount;
}
export interface Bridge {
  before: Amount;
  now: Amount;
  steps: Step[]; // those that are not zero
  owners: OwnerChange[];
}

const NO_HOURS: Hours = { over: 0n, under: 1n };

// "3604807/1200" where the answer has it, else the decimal.
export function hoursOf(exact: unknown, decimal: unknown): Hours {
  const fraction = /^(\d+)(?:\/([1-9]\d*))?$/.exec(String(exact ?? ""));
  if (fraction) return { over: BigInt(fraction[1] ?? "0"), under: BigInt(fraction[2] ?? "1") };
  return { over: ticks(String(decimal ?? "0")), under: ticks("1") };
}

function sumOf(a: Hours, b: Hours): Hours {
  return a.under === b.under ? { over: a.over + b.over, under: a.under } : { over: a.over * b.under + b.over * a.under, under: a.under * b.under };
}

// amount × part / whole, half away from zero in the last digit of money.
export function share(amount: Amount, part: Hours, whole: Hours): Amount {
  const product = ticks(amount) * part.over * whole.under;
  const divisor = part.under * whole.over;
  const half = divisor / 2n;
  return fromTicks((product < 0n ? product - half : product + half) / divisor);
}

interface Sums {
  gpu: Side; // held GPUs
  host: Amount; // held CPU, memory, undivided
  unallocated: Amount;
  shared: Amount;
}
const NONE: Sums = { gpu: { cost: "0", hours: NO_HOURS }, host: "0", unallocated: "0", shared: "0" };

// Rows of /costs by owner, kind and component.
function sums(rows: Row[], owner: string, cost: string): Map<string, Sums> {
  const all = new Map<string, Sums>();
  for (const row of rows) {
    const key = String(row[owner] ?? "");
    const one = all.get(key) ?? NONE;
    const amount = String(row[cost] ?? "0");
    const kind = String(row["kind"]);
    const isHeld = kind === "used" || kind === "held_idle";
    if (isHeld && row["component"] === "gpu") {
      all.set(key, { ...one, gpu: { cost: add(one.gpu.cost, amount), hours: sumOf(one.gpu.hours, hoursOf(row["gpu_hours_exact"], row["gpu_hours"])) } });
    } else {
      const name = isHeld ? "host" : kind === "shared" ? "shared" : "unallocated";
      all.set(key, { ...one, [name]: add(one[name], amount) });
    }
  }
  return all;
}

function total(one: Sums): Amount {
  return add(one.gpu.cost, one.host, one.unallocated, one.shared);
}

// Rows of /costs by owner alone: what a report says, where each amount is converted once.
function reported(rows: Row[], owner: string, cost: string): Map<string, Amount> {
  return new Map(rows.map((row) => [String(row[owner] ?? ""), String(row[cost] ?? "0")]));
}

// `totals`: the same costs by owner alone. In another currency each row is converted, and rounded in its last digit,
// so parts may differ from the whole there; that is a step of its own.
export function bridge(beforeRows: Row[], nowRows: Row[], owner: string, cost: string, totals?: { before: Row[]; now: Row[] }): Bridge {
  const whole = totals && { before: reported(totals.before, owner, cost), now: reported(totals.now, owner, cost) };
  const [before, now] = [sums(beforeRows, owner, cost), sums(nowRows, owner, cost)];
  const all = { before: "0", now: "0", quantities: "0", price: "0", new: "0", gone: "0", host: "0", unallocated: "0", shared: "0", rounding: "0" };
  const lasting = { cost: "0", before: NO_HOURS, now: NO_HOURS }; // held GPUs of owners with hours in both
  const owners: OwnerChange[] = [];
  for (const key of new Set([...before.keys(), ...now.keys()])) {
    const [a, b] = [before.get(key) ?? NONE, now.get(key) ?? NONE];
    const [sumBefore, sumNow] = [whole?.before.get(key) ?? total(a), whole?.now.get(key) ?? total(b)];
    const difference = subtract(sumNow, sumBefore);
    all.rounding = add(all.rounding, subtract(difference, subtract(total(b), total(a))));
    let [quantity, price] = ["0", "0"];
    if (a.gpu.hours.over !== 0n && b.gpu.hours.over !== 0n) {
      const atOldRate = share(a.gpu.cost, b.gpu.hours, a.gpu.hours);
      quantity = subtract(atOldRate, a.gpu.cost);
      price = subtract(b.gpu.cost, atOldRate);
      lasting.cost = add(lasting.cost, a.gpu.cost);
      lasting.before = sumOf(lasting.before, a.gpu.hours);
      lasting.now = sumOf(lasting.now, b.gpu.hours);
    } else {
      all.new = add(all.new, b.gpu.cost);
      all.gone = subtract(all.gone, a.gpu.cost);
    }
    all.before = add(all.before, sumBefore);
    all.now = add(all.now, sumNow);
    all.quantities = add(all.quantities, quantity);
    all.price = add(all.price, price);
    for (const name of ["host", "unallocated", "shared"] as const) all[name] = add(all[name], subtract(b[name], a[name]));
    owners.push({ key, before: sumBefore, now: sumNow, quantity, price, other: subtract(difference, add(quantity, price)) });
  }
  const quantity = lasting.before.over === 0n ? "0" : subtract(share(lasting.cost, lasting.now, lasting.before), lasting.cost);
  const steps: Step[] = [
    { name: "quantity", amount: quantity },
    { name: "mix", amount: subtract(all.quantities, quantity) },
    { name: "price", amount: all.price },
    { name: "new", amount: all.new },
    { name: "gone", amount: all.gone },
    { name: "host", amount: all.host },
    { name: "unallocated", amount: all.unallocated },
    { name: "shared", amount: all.shared },
    { name: "rounding", amount: all.rounding },
  ];
  return { before: all.before, now: all.now, steps: steps.filter((step) => !isZero(step.amount)), owners };
}
