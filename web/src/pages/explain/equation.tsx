// The amount as an equation: GPU-hours times a rate, CPUs and memory, idle time, and what is shared. Each term
// opens the postings that it is the sum of.
import type { Explanation } from "../../api/types";
import { Card } from "../../components/card";
import { Money, Quantity } from "../../components/money";
import { add, fromTicks, isZero, number, percent, ticks } from "../../util/money";
import { plural, words } from "../../util/text";
import { narrowed } from "./address";
import { filtersOf } from "./parts";

type Part = Explanation["parts"][number];

export interface Term {
  title: string;
  parts: Part[];
}

const HOST = new Set(["cpu", "memory"]);

function titleOf(part: Part): string {
  if (part.kind === "used") return HOST.has(part.component) ? "CPUs and memory" : "GPUs in use";
  return part.kind === "held_idle" ? "Idle" : words(part.kind);
}

// In the order in which the parts come: what was used, then idle, then what nobody held, then shared costs.
export function termsOf(parts: Part[]): Term[] {
  const terms = new Map<string, Part[]>();
  for (const part of parts) terms.set(titleOf(part), [...(terms.get(titleOf(part)) ?? []), part]);
  return [...terms].map(([title, some]) => ({ title, parts: some }));
}

export const sumOf = (parts: Part[]) => add(...parts.map((part) => part.amount));

// The GPU-hours of a term and what one of them costs on average; null where the term has none.
export function rateOf(parts: Part[]): { hours: string; rate: string } | null {
  const hours = add(...parts.filter((part) => !HOST.has(part.component)).map((part) => part.gpu_hours));
  const rate = isZero(hours) ? null : percent(sumOf(parts), fromTicks(ticks(hours) * 100n), 4);
  return rate === null ? null : { hours, rate };
}

function One({ term, currency, answer, canNarrow }: { term: Term; currency: string; answer: Explanation; canNarrow: boolean }) {
  const rate = rateOf(term.parts);
  const postings = term.parts.reduce((sum, part) => sum + part.postings, 0);
  return (
    <li class="term">
      <span class="figure-label">{canNarrow ? <a href={narrowed(filtersOf(term.parts, answer))}>{term.title}</a> : term.title}</span>
      <strong><Money amount={sumOf(term.parts)} currency={currency} /></strong>
      <small class="muted">
        {rate ? <><Quantity value={rate.hours} /> GPU-hours × {number(rate.rate, 4)}</> : plural(postings, "posting")}
      </small>
    </li>
  );
}

export function Equation({ answer, canNarrow }: { answer: Explanation; canNarrow: boolean }) {
  const currencies = [...new Set(answer.parts.map((part) => part.currency))];
  const isConverted = answer.months.some((month) => month.currency !== month.shown_currency);
  return (
    <Card>
      <p class="why-total">
        {answer.total.map((one, i) => (
          <span key={one.currency}>{i > 0 && " + "}<Money amount={one.amount} currency={one.currency} /></span>
        ))}
        <small class="muted"> is the sum of {plural(answer.postings_total, "posting")}: parts of bill lines, and what rules moved{isConverted ? ". As billed:" : ":"}</small>
      </p>
      {currencies.map((currency) => (
        <ul key={currency} class="equation" aria-label={`Terms in ${currency}`}>
          {termsOf(answer.parts.filter((part) => part.currency === currency)).map((term) => (
            <One key={term.title} term={term} currency={currency} answer={answer} canNarrow={canNarrow} />
          ))}
        </ul>
      ))}
    </Card>
  );
}
