// Explore: costs by any dimensions, filters and time, as a chart and a table; the address can be shared.
import { useMemo } from "preact/hooks";
import { useEvent } from "../../api/events";
import { useQuery } from "../../api/hooks";
import type { Dimension, List, Tables } from "../../api/types";
import { useMonth } from "../../app/month";
import { href, useRoute } from "../../app/router";
import { Card, PageHead } from "../../components/card";
import { LinkButton } from "../../components/controls";
import { Empty, Loaded, Skeleton } from "../../components/states";
import { dayShort, monthName, plural } from "../../util/text";
import { CostChart } from "./cost_chart";
import { CostTable } from "./cost_table";
import { Controls } from "./controls";
import { Exports } from "./exports";
import { Filters } from "./filters";
import { filterText, parameters, readQuestion, type Question } from "./state";
import { Views } from "./views";

const ROWS_MOST = 2000; // in the table, plus one for the rest; an export has all
const NONE: Dimension[] = [];

function when({ from, to, month, asOf }: Question): string {
  const day = (text: string) => `${dayShort(text)} ${text.slice(0, 4)}`;
  const range =
    from && from === to ? day(from) : from && to ? `${day(from)} to ${day(to)}` : from ? `from ${day(from)}` : to ? `up to ${day(to)}` : monthName(month);
  return asOf ? `${range}, as it was known on ${day(asOf)}` : range;
}

// The same owners' jobs, hours and use. What only bills have, such as a service, has no activity.
function activityAddress({ by, filters, month, from, to }: Question, all: Dimension[]): string {
  const has = (name: string) => ["cluster", "node", "workload"].includes(name) || all.some((one) => one.name === name && one.kind === "policy");
  const first = by.find(has);
  return href("/activity", { by: first ?? null, filter: filters.filter((one) => has(one.dimension)).map(filterText), ...(from || to ? { from, to } : { month }) });
}

export default function Explore() {
  const { query } = useRoute();
  const { month } = useMonth();
  const dimensions = useQuery<List<Dimension>>("/dimensions");
  const all = dimensions.data?.data ?? NONE;
  const question = useMemo(() => readQuestion(query, month, all), [query, month, all]);
  const isKnown = dimensions.data !== undefined || dimensions.error !== undefined;
  const costs = useQuery<Tables>(isKnown ? "/costs" : null, { ...parameters(question), top: ROWS_MOST });
  useEvent("rollup", costs.reload);
  const rows = costs.data?.tables.reduce((sum, table) => sum + table.rows.length, 0);

  return (
    <>
      <PageHead title="Explore" lead={`${when(question)}${rows === undefined ? "" : `, ${plural(rows, "row")}`}.`}>
        <LinkButton icon="live" tone="quiet" href={activityAddress(question, all)}>Activity</LinkButton>
        <Views />
        <Exports question={question} />
      </PageHead>
      <Card>
        <div class="explore-controls">
          <Controls question={question} dimensions={all} />
          <Filters question={question} dimensions={all} />
        </div>
      </Card>
      <Loaded query={costs} skeleton={<Skeleton lines={8} />}>
        {({ tables }) =>
          tables.length === 0 ? (
            <Card>
              <Empty icon="explore" title="No matching costs">
                {question.filters.length > 0
                  ? "Remove a filter, or choose another time."
                  : `There are no costs in ${when(question)}. Import a bill and allocate it, or choose another time.`}
              </Empty>
            </Card>
          ) : (
            <div class="stack">
              {tables.map((table) => (
                <div class="stack" key={table.currency}>
                  {question.step !== "none" && <CostChart question={question} currency={table.currency ?? ""} />}
                  <CostTable question={question} table={table} dimensions={all.map((one) => one.name)} />
                </div>
              ))}
            </div>
          )
        }
      </Loaded>
    </>
  );
}
