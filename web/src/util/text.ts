// Dates, months, durations and names for people. All times are in UTC, as in the API.

const MONTHS = [
  "January", "February", "March", "April", "May", "June",
  "July", "August", "September", "October", "November", "December",
];

// "2026-03" -> "March 2026"
export function monthName(month: string): string {
  const [year, number] = month.split("-");
  return `${MONTHS[Number(number) - 1] ?? number} ${year}`;
}

export function monthShort(month: string): string {
  const [year, number] = month.split("-");
  return `${(MONTHS[Number(number) - 1] ?? "").slice(0, 3)} ${year}`;
}

// "2026-03-09" -> "9 Mar"
export function dayShort(day: string): string {
  const [, month, date] = day.split("-");
  return `${Number(date)} ${(MONTHS[Number(month) - 1] ?? "").slice(0, 3)}`;
}

export function addMonths(month: string, count: number): string {
  const [year = 0, number = 1] = month.split("-").map(Number);
  const index = year * 12 + number - 1 + count;
  return `${Math.floor(index / 12)}-${String((index % 12) + 1).padStart(2, "0")}`;
}

export function thisMonth(now = new Date()): string {
  return now.toISOString().slice(0, 7);
}

// "2026-03-09T14:05:06Z" -> "9 Mar 2026, 14:05 UTC"
export function instant(text: string | null | undefined): string {
  if (!text) return "–";
  return `${dayShort(text.slice(0, 10))} ${text.slice(0, 4)}, ${text.slice(11, 16)} UTC`;
}

export function duration(milliseconds: number): string {
  const minutes = Math.max(0, Math.round(milliseconds / 60_000));
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${String(minutes % 60).padStart(2, "0")} min`;
  const days = Math.floor(hours / 24);
  return days < 10 ? `${days} d ${hours % 24} h` : `${days} d`;
}

export function since(text: string, now = Date.now()): string {
  const then = Date.parse(text);
  return Number.isNaN(then) ? text : duration(now - then);
}

// "held_idle" -> "Held idle"
export function words(name: string): string {
  const plain = name.replace(/_/g, " ");
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}

export function plural(count: number, one: string, many = one + "s"): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

export function daysIn(month: string): number {
  const [year = 0, number = 1] = month.split("-").map(Number);
  return new Date(Date.UTC(year, number, 0)).getUTCDate();
}

// The days of a month up to one of them.
export function daysOf(month: string, last = daysIn(month)): string[] {
  return Array.from({ length: last }, (_, i) => `${month}-${String(i + 1).padStart(2, "0")}`);
}

// A time bucket on an axis: a day or week "9 Mar", a month "Mar 2026".
export function bucketName(bucket: string): string {
  return bucket.length === 7 ? monthShort(bucket) : dayShort(bucket);
}

// "(unallocated)" of a report becomes "Unallocated"; other values stay as they are.
const ASIDE: Record<string, string> = {
  "(unallocated)": "Unallocated",
  "(stranded)": "Stranded",
  "(overhead)": "Overhead",
  "(unavailable)": "Unavailable",
  "(shared)": "Shared",
  "(none)": "No value",
};

// A workload that stands for costs spread to an owner, "(job=embed,model=(none),team=nlp)", is shown by its
// values: "Spread: embed, nlp".
export function shownWorkload(name: string): string {
  if (!/^\(\w+=.*\)$/.test(name)) return shownKey(name);
  const values = name.slice(1, -1).split(/,(?=\w+=)/).map((part) => part.slice(part.indexOf("=") + 1));
  return `Spread: ${[...new Set(values.filter((value) => value && value !== "(none)"))].join(", ") || "to no named owner"}`;
}

// The viewer's own time, for titles: "9 March 2026 at 15:05 CET".
export function localTime(text: string | null | undefined): string | undefined {
  if (!text) return undefined;
  return new Date(text).toLocaleString("en-GB", { dateStyle: "long", timeStyle: "short" }) + " in your time zone";
}

export function shownKey(key: string): string {
  return ASIDE[key] ?? (/^\(\d+ others\)$/.test(key) ? key.slice(1, -1) : key);
}
