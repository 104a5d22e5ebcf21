// What was decided about advice, and by team what came of it.
import { address } from "../../api/client";
import { useQuery } from "../../api/hooks";
import type { Row, Tables } from "../../api/types";
import { href } from "../../app/router";
import { ApiTable } from "../../components/api_table";
import { Card } from "../../components/card";
import { Empty, Loaded } from "../../components/states";
import { textOf } from "./read";

export function Decided({ month }: { month: string }) {
  const decided = useQuery<Tables>("/advice/decisions");
  const progress = useQuery<Tables>("/advice/progress", { month });
  const cells = { change: (row: Row) => <a href={href("/savings", { id: textOf(row, "id"), month })}>{textOf(row, "change")}</a> };
  return (
    <div class="stack">
      {progress.error?.status !== 404 && (
        <Loaded query={progress}>
          {({ tables }) => tables.filter((table) => table.rows.length > 0).map((table) => (
            <Card key={table.title} title="By team" note={`${table.currency ?? ""} a month`} flush>
              <ApiTable table={table} csv={address("/advice/progress", { month, format: "sheet" })} />
            </Card>
          ))}
        </Loaded>
      )}
      <Loaded query={decided}>
        {({ tables: [table] }) => !table || table.rows.length === 0 ? (
          <Card><Empty icon="check" title="Nothing is decided yet">Open an advice to accept or dismiss it.</Empty></Card>
        ) : (
          <Card title="Decisions" flush>
            <ApiTable table={table} cells={cells} hide={["id"]} csv={address("/advice/decisions", { format: "sheet" })} />
          </Card>
        )}
      </Loaded>
    </div>
  );
}
