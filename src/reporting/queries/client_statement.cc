#include "reporting/queries/client_statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "allocation/policy/policy.h"
#include "core/quantity.h"
#include "core/try.h"
#include "ledger/summary.h"
#include "reporting/invoice/invoice.h"
#include "reporting/invoice/render.h"
#include "reporting/queries/invoices.h"

namespace pennyweight {
namespace {

constexpr std::string_view kUsageSection = "usage";
constexpr const char* kUsualDetail = "project";

using CustomerAndCurrency = std::pair<std::string, Currency>;
using Documents = std::map<CustomerAndCurrency, std::vector<Invoice>>;

bool is_asked_for(const std::optional<std::vector<std::string>>& customers,
                  const std::string& customer) {
  return !customers || std::ranges::find(*customers, customer) != customers->end();
}

std::vector<std::string> statement_details(const Config& config) {
  if (!config.invoice.detail.empty()) return config.invoice.detail;
  const bool has_usual =
      std::ranges::find(config.policy.dimensions, kUsualDetail, &DimensionRule::dimension) !=
      config.policy.dimensions.end();
  if (!has_usual || config.invoice.by == kUsualDetail) return {};
  return {kUsualDetail};
}

Documents by_customer(std::vector<Invoice> invoices,
                      const std::optional<std::vector<std::string>>& customers) {
  Documents documents;
  for (Invoice& one : invoices) {
    if (!is_asked_for(customers, one.customer)) continue;
    CustomerAndCurrency of{one.customer, one.currency};
    documents[std::move(of)].push_back(std::move(one));
  }
  return documents;
}

Money shown_net(const std::vector<Invoice>& documents, Currency currency) {
  Money sum = Money::zero(currency);
  for (const Invoice& one : documents) sum += one.net.shown;
  return sum;
}

bool is_usage(const InvoiceSection& section) { return section.name.starts_with(kUsageSection); }

bool has_detail(const std::vector<Invoice>& documents) {
  return std::ranges::any_of(documents, [](const Invoice& one) {
    return std::ranges::any_of(one.sections, [](const InvoiceSection& section) {
      return is_usage(section) && section.name != kUsageSection;
    });
  });
}

// In the units of GpuTime. Credited hours are negative.
Int128 held_in(const InvoiceSection& section) {
  Int128 held = 0;
  if (!is_usage(section)) return held;
  for (const InvoiceLine& line : section.lines) {
    if (!line.quantity || line.quantity->kind != QuantityKind::kGpuHours) continue;
    held += line.quantity->part;
  }
  return held;
}

}  // namespace

std::vector<StatementPart> statement_parts(const std::vector<Invoice>& documents,
                                           Currency currency) {
  std::vector<StatementPart> parts;
  std::map<std::string, std::size_t> place;
  for (const Invoice& one : documents) {
    for (const InvoiceSection& section : one.sections) {
      const auto [found, is_new] = place.try_emplace(section.name, parts.size());
      if (is_new) parts.push_back({section.title, 0, Money::zero(currency)});
      StatementPart& part = parts[found->second];
      part.held += held_in(section);
      part.amount += section.subtotal.shown;
    }
  }
  return parts;
}

namespace {

std::string document_state(const std::vector<Invoice>& documents) {
  std::string numbers;
  for (const Invoice& one : documents) {
    if (!one.number.empty()) numbers += (numbers.empty() ? "" : ", ") + one.number;
  }
  return numbers;
}

Table statement_table(const std::string& by, const std::string& month, Currency currency) {
  Table table;
  table.title = fmt::format("Statement of {}, {}", format_month(month), currency.text());
  table.currency = currency;
  table.columns = {{by, by, ColumnKind::kText},
                   {"part", "part", ColumnKind::kText},
                   {"gpu_hours", "GPU-hours", ColumnKind::kGpuHours},
                   {"amount", "amount", ColumnKind::kMoney},
                   {"invoice", "invoice", ColumnKind::kId}};
  return table;
}

void add_statement(Table& table, Money& sum, const std::string& customer,
                   const std::vector<StatementPart>& parts, const std::string& invoice) {
  for (const StatementPart& part : parts) {
    const Cell held = part.held > 0 ? Cell(GpuTime::of(static_cast<UInt128>(part.held))) : Cell();
    const Cell number = invoice.empty() ? Cell() : Cell(invoice);
    table.rows.push_back({customer, part.title, held, part.amount, number});
    sum += part.amount;
  }
}

}  // namespace

Result<std::vector<Table>> query_client_statement(Store& store, const Config& config,
                                                  const ClientStatementQuery& query) {
  const InvoiceRequest request{.month = query.month, .detail = statement_details(config)};
  auto month = TRY(create_invoices(store, config, request, query.now));
  std::erase_if(month.issued, [&](const Invoice& one) { return one.by != config.invoice.by; });
  const Documents issued = by_customer(std::move(month.issued), query.customers);
  Documents whole = by_customer(std::move(month.prepared), query.customers);
  // Only where the issued documents themselves don't say how they divide.
  const bool lacks_detail = std::ranges::any_of(
      issued, [](const auto& documents) { return !has_detail(documents.second); });
  if (lacks_detail) {
    whole = by_customer(TRY(draft_whole_month(store, config, request)), query.customers);
  }
  std::set<CustomerAndCurrency> all;
  for (const auto& [of, documents] : issued) all.insert(of);
  for (const auto& [of, documents] : whole) all.insert(of);

  std::map<Currency, Table> tables;
  std::map<Currency, Money> sums;
  std::map<Currency, std::set<std::string>> notes;
  for (const CustomerAndCurrency& of : all) {
    const auto& [customer, currency] = of;
    Table& table =
        tables.try_emplace(currency, statement_table(config.invoice.by, query.month, currency))
            .first->second;
    Money& sum = sums.try_emplace(currency, Money::zero(currency)).first->second;
    const auto known = issued.find(of);
    const auto drafted = whole.find(of);
    const std::vector<Invoice> none;
    const std::vector<Invoice>& drafts = drafted == whole.end() ? none : drafted->second;
    if (known == issued.end()) {
      add_statement(table, sum, customer, statement_parts(drafts, currency), "");
      notes[currency].insert("Without an invoice yet: until then the amount may change.");
      continue;
    }
    const std::vector<Invoice>& documents = known->second;
    const bool comes_to_same = shown_net(drafts, currency) == shown_net(documents, currency);
    const bool divides_anew = !has_detail(documents) && has_detail(drafts) && comes_to_same;
    add_statement(table, sum, customer,
                  statement_parts(divides_anew ? drafts : documents, currency),
                  document_state(documents));
  }
  std::vector<Table> answer;
  for (auto& [currency, table] : tables) {
    table.total = Row{"total", Cell(), Cell(), sums.at(currency), Cell()};
    table.notes.assign(notes[currency].begin(), notes[currency].end());
    table.notes.emplace_back(
        config.invoice.tax_percent
            ? fmt::format("Net, before {}, as the invoices show it.", config.invoice.tax_name)
            : "As the invoices show it.");
    answer.push_back(std::move(table));
  }
  return answer;
}

Result<std::vector<StatementMonth>> statement_months(
    Store& store, const Config& config, const std::optional<std::vector<std::string>>& customers) {
  std::map<std::string, bool> months;  // and whether invoiced
  SummaryQuery query;
  query.group_by = {"month"};
  if (customers) query.filters.push_back({config.invoice.by, *customers, false});
  const auto rows = TRY(store.summarise(query));
  for (const SummaryRow& row : rows) months.try_emplace(row.keys.front(), false);
  const auto issued = TRY(issued_invoices(store));
  for (const StoredInvoice& one : issued) {
    if (one.invoice.by != config.invoice.by || !is_asked_for(customers, one.invoice.customer)) {
      continue;
    }
    months[one.record.month] = true;
  }
  std::vector<StatementMonth> all;
  for (const auto& [month, invoiced] : months) all.push_back({month, invoiced});
  std::ranges::reverse(all);
  return all;
}

}  // namespace pennyweight
