// Amounts: rounded for reading, exact in the title.
import { brief, exact, isAmount, isZero, minorDigits, money, number, percent, rounded, ticks } from "../util/money";

interface MoneyProps {
  amount: string | null | undefined;
  currency?: string | null | undefined; // left out if the column header has it
  unit?: string | null | undefined; // the currency of the column header: decides the digits
  digits?: number;
  short?: boolean; // "$1.23M"
}

export function Money({ amount, currency, unit, digits, short = false }: MoneyProps) {
  if (!isAmount(amount)) return <span class="nothing">–</span>;
  const text = short ? brief(amount, currency) : currency ? money(amount, currency, digits) : rounded(amount, digits ?? minorDigits(unit));
  return (
    <span class={`num${isZero(amount) ? " zero" : ""}`} title={exact(amount, currency)}>
      {text}
    </span>
  );
}

// GPU-hours and the like: decimal strings, rounded for reading, exact in the title.
export function Quantity({ value, unit = "", digits = 1, exactly }: {
  value: string | number | null | undefined;
  unit?: string;
  digits?: number;
  exactly?: string;
}) {
  if (value === null || value === undefined || value === "") return <span class="nothing">–</span>;
  const text = String(value);
  return (
    <span class={isAmount(text) && isZero(text) ? "num zero" : "num"} title={`${exactly ?? text}${unit ? " " + unit : ""}`}>
      {isAmount(text) ? number(text, digits) : text}
      {unit && <span class="unit"> {unit}</span>}
    </span>
  );
}

export function Percent({ value, digits = 1 }: { value: string | null | undefined; digits?: number }) {
  if (!isAmount(value)) return <span class="nothing">–</span>;
  return (
    <span class="num" title={`${value} %`}>
      {number(value, digits)}<span class="unit">%</span>
    </span>
  );
}

// The change since before: "▲ 12.3%" of spend, where more is not better.
export function Change({ now, before, currency, goodWhen = "less" }: {
  now: string | null | undefined;
  before: string | null | undefined;
  currency?: string | null;
  goodWhen?: "less" | "more" | "neither";
}) {
  if (!isAmount(now) || !isAmount(before)) return null;
  if (isZero(now) && isZero(before)) return null;
  const difference = ticks(now) - ticks(before);
  const size = percent(String(difference < 0n ? -difference : difference), String(ticks(before)));
  const tone =
    goodWhen === "neither" || difference === 0n ? "flat" : difference < 0n === (goodWhen === "less") ? "good" : "bad";
  const sign = difference === 0n ? "=" : difference > 0n ? "▲" : "▼";
  return (
    <span class={`change change-${tone}`} title={`before: ${exact(before, currency)}`}>
      <span aria-hidden="true">{sign} </span>
      <span class="sr-only">{difference < 0n ? "less by " : difference > 0n ? "more by " : "unchanged "}</span>
      {size === null ? "new" : `${size}%`}
    </span>
  );
}
