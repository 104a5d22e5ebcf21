// Drafts for a month: what each customer would be charged, before anything is issued.
import { useState } from "preact/hooks";
import { Badge, Button } from "../../components/controls";
import { Money } from "../../components/money";
import { isAmount, moneyShown, number } from "../../util/money";
import { plural } from "../../util/text";
import { KIND_TITLES, type InvoiceDocument } from "./types";

// With separators: "1,234.50". Texts that are no amounts, such as a rate with its unit, stay.
function shown(text: string | undefined): string {
  return isAmount(text) ? number(text, text.split(".")[1]?.length ?? 0) : (text ?? "");
}

function Sum({ name, amount }: { name: string; amount: string | undefined }) {
  return (
    <tr>
      <td colSpan={3}>{name}</td>
      <td class="r num">{shown(amount)}</td>
    </tr>
  );
}

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
              <td class="r num">{shown(section.subtotal_shown)}</td>
            </tr>
            {section.lines.map((line, i) => (
              <tr key={line.key ?? i}>
                <td>
                  {line.description}
                  {line.remark && <small class="remark">{line.remark}</small>}
                </td>
                <td class="r num">{line.quantity ? `${line.quantity.shown} ${line.unit ?? ""}` : ""}</td>
                <td class="r num">{shown(line.rate)}</td>
                <td class="r num" title={line.amount}>{shown(line.amount_shown)}</td>
              </tr>
            ))}
          </tbody>
        ))}
        <tfoot>
          {document.tax && (
            <>
              <Sum name="Net" amount={document.net_shown ?? document.net} />
              <Sum name={`${document.tax.name} ${document.tax.percent}%`} amount={document.tax.amount_shown ?? document.tax.amount} />
            </>
          )}
          <Sum name={`Total ${document.currency}`} amount={document.total_shown ?? document.net} />
        </tfoot>
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
