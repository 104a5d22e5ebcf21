// Guardrails, limits and compliance: answers of the API that are tables, each in a card. Three pages in one piece, since
// they differ in what they ask and say only.
import { address } from "../../api/client";
import { useQuery } from "../../api/hooks";
import type { Tables } from "../../api/types";
import { useMonth } from "../../app/month";
import { ApiTable } from "../../components/api_table";
import { Card, PageHead } from "../../components/card";
import { LinkButton } from "../../components/controls";
import { Empty, Loaded } from "../../components/states";
import { monthName } from "../../util/text";

interface Asked {
  title: string;
  lead: string;
  path: string;
  ofMonth: boolean;
  key: string; // of the configuration
  report?: string; // the path of the same as a PDF
}

// What is known at this moment, which a note says where it has no rows.
const isOfNow = ({ title }: { title: string }) => title === "What runs now" || title === "Work that limits stop";

function TablesPage({ title, lead, path, ofMonth, key, report }: Asked) {
  const { month } = useMonth();
  const query = useQuery<Tables>(path, ofMonth ? { month } : {});
  const none = (why: string) => (
    <Card>
      <Empty icon="check" title={ofMonth ? `Nothing to check in ${monthName(month)}` : "Nothing to check"}>
        {why}
      </Empty>
    </Card>
  );
  return (
    <div class="stack">
      <PageHead title={title} lead={lead}>
        {report && query.data?.tables.some((table) => !isOfNow(table)) && (
          <LinkButton small tone="quiet" icon="download" download={`compliance-${month}.pdf`} href={address(report, { month })}>PDF</LinkButton>
        )}
      </PageHead>
      {query.error?.status === 404 ? none(query.error.message) : (
        <Loaded query={query}>
          {({ tables }) => {
            const filled = tables.filter((table) => table.rows.length > 0 || (isOfNow(table) && (table.notes ?? []).length > 0));
            return filled.length === 0 ? none(`The configuration states it in ${key}.`) : (
              <div class="stack">
                {filled.map((table, i) => (
                  <Card key={i} title={table.title} note={table.currency} flush>
                    <ApiTable table={table} />
                  </Card>
                ))}
              </div>
            );
          }}
        </Loaded>
      )}
    </div>
  );
}

export const GuardrailsPage = () => TablesPage({
  title: "Guardrails", path: "/guardrails/replay", ofMonth: true, key: "guardrails.rules",
  lead: "What the rules would have decided about the month's workloads, and which rule met whom.",
});
export const LimitsPage = () => TablesPage({
  title: "Limits", path: "/limits", ofMonth: false, key: "guardrails.limits",
  lead: "What teams and clients may use this month. A hard limit that is used up stops new work, and what runs only where it says so (stop_running).",
});
export const CompliancePage = () => TablesPage({
  title: "Compliance", path: "/compliance", ofMonth: true, key: "guardrails.clients", report: "/compliance/report",
  lead: "Where the month's work of clients ran that may not run there, or beside others.",
});
