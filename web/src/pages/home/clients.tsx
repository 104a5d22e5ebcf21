// My clients: what each costs, what it is charged, the margin, and its invoices.
import { address } from "../../api/client";
import { usePages, useQuery } from "../../api/hooks";
import type { ApiTable as Data, IssuedInvoice, Row, Tables } from "../../api/types";
import { useMonth } from "../../app/month";
import { href, navigate } from "../../app/router";
import { ApiTable } from "../../components/api_table";
import { Card, Figure, Grid } from "../../components/card";
import { LinkButton } from "../../components/controls";
import { Money, Percent } from "../../components/money";
import { Empty, ErrorNote, Loaded, Skeleton } from "../../components/states";
import { Table, type Column } from "../../components/table";
import { isZero } from "../../util/money";
import { instant, monthName, plural } from "../../util/text";
import { InvoiceState, stateRank } from "../invoices/state";
import { textOf } from "./read";

const COLUMNS: Column<IssuedInvoice>[] = [
  { key: "number", title: "Number", value: (one) => one.number, cell: (one) => <a href={href("/invoices", { number: one.number })}>{one.number}</a> },
  { key: "customer", title: "Customer", wide: true, value: (one) => one.customer, cell: (one) => one.customer },
  { key: "issued", title: "Issued", hideOnPhone: true, value: (one) => one.issued_at, cell: (one) => instant(one.issued_at) },
  { key: "state", title: "State", value: stateRank, cell: (one) => <InvoiceState of={one} /> },
  { key: "total", title: "Total", numeric: true, unit: (one) => one.currency, value: (one) => one.total, cell: (one) => <Money amount={one.total} currency={one.currency} /> },
];

// What no client pays for is most of a bad margin, and stands at the end of the table.
function NotCharged({ table }: { table: Data }) {
  const none = table.rows.find((row) => Object.values(row).includes("(not charged)"));
  const cost = none && textOf(none, "cost");
  return <span>{cost && !isZero(cost) ? <><Money amount={cost} currency={table.currency} /> of it is not charged to a client</> : "all of it is charged to a client"}</span>;
}

// A line for each budget: how it stands would not fit beside the others.
const BUDGETS = {
  budgets: (row: Row) => {
    const flags = textOf(row, "budgets");
    return flags ? flags.split("; ").map((one) => <div key={one}>{one}</div>) : <span class="nothing">–</span>;
  },
};

// What each client spent on training, inference and storage, and how its budgets stand.
function Month({ month }: { month: string }) {
  const report = useQuery<Tables>("/clients", { month });
  if (report.error?.status === 404) return null; // the margins above say so
  return (
    <Loaded query={report} skeleton={<Skeleton lines={4} />}>
      {(data) => (
        <>
          {data.tables.map((table) => (
            <Card title="What it was for" key={table.title} note={table.currency} flush
              actions={<LinkButton small tone="quiet" icon="download" download={`clients-${month}.pdf`} href={address("/clients/report", { month })}>PDF</LinkButton>}>
              <ApiTable table={table} caption={table.title} sort={{ key: "cost", down: true }} hide={["revenue", "margin"]} cells={BUDGETS} />
            </Card>
          ))}
        </>
      )}
    </Loaded>
  );
}

export function Clients() {
  const { month } = useMonth();
  const margins = useQuery<Tables>("/profitability", { month });
  const invoices = usePages<IssuedInvoice>("/invoices", { month, limit: 200 });
  return (
    <>
      {margins.error?.status === 404 ? (
        <Card><Empty icon="invoices" title={`Nothing to charge for ${monthName(month)}`}>{margins.error.message}</Empty></Card>
      ) : (
        <Loaded query={margins} skeleton={<Skeleton lines={6} />}>
          {(data) => (
            <div class="stack">
              {data.tables.map((table) => (
                <div class="stack" key={table.title}>
                  {table.total && (
                    <Grid of="figures">
                      <Figure label="Revenue" value={<Money amount={textOf(table.total, "revenue")} currency={table.currency} />} sub="net, before tax" />
                      <Figure label="Cost" value={<Money amount={textOf(table.total, "cost")} currency={table.currency} />} sub={<NotCharged table={table} />} />
                      <Figure label="Margin" value={<Money amount={textOf(table.total, "margin")} currency={table.currency} />} sub={<span><Percent value={textOf(table.total, "margin_percent")} /> of revenue</span>} />
                    </Grid>
                  )}
                  <Card title="Clients" note={table.currency} flush>
                    <ApiTable table={table} caption={table.title} sort={{ key: "revenue", down: true }} />
                  </Card>
                </div>
              ))}
            </div>
          )}
        </Loaded>
      )}
      <Month month={month} />
      <Card title="Invoices" note={`issued for ${monthName(month)}${invoices.hasMore ? ", the first" : ""}: ${plural(invoices.rows.length, "invoice")}`} flush
        actions={<LinkButton small tone="quiet" href={href("/invoices", { tab: "preview", month })}>Drafts</LinkButton>}>
        {invoices.error ? <ErrorNote error={invoices.error} retry={invoices.reload} /> : invoices.loading && invoices.rows.length === 0 ? <Skeleton lines={4} /> : (
          <Table caption="Invoices" columns={COLUMNS} rows={invoices.rows} rowKey={(one) => one.number} onRow={(one) => navigate(href("/invoices", { number: one.number }))}
            empty={<Empty icon="invoices" title="None is issued yet" action={{ href: href("/invoices", { tab: "preview", month }), title: "See the drafts" }}>Close the month first; then its invoices are issued together, one for each customer.</Empty>} />
        )}
      </Card>
    </>
  );
}
