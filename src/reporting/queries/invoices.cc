#include "reporting/queries/invoices.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "allocation/pricing/catalog.h"
#include "config/nearest.h"
#include "config/policy_text.h"
#include "core/check.h"
#include "core/date.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "reporting/invoice/document.h"
#include "reporting/invoice/prepare.h"
#include "reporting/invoice/render.h"
#include "reporting/invoice/rounding.h"
#include "reporting/pdf/invoice_pdf.h"
#include "reporting/queries/bill_status.h"
#include "reporting/queries/selection.h"

namespace pennyweight {
namespace {

Party to_party(const PartyConfig& config) {
  return {config.name, config.address, config.tax_id, config.contact};
}

InvoiceSettings to_settings(const InvoiceConfig& config) {
  InvoiceSettings settings;
  settings.prefix = config.prefix;
  settings.issuer = to_party(config.issuer);
  for (const auto& [value, party] : config.customers) {
    settings.customers.emplace(value, to_party(party));
  }
  if (config.tax_percent) settings.tax = TaxRule{config.tax_name, *config.tax_percent};
  settings.showback = config.showback;
  settings.paper = config.letter_paper ? PaperSize::kLetter : PaperSize::kA4;
  settings.logo = config.logo;
  settings.note = config.note;
  return settings;
}

std::string describe_measure(const SpreadRule& rule) {
  switch (rule.measure) {
    case SpreadMeasure::kGpuCost:
      return "what each pays for GPUs";
    case SpreadMeasure::kCost:
      return "all that each pays";
    case SpreadMeasure::kGpuTime:
      return "the GPU time each held";
    case SpreadMeasure::kMemoryTime:
      return "the GPU memory each held";
    case SpreadMeasure::kCpuCost:
      return "what each pays for CPUs";
    case SpreadMeasure::kComponentCost:
      return "what each pays for the same component";
    case SpreadMeasure::kNamed:
      return rule.named;
  }
  CHECK(false, "every measure is listed");
}

std::string describe_method(const SpreadRule& rule) {
  std::string text;
  switch (rule.how) {
    case Spread::kKeep:
      return "";
    case Spread::kProportional:
      text = "in proportion to " + describe_measure(rule);
      break;
    case Spread::kEven:
      text = "the same for each" + (rule.dimension.empty() ? "" : " " + rule.dimension);
      break;
    case Spread::kFixed:
      text = "fixed shares for each " + rule.dimension;
      break;
  }
  if (rule.within == SpreadWithin::kNode) text += ", machine by machine";
  if (rule.within == SpreadWithin::kPool) text += ", pool by pool";
  text += rule.over == SpreadOver::kMonth ? ", over the month" : ", day by day";
  std::string which;
  for (const std::string& name : {rule.service_category, rule.service_name, rule.charge_category}) {
    if (!name.empty()) which += (which.empty() ? "" : ", ") + name;
  }
  return which.empty() ? text : which + ": " + text;
}

// By posting kind: the methods of each rule that may have moved it, in the order they are tried.
std::map<std::string, std::string> spread_methods(const Policy& policy) {
  std::map<std::string, std::string> methods;
  for (const SpreadRule& rule : policy.spread) {
    const std::string method = describe_method(rule);
    if (method.empty()) continue;
    std::string& text = methods[std::string(to_text(rule.kind))];
    text += (text.empty() ? "" : "; ") + method;
  }
  return methods;
}

std::string cluster_label(const Run& run) {
  return run.scope.cluster.text().empty() ? "(no cluster)" : run.scope.cluster.text();
}

// The methods of the month's runs, which may differ from today's configuration. Where clusters use
// different methods, each method lists its clusters.
Result<std::map<std::string, std::string>> spread_methods(Store& store, const std::string& month) {
  const auto runs = TRY(store.runs());
  std::map<std::string, std::map<std::string, std::string>> clusters;  // by kind, then method
  for (const Run& run : runs) {
    if (!run.current || run.scope.month != month) continue;
    const auto policy = parse_policy_text(run.policy);
    if (!policy) {
      return std::unexpected(policy.error().during(
          fmt::format("the policy of run {}/{}/{}", cluster_label(run), month, run.number)));
    }
    for (const auto& [kind, method] : spread_methods(*policy)) {
      std::string& names = clusters[kind][method];
      names += (names.empty() ? "" : ", ") + cluster_label(run);
    }
  }
  std::map<std::string, std::string> methods;
  for (const auto& [kind, by_method] : clusters) {
    std::string text;
    for (const auto& [method, names] : by_method) {
      text += (text.empty() ? "Method: " : "; ") + method;
      if (by_method.size() > 1) text += " (" + names + ")";
    }
    methods.emplace(kind, std::move(text));
  }
  return methods;
}

Result<std::vector<Invoice>> issued_before(Store& store) {
  auto kept = TRY(issued_invoices(store));
  std::vector<Invoice> invoices;
  for (StoredInvoice& one : kept) invoices.push_back(std::move(one.invoice));
  return invoices;
}

Money select_cost(const Costs& costs, CostBasis basis) {
  return basis == CostBasis::kBilled ? costs.billed : costs.effective;
}

InternalRates internal_rates(const InvoiceConfig& config) {
  std::vector<InternalRate> rules;
  for (const InternalRateConfig& one : config.rates) {
    rules.push_back({.from = one.from,
                     .to = one.to,
                     .client = one.client,
                     .gpu_model = one.gpu_model,
                     .tier = one.tier,
                     .currency = one.currency,
                     .rate = one.rate,
                     .markup = one.markup,
                     .discount = one.discount,
                     .floor = one.floor});
  }
  return InternalRates(std::move(rules));
}

// Replaces the key of each row that is a node by the model of the node's GPUs: as the inventory
// says, else as the price list has the row's instance type.
Result<void> name_gpu_models(Store& store, std::size_t node_key, std::size_t type_key,
                             std::vector<SummaryRow>& rows) {
  std::map<std::string, std::string> models;
  const auto nodes = TRY(store.nodes());
  for (const Node& node : nodes) {
    if (!node.gpu_model.empty()) models[node.name.text()] = node.gpu_model;
  }
  for (SummaryRow& row : rows) {
    std::string& key = row.keys[node_key];
    const auto known = models.find(key);
    const InstanceType* type = Catalog::built_in().find_instance_type(row.keys[type_key]);
    key = known != models.end() ? known->second : type != nullptr ? type->gpu_model : "";
  }
  return {};
}

Result<MonthStatement> load_statement(Store& store, const StatementOptions& options) {
  SummaryQuery query;
  query.group_by = statement_group_by(options);
  query.filters.push_back({"month", {options.month}, false});
  if (options.has_rates()) query.bucket = TimeBucket::kDay;
  auto rows = TRY(store.summarise(query));
  const auto key_at = [&](const char* name) {
    return static_cast<std::size_t>(std::ranges::find(query.group_by, name) -
                                    query.group_by.begin());
  };
  if (options.has_rates() && options.rates->by_gpu_model()) {
    TRY(name_gpu_models(store, 9 + options.detail.size(), key_at("instance_type"), rows));
  }
  const auto totals =
      TRY(store.reconcile(options.month, true, [](const LineCheck&) { return true; }));
  std::vector<BillTotal> bills;
  for (const ReconcileTotals& total : totals) {
    bills.push_back({select_cost(total.billed_lines, options.cost), total.lines});
  }
  if (bills.empty()) {
    return fail(ErrorCode::kNotFound, fmt::format("there are no bill lines of {}", options.month));
  }
  return month_statement(rows, bills, options);
}

Result<MonthStatement> statement_of(Store& store, const Config& config, const std::string& month,
                                    const std::vector<std::string>& dimensions,
                                    const InternalRates& rates) {
  auto methods = TRY(spread_methods(store, month));
  if (!config.invoice.tier.empty()) {
    std::ignore = TRY(parse_dimensions({config.invoice.tier}, config.policy));
  }
  const StatementOptions options{
      .month = month,
      .by = dimensions.front(),
      .detail = {dimensions.begin() + 1, dimensions.end()},
      .cost = config.invoice.cost == "billed" ? CostBasis::kBilled : CostBasis::kEffective,
      .methods = std::move(methods),
      .not_customers = config.invoice.not_customers,
      .rates = &rates,
      .tier = config.invoice.tier};
  return load_statement(store, options);
}

Result<bool> is_closed(Store& store, const std::string& month) {
  const auto closings = TRY(store.closings());
  return std::ranges::find(closings, month, &Closing::month) != closings.end();
}

Result<std::pair<Date, Date>> days_of(const std::string& month) {
  const Date first = TRY(parse_date(month + "-01"));
  const std::chrono::year_month_day begin(first);
  return std::pair(first,
                   Date(std::chrono::sys_days(begin.year() / begin.month() / std::chrono::last)));
}

std::string date_text(Instant at) { return to_text(at).substr(0, 10); }

IssueOptions to_issue_options(const InvoiceRequest& params, const InvoiceConfig& config,
                              Instant now) {
  IssueOptions issuing{params.issue, date_text(now), "", params.reason};
  if (config.terms_days) issuing.due_on = date_text(now + std::chrono::days(*config.terms_days));
  return issuing;
}

Result<void> store_invoices(Store& store, const std::vector<Invoice>& invoices, Instant now) {
  std::vector<IssuedInvoice> issued;
  for (const Invoice& invoice : invoices) {
    std::string document = invoice_document(invoice);
    const Hash128 digest = hash_of(document);
    issued.push_back({.number = invoice.number,
                      .month = invoice.month,
                      .customer = invoice.customer,
                      .issued_at = now,
                      .document = std::move(document),
                      .digest = digest,
                      .refers_to = invoice.refers_to});
  }
  return store.issue_invoices(issued);
}

// The customers' dimension, then the details.
Result<std::vector<std::string>> invoice_dimensions(const InvoiceRequest& params,
                                                    const Config& config) {
  std::vector<std::string> names = {params.by.empty() ? config.invoice.by : params.by};
  const std::vector<std::string>& detail =
      params.detail.empty() ? config.invoice.detail : params.detail;
  names.insert(names.end(), detail.begin(), detail.end());
  return parse_dimensions(names, config.policy);
}

// No reconciliation says 0.00 without a word where rows of the month's bills are aside.
Result<void> add_money_aside(Store& store, const std::string& month, const Config& config,
                             PreparedInvoices& prepared) {
  const auto status = TRY(query_bill_status(store, month));
  if (status.aside_money.rows == 0) return {};
  const CostBasis basis =
      config.invoice.cost == "billed" ? CostBasis::kBilled : CostBasis::kEffective;
  for (std::vector<Invoice>* some : {&prepared.invoices, &prepared.not_charged}) {
    for (Invoice& invoice : *some) {
      Money amount = Money::zero(invoice.currency);
      const auto found = status.aside_money.costs.find(invoice.currency);
      if (found != status.aside_money.costs.end()) amount = select_cost(found->second, basis);
      invoice.reconciliation.aside = {.rows = status.aside_money.rows,
                                      .unreadable = status.aside_money.unreadable,
                                      .amount = {amount, round_to_minor(amount)}};
    }
  }
  return {};
}

Result<void> keep_customer(const std::string& customer, const std::string& by,
                           const InvoiceConfig& config, MonthInvoices& all,
                           const std::string& month) {
  const bool is_configured_out =
      std::ranges::find(config.not_customers, customer) != config.not_customers.end();
  std::vector<std::string> names;
  for (const std::vector<Invoice>* some : {&all.issued, &all.prepared}) {
    for (const Invoice& one : *some) names.push_back(one.customer);
  }
  const auto is_of_another = [&](const Invoice& one) { return one.customer != customer; };
  std::erase_if(all.issued, is_of_another);
  std::erase_if(all.prepared, is_of_another);
  all.not_charged.clear();
  if (!all.issued.empty() || !all.prepared.empty()) return {};
  if (is_configured_out) {
    return fail(
        ErrorCode::kNotFound,
        fmt::format("{} '{}' is in invoice.not_customers, and is charged nothing", by, customer));
  }
  return fail(ErrorCode::kNotFound, fmt::format("{} '{}' owes nothing for {}{}", by, customer,
                                                month, suggestion(customer, names)));
}

}  // namespace

Result<void> check_invoice_request(const InvoiceRequest& params, const Config& config) {
  TRY(check_month(params.month));
  if (params.issue && !params.customer.empty()) {
    return fail(
        ErrorCode::kBadValue,
        "a month is issued as a whole, so that it adds up to the bill; leave the customer out");
  }
  if (!is_plain_text(params.reason)) {
    return fail(ErrorCode::kBadValue, "the reason is not valid UTF-8");
  }
  std::ignore = TRY(invoice_dimensions(params, config));
  return {};
}

Result<MonthInvoices> create_invoices(Store& store, const Config& config,
                                      const InvoiceRequest& params, Instant now) {
  TRY(check_invoice_request(params, config));
  const auto dimensions = TRY(invoice_dimensions(params, config));
  const auto closed = is_closed(store, params.month);
  if (!closed) return std::unexpected(closed.error());
  if (params.issue && !*closed) {
    return fail(ErrorCode::kConflict,
                fmt::format("{} is open and may still change; 'pennyweight close {} --by NAME' "
                            "closes it, and until then there are drafts",
                            params.month, params.month));
  }
  const InternalRates rates = internal_rates(config.invoice);
  const auto statement = TRY(statement_of(store, config, params.month, dimensions, rates));
  auto issued = TRY(issued_before(store));
  auto prepared = prepare_invoices(statement, issued, to_settings(config.invoice),
                                   to_issue_options(params, config.invoice, now));
  if (!prepared) return std::unexpected(prepared.error());
  TRY(add_money_aside(store, params.month, config, *prepared));
  if (params.issue && !prepared->invoices.empty()) {
    TRY(store_invoices(store, prepared->invoices, now));
  }
  MonthInvoices month{.issued = std::move(issued),
                      .prepared = std::move(prepared->invoices),
                      .not_charged = std::move(prepared->not_charged),
                      .closed = *closed,
                      .notes = std::move(prepared->notes)};
  if (!params.reason.empty() && std::ranges::none_of(month.prepared, [](const Invoice& one) {
        return !one.refers_to.empty();
      })) {
    month.notes.emplace_back("nothing that was issued is corrected, so the reason is not used");
  }
  const auto [first, last] = TRY(days_of(params.month));
  for (const std::string& rate : rates.unused(statement.rates_used, first, last)) {
    month.notes.push_back(
        fmt::format("{} decides no amount of {}: it fits nothing, or an entry before it does", rate,
                    params.month));
  }
  const std::string series = fmt::format("{}-{}-", config.invoice.prefix, params.month);
  std::erase_if(month.issued, [&](const Invoice& one) {
    return one.month != params.month || !one.number.starts_with(series);
  });
  month.issued_all = month.issued.size();
  month.prepared_all = month.prepared.size();
  if (!params.customer.empty()) {
    TRY(keep_customer(params.customer, dimensions.front(), config.invoice, month, params.month));
  }
  return month;
}

Result<std::vector<Invoice>> draft_whole_month(Store& store, const Config& config,
                                               const InvoiceRequest& params) {
  TRY(check_invoice_request(params, config));
  const auto dimensions = TRY(invoice_dimensions(params, config));
  const InternalRates rates = internal_rates(config.invoice);
  const auto statement = TRY(statement_of(store, config, params.month, dimensions, rates));
  return TRY(prepare_invoices(statement, {}, to_settings(config.invoice), {})).invoices;
}

namespace {

// A client's margin: net less cost, and its part of the net.
Row margin_row(const std::string& client, Money revenue, Money cost) {
  const Money margin = revenue - cost;
  return {client, revenue, cost, margin, Ratio{margin.ticks(), revenue.ticks()}};
}

std::string counted(std::size_t number, const char* what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

struct Revenues {
  std::map<std::pair<std::string, Currency>, Money> net;  // by customer
  std::size_t issued = 0;                                 // documents that it is of; 0: drafts
  // Drafts beside issued documents: of customers that have one, and that have none.
  std::size_t corrections = 0, missing = 0;
  bool has_rates = false;  // issued documents have prices of rates
};

// What customers are charged, in the cents of their invoices. Without rates they are charged what
// their work cost, to the last digit.
Result<Revenues> net_by_customer(Store& store, const Config& config,
                                 const MonthStatement& statement) {
  const std::string series = TRY(invoice_series(config.invoice.prefix, statement.month));
  auto issued = TRY(issued_before(store));
  std::erase_if(issued, [&](const Invoice& one) {
    return one.month != statement.month || !one.number.starts_with(series) ||
           one.by != statement.by || one.cost != to_text(statement.cost);
  });
  const auto prepared = TRY(prepare_invoices(statement, issued, to_settings(config.invoice), {}));
  const std::vector<Invoice>& charged = issued.empty() ? prepared.invoices : issued;
  Revenues revenues{.net = {}, .issued = issued.size()};
  for (const Invoice& one : prepared.invoices) {
    if (issued.empty() || one.net.shown.is_zero()) continue;
    ++(one.refers_to.empty() ? revenues.missing : revenues.corrections);
  }
  revenues.has_rates = std::ranges::any_of(issued, &Invoice::has_rates);
  for (const Invoice& one : charged) {
    const Money zero = Money::zero(one.currency);
    revenues.net.try_emplace({one.customer, one.currency}, zero).first->second +=
        one.has_rates || !config.invoice.rates.empty() ? one.net.shown : one.net.exact;
  }
  return revenues;
}

struct MonthProfits {
  ClientProfits profits;
  Revenues revenues;
};

Result<MonthProfits> month_profits(Store& store, const Config& config, const std::string& month,
                                   const std::string& by) {
  const InvoiceRequest request{.month = month, .by = by};
  TRY(check_invoice_request(request, config));
  // With the details, by which rates are applied to each row.
  const auto dimensions = TRY(invoice_dimensions(request, config));
  const InternalRates rates = internal_rates(config.invoice);
  const auto statement = TRY(statement_of(store, config, month, dimensions, rates));
  MonthProfits all{.profits = {}, .revenues = TRY(net_by_customer(store, config, statement))};
  std::vector<ClientProfit>& clients = all.profits.clients;
  all.profits.at_cost = rates.empty() && !all.revenues.has_rates;
  auto net = all.revenues.net;
  for (const CustomerStatement& one : statement.customers) {
    const Currency currency = one.cost.currency();
    const auto known = net.find({one.customer, currency});
    clients.push_back(
        {one.customer, known == net.end() ? Money::zero(currency) : known->second, one.cost});
    if (known != net.end()) net.erase(known);
  }
  // Of those who owe nothing any more.
  for (const auto& [who, revenue] : net) {
    if (!revenue.is_zero()) clients.push_back({who.first, revenue, Money::zero(who.second)});
  }
  for (const CustomerStatement& one : statement.not_charged) {
    if (one.cost.is_zero()) continue;
    clients.push_back({"", Money::zero(one.cost.currency()), one.cost});
  }
  return all;
}

Table profitability_table(const std::string& by, const std::string& month, Currency currency) {
  Table table;
  table.title = fmt::format("Profitability by {}, {}, {}", by, month, currency.text());
  table.currency = currency;
  table.columns = {{by, by, ColumnKind::kText},
                   {"revenue", "revenue", ColumnKind::kMoney},
                   {"cost", "cost", ColumnKind::kMoney},
                   {"margin", "margin", ColumnKind::kMoney},
                   {"margin_percent", "margin of revenue", ColumnKind::kPercent}};
  return table;
}

}  // namespace

Result<ClientProfits> query_client_profits(Store& store, const Config& config,
                                           const std::string& month, const std::string& by) {
  return TRY(month_profits(store, config, month, by)).profits;
}

Result<std::vector<Table>> query_profitability(Store& store, const Config& config,
                                               const std::string& month, const std::string& by) {
  const auto [profits, revenues] = TRY(month_profits(store, config, month, by));
  const auto dimensions = TRY(invoice_dimensions({.month = month, .by = by}, config));
  std::map<Currency, Table> tables;
  std::map<Currency, std::pair<Money, Money>> sums;  // revenue and cost
  for (const ClientProfit& one : profits.clients) {
    const Currency currency = one.cost.currency();
    const auto table =
        tables.try_emplace(currency, profitability_table(dimensions.front(), month, currency))
            .first;
    table->second.rows.push_back(margin_row(
        one.client.empty() ? std::string("(not charged)") : one.client, one.revenue, one.cost));
    const Money none = Money::zero(currency);
    auto& [all_revenue, all_cost] = sums.try_emplace(currency, none, none).first->second;
    all_revenue += one.revenue;
    all_cost += one.cost;
  }
  std::vector<Table> all;
  for (auto& [currency, table] : tables) {
    const auto& [revenue, cost] = sums.at(currency);
    table.total = margin_row("total", revenue, cost);
    if (profits.at_cost) {
      table.notes.emplace_back("invoice.rates has no rates: every client is charged its cost");
    }
    table.notes.push_back(fmt::format(
        "revenue is the net of the month's {}, before tax; the cost adds up to the bill",
        revenues.issued == 0 ? "drafts at today's rates"
                             : counted(revenues.issued, "issued document")));
    if (revenues.missing > 0) {
      table.notes.push_back(fmt::format(
          "{} not issued yet, and not in the revenue",
          revenues.missing == 1 ? "1 invoice of this month is"
                                : fmt::format("{} invoices of this month are", revenues.missing)));
    }
    if (revenues.corrections > 0) {
      table.notes.push_back(
          fmt::format("{} would be corrected by today's rates and costs: issue the month again",
                      counted(revenues.corrections, "document")));
    }
    all.push_back(std::move(table));
  }
  return all;
}

Result<StoredInvoice> find_invoice(Store& store, std::string_view number) {
  const auto stored = TRY(store.issued_invoices());
  const auto found = std::ranges::find(stored, number, &IssuedInvoice::number);
  if (found == stored.end()) {
    return fail(ErrorCode::kNotFound, fmt::format("there is no invoice {}", number));
  }
  if (hash_of(found->document) != found->digest) {
    return fail(
        ErrorCode::kConflict,
        fmt::format("invoice {} was modified outside of pennyweight; restore a backup", number));
  }
  auto invoice = read_invoice(found->document);
  if (!invoice) return std::unexpected(invoice.error().during(fmt::format("invoice {}", number)));
  return StoredInvoice{*found, *std::move(invoice)};
}

Result<std::vector<StoredInvoice>> issued_invoices(Store& store) {
  auto stored = TRY(store.issued_invoices());
  std::vector<StoredInvoice> all;
  for (IssuedInvoice& one : stored) {
    auto invoice = read_invoice(one.document);
    if (!invoice) return std::unexpected(invoice.error().during("invoice " + one.number));
    all.push_back({std::move(one), *std::move(invoice)});
  }
  return all;
}

Result<std::string> render_document(const Invoice& invoice, std::string_view format,
                                    const Config& config) {
  if (format != "pdf") return render_invoice(invoice, format);
  const std::string& font = config.invoice.font;
  auto bytes = render_invoice_pdf(invoice, font.empty() ? kPdfFont : font);
  if (!bytes) {
    const std::string& name = invoice.number.empty() ? invoice.customer : invoice.number;
    return std::unexpected(bytes.error().during("invoice " + name));
  }
  return bytes;
}

std::string render_invoice(const Invoice& invoice, std::string_view format) {
  if (format == "html") return render_invoice_html(invoice);
  if (format == "json") return invoice_document(invoice);
  if (format == "csv") return render_invoice_csv({&invoice, 1});
  return render_invoice_text(invoice);
}

}  // namespace pennyweight
