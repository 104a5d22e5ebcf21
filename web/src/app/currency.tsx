// The currency that amounts are shown in: one switch for all pages. It is part of the address (?currency=EUR),
// which every link and every request keeps; without it the server's currencies.report applies.
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { useQuery } from "../api/hooks";
import type { Currencies, Staleness } from "../api/types";
import { Note } from "../components/states";
import { dayShort, plural, since } from "../util/text";
import { setQuery, useRoute } from "./router";

const AS_BILLED = "original";

const CurrencyContext = createContext<Currencies | undefined>(undefined);
export const CurrencyProvider = CurrencyContext.Provider;

// Null without the permission to read costs.
export function useCurrencies(month: string | null): Currencies | undefined {
  useRoute();
  return useQuery<Currencies>(month === null ? null : "/currencies", { month }).data;
}

export function CurrencySwitch() {
  const known = useContext(CurrencyContext);
  const { query } = useRoute();
  const asked = query.get("currency");
  if (!known) return null;
  const usual = known.report ?? AS_BILLED;
  const codes = [...new Set([...(known.report ? [known.report] : []), ...known.billed, ...known.convertible,
    ...(asked && asked !== AS_BILLED ? [asked] : [])])].sort();
  if (codes.length < 2 && !known.report) return null;
  const chosen = asked ?? usual;
  return (
    <span class="select select-currency">
      <select aria-label="Currency" value={chosen}
        onChange={({ currentTarget: { value } }) => setQuery({ currency: value === usual ? null : value })}>
        {codes.map((code) => (
          <option key={code} value={code}>{code}</option>
        ))}
        <option value={AS_BILLED}>As billed</option>
      </select>
    </span>
  );
}

// The rates, above the figures that are converted at them.
export function RatesNote() {
  const known = useContext(CurrencyContext);
  if (!known?.shown) return null;
  if (known.missing) {
    return (
      <Note tone="warn">
        The costs of this month can't be shown in {known.shown}: {known.missing}. <a href="?currency=original">Show them as billed</a>
      </Note>
    );
  }
  if (known.rates.length === 0) return null;
  return <p class="rates-note">Converted to {known.shown}: {known.rates.join("; ")}</p>;
}

// Where amounts keep the currency of the bill, the budget or the price list, though other pages convert theirs.
export function OwnCurrencyNote() {
  const known = useContext(CurrencyContext);
  if (!known?.shown || known.billed.every((code) => code === known.shown)) return null;
  return <p class="rates-note">Amounts here are as billed, budgeted or listed, and not converted to {known.shown}.</p>;
}

// What came after the month was allocated, and is not in its figures yet.
export function BehindNote({ month }: { month: string }) {
  const { data } = useQuery<Staleness>("/staleness", { month });
  const behind = data?.months[0];
  if (!behind?.allocated_at || !behind.first_import_at || behind.imports_since === 0) return null;
  const text =
    `Allocated ${since(behind.allocated_at)} ago. ${plural(behind.imports_since, "import")} since then ` +
    `${behind.imports_since === 1 ? "is" : "are"} not in the figures; the first came ${since(behind.first_import_at)} ago.`;
  // Workers take in what comes within minutes.
  const isLate = Date.now() - Date.parse(behind.first_import_at) > 15 * 60_000;
  return isLate ? <Note tone="warn">{text}</Note> : <p class="rates-note">{text}</p>;
}

// How far the month's costs go, on every page that shows them.
export function Freshness() {
  const day = useContext(CurrencyContext)?.as_of;
  if (!day) return null;
  const age = Math.floor((Date.now() - Date.parse(day)) / 86_400_000);
  return (
    <footer class="freshness">
      Costs up to {dayShort(day)} {day.slice(0, 4)}{age > 0 && age < 60 ? `, ${plural(age, "day")} ago` : ""}. Days and times are UTC unless a policy says otherwise.
    </footer>
  );
}
