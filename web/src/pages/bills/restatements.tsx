// Restatements: changes that later deliveries made to earlier ones.
import { useQuery } from "../../api/hooks";
import type { Tables } from "../../api/types";
import { ApiTable } from "../../components/api_table";
import { Card } from "../../components/card";
import { Empty, Loaded } from "../../components/states";
import { monthName } from "../../util/text";

export function RestatementsTab({ month }: { month: string }) {
  const answer = useQuery<Tables>("/restatements", { month });
  const none = (
    <Card>
      <Empty icon="check" title={`Nothing in ${monthName(month)} was restated`}>
        A bill that arrives again with other amounts is shown here: which lines it took back, which it added, and in
        which month the difference is booked.
      </Empty>
    </Card>
  );
  if (answer.error?.status === 404) return none;
  return (
    <Loaded query={answer}>
      {({ tables }) =>
        tables.every((table) => table.rows.length === 0) ? none : (
          <div class="stack">
            {tables.map((table, i) => (
              <Card key={i} title={table.title} note={table.currency} flush>
                <ApiTable table={table} />
              </Card>
            ))}
          </div>
        )
      }
    </Loaded>
  );
}
