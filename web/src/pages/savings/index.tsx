// Savings: what to change, what each change saves a month, and the evidence for it.
import { address } from "../../api/client";
import { useQuery } from "../../api/hooks";
import type { Tables } from "../../api/types";
import { useMonth } from "../../app/month";
import { setQuery, useRoute } from "../../app/router";
import { useSession } from "../../app/session";
import { Card, PageHead } from "../../components/card";
import { Tabs } from "../../components/controls";
import { Empty, Loaded } from "../../components/states";
import { monthName } from "../../util/text";
import { Catalog } from "./catalog";
import { Decided } from "./decided";
import { Detail } from "./detail";
import { Savings } from "./list";
import type { Filters } from "./read";

function Nothing({ month, notes }: { month: string; notes: string[] }) {
  return (
    <Card>
      <Empty icon="check" title={month ? `Nothing to advise from ${monthName(month)}` : "Nothing to advise yet"}
        command="pennyweight import bill.csv nodes.csv sacct.txt">
        Advice is made from a bill by node, an inventory, records of what ran, and telemetry.
      </Empty>
      {notes.length > 0 && <ul class="table-notes">{notes.map((note) => <li key={note}>{note}</li>)}</ul>}
    </Card>
  );
}

function List({ month, filters }: { month: string; filters: Filters }) {
  const query = useQuery<Tables>("/advice", { month });
  if (query.error?.status === 404) return <Nothing month={month} notes={[]} />;
  return (
    <Loaded query={query}>
      {({ tables }) => tables.every((table) => table.rows.length === 0)
        ? <Nothing month={month} notes={tables.flatMap((table) => table.notes ?? [])} />
        : tables.map((table) => (
          <Savings key={table.currency} table={table} filters={filters} month={month} csv={address("/advice", { month, ...filters, format: "sheet" })} />
        ))}
    </Loaded>
  );
}

const TABS = [{ key: "advice", title: "Advice" }, { key: "decided", title: "Decided" }];
const CATALOG = { key: "catalog", title: "GPU catalogue" };

export default function SavingsPage() {
  const { month } = useMonth();
  const { query } = useRoute();
  const { may, user } = useSession();
  const isScoped = (user?.scope.length ?? 0) > 0;
  const chosen = (name: string) => query.get(name) ?? "";
  const id = chosen("id");
  if (id) return <Detail id={id} month={month} />;
  // Prices may be those of a contract, so not everybody sees them.
  const tabs = may("read_rules") && !isScoped ? [...TABS, CATALOG] : TABS;
  const tab = tabs.some(({ key }) => key === chosen("tab")) ? chosen("tab") : "advice";
  const filters = { team: chosen("team"), kind: chosen("kind"), effort: chosen("effort"), confidence: chosen("confidence") || chosen("sure") };
  return (
    <>
      <PageHead title="Savings" lead="What to change, what it saves a month of 730 hours, and with what confidence. Nothing in the fleet is changed from here." />
      <Tabs label="Savings" tabs={tabs} chosen={tab} onChoose={(key) => setQuery({ tab: key === "advice" ? null : key })} />
      {tab === "catalog" ? <Catalog /> : tab === "decided" ? <Decided month={month} /> : <List month={month} filters={filters} />}
    </>
  );
}
