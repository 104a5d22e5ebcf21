// Drafts for a month: what each customer would be charged, before anything is issued.
import { useState } from "preact/hooks";
import { Badge, Button } from "../../components/controls";
import { Money } from "../../components/money";
import { moneyShown } from "../../util/money";
import { plural } from "../../util/text";
import { KIND_TITLES, type InvoiceDocument } from "./types";

function Lines({ document }: { document: InvoiceDocument }) {
  return (
    <div class="table-scroll" role="region" tabIndex={0} aria-label={`Lines of ${document.customer}`}>
      <table class="table table-dense">
        <caption class="sr-only">Lines of {document.customer}</caption>
        <thead>
          <tr>
            <th scope="col" class="w">Line</th>
            <th scope="col" class="r">Quantity</th>
            <th scope="col" class="r">Rate</th>
            <th scope="col" class="r">Amount</th>
          </tr>
        </thead>
        {(document.sections ?? []).map((section) => (
          <tbody key={section.name}>
            <tr class="section-row">
              <th scope="rowgroup" colSpan={3}>{section.title}</th>
              <td class="r num">{section.subtotal_shown}</td>
            </tr>
            {section.lines.map((line, i) => (
              <tr key={line.key ?? i}>
                <td>
                  {line.description}
                  {line.remark && <small class="remark">{line.remark}</small>}
                </td>
                <td class="r num">{line.quantity ? `${line.quantity.shown} ${line.unit ?? ""}` : ""}</td>
                <td class="r num">{line.rate}</td>
                <td class="r num" title={line.amount}>{line.amount_shown}</td>
              </tr>
            ))}
          </tbody>
        ))}
      </table>
    </div>
  );
}

export function Drafts({ documents }: { documents: InvoiceDocument[] }) {
  const [open, setOpen] = useState<number>(documents.length === 1 ? 0 : -1);
  return (
    <ul class="drafts">
      {documents.map((document, i) => (
        <li key={`${document.customer}/${document.currency}/${document.kind}`}>
          <div class="draft-head">
            <Button small tone="quiet" icon={open === i ? "down" : "right"} expanded={open === i} onClick={() => setOpen(open === i ? -1 : i)}>
              {document.customer || KIND_TITLES[document.kind ?? ""] || "Nobody"}
            </Button>
            {document.customer && document.kind && document.kind !== "invoice" && <Badge tone="warn">{KIND_TITLES[document.kind]}</Badge>}
            <span class="draft-lines muted small">
              {plural((document.sections ?? []).reduce((sum, section) => sum + section.lines.length, 0), "line")}
            </span>
            <strong>{document.total_shown ? moneyShown(document.total_shown, document.currency) : <Money amount={document.net} currency={document.currency} />}</strong>
          </div>
          {open === i && <Lines document={document} />}
        </li>
      ))}
    </ul>
  );
}
