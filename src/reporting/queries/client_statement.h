// The statement of customers for a month: what each is charged, by project, without what it cost.
//
// It is read from the customers' invoices, or from drafts until there are some, and shows the same
// amounts: a customer may see each of them, and nothing of others, of prices that were paid, or of
// margins.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "core/error.h"
#include "core/instant.h"
#include "core/int128.h"
#include "core/money.h"
#include "ledger/store.h"
#include "reporting/invoice/invoice.h"
#include "reporting/table.h"

namespace pennyweight {

struct ClientStatementQuery {
  std::string month;  // "2026-03"
  // The customers to show, values of config.invoice.by; nothing: all of them.
  std::optional<std::vector<std::string>> customers = std::nullopt;
  Instant now;  // drafts are of this time
};

// A table for each currency of the customers, whose rows are the parts of each customer's charge:
// usage, with a row for each value of the invoices' details (config.invoice.detail, or else
// "project" where label rules define it), then credits and shares. The total is net, in whole minor
// units, as the invoices show it. Errors: as create_invoices() for drafts. No tables: none of the
// customers is charged anything.
Result<std::vector<Table>> query_client_statement(Store& store, const Config& config,
                                                  const ClientStatementQuery& query);

// What a section of a customer's documents comes to.
struct StatementPart {
  std::string title;
  Int128 held = 0;  // GPU time in the units of GpuTime; below zero where more is credited
  Money amount;     // as the documents show it
  bool operator==(const StatementPart&) const = default;
};
// The parts of a customer's documents of a month, those of one section together: an invoice and its
// credit notes come to what is charged now. All documents are in the currency.
std::vector<StatementPart> statement_parts(const std::vector<Invoice>& documents,
                                           Currency currency);

// A month with a statement.
struct StatementMonth {
  std::string month;
  bool invoiced = false;  // an invoice of one of the customers is issued
  bool operator==(const StatementMonth&) const = default;
};
// The months in which the customers have costs or invoices, the latest first.
Result<std::vector<StatementMonth>> statement_months(
    Store& store, const Config& config, const std::optional<std::vector<std::string>>& customers);

}  // namespace pennyweight
