// Home: what each role looks at first, on one page: the own runs, the team, the month's books, the fleet, the
// clients. The first view is that of the user's role, or what a new ledger still needs; the choice is part of the
// address.
import type { ComponentType } from "preact";
import { useState } from "preact/hooks";
import type { Permission, RoleName } from "../../api/types";
import { useMonth } from "../../app/month";
import { setQuery, useRoute } from "../../app/router";
import { useSession } from "../../app/session";
import { PageHead } from "../../components/card";
import { Tabs } from "../../components/controls";
import { Empty, Skeleton } from "../../components/states";
import { Clients } from "./clients";
import { Finance } from "./finance";
import { FleetHealth } from "./fleet_health";
import { MyRuns } from "./my_runs";
import { MyTeam } from "./my_team";
import { Statement } from "./statement";
import { Start } from "./start";

interface View {
  key: string;
  title: string;
  lead: string;
  needs: Permission;
  unscopedOnly?: boolean;
  only?: RoleName; // others have the same, and more, elsewhere
  Body: ComponentType;
}

const VIEWS: View[] = [
  { key: "runs", title: "My runs", lead: "What one person's jobs cost, and how much of it was used.", needs: "read_costs", Body: MyRuns },
  { key: "team", title: "My team", lead: "A team's cost against the same days of the month before, and who and what it comes from.", needs: "read_costs", Body: MyTeam },
  { key: "finance", title: "Finance", lead: "What is open before the month can be closed, and what changed.", needs: "read_bills", unscopedOnly: true, Body: Finance },
  { key: "fleet", title: "Fleet health", lead: "What becomes of the money for GPUs, day by day, and who holds GPUs without using them.", needs: "read_fleet", Body: FleetHealth },
  { key: "clients", title: "My clients", lead: "Cost, revenue and margin of each client, and its invoices, in the currency of the bill.", needs: "issue_invoices", unscopedOnly: true, Body: Clients },
  { key: "statement", title: "My charges", lead: "What you are charged for a month, by what it is for, and your invoices.", needs: "read_statements", only: "client", Body: Statement },
  { key: "start", title: "Getting started", lead: "What the ledger has, and what it still needs.", needs: "read_bills", unscopedOnly: true, Body: Start },
];

const FIRST: Record<RoleName, string> = { viewer: "runs", team_lead: "team", finance: "finance", operator: "fleet", admin: "finance", client: "statement" };

export default function Home() {
  const { listed } = useMonth();
  return listed ? <Roles /> : <Skeleton lines={8} />;
}

function Roles() {
  const { query } = useRoute();
  const { user, may } = useSession();
  const { known } = useMonth();
  const isScoped = (user?.scope.length ?? 0) > 0;
  const mine = VIEWS.filter((view) => may(view.needs) && !(view.unscopedOnly && isScoped) && (!view.only || view.only === user?.role));
  // A ledger without costs is not looked at: it is filled.
  const [isNew] = useState(known.length === 0); // the view stays while costs arrive
  const first = isNew ? "start" : FIRST[user?.role ?? "viewer"];
  const usual = mine.find((view) => view.key === first) ?? mine.find((view) => view.key === FIRST[user?.role ?? "viewer"]) ?? mine[0];
  const chosen = mine.find((view) => view.key === query.get("view")) ?? usual;
  if (!chosen) return <Empty icon="key" title="Nothing to see with your role" />;
  return (
    <div class="stack">
      <PageHead title="Home" lead={chosen.lead} />
      {mine.length > 1 && (
        <Tabs label="Home" tabs={mine.map(({ key, title }) => ({ key, title }))} chosen={chosen.key}
          onChoose={(key) => setQuery({ view: key === usual?.key ? null : key, of: null })} />
      )}
      <chosen.Body />
    </div>
  );
}
