// All postings behind an amount, the largest first, page by page; each opens its own calculation.
import type { Explanation } from "../../api/types";
import { href, navigate, useRoute, withQuery } from "../../app/router";
import { Card } from "../../components/card";
import { Chip, LinkButton } from "../../components/controls";
import { Money, Quantity } from "../../components/money";
import { Table, type Column } from "../../components/table";
import { only, parseFilter } from "../../util/filter";
import { add, isZero } from "../../util/money";
import { dayShort, shownWorkload } from "../../util/text";
import { narrowed } from "./address";
import { partName } from "./parts";

type Line = Explanation["lines"][number];

export const PAGE = 100;

function chipText(text: string): string {
  const filter = parseFilter(text);
  return filter ? `${filter.dimension} ${filter.values.map((one) => shownWorkload(one)).join(" or ")}` : text;
}

export function Postings({ answer }: { answer: Explanation }) {
  const { query } = useRoute();
  const { offset, lines, postings_total: all } = answer;
  const within = query.has("bucket") ? [] : query.getAll("within");
  const sums = [...new Set(answer.parts.map((part) => part.currency))].map((currency) => ({ currency, sum: add(...answer.parts.filter((part) => part.currency === currency).map((part) => part.amount)) }));
  const isBucket = query.has("bucket");
  const currencies = [...new Set(lines.map((line) => line.currency))];
  const own = currencies.length === 1 ? ` ${currencies[0]}` : "";
  const calculation = (line: Line) =>
    isBucket ? href("/explain", { charge: line.charge }) : withQuery({ posting: String(line.number) });
  // Only the postings of this value.
  const value = (dimension: string, name: string, shown: string) =>
    !name ? <span class="nothing">–</span> : isBucket ? <span class="cut" title={name}>{shown}</span>
      : <a class="cut" href={narrowed([...new Set([...within, only(dimension, name)])])} title={`${name}: only its postings`}>{shown}</a>;
  const columns: Column<Line>[] = [
    { key: "day", title: "Day", value: (line) => line.day, cell: (line) => <a href={calculation(line)} title={`${line.day}: how this posting is calculated`}>{dayShort(line.day)}</a>, total: "Sum of this page" },
    { key: "workload", title: "Workload", wide: true, value: (line) => line.workload, cell: (line) => value("workload", line.workload, shownWorkload(line.workload)) },
    { key: "node", title: "Node", hideOnPhone: true, value: (line) => line.node, cell: (line) => value("node", line.node, line.node) },
    { key: "part", title: "Part", hideOnPhone: true, value: partName, cell: (line) => partName(line) },
    { key: "hours", title: "GPU-hours", numeric: true, hideOnPhone: true, value: (line) => line.gpu_hours,
      cell: (line) => (isZero(line.gpu_hours) ? <span class="nothing">–</span> : <Quantity value={line.gpu_hours} digits={2} exactly={line.gpu_hours_exact} />) },
    { key: "charge", title: "Bill line", hideOnPhone: true,
      cell: (line) => (line.charge === query.get("charge") ? <span class="nothing">this one</span> : <a href={href("/explain", { charge: line.charge })} title={`Bill line ${line.charge}`}><code class="id">{line.charge.slice(0, 8)}</code></a>) },
    { key: "amount", title: `Cost${own}`, numeric: true, value: (line) => line.amount,
      cell: (line) => <Money amount={line.amount} currency={own ? null : line.currency} />,
      total: own ? <Money amount={add(...lines.map((line) => line.amount))} /> : "" },
  ];
  const end = offset + lines.length;
  const range = all === lines.length ? `all ${all.toLocaleString("en")}` : `${(offset + 1).toLocaleString("en")} to ${end.toLocaleString("en")} of ${all.toLocaleString("en")}, the largest first`;
  return (
    <Card title="Postings" flush
      note={<>{range}, together <span class="postings-sum">{sums.map((one, i) => <span key={one.currency}>{i > 0 && " + "}<Money amount={one.sum} currency={one.currency} /></span>)}</span></>}>
      {within.length > 0 && (
        <div class="chips postings-chips" role="group" aria-label="Only these postings">
          {within.map((filter) => (
            <Chip key={filter} onRemove={() => navigate(narrowed(within.filter((one) => one !== filter)))} removeLabel={`Not only ${filter}`}>{chipText(filter)}</Chip>
          ))}
          <LinkButton small tone="quiet" href={narrowed([])}>All postings</LinkButton>
        </div>
      )}
      <Table caption="Postings" columns={columns} rows={lines} rowKey={(line) => String(line.number)} dense
        current={(line) => line.number === answer.posting} />
      {(offset > 0 || end < all) && (
        <nav class="table-foot" aria-label="Postings">
          {offset > 0 && <LinkButton small href={withQuery({ offset: offset > PAGE ? String(offset - PAGE) : null, posting: null })}>Larger ones</LinkButton>}
          {end < all && <LinkButton small href={withQuery({ offset: String(end), posting: null })}>Next {Math.min(PAGE, all - end)}</LinkButton>}
        </nav>
      )}
    </Card>
  );
}
