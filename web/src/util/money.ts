// Money as in the API: a decimal string with every digit. It is added, compared and rounded as an integer;
// JavaScript numbers are only used for the height of bars.

const DIGITS = 18; // of the ledger
const ONE = 10n ** BigInt(DIGITS);

export type Amount = string;

// In units of 10^-18. An empty or absent amount is zero; use `isAmount` if that matters.
export function ticks(amount: Amount | null | undefined): bigint {
  const parts = /^([+-]?)(\d*)(?:\.(\d+))?$/.exec(amount ?? "");
  if (!parts) return 0n;
  const [, sign, whole = "", fraction = ""] = parts;
  const value = BigInt(whole + fraction.slice(0, DIGITS).padEnd(DIGITS, "0") || "0");
  return sign === "-" ? -value : value;
}

export function isAmount(amount: unknown): amount is Amount {
  return typeof amount === "string" && /^[+-]?\d+(\.\d+)?$/.test(amount);
}

export function fromTicks(value: bigint): Amount {
  const sign = value < 0n ? "-" : "";
  const size = value < 0n ? -value : value;
  const fraction = (size % ONE).toString().padStart(DIGITS, "0").replace(/0+$/, "");
  return sign + (size / ONE).toString() + (fraction ? "." + fraction : "");
}

export function add(...amounts: (Amount | null | undefined)[]): Amount {
  return fromTicks(amounts.reduce((sum, one) => sum + ticks(one), 0n));
}

export function subtract(a: Amount | null | undefined, b: Amount | null | undefined): Amount {
  return fromTicks(ticks(a) - ticks(b));
}

export function compare(a: Amount | null | undefined, b: Amount | null | undefined): number {
  const [x, y] = [ticks(a), ticks(b)];
  return x < y ? -1 : x > y ? 1 : 0;
}

export function isZero(amount: Amount | null | undefined): boolean {
  return ticks(amount) === 0n;
}

// For heights and widths only.
export function toHeight(amount: Amount | null | undefined): number {
  return Number(amount ?? "0") || 0;
}

// a / b in percent with `digits` digits, half to even, as a decimal; null where b is zero.
export function percent(
  a: Amount | null | undefined,
  b: Amount | null | undefined,
  digits = 1,
): string | null {
  const [part, whole] = [ticks(a), ticks(b)];
  if (whole === 0n) return null;
  const scaled = part * 100n * 10n ** BigInt(digits);
  return decimal(divide(scaled, whole), digits, false).replace("−", "-");
}

// One of so many equal parts, rounded to the last digit of the ledger.
export function divideBy(amount: Amount | null | undefined, parts: number): Amount {
  return fromTicks(divide(ticks(amount), BigInt(parts)));
}

// Rounded half to even.
function divide(a: bigint, b: bigint): bigint {
  if (b < 0n) return divide(-a, -b);
  let quotient = a / b;
  let rest = a % b;
  if (rest < 0n) {
    rest += b;
    quotient -= 1n;
  }
  const twice = rest * 2n;
  if (twice > b || (twice === b && quotient % 2n !== 0n)) quotient += 1n;
  return quotient;
}

function decimal(value: bigint, digits: number, thousands: boolean): string {
  const sign = value < 0n ? "−" : "";
  const text = (value < 0n ? -value : value).toString().padStart(digits + 1, "0");
  const whole = text.slice(0, text.length - digits);
  const shown = thousands ? separated(whole) : whole;
  return sign + shown + (digits > 0 ? "." + text.slice(text.length - digits) : "");
}

export function separated(whole: string): string {
  return whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

// "12,345.67", rounded half to even as the command line does.
export function rounded(amount: Amount | null | undefined, digits = 2): string {
  return decimal(divide(ticks(amount), 10n ** BigInt(DIGITS - digits)), digits, true);
}

// Any decimal of the API (hours, percent, shares), with this many digits.
export const number = rounded;

const SYMBOLS: Record<string, string> = {
  USD: "$", EUR: "€", GBP: "£", JPY: "¥", CNY: "CN¥", INR: "₹", KRW: "₩", CHF: "CHF ",
  CAD: "CA$", AUD: "A$", BRL: "R$",
};

export function symbol(currency: string | null | undefined): string {
  return currency ? (SYMBOLS[currency] ?? currency + " ") : "";
}

function signed(text: string, currency: string | null | undefined): string {
  return text.startsWith("−") ? "−" + symbol(currency) + text.slice(1) : symbol(currency) + text;
}

// ISO 4217: the currencies whose minor unit has not two digits, as the command line has them.
const MINOR_DIGITS: [number, string][] = [
  [0, "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"],
  [3, "BHD IQD JOD KWD LYD OMR TND"],
  [4, "CLF UYW"],
];

export function minorDigits(currency: string | null | undefined): number {
  if (!currency) return 2;
  return MINOR_DIGITS.find(([, codes]) => codes.split(" ").includes(currency))?.[0] ?? 2;
}

// "$12,345.67", "¥12,346"
export function money(
  amount: Amount | null | undefined,
  currency: string | null | undefined,
  digits = minorDigits(currency),
): string {
  return signed(rounded(amount, digits), currency);
}

// An amount that is already in whole minor units: "$12,345.67", "¥12,346".
export function moneyShown(amount: Amount, currency: string | null | undefined): string {
  return money(amount, currency, amount.split(".")[1]?.length ?? 0);
}

// "$1.23M", for axes and big figures; the exact amount is beside it or in a title.
export function brief(amount: Amount | null | undefined, currency?: string | null): string {
  const value = ticks(amount);
  const size = value < 0n ? -value : value;
  const steps: [bigint, string][] = [[1_000_000_000n, "B"], [1_000_000n, "M"], [1_000n, "k"]];
  for (const [step, letter] of steps) {
    // What would round to 1,000 of the smaller unit uses the larger one.
    if (size * 1000n < step * ONE * 999n + step * ONE / 2n) continue;
    const digits = size >= step * ONE * 100n ? 0 : size >= step * ONE * 10n ? 1 : 2;
    const shown = divide(value * 10n ** BigInt(digits), step * ONE);
    return signed(decimal(shown, digits, true) + letter, currency);
  }
  return signed(rounded(amount, size >= 100n * ONE ? 0 : minorDigits(currency)), currency);
}

// "$12,345.67 exactly 12345.6712345 USD": for titles.
export function exact(amount: Amount | null | undefined, currency?: string | null): string {
  return `${amount ?? "0"}${currency ? " " + currency : ""}`;
}
