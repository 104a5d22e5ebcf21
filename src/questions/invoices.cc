#include "questions/invoices.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include "config/policy_text.h"
#include "core/check.h"
#include "core/plain_text.h"
#include "invoice/document.h"
#include "invoice/prepare.h"
#include "invoice/render.h"
#include "questions/selection.h"

namespace pennyweight {
namespace {

Party party_of(const PartyConfig& config) {
  return {config.name, config.address, config.tax_id, config.contact};
}

InvoiceSettings settings_of(const InvoiceConfig& config) {
  InvoiceSettings settings;
  settings.prefix = config.prefix;
  settings.issuer = party_of(config.issuer);
  for (const auto& [value, party] : config.customers) {
    settings.customers.emplace(value, party_of(party));
  }
  if (config.tax_percent) settings.tax = TaxRule{config.tax_name, *config.tax_percent};
  settings.showback = config.showback;
  settings.paper = config.letter_paper ? Paper::kLetter : Paper::kA4;
  settings.logo = config.logo;
  settings.note = config.note;
  return settings;
}

std::string measured_by(const SpreadRule& rule) {
  switch (rule.measure) {
    case SpreadMeasure::kGpuCost:
      return "what each pays for GPUs";
    case SpreadMeasure::kCost:
      return "all that each pays";
    case SpreadMeasure::kGpuTime:
      return "the GPU time that each held";
    case SpreadMeasure::kMemoryTime:
      return "the GPU memory that each held";
    case SpreadMeasure::kCpuCost:
      return "what each pays for CPUs";
    case SpreadMeasure::kComponentCost:
      return "what each pays for the same part of the machines";
    case SpreadMeasure::kNamed:
      return rule.named;
  }
  CHECK(false, "every measure is listed");
}

std::string method_of(const SpreadRule& rule) {
  std::string text;
  switch (rule.how) {
    case Spread::kKeep:
      return "";
    case Spread::kProportional:
      text = "in proportion to " + measured_by(rule);
      break;
    case Spread::kEven:
      text = "the same for each" + (rule.dimension.empty() ? "" : " " + rule.dimension);
      break;
    case Spread::kFixed:
      text = "in fixed parts for each " + rule.dimension;
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

// By posting kind: each rule that may have moved it, in the order in which they are tried.
std::map<std::string, std::string> methods_of(const Policy& policy) {
  std::map<std::string, std::string> methods;
  for (const SpreadRule& rule : policy.spread) {
    const std::string method = method_of(rule);
    if (method.empty()) continue;
    std::string& text = methods[std::string(to_text(rule.kind))];
    text += (text.empty() ? "" : "; ") + method;
  }
  return methods;
}

std::string cluster_of(const Run& run) {
  return run.scope.cluster.text().empty() ? "(no cluster)" : run.scope.cluster.text();
}

// As the month's runs have it, and not as the configuration has it by now. Where clusters were run
// by other methods than the rest, each is told with its clusters.
Result<std::map<std::string, std::string>> methods_of(Store& store, const std::string& month) {
  const auto runs = store.runs();
  if (!runs) return std::unexpected(runs.error());
  std::map<std::string, std::map<std::string, std::string>> clusters;  // by kind, then method
  for (const Run& run : *runs) {
    if (!run.current || run.scope.month != month) continue;
    const auto policy = parse_policy_text(run.policy);
    if (!policy) {
      return std::unexpected(policy.error().during(
          fmt::format("the policy of run {}/{}/{}", cluster_of(run), month, run.number)));
    }
    for (const auto& [kind, method] : methods_of(*policy)) {
      std::string& names = clusters[kind][method];
      names += (names.empty() ? "" : ", ") + cluster_of(run);
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
  auto kept = issued_invoices(store);
  if (!kept) return std::unexpected(kept.error());
  std::vector<Invoice> invoices;
  for (KeptInvoice& one : *kept) invoices.push_back(std::move(one.invoice));
  return invoices;
}

Money cost_of(const Costs& costs, CostBasis basis) {
  return basis == CostBasis::kBilled ? costs.billed : costs.effective;
}

Result<MonthStatement> load_statement(Store& store, const StatementOptions& options) {
  SummaryQuery query;
  query.group_by = statement_dimensions(options);
  query.filters.push_back({"month", {options.month}, false});
  const auto rows = store.summarise(query);
  if (!rows) return std::unexpected(rows.error());
  const auto totals = store.reconcile(options.month, true, [](const LineCheck&) { return true; });
  if (!totals) return std::unexpected(totals.error());
  std::vector<BillTotal> bills;
  for (const ReconcileTotals& total : *totals) {
    bills.push_back({cost_of(total.billed_lines, options.cost), total.lines});
  }
  if (bills.empty()) {
    return fail(ErrorCode::kNotFound, fmt::format("there are no bill lines of {}", options.month));
  }
  return month_statement(*rows, bills, options);
}

Result<bool> is_closed(Store& store, const std::string& month) {
  const auto closings = store.closings();
  if (!closings) return std::unexpected(closings.error());
  return std::ranges::find(*closings, month, &Closing::month) != closings->end();
}

std::string date_text(Instant at) { return to_text(at).substr(0, 10); }

Issuing issuing_of(const InvoiceQuestion& question, const InvoiceConfig& config, Instant now) {
  Issuing issuing{question.issue, date_text(now), "", question.reason};
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
Result<std::vector<std::string>> dimensions_of(const InvoiceQuestion& question,
                                               const Config& config) {
  std::vector<std::string> names = {question.by.empty() ? config.invoice.by : question.by};
  const std::vector<std::string>& detail =
      question.detail.empty() ? config.invoice.detail : question.detail;
  names.insert(names.end(), detail.begin(), detail.end());
  return parse_dimensions(names, config.policy);
}

Result<void> leave_only(const std::string& customer, const std::string& by, MonthInvoices& all,
                        const std::string& month) {
  const auto is_of_another = [&](const Invoice& one) { return one.customer != customer; };
  std::erase_if(all.issued, is_of_another);
  std::erase_if(all.prepared, is_of_another);
  all.not_charged.clear();
  if (!all.issued.empty() || !all.prepared.empty()) return {};
  return fail(ErrorCode::kNotFound,
              fmt::format("{} '{}' owes nothing for {}", by, customer, month));
}

}  // namespace

Result<void> check_question(const InvoiceQuestion& question, const Config& config) {
  if (const auto month = check_month(question.month); !month) return month;
  if (question.issue && !question.customer.empty()) {
    return fail(ErrorCode::kBadValue,
                "a month is issued as a whole, so that it meets the bill: without a customer");
  }
  if (!is_plain_text(question.reason)) {
    return fail(ErrorCode::kBadValue, "the reason is not a text in UTF-8");
  }
  const auto dimensions = dimensions_of(question, config);
  if (!dimensions) return std::unexpected(dimensions.error());
  return {};
}

Result<MonthInvoices> ask_invoices(Store& store, const Config& config,
                                   const InvoiceQuestion& question, Instant now) {
  if (const auto right = check_question(question, config); !right) {
    return std::unexpected(right.error());
  }
  const auto dimensions = dimensions_of(question, config);
  if (!dimensions) return std::unexpected(dimensions.error());
  const auto closed = is_closed(store, question.month);
  if (!closed) return std::unexpected(closed.error());
  if (question.issue && !*closed) {
    return fail(ErrorCode::kConflict,
                fmt::format("{} is open and may still change; 'pennyweight close {} --by NAME' "
                            "closes it, and until then there are drafts",
                            question.month, question.month));
  }
  auto methods = methods_of(store, question.month);
  if (!methods) return std::unexpected(methods.error());
  const StatementOptions statement_options{
      .month = question.month,
      .by = dimensions->front(),
      .detail = {dimensions->begin() + 1, dimensions->end()},
      .cost = config.invoice.cost == "billed" ? CostBasis::kBilled : CostBasis::kEffective,
      .methods = std::move(*methods),
      .not_customers = config.invoice.not_customers};
  const auto statement = load_statement(store, statement_options);
  if (!statement) return std::unexpected(statement.error());
  auto issued = issued_before(store);
  if (!issued) return std::unexpected(issued.error());
  auto prepared = prepare_invoices(*statement, *issued, settings_of(config.invoice),
                                   issuing_of(question, config.invoice, now));
  if (!prepared) return std::unexpected(prepared.error());
  if (question.issue && !prepared->invoices.empty()) {
    const auto stored = store_invoices(store, prepared->invoices, now);
    if (!stored) return std::unexpected(stored.error());
  }
  MonthInvoices month{.issued = *std::move(issued),
                      .prepared = std::move(prepared->invoices),
                      .not_charged = std::move(prepared->not_charged),
                      .closed = *closed};
  const std::string series = fmt::format("{}-{}-", config.invoice.prefix, question.month);
  std::erase_if(month.issued, [&](const Invoice& one) {
    return one.month != question.month || !one.number.starts_with(series);
  });
  month.issued_all = month.issued.size();
  month.prepared_all = month.prepared.size();
  if (!question.customer.empty()) {
    const auto left = leave_only(question.customer, dimensions->front(), month, question.month);
    if (!left) return std::unexpected(left.error());
  }
  return month;
}

Result<KeptInvoice> find_invoice(Store& store, std::string_view number) {
  const auto stored = store.issued_invoices();
  if (!stored) return std::unexpected(stored.error());
  const auto found = std::ranges::find(*stored, number, &IssuedInvoice::number);
  if (found == stored->end()) {
    return fail(ErrorCode::kNotFound, fmt::format("there is no invoice {}", number));
  }
  if (hash_of(found->document) != found->digest) {
    return fail(
        ErrorCode::kConflict,
        fmt::format("invoice {} was changed behind the ledger's back; restore a backup", number));
  }
  auto invoice = read_invoice(found->document);
  if (!invoice) return std::unexpected(invoice.error().during(fmt::format("invoice {}", number)));
  return KeptInvoice{*found, *std::move(invoice)};
}

Result<std::vector<KeptInvoice>> issued_invoices(Store& store) {
  auto stored = store.issued_invoices();
  if (!stored) return std::unexpected(stored.error());
  std::vector<KeptInvoice> all;
  for (IssuedInvoice& one : *stored) {
    auto invoice = read_invoice(one.document);
    if (!invoice) return std::unexpected(invoice.error().during("invoice " + one.number));
    all.push_back({std::move(one), *std::move(invoice)});
  }
  return all;
}

std::string render_invoice(const Invoice& invoice, std::string_view format) {
  if (format == "html") return render_invoice_html(invoice);
  if (format == "json") return invoice_document(invoice);
  if (format == "csv") return render_invoice_csv({&invoice, 1});
  return render_invoice_text(invoice);
}

}  // namespace pennyweight
