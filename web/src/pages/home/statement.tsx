// A client's page: what they are charged for a month, by what it is for, and their invoices. It asks for nothing else,
// since costs, fleets and margins are not for clients.
import { address } from "../../api/client";
import { usePages, useQuery } from "../../api/hooks";
import type { ApiTable as Data, IssuedInvoice, Tables } from "../../api/types";
import { useMonth } from "../../app/month";
import { href, navigate } from "../../app/router";
import { useSession } from "../../app/session";
import { ApiTable } from "../../components/api_table";
import { Card, Figure, Grid } from "../../components/card";
import { Badge } from "../../components/controls";
import { Money, Quantity } from "../../components/money";
import { Empty, ErrorNote, Loaded, Skeleton } from "../../components/states";
import { Table, type Column } from "../../components/table";
import { add } from "../../util/money";
import { instant, monthName } from "../../util/text";
import { InvoiceState, stateRank } from "../invoices/state";
import { textOf } from "./read";

const INVOICES: Column<IssuedInvoice>[] = [
  { key: "number", title: "Number", value: (one) => one.number, cell: (one) => <a href={href("/invoices", { number: one.number })}>{one.number}</a> },
  { key: "month", title: "Month", value: (one) => one.month, cell: (one) => monthName(one.month) },
  { key: "issued", title: "Issued", hideOnPhone: true, value: (one) => one.issued_at, cell: (one) => instant(one.issued_at) },
  { key: "state", title: "State", value: stateRank, cell: (one) => <InvoiceState of={one} /> },
  { key: "total", title: "Total", numeric: true, unit: (one) => one.currency, value: (one) => one.total, cell: (one) => <Money amount={one.total} currency={one.currency} /> },
];

function Charges({ table, month }: { table: Data; month: string }) {
  const open = table.rows.filter((row) => textOf(row, "invoice") === "");
  const customers = new Set(table.rows.map((row) => Object.values(row)[0]));
  return (
    <>
      <Grid of="figures">
        <Figure label="Charged" value={<Money amount={textOf(table.total ?? {}, "amount")} currency={table.currency} />}
          sub={open.length === 0 ? <Badge tone="good">invoiced</Badge> : <><Badge>not invoiced yet</Badge> <span>it may still change</span></>} />
        <Figure label="GPU-hours" value={<Quantity value={add(...table.rows.map((row) => textOf(row, "gpu_hours") || "0"))} />} sub={monthName(month)} />
      </Grid>
      <Card title="What it is for" note={table.currency} flush>
        <ApiTable table={table} caption={table.title} sort={null} csv={address(`/statements/${month}`, { format: "sheet" })}
          hide={customers.size > 1 ? [] : [table.columns[0]?.name ?? ""]}
          cells={{ invoice: (row) => (textOf(row, "invoice") === "" ? <span class="nothing">–</span> : <>{textOf(row, "invoice").split(", ").map((number, i) => <span key={number}>{i > 0 && ", "}<a href={href("/invoices", { number })}>{number}</a></span>)}</>) }} />
      </Card>
    </>
  );
}

export function Statement() {
  const { month, known } = useMonth();
  const { user } = useSession();
  const statement = useQuery<Tables>(`/statements/${month}`);
  const invoices = usePages<IssuedInvoice>("/invoices", { limit: 100 });
  if ((user?.scope ?? []).length === 0) {
    return <Card><Empty icon="key" title="Nothing is shared with this account yet">Ask whoever invites you to limit the account to your own name: what is charged to it then appears here.</Empty></Card>;
  }
  return (
    <>
      <Loaded query={statement} skeleton={<Skeleton lines={6} />}>
        {({ tables }) => tables.length === 0 ? (
          <Card><Empty icon="invoices" title={`Nothing is charged for ${monthName(month)}`} {...(known[0] && known[0] !== month ? { action: { href: href("/home", { month: known[0] }), title: `Go to ${monthName(known[0])}` } } : {})} /></Card>
        ) : (
          <div class="stack">{tables.map((table) => <Charges key={table.currency} table={table} month={month} />)}</div>
        )}
      </Loaded>
      <Card title="Invoices" flush>
        {invoices.error ? <ErrorNote error={invoices.error} retry={invoices.reload} /> : invoices.loading && invoices.rows.length === 0 ? <Skeleton lines={4} /> : (
          <Table caption="Invoices" columns={INVOICES} rows={invoices.rows} rowKey={(one) => one.number} sort={{ key: "number", down: true }}
            onRow={(one) => navigate(href("/invoices", { number: one.number }))}
            empty={<Empty icon="invoices" title="None is issued yet">An invoice appears here once its month is closed.</Empty>} />
        )}
      </Card>
    </>
  );
}
