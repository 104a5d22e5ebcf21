// Bills: imports, the proof that all is posted to the last digit, restatements, runs, and closed months.
import { useMonth } from "../../app/month";
import { setQuery, useRoute } from "../../app/router";
import { PageHead } from "../../components/card";
import { Tabs } from "../../components/controls";
import { ImportsTab } from "./imports";
import { PeriodsTab } from "./periods";
import { ReconcileTab } from "./reconcile";
import { RestatementsTab } from "./restatements";
import { RunsTab } from "./runs";

const TABS = [
  { key: "reconcile", title: "Reconcile" },
  { key: "imports", title: "Imports" },
  { key: "restatements", title: "Restatements" },
  { key: "runs", title: "Runs" },
  { key: "periods", title: "Periods" },
];

export default function BillsPage() {
  const { month } = useMonth();
  const { query } = useRoute();
  const asked = query.get("tab");
  const tab = TABS.some((one) => one.key === asked) ? asked : "reconcile";
  return (
    <div class="stack">
      <PageHead title="Bills" lead="Imports, whether everything adds up, and which months are closed." />
      <Tabs label="Bills" tabs={TABS} chosen={tab ?? ""} onChoose={(key) => setQuery({ tab: key === "reconcile" ? null : key })} />
      {tab === "reconcile" && <ReconcileTab month={month} />}
      {tab === "imports" && <ImportsTab />}
      {tab === "restatements" && <RestatementsTab month={month} />}
      {tab === "runs" && <RunsTab month={month} />}
      {tab === "periods" && <PeriodsTab />}
    </div>
  );
}
