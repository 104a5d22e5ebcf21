// Coverage: how much of the GPU spend reaches an owner, and where the rest stops.
import { address } from "../../api/client";
import { useQuery } from "../../api/hooks";
import type { Dimension, List, Tables } from "../../api/types";
import { useMonth } from "../../app/month";
import { setQuery, useRoute } from "../../app/router";
import { ApiTable } from "../../components/api_table";
import { Card, Figure, Grid, PageHead } from "../../components/card";
import { LinkButton, Segments } from "../../components/controls";
import { Money, Percent } from "../../components/money";
import { Empty, ErrorNote, Loaded } from "../../components/states";
import { VerifiedWhy } from "../../components/verified_why";
import { Why } from "../../components/why";
import { percent } from "../../util/money";
import { monthName, words } from "../../util/text";
import { Flow, Headline, Stops } from "./flow";
import { arrives, readCoverage, type CoverageOf } from "./read";
import { gapFilters, partFilters } from "./filters";

function Reaches({ one, month }: { one: CoverageOf; month: string }) {
  return (
    <Grid of="figures">
      {one.reach.map((reach) => (
        <Figure
          key={reach.dimension}
          label={`Reaches a ${reach.dimension}`}
          href={`?by=${encodeURIComponent(reach.dimension)}`}
          value={<Percent value={reach.share ?? percent(arrives(reach), reach.spend, 4)} />}
          sub={
            <span class="figure-why">
              <span><Money amount={reach.gap} currency={one.currency} /> missing</span>
              <VerifiedWhy filters={gapFilters(reach.dimension)} amount={reach.gap} currency={one.currency} month={month} label={`what reaches no ${reach.dimension}`} />
            </span>
          }
        />
      ))}
    </Grid>
  );
}

function OneCurrency({ one, chosen, month }: { one: CoverageOf; chosen: string; month: string }) {
  const reach = one.reach.find((each) => each.dimension === chosen) ?? one.reach[0];
  if (!reach) return null;
  const stops = one.stops.get(reach.dimension) ?? [];
  const places = one.places.filter((place) => place.dimension === "" || place.dimension === reach.dimension);
  return (
    <>
      {one.reach.length > 1 && <Reaches one={one} month={month} />}
      <Card
        title="Where the money goes"
        note={one.currency}
        actions={one.reach.length > 1 && (
          <Segments
            label="Dimension"
            chosen={reach.dimension}
            onChoose={(by) => setQuery({ by })}
            options={one.reach.map((each) => ({ key: each.dimension, title: words(each.dimension) }))}
          />
        )}
      >
        <Headline reach={reach} currency={one.currency} month={month} />
        <Flow reach={reach} stops={stops} currency={one.currency} />
        {stops.length > 0 ? <Stops stops={stops} currency={one.currency} dimension={reach.dimension} month={month} /> : (
          <p class="muted">All of it reaches a {reach.dimension}.</p>
        )}
      </Card>
      <Grid>
        {places.map(({ table }) => (
          <Card key={table.title} title={words(table.title)} flush wide={places.length > 1 && places.length % 2 === 0}>
            <ApiTable table={table} sort={{ key: "effective_cost", down: true }} />
          </Card>
        ))}
        {one.bill && (
          <Card title="GPU spend in the bill" flush>
            <ApiTable table={one.bill} caption="GPU spend in the bill" cells={{ part: (row) => <span class="cut">{words(String(row["part"]))}</span> }} extra={[{
              key: "@why", title: "", label: "Explanation", total: <Why of={{ by: ["kind"], month }} label="all bill lines" />,
              cell: (row) => <VerifiedWhy filters={partFilters(String(row["part"]))} amount={String(row["effective_cost"])} currency={one.currency} month={month} label={String(row["part"])} />,
            }]} />
          </Card>
        )}
      </Grid>
    </>
  );
}

// The usual owner dimensions first, as far as the policy has them.
const USUAL = ["team", "project", "user", "client"];
const MOST = 4;

function byOf(known: Dimension[] | undefined): string | undefined {
  if (!known) return undefined;
  const names = known.filter((one) => one.kind === "policy").map((one) => one.name);
  const usual = USUAL.filter((name) => names.includes(name));
  return (usual.length > 0 ? usual : names).slice(0, MOST).join(",");
}

export default function CoveragePage() {
  const { month } = useMonth();
  const { query } = useRoute();
  const dimensions = useQuery<List<Dimension>>("/dimensions");
  const by = byOf(dimensions.data?.data);
  const answer = useQuery<Tables>(by === undefined ? null : "/coverage", { month, by });
  const isMissing = answer.error?.status === 404;
  return (
    <div class="stack">
      <PageHead title="Coverage" lead={`How much of the GPU spend of ${monthName(month)} reaches an owner, and where the rest stops.`}>
        <LinkButton icon="download" tone="quiet" href={address("/coverage", { month, by, format: "sheet" })} download>
          CSV
        </LinkButton>
      </PageHead>
      {isMissing ? <NoBill month={month} /> : answer.error ? <ErrorNote error={answer.error} retry={answer.reload} /> : (
        <Loaded query={answer}>
          {(data) => {
            const all = readCoverage(data.tables);
            if (all.length === 0) return <NoBill month={month} />;
            return (
              <div class="stack">
                {all.map((one) => (
                  <OneCurrency key={one.currency} one={one} chosen={query.get("by") ?? ""} month={month} />
                ))}
              </div>
            );
          }}
        </Loaded>
      )}
    </div>
  );
}

function NoBill({ month }: { month: string }) {
  return (
    <Card>
      <Empty icon="coverage" title={`No bill of ${monthName(month)}`} command="pennyweight import bill.csv">
        Coverage begins with money: import the month's bill, or price the machines that nobody bills, and allocate the month.
      </Empty>
    </Card>
  );
}
