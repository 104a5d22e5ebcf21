// The document of an invoice as issued (pennyweight-invoice/1).

export interface DocumentLine {
  key?: string;
  description: string;
  remark?: string;
  quantity?: { shown: string } | null;
  unit?: string;
  rate?: string;
  amount: string;
  amount_shown: string;
}
export interface DocumentSection {
  name: string;
  title: string;
  lines: DocumentLine[];
  subtotal: string;
  subtotal_shown: string;
}
export interface InvoiceDocument {
  kind?: "invoice" | "credit_note" | "supplement" | "not_charged";
  number?: string;
  month: string;
  customer: string;
  currency: string;
  sections?: DocumentSection[];
  net?: string;
  net_shown?: string;
  tax?: { name: string; percent: string; amount: string; amount_shown?: string } | null;
  total_shown?: string;
  reconciliation?: { bill_shown: string; difference: string; bill_lines: number };
}
export interface Preview {
  closed: boolean;
  issued: InvoiceDocument[]; // before
  drafts: InvoiceDocument[]; // may change; for a closed month, what would be issued
  not_charged: InvoiceDocument[];
  notes: string[]; // what whoever issues them should know
}

export const KIND_TITLES: Record<string, string> = {
  invoice: "Invoice",
  credit_note: "Credit note",
  supplement: "Supplementary invoice",
  not_charged: "Not charged to anyone",
};
