// Prepares and issues the invoices of a month, and finds issued ones.
//
// A statement's amounts come from the ledger's postings and charges, its texts from the
// configuration, and its methods from the policies of the month's runs. reporting/invoice renders
// it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "core/error.h"
#include "core/instant.h"
#include "ledger/store.h"
#include "reporting/invoice/invoice.h"
#include "reporting/table.h"

namespace pennyweight {

struct InvoiceRequest {
  std::string month;    // "2026-03"
  std::string by = {};  // the customers' dimension; empty: as configured
  std::vector<std::string> detail =
      {};                     // dimensions with a section per value; empty: as configured
  std::string customer = {};  // only this one's; empty: everyone's
  bool issue = false;         // the whole month, which has to be closed
  std::string reason = {};    // why issued invoices are corrected
};

struct MonthInvoices {
  std::vector<Invoice> issued;       // before, of this month and series
  std::vector<Invoice> prepared;     // issued now, or drafts; by customer, then currency
  std::vector<Invoice> not_charged;  // empty for a single customer
  std::size_t issued_all = 0;        // of all customers
  std::size_t prepared_all = 0;
  bool closed = false;             // the month
  std::vector<std::string> notes;  // what whoever issues them should know
};

// Checks the request as far as that needs no ledger. Errors are kBadValue.
Result<void> check_invoice_request(const InvoiceRequest& params, const Config& config);

// Prepares drafts, or issues invoices. Errors: kBadValue for what check_invoice_request() refuses;
// kConflict for issuing an open month; kNotFound where the month has no charges, or the customer
// owes nothing. ENSURES: issued invoices are in the ledger when this returns.
Result<MonthInvoices> create_invoices(Store& store, const Config& config,
                                      const InvoiceRequest& params, Instant now);

// The whole month as drafts, at today's rates, whatever was issued: how invoices that were issued
// without a detail divide by it. By customer, then currency. Errors: as create_invoices().
Result<std::vector<Invoice>> draft_whole_month(Store& store, const Config& config,
                                               const InvoiceRequest& params);

// What a client is charged for a month in one currency, and what it cost.
struct ClientProfit {
  std::string client;  // empty: nobody is charged, so there is no revenue
  Money revenue;       // net of issued documents, of drafts if there are none
  Money cost;
  bool operator==(const ClientProfit&) const = default;
};
struct ClientProfits {
  // In the order of the invoices; what nobody is charged comes last, so the costs add up to the
  // bill.
  std::vector<ClientProfit> clients;
  bool at_cost = false;  // no client is charged by rates, today or when the month was issued
};
// `by` is the clients' dimension; empty: as configured. Errors: as create_invoices() for drafts.
Result<ClientProfits> query_client_profits(Store& store, const Config& config,
                                           const std::string& month, const std::string& by);
// The same with margins, as a table per currency.
Result<std::vector<Table>> query_profitability(Store& store, const Config& config,
                                               const std::string& month, const std::string& by);

// An issued invoice with its stored record.
struct StoredInvoice {
  IssuedInvoice record;
  Invoice invoice;
};
// Errors: kNotFound; kConflict where the stored document no longer matches its digest.
Result<StoredInvoice> find_invoice(Store& store, std::string_view number);
// All issued invoices, by number.
Result<std::vector<StoredInvoice>> issued_invoices(Store& store);

// "text", "html", "csv", "json".
std::string render_invoice(const Invoice& invoice, std::string_view format);
// The same and "pdf", whose errors are those of reporting/pdf.
Result<std::string> render_document(const Invoice& invoice, std::string_view format,
                                    const Config& config);

}  // namespace pennyweight
