// All postings behind an amount, the largest first, page by page; each opens its own calculation.
import type { Explanation } from "../../api/types";
import { href, useRoute, withQuery } from "../../app/router";
import { Card } from "../../components/card";
import { LinkButton } from "../../components/controls";
import { Money, Quantity } from "../../components/money";
import { Table, type Column } from "../../components/table";
import { add, isZero } from "../../util/money";
import { dayShort, shownWorkload } from "../../util/text";
import { partName } from "./parts";

type Line = Explanation["lines"][number];

export const PAGE = 100;

export function Postings({ answer }: { answer: Explanation }) {
  const { query } = useRoute();
  const { offset, lines, postings_total: all } = answer;
  const isBucket = query.has("bucket");
  const currencies = [...new Set(lines.map((line) => line.currency))];
  const own = currencies.length === 1 ? ` ${currencies[0]}` : "";
  const calculation = (line: Line) =>
    isBucket ? href("/explain", { charge: line.charge }) : withQuery({ posting: String(line.number) });
  const columns: Column<Line>[] = [
    { key: "day", title: "Day", value: (line) => line.day, cell: (line) => <a href={calculation(line)} title={`${line.day}: how this posting is calculated`}>{dayShort(line.day)}</a>, total: "Sum of this page" },
    { key: "workload", title: "Workload", wide: true, value: (line) => line.workload, cell: (line) => <span class="cut" title={line.workload}>{shownWorkload(line.workload) || "–"}</span> },
    { key: "node", title: "Node", hideOnPhone: true, value: (line) => line.node, cell: (line) => <span class="cut" title={line.node}>{line.node || <span class="nothing">–</span>}</span> },
    { key: "part", title: "Part", hideOnPhone: true, value: partName, cell: (line) => partName(line) },
    { key: "hours", title: "GPU-hours", numeric: true, hideOnPhone: true, value: (line) => line.gpu_hours,
      cell: (line) => (isZero(line.gpu_hours) ? <span class="nothing">–</span> : <Quantity value={line.gpu_hours} digits={2} exactly={line.gpu_hours_exact} />) },
    { key: "amount", title: `Cost${own}`, numeric: true, value: (line) => line.amount,
      cell: (line) => <Money amount={line.amount} currency={own ? null : line.currency} />,
      total: own ? <Money amount={add(...lines.map((line) => line.amount))} /> : "" },
  ];
  const end = offset + lines.length;
  return (
    <Card title="Postings" flush
      note={all === lines.length ? `all ${all.toLocaleString("en")}` : `${(offset + 1).toLocaleString("en")} to ${end.toLocaleString("en")} of ${all.toLocaleString("en")}, the largest first`}>
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
