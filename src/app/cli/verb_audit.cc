// audit: cost coverage (how much cost reaches an owner, unmatched charges and nodes, commitments,
// bill against list prices, required labels) and the audit log.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "app/cli/audit_log_verbs.h"
#include "app/cli/label_compliance_verb.h"
#include "app/cli/shared_options.h"
#include "app/cli/utilisation_verb.h"
#include "app/cli/verb.h"
#include "app/context/catalog_file.h"
#include "app/context/price_files.h"
#include "core/billing_period.h"
#include "core/try.h"
#include "reporting/coverage/commitment_reconciliation.h"
#include "reporting/coverage/commitment_tables.h"
#include "reporting/coverage/coverage_tables.h"
#include "reporting/coverage/estimate_comparison.h"
#include "reporting/coverage/estimate_tables.h"
#include "reporting/coverage/join_tables.h"
#include "reporting/coverage/unmatched_collector.h"
#include "reporting/queries/coverage.h"
#include "reporting/queries/currency.h"
#include "reporting/queries/selection.h"

namespace pennyweight {
namespace {

struct AuditOptions {
  CLI::App* coverage = nullptr;
  CLI::App* join = nullptr;
  CLI::App* commitments = nullptr;
  CLI::App* estimate = nullptr;
  std::shared_ptr<LabelComplianceOptions> labels;
  std::shared_ptr<AuditLogOptions> audit_log;
  std::shared_ptr<UtilisationOptions> utilisation;

  std::string month;
  std::vector<std::string> by = {"team", "project", "user"};
  std::string estimate_by = "instance_type";
  std::string prices_as_of;
  CurrencyOptions conversion;
  std::uint64_t top = 10;
  TableOptions table;
};

Result<std::unique_ptr<Store>> open_checked(const AuditOptions& options, const Context& context) {
  if (!options.month.empty()) {
    if (const auto month = check_month(options.month); !month) return as_usage_error(month.error());
  }
  auto store = open_ledger(context.config);
  if (!store) return std::unexpected(store.error());
  TRY(check_has_charges(**store, options.month));
  return store;
}

Result<Instant> price_day(const AuditOptions& options, const Interval& month) {
  if (options.prices_as_of.empty()) return month.begin();
  const auto day = parse_day(options.prices_as_of);
  if (!day) return as_usage_error(day.error());
  return parse_instant(options.prices_as_of);
}

// `rates` receives those used.
Result<CoverageResult> convert_to(Currency to, CoverageResult answer, const AuditOptions& options,
                                  Store& store, const Config& config,
                                  std::vector<std::string>& rates) {
  std::string month = options.month;
  CurrencyConversion conversion(
      to,
      [&](const Currency& foreign) {
        return rates_between(foreign, to, options.conversion, config);
      },
      rate_search(config));
  auto converted =
      convert_coverage(std::move(answer), to, [&](const Money& amount) -> Result<Money> {
        if (amount.currency() == to) return amount;
        if (month.empty()) {
          auto only = choose_month("", store);
          if (!only) {
            return usage_error(
                "audit coverage of several months can't be converted, since each month has a rate "
                "of its own; choose one with --month, or use --currency original");
          }
          month = *std::move(only);
        }
        return conversion.convert(amount, month);
      });
  rates = conversion.used();
  return converted;
}

Result<ExitCode> run_coverage(const AuditOptions& options, Context& context) {
  auto dimensions = covered_dimensions(options.by, context.config.policy);
  if (!dimensions) return as_usage_error(dimensions.error());
  const CoverageQuery query{
      .month = options.month, .dimensions = *std::move(dimensions), .top = options.top};
  const auto catalog = TRY(load_catalog(context.config));
  const auto store = TRY(open_checked(options, context));
  auto answer = TRY(query_coverage(*store, catalog, query));
  std::vector<std::string> rates;
  if (const auto to = TRY(chosen_currency(options.conversion, context.config))) {
    answer = TRY(convert_to(*to, std::move(answer), options, *store, context.config, rates));
  }
  std::vector<Table> tables =
      options.table.format == "csv"
          ? coverage_rows(answer.coverage)
          : coverage_tables(answer.coverage, answer.gaps, month_label(options.month));
  if (!tables.empty()) std::ranges::move(rates, std::back_inserter(tables.front().notes));
  print_tables(tables, options.table, context);
  return ExitCode::kDone;
}

// The machines of a month, and their prices.
struct MachineMonth {
  Catalog catalog;
  std::unique_ptr<Store> store;
  std::string month;
  Interval during;
  Instant prices_as_of;
  std::vector<Node> nodes;
};

Result<MachineMonth> machine_month(const AuditOptions& options, const Context& context) {
  auto catalog = TRY(load_catalog(context.config));
  auto store = TRY(open_checked(options, context));
  auto month = TRY(choose_month(options.month, *store));
  const auto period = TRY(BillingPeriod::parse(month, TimeZone::utc()));
  const Interval during = period.to_interval();
  const auto prices = TRY(price_day(options, during));
  auto nodes = TRY(store->nodes());
  return MachineMonth{.catalog = std::move(catalog),
                      .store = std::move(store),
                      .month = std::move(month),
                      .during = during,
                      .prices_as_of = prices,
                      .nodes = std::move(nodes)};
}

Result<ExitCode> run_join(const AuditOptions& options, Context& context) {
  const auto asked = TRY(machine_month(options, context));

  UnmatchedCollector unmatched(asked.nodes, asked.during, context.config.join_rules);
  TRY(asked.store->scan_charges(asked.month, [&](std::span<const Charge> charges) {
    unmatched.add(charges);
    return true;
  }));
  const JoinFindings findings = unmatched.finish(asked.catalog, asked.prices_as_of);
  print_tables(options.table.format == "csv" ? join_rows(findings)
                                             : join_tables(findings, asked.month, options.top),
               options.table, context);
  if (findings.resources.empty() && findings.nodes.empty()) {
    context.console.say("every bill line joins a node, and every node has a bill line");
  }
  return ExitCode::kDone;
}

Result<ExitCode> run_commitments(const AuditOptions& options, Context& context) {
  const auto store = TRY(open_checked(options, context));
  CommitmentReconciler audit;
  TRY(store->scan_charges(options.month, [&](std::span<const Charge> charges) {
    for (const Charge& charge : charges) audit.add(charge);
    return true;
  }));
  const std::vector<CommitmentRow> terms = audit.terms();
  if (terms.empty()) {
    context.console.say("no bill line is for a commitment");
    return ExitCode::kDone;
  }
  std::vector<Table> tables =
      commitment_tables(terms, audit.months(), options.table.format != "text");
  if (options.table.format == "csv") {
    std::erase_if(tables, [&](const Table& table) {
      return table.columns.size() != tables.front().columns.size();
    });
  }
  print_tables(tables, options.table, context);
  const bool is_off = std::ranges::any_of(
      terms, [](const CommitmentRow& row) { return row.status() == CommitmentStatus::kMismatch; });
  if (!is_off) return ExitCode::kDone;
  return fail(
      ErrorCode::kConflict,
      "used and idle hours of monthly commitments come to less than was paid: a part of the bill "
      "is missing; import it");
}

Result<ExitCode> run_estimate(const AuditOptions& options, Context& context) {
  const auto asked = TRY(machine_month(options, context));

  EstimateComparison audit({.nodes = asked.nodes,
                            .during = asked.during,
                            .catalog = asked.catalog,
                            .prices_as_of = asked.prices_as_of,
                            .rules = context.config.join_rules});
  TRY(asked.store->scan_charges(asked.month, [&](std::span<const Charge> charges) {
    audit.add(charges);
    return true;
  }));
  const bool by_node = options.estimate_by == "node";
  std::vector<EstimateComparisonRow> rows = audit.nodes();
  if (!by_node) rows = by_instance_type(rows);
  print_tables(
      estimate_tables(rows, by_node, asked.month, options.top, options.table.format != "text"),
      options.table, context);
  if (rows.empty()) context.console.say("there are neither machines nor bill lines of machines");
  return ExitCode::kDone;
}

Result<ExitCode> run(const AuditOptions& options, Context& context) {
  if (options.coverage->parsed()) return run_coverage(options, context);
  if (options.join->parsed()) return run_join(options, context);
  if (options.commitments->parsed()) return run_commitments(options, context);
  if (options.labels->command->parsed()) return run_label_compliance(*options.labels, context);
  if (options.utilisation->command->parsed()) return run_utilisation(*options.utilisation, context);
  if (options.audit_log->verify->parsed()) return run_audit_verify(*options.audit_log, context);
  if (options.audit_log->accept->parsed()) {
    return run_audit_accept(*options.audit_log, context);
  }
  if (options.audit_log->log->parsed()) return run_audit_log(*options.audit_log, context);
  return run_estimate(options, context);
}

void add_common(CLI::App& command, AuditOptions& options) {
  add_booked_month_option(command, options.month);
  add_table_options(command, options.table);
  command.footer(examples_footer("audit"));
}

void add_top(CLI::App& command, AuditOptions& options) {
  command.add_option("--top", options.top, "At most this many rows per table")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

void add_prices(CLI::App& command, AuditOptions& options) {
  command.add_option("--prices-as-of", options.prices_as_of,
                     "List prices of this day; default: the month's first");
}

}  // namespace

Verb declare_audit(CLI::App& app) {
  const auto options = std::make_shared<AuditOptions>();
  CLI::App* command = app.add_subcommand(
      "audit", "Show cost coverage: what does not reach an owner, and why; and the audit log");
  command->require_subcommand(1);
  command->footer(examples_footer("audit"));

  options->coverage = command->add_subcommand(
      "coverage", "How much GPU spend reaches a team, project or user, and what stops the rest");
  options->coverage->add_option("--by", options->by, "Dimensions, separated by commas")
      ->capture_default_str();
  add_currency_options(*options->coverage, options->conversion);
  add_common(*options->coverage, *options);
  add_top(*options->coverage, *options);

  options->join = command->add_subcommand(
      "join", "Bill lines without a node and nodes without a bill line, with amounts");
  add_common(*options->join, *options);
  add_top(*options->join, *options);
  add_prices(*options->join, *options);

  options->commitments = command->add_subcommand(
      "commitments", "What was paid for each commitment, and how much of it was used");
  add_common(*options->commitments, *options);

  options->estimate = command->add_subcommand(
      "estimate", "The machines at list price, compared with the bill, and why they differ");
  options->estimate->add_option("--by", options->estimate_by, "One row per")
      ->check(CLI::IsMember({"instance_type", "node"}))
      ->capture_default_str();
  add_common(*options->estimate, *options);
  add_top(*options->estimate, *options);
  add_prices(*options->estimate, *options);

  options->labels = declare_label_compliance(*command);
  options->utilisation = declare_utilisation(*command);
  options->audit_log = declare_audit_log(*command);
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
