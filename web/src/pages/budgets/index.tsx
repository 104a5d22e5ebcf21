// Budgets: how far each has come, what the next months will cost, and unusual days.
import { address } from "../../api/client";
import { useQuery } from "../../api/hooks";
import type { Tables } from "../../api/types";
import { ApiTable } from "../../components/api_table";
import { Card, PageHead } from "../../components/card";
import { LinkButton } from "../../components/controls";
import { Empty, Loaded } from "../../components/states";
import { useSession } from "../../app/session";
import { BudgetTable } from "./budget_table";
import { SetBudgets } from "./set_budget";

const FORECAST = { by: "team", days: 60, step: "month" };
const ANOMALIES = { by: "team", cause: "instance_type", explain: true };

// The split of a difference is in the CSV and in the sentences below the table: with it the table is
// wider than a screen.
const SPLIT = ["volume", "price", "mix", "rest"];

function Part({ title, tables }: { title: string; tables: Tables["tables"] }) {
  return (
    <>
      {tables.map((table) => (
        <Card key={`${table.title} ${table.currency}`} title={title} note={table.currency ?? undefined} flush>
          <ApiTable table={table} caption={title} hide={SPLIT} dense />
        </Card>
      ))}
    </>
  );
}

function Budgets({ tables }: { tables: Tables["tables"] }) {
  return (
    <>
      {tables.map((table) => (
        <Card key={table.title} title={table.title} flush>
          <BudgetTable table={table} />
        </Card>
      ))}
    </>
  );
}

export default function BudgetsPage() {
  const { may } = useSession();
  const budgets = useQuery<Tables>("/budgets");
  const forecast = useQuery<Tables>("/forecast", FORECAST);
  const anomalies = useQuery<Tables>("/anomalies", ANOMALIES);
  return (
    <div class="stack">
      <PageHead title="Budgets" lead="How far each budget has come, what the next months will cost, and unusual days.">
        <LinkButton tone="quiet" href="/anomalies">Anomalies</LinkButton>
        <LinkButton icon="download" tone="quiet" href={address("/budgets", { format: "sheet" })} download>
          CSV
        </LinkButton>
      </PageHead>
      <Loaded query={budgets}>
        {({ tables }) => tables.some((table) => table.rows.length > 0) ? <Budgets tables={tables} /> : (
          <Card>
            <Empty icon="coverage" title="No budget" command="pennyweight budget">
              Set one below, or add it to the configuration: name, filter and amount, under budgets.
            </Empty>
          </Card>
        )}
      </Loaded>
      {may("manage_budgets") && <SetBudgets onChanged={() => budgets.reload()} />}
      <Loaded query={forecast}>{({ tables }) => <Part title="The next months, by team" tables={tables} />}</Loaded>
      <Loaded query={anomalies}>{({ tables }) => <Part title="Unusual days" tables={tables} />}</Loaded>
    </div>
  );
}
