// Invoices: issued ones, each as printed, and the drafts for a month.
import { useState } from "preact/hooks";
import { address } from "../../api/client";
import { usePages } from "../../api/hooks";
import type { IssuedInvoice } from "../../api/types";
import { useMonth } from "../../app/month";
import { href, navigate, setQuery, useRoute } from "../../app/router";
import { useSession } from "../../app/session";
import { Card, PageHead } from "../../components/card";
import { Badge, Button, LinkButton, Segments, Tabs } from "../../components/controls";
import { Money } from "../../components/money";
import { Empty, ErrorNote, Note, Skeleton } from "../../components/states";
import { Table, type Column } from "../../components/table";
import { instant, monthName } from "../../util/text";
import { Paper, type InvoiceView } from "./paper";
import { PreviewTab } from "./preview";
import { InvoiceState, Notes, stateRank } from "./state";

const at = (number: string) => href("/invoices", { number });

const COLUMNS: Column<IssuedInvoice>[] = [
  { key: "number", title: "Number", value: (one) => one.number, cell: (one) => <a href={at(one.number)}>{one.number}</a> },
  { key: "customer", title: "Customer", wide: true, value: (one) => one.customer,
    cell: (one) => <>{one.customer} {one.refers_to && <Badge tone="warn" title={`corrects ${one.refers_to}`}>corrects {one.refers_to}</Badge>}</> },
  { key: "month", title: "Month", value: (one) => one.month, cell: (one) => monthName(one.month) },
  { key: "issued", title: "Issued", hideOnPhone: true, value: (one) => one.issued_at, cell: (one) => instant(one.issued_at) },
  { key: "state", title: "State", value: stateRank, cell: (one) => <InvoiceState of={one} /> },
  { key: "total", title: "Total", numeric: true, unit: (one) => one.currency, value: (one) => one.total, cell: (one) => <Money amount={one.total} currency={one.currency} /> },
  { key: "digest", title: "Fingerprint", hideOnPhone: true, cell: (one) => <code class="id" title={one.digest}>{one.digest.slice(0, 10)}</code> },
];

function Issued({ month, round }: { month: string; round: number }) {
  const [which, setWhich] = useState<"month" | "all">("all");
  const invoices = usePages<IssuedInvoice>("/invoices", { month: which === "month" ? month : null, ...(round ? { limit: 100 } : {}) });
  const { may } = useSession();
  return (
    <Card
      title="Issued"
      flush
      actions={
        <Segments label="Which invoices" chosen={which} onChoose={setWhich} options={[{ key: "all", title: "All" }, { key: "month", title: monthName(month) }]} />
      }
    >
      {invoices.error ? <ErrorNote error={invoices.error} retry={invoices.reload} /> : invoices.loading && invoices.rows.length === 0 ? <Skeleton lines={5} /> : (
        <Table
          caption="Issued invoices"
          columns={COLUMNS}
          rows={invoices.rows}
          rowKey={(one) => one.number}
          sort={{ key: "number", down: true }}
          onRow={(one) => navigate(at(one.number))}
          empty={
            <Empty icon="invoices" title={which === "month" ? `Nothing was issued for ${monthName(month)}` : "No invoices yet"}>
              {may("issue_invoices")
                ? "Check the drafts for a month, close it under Bills, and issue it: one invoice for each customer, adding up to the bill."
                : "Invoices appear here once a month is closed and issued."}
            </Empty>
          }
        />
      )}
      {invoices.hasMore && (
        <div class="table-foot">
          <Button small onClick={invoices.loadMore} busy={invoices.loading}>Show more</Button>
        </div>
      )}
    </Card>
  );
}

function One({ number }: { number: string }) {
  const { query } = useRoute();
  const { may } = useSession();
  const view: InvoiceView = may("issue_invoices") && query.get("view") === "books" ? "books" : "client";
  const file = (format: string) => address(`/invoices/${encodeURIComponent(number)}`, { format, view: view === "books" ? view : null });
  return (
    <div class="stack">
      <PageHead title={number} lead={<a href="/invoices">All invoices</a>}>
        {may("issue_invoices") && (
          <Segments label="View" chosen={view} onChoose={(to) => setQuery({ view: to === "books" ? to : null })}
            options={[{ key: "client", title: "Customer's" }, { key: "books", title: "Books'" }]} />
        )}
        {may("issue_invoices") && <Notes number={number} />}
        <Button icon="invoices" onClick={() => print()}>Print</Button>
        <LinkButton href={file("pdf")} icon="download" download={`${number}.pdf`} tone="quiet">PDF</LinkButton>
        <LinkButton href={file("html")} icon="download" download={`${number}.html`} tone="quiet">HTML</LinkButton>
        <LinkButton href={file("csv")} icon="download" download={`${number}.csv`} tone="quiet">CSV</LinkButton>
        <LinkButton href={file("json")} icon="download" download={`${number}.json`} tone="quiet">JSON</LinkButton>
      </PageHead>
      {view === "books" && <Note tone="warn">This view says what all customers of the month are charged. It is not for customers.</Note>}
      <Paper number={number} view={view} />
    </div>
  );
}

export default function InvoicesPage() {
  const { month } = useMonth();
  const { query } = useRoute();
  const { may, user } = useSession();
  const [round, setRound] = useState(0);
  const number = query.get("number");
  if (number) return <One number={number} />;
  const tab = query.get("tab") === "preview" && may("issue_invoices") ? "preview" : "issued";
  return (
    <div class="stack">
      <PageHead title="Invoices" lead={user?.role === "client" ? "What you are charged, as issued." : "What each customer is charged. A month's invoices and the costs charged to nobody add up to its bill."} />
      {may("issue_invoices") && (
        <Tabs
          label="Invoices"
          tabs={[{ key: "issued", title: "Issued" }, { key: "preview", title: `Drafts for ${monthName(month)}` }]}
          chosen={tab}
          onChoose={(key) => setQuery({ tab: key === "preview" ? key : null })}
        />
      )}
      {tab === "preview" ? <PreviewTab month={month} onIssued={() => setRound(round + 1)} /> : <Issued month={month} round={round} />}
    </div>
  );
}
