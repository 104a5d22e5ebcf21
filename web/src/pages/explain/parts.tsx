// What an amount is made of: kinds and components with their GPU-hours and price, the months' conversion, and
// the total. Every line is a sum of postings, and together they are the amount.
import type { Explanation } from "../../api/types";
import { Card } from "../../components/card";
import { Money, Quantity } from "../../components/money";
import { Table, type Column } from "../../components/table";
import { add, fromTicks, isZero, number, percent, ticks } from "../../util/money";
import { monthName, words } from "../../util/text";
import { narrowed } from "./address";

type Part = Explanation["parts"][number];
type Month = Explanation["months"][number];

const KINDS: Record<string, string> = { held_idle: "Idle" };
const COMPONENTS: Record<string, string> = { gpu: "GPUs", cpu: "CPUs", memory: "Memory", whole: "Undivided" };

export function partName(part: Pick<Part, "kind" | "component">): string {
  return `${KINDS[part.kind] ?? words(part.kind)}: ${(COMPONENTS[part.component] ?? part.component).toLocaleLowerCase("en").replace("gpus", "GPUs").replace("cpus", "CPUs")}`;
}

// The filters that select the postings of some parts of the answer, which have one currency.
export function filtersOf(parts: readonly Part[], answer: Explanation): string[] {
  const all = (name: "kind" | "component" | "currency") => `${name}=${[...new Set(parts.map((part) => part[name]))].join(",")}`;
  const isOne = answer.parts.every((part) => part.currency === parts[0]?.currency);
  return [all("kind"), all("component"), ...(isOne ? [] : [all("currency")])];
}

// Cost per GPU-hour, four digits; null without hours.
export function perHour(part: Part): string | null {
  return isZero(part.gpu_hours) ? null : percent(part.amount, fromTicks(ticks(part.gpu_hours) * 100n), 4);
}

export function Parts({ answer, canNarrow }: { answer: Explanation; canNarrow: boolean }) {
  const currencies = [...new Set(answer.parts.map((part) => part.currency))];
  const converted = answer.months.filter((month) => month.currency !== month.shown_currency);
  return (
    <>
      {currencies.map((currency) => {
        const parts = answer.parts.filter((part) => part.currency === currency);
        const total = add(...parts.map((part) => part.amount));
        const columns: Column<Part>[] = [
          { key: "part", title: "Part", wide: true, value: partName, total: "Total",
            cell: (part) => (canNarrow ? <a class="cut" href={narrowed(filtersOf([part], answer))} title={`The postings of ${partName(part)}`}>{partName(part)}</a> : <span class="cut">{partName(part)}</span>) },
          { key: "hours", title: "GPU-hours", numeric: true, value: (part) => part.gpu_hours,
            cell: (part) => (isZero(part.gpu_hours) ? <span class="nothing">–</span> : <Quantity value={part.gpu_hours} exactly={part.gpu_hours_exact} />) },
          { key: "rate", title: `${currency} per GPU-hour`, numeric: true, hideOnPhone: true, value: perHour,
            cell: (part) => { const rate = perHour(part); return rate ? <span class="num">{number(rate, 4)}</span> : <span class="nothing">–</span>; } },
          { key: "postings", title: "Postings", numeric: true, hideOnPhone: true, value: (part) => part.postings, cell: (part) => <Quantity value={part.postings} digits={0} /> },
          { key: "amount", title: `Cost ${currency}`, numeric: true, value: (part) => part.amount, cell: (part) => <Money amount={part.amount} />, total: <Money amount={total} /> },
        ];
        return (
          <Card key={currency} title="What it is made of" note={currencies.length > 1 || converted.length > 0 ? `as billed, ${currency}` : undefined} flush>
            <Table caption={`Parts in ${currency}`} name="Parts" columns={columns} rows={parts} rowKey={partName} />
          </Card>
        );
      })}
      {converted.length > 0 && <Conversions answer={answer} />}
    </>
  );
}

function Conversions({ answer }: { answer: Explanation }) {
  const shown = answer.months[0]?.shown_currency ?? "";
  const columns: Column<Month>[] = [
    { key: "month", title: "Booked in", value: (one) => one.month, cell: (one) => monthName(one.month), total: "Total" },
    { key: "amount", title: "As billed", numeric: true, cell: (one) => <Money amount={one.amount} currency={one.currency} /> },
    { key: "shown", title: `In ${shown}`, numeric: true, cell: (one) => <Money amount={one.shown} />, total: <Money amount={add(...answer.months.map((one) => one.shown))} /> },
  ];
  return (
    <Card title="Converted" note={answer.rates.join("; ")} flush>
      <Table caption="Conversion of each month" columns={columns} rows={answer.months} rowKey={(one) => `${one.month} ${one.currency}`} />
    </Card>
  );
}
