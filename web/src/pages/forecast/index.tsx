// Forecast: what the next days and months will cost, with the ranges that hold 50, 80 and 95 %, and how near
// the method was on earlier days.
import { address } from "../../api/client";
import { useQuery } from "../../api/hooks";
import type { ApiTable as Data, Dimension, List, Row, Tables } from "../../api/types";
import { href, setQuery, useRoute } from "../../app/router";
import { useSession } from "../../app/session";
import { Chart } from "../../charts/chart";
import { ApiTable } from "../../components/api_table";
import { Card, PageHead } from "../../components/card";
import { Chip, LinkButton, Segments } from "../../components/controls";
import { Empty, Loaded } from "../../components/states";
import { Select } from "../../components/form";
import { filterText } from "../../util/filter";
import { shownKey, words } from "../../util/text";
import { fan, historyDays, readForecast, type Forecast } from "./fan";
import { KnownEvents } from "./known_events";

const DAYS = ["30", "60", "90"] as const;
const OWNERS = ["team", "project", "user"];

function Fan({ forecast, filter, days }: { forecast: Forecast; filter: string[]; days: number }) {
  const first = forecast.rows[0]?.day ?? "";
  const { from, to } = historyDays(first, days);
  const history = useQuery<Tables>("/costs", { filter, by: "cluster", step: "day", from, to });
  return (
    <Loaded query={history}>
      {({ tables }) => {
        const { labels, series } = fan(forecast, tables);
        return <Chart kind="line" title="Cost by day, and its forecast" labels={labels} series={series} currency={forecast.currency} size="large" legend />;
      }}
    </Loaded>
  );
}

// "31.7 (not shown)" of the API, in words.
function held(share: unknown): string {
  const [number, ...hidden] = String(share).split(" ");
  return `${number} % of the time${hidden.length > 0 ? " and is not shown" : ""}`;
}

// The table of methods, in words: how far they were from what came, and how often the ranges held.
function Quality({ table }: { table: Data }) {
  const used = table.rows.filter((row) => row.is_used === "yes");
  const only = used.length === 1 ? used[0] : undefined;
  const nearest = table.rows[0]; // they are in the order of their MASE
  const isNearest = only === nearest || only?.mase === nearest?.mase;
  return (
    <Card title="How good such forecasts were" note="on earlier days of the same costs" flush>
      {only && (
        <p class="card-lead">
          <strong>{words(String(only.method))}</strong> {isNearest ? "came nearest and is used." : `is used; ${String(nearest?.method)} came a little nearer.`}
          {["50", "80", "95"].filter((percent) => only[`held_${percent}`]).map((percent) => (
            <span key={percent}> The {percent} % range held {held(only[`held_${percent}`])}.</span>
          ))}
        </p>
      )}
      <ApiTable table={table} caption="Methods tried on earlier days" dense />
    </Card>
  );
}

// What was forecast on earlier days, beside what these days cost.
function Kept({ table }: { table: Data }) {
  return (
    <Card title="How near earlier forecasts came" note="of the last 100 days" flush={table.rows.length > 0}>
      {table.rows.length > 0 ? (
        <ApiTable table={table} caption="Forecasts that were kept" dense />
      ) : (
        <p>No forecast has come due yet: one is kept of each complete day.</p>
      )}
    </Card>
  );
}

function Months({ tables, by, onOwner }: { tables: Tables["tables"]; by: string; onOwner: (row: Row) => void }) {
  return (
    <>
      {tables.map((table) => (
        <Card key={table.title} title={`The next months, by ${by}`} note={table.currency} flush>
          <ApiTable table={table} caption={`The next months, by ${by}`} dense onRow={onOwner} hide={["days"]}
            titles={{ low_50: "50 % from", high_50: "to", low_80: "80 % from", high_80: "to", low_95: "95 % from", high_95: "to" }} />
        </Card>
      ))}
    </>
  );
}

// When GPUs run out. It is of the whole fleet, so users with a scope don't see it.
function Capacity() {
  const capacity = useQuery<Tables>("/capacity");
  return (
    <Loaded query={capacity}>
      {({ tables }) => (
        <>
          {tables.filter((table) => table.rows.length > 0).map((table) => (
            <Card key={table.title} title={table.title === "Capacity" ? "When GPUs run out" : table.title} flush>
              <ApiTable table={table} caption={table.title} dense hide={["nodes"]} titles={{ low_80: "80 % from", high_80: "to" }}
                cells={{ proposal: (row) => <span class="wrap proposal">{String(row.proposal ?? "")}</span> }} />
            </Card>
          ))}
        </>
      )}
    </Loaded>
  );
}

export default function ForecastPage() {
  const { query } = useRoute();
  const { may, user } = useSession();
  const dimensions = useQuery<List<Dimension>>("/dimensions");
  const names = (dimensions.data?.data ?? []).filter((one) => one.kind === "policy").map((one) => one.name);
  const by = query.get("by") ?? OWNERS.find((name) => names.includes(name)) ?? names[0] ?? "cluster";
  const days = DAYS.find((one) => one === query.get("days")) ?? "30";
  const filters = query.getAll("filter");
  const parameters = { days, step: "day", half: true, explain: true, filter: filters };
  const daily = useQuery<Tables>("/forecast", parameters);
  const months = useQuery<Tables>(dimensions.data || dimensions.error ? "/forecast" : null, { by, days, step: "month", half: true, filter: filters });
  const choose = (row: Row) => {
    const value = String(row[by] ?? "");
    if (!value || value === "total" || /^\(\d+ others\)$/.test(value)) return;
    setQuery({ filter: [filterText({ dimension: by, values: [value], negate: false })] });
  };
  return (
    <div class="stack">
      <PageHead title="Forecast" lead="What the next days and months will cost, and how sure that is.">
        <Segments label="Days ahead" chosen={days} onChoose={(value) => setQuery({ days: value === "30" ? null : value })}
          options={DAYS.map((one) => ({ key: one, title: `${one} days` }))} />
        <Select label="By" value={by} onValue={(value) => setQuery({ by: value })}
          options={[...new Set([by, ...names, "cluster"])].map((name) => ({ value: name, title: `by ${name}` }))} />
        <LinkButton icon="download" tone="quiet" href={address("/forecast", { by, days, step: "month", half: true, filter: filters, format: "sheet" })} download>
          CSV
        </LinkButton>
      </PageHead>
      {filters.length > 0 && (
        <p class="chips">
          {filters.map((text) => (
            <Chip key={text} onRemove={() => setQuery({ filter: filters.filter((one) => one !== text) })}>{text.split("=").map(shownKey).join(": ")}</Chip>
          ))}
        </p>
      )}
      <Loaded query={daily}>
        {({ tables }) => {
          const forecast = readForecast(tables);
          if (!forecast) {
            return (
              <Card>
                <Empty icon="forecast" title="No forecast yet" action={{ href: href("/bills", { tab: "imports" }), title: "See what was imported" }}>
                  A forecast needs some weeks of complete days with costs{filters.length > 0 ? " of what the filter selects" : ""}.
                </Empty>
              </Card>
            );
          }
          return (
            <>
              <Card title="By day" note={forecast.currency}>
                <Fan forecast={forecast} filter={filters} days={Number(days)} />
                {forecast.notes.length > 0 && <ul class="table-notes">{forecast.notes.map((note) => <li key={note}>{note}</li>)}</ul>}
              </Card>
              {forecast.methods && <Quality table={forecast.methods} />}
              {forecast.kept && <Kept table={forecast.kept} />}
            </>
          );
        }}
      </Loaded>
      <Loaded query={months}>{({ tables }) => <Months tables={tables} by={by} onOwner={choose} />}</Loaded>
      <KnownEvents names={names} onChanged={() => (daily.reload(), months.reload())} />
      {may("read_rules") && (user?.scope ?? []).length === 0 && filters.length === 0 && <Capacity />}
    </div>
  );
}
