// audit: how much of the money reaches somebody, what did not find each other, what became of
// commitments, how bill and catalog differ, whose cost lacks a required label; and who changed
// what.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "app/audit_labels.h"
#include "app/audit_trail.h"
#include "app/catalog_file.h"
#include "app/table_options.h"
#include "app/verb.h"
#include "audit/audit_tables.h"
#include "audit/commitment_audit.h"
#include "audit/estimate_audit.h"
#include "audit/unmatched_lines.h"
#include "core/billing_period.h"
#include "questions/coverage.h"
#include "questions/selection.h"

namespace pennyweight {
namespace {

struct AuditOptions {
  CLI::App* coverage = nullptr;
  CLI::App* join = nullptr;
  CLI::App* commitments = nullptr;
  CLI::App* estimate = nullptr;
  std::shared_ptr<LabelAuditOptions> labels;
  std::shared_ptr<TrailOptions> trail;

  std::string month;
  std::vector<std::string> by = {"team", "project", "user"};
  std::string estimate_by = "instance_type";
  std::string prices_as_of;
  std::uint64_t top = 10;
  TableOptions table;
};

std::string what_of(const std::string& month) { return month.empty() ? "all months" : month; }

Result<std::unique_ptr<Store>> open_checked(const AuditOptions& options, const Context& context) {
  if (!options.month.empty()) {
    if (const auto month = check_month(options.month); !month) return as_usage(month.error());
  }
  auto store = open_ledger(context.config);
  if (!store) return std::unexpected(store.error());
  if (const auto has = check_has_lines(**store, options.month); !has) {
    return std::unexpected(has.error());
  }
  return store;
}

// Nodes are compared with lines over one month, so one is needed.
Result<std::string> one_month(const AuditOptions& options, Store& store) {
  if (!options.month.empty()) return options.month;
  const auto overview = store.overview();
  if (!overview) return std::unexpected(overview.error());
  if (overview->months.size() == 1) return overview->months.front();
  return wrong_usage(fmt::format("there are bill lines of {} to {}; choose one with --month",
                                 overview->months.front(), overview->months.back()));
}

Result<Instant> price_day(const AuditOptions& options, const Interval& month) {
  if (options.prices_as_of.empty()) return month.begin();
  const auto day = parse_day(options.prices_as_of);
  if (!day) return as_usage(day.error());
  return parse_instant(options.prices_as_of);
}

Result<ExitCode> run_coverage(const AuditOptions& options, Context& context) {
  auto dimensions = covered_dimensions(options.by, context.config.policy);
  if (!dimensions) return as_usage(dimensions.error());
  const CoverageQuestion question{
      .month = options.month, .dimensions = *std::move(dimensions), .top = options.top};
  const auto catalog = load_catalog(context.config);
  if (!catalog) return std::unexpected(catalog.error());
  const auto store = open_checked(options, context);
  if (!store) return std::unexpected(store.error());
  const auto answer = cover(**store, *catalog, question);
  if (!answer) return std::unexpected(answer.error());
  print_tables(options.table.format == "csv"
                   ? coverage_rows(answer->coverage)
                   : coverage_tables(answer->coverage, answer->places, what_of(options.month)),
               options.table, context);
  return ExitCode::kDone;
}

// What is asked of a month's machines and their prices.
struct MachineMonth {
  Catalog catalog;
  std::unique_ptr<Store> store;
  std::string month;
  Interval during;
  Instant prices_as_of;
  std::vector<Node> nodes;
};

Result<MachineMonth> machine_month(const AuditOptions& options, const Context& context) {
  auto catalog = load_catalog(context.config);
  if (!catalog) return std::unexpected(catalog.error());
  auto store = open_checked(options, context);
  if (!store) return std::unexpected(store.error());
  auto month = one_month(options, **store);
  if (!month) return std::unexpected(month.error());
  const auto period = BillingPeriod::parse(*month, TimeZone::utc());
  if (!period) return std::unexpected(period.error());
  const Interval during = period->to_interval();
  const auto prices = price_day(options, during);
  if (!prices) return std::unexpected(prices.error());
  auto nodes = (*store)->nodes();
  if (!nodes) return std::unexpected(nodes.error());
  return MachineMonth{.catalog = std::move(*catalog),
                      .store = std::move(*store),
                      .month = std::move(*month),
                      .during = during,
                      .prices_as_of = *prices,
                      .nodes = std::move(*nodes)};
}

Result<ExitCode> run_join(const AuditOptions& options, Context& context) {
  const auto asked = machine_month(options, context);
  if (!asked) return std::unexpected(asked.error());

  UnmatchedLines unmatched(asked->nodes, asked->during, context.config.join_rules);
  const auto scanned =
      asked->store->scan_charges(asked->month, [&](std::span<const Charge> charges) {
        unmatched.add(charges);
        return true;
      });
  if (!scanned) return std::unexpected(scanned.error());
  const JoinFindings findings = unmatched.finish(asked->catalog, asked->prices_as_of);
  print_tables(options.table.format == "csv" ? join_rows(findings)
                                             : join_tables(findings, asked->month, options.top),
               options.table, context);
  if (findings.resources.empty() && findings.nodes.empty()) {
    context.console.say("every line has its node, and every node its line");
  }
  return ExitCode::kDone;
}

Result<ExitCode> run_commitments(const AuditOptions& options, Context& context) {
  const auto store = open_checked(options, context);
  if (!store) return std::unexpected(store.error());
  CommitmentAudit audit;
  const auto scanned = (*store)->scan_charges(options.month, [&](std::span<const Charge> charges) {
    for (const Charge& charge : charges) audit.add(charge);
    return true;
  });
  if (!scanned) return std::unexpected(scanned.error());
  const std::vector<CommitmentRow> terms = audit.terms();
  if (terms.empty()) {
    context.console.say("no line is of a commitment");
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
      terms, [](const CommitmentRow& row) { return row.verdict() == CommitmentVerdict::kOff; });
  if (!is_off) return ExitCode::kDone;
  return fail(
      ErrorCode::kConflict,
      "commitments are paid by the month, and use and idle hours take less of them than was "
      "paid; part of the bill is missing: import the rest of it");
}

Result<ExitCode> run_estimate(const AuditOptions& options, Context& context) {
  const auto asked = machine_month(options, context);
  if (!asked) return std::unexpected(asked.error());

  EstimateAudit audit({.nodes = asked->nodes,
                       .during = asked->during,
                       .catalog = asked->catalog,
                       .prices_as_of = asked->prices_as_of,
                       .rules = context.config.join_rules});
  const auto scanned =
      asked->store->scan_charges(asked->month, [&](std::span<const Charge> charges) {
        audit.add(charges);
        return true;
      });
  if (!scanned) return std::unexpected(scanned.error());
  const bool by_node = options.estimate_by == "node";
  std::vector<EstimateRow> rows = audit.nodes();
  if (!by_node) rows = by_instance_type(rows);
  print_tables(
      estimate_tables(rows, by_node, asked->month, options.top, options.table.format != "text"),
      options.table, context);
  if (rows.empty()) context.console.say("there are neither machines nor lines of machines");
  return ExitCode::kDone;
}

Result<ExitCode> run(const AuditOptions& options, Context& context) {
  if (options.coverage->parsed()) return run_coverage(options, context);
  if (options.join->parsed()) return run_join(options, context);
  if (options.commitments->parsed()) return run_commitments(options, context);
  if (options.labels->command->parsed()) return run_label_audit(*options.labels, context);
  if (options.trail->verify->parsed()) return run_trail_verify(*options.trail, context);
  if (options.trail->log->parsed()) return run_trail_log(*options.trail, context);
  return run_estimate(options, context);
}

void add_common(CLI::App& command, AuditOptions& options) {
  command.add_option("--month", options.month, "The month of the accounts, such as 2026-03");
  add_table_options(command, options.table);
  command.footer(examples_of("audit"));
}

void add_top(CLI::App& command, AuditOptions& options) {
  command.add_option("--top", options.top, "How many rows a table at most")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

void add_prices(CLI::App& command, AuditOptions& options) {
  command.add_option("--prices-as-of", options.prices_as_of,
                     "List prices of this day; else of the month's first");
}

}  // namespace

Verb declare_audit(CLI::App& app) {
  const auto options = std::make_shared<AuditOptions>();
  CLI::App* command =
      app.add_subcommand("audit", "Find where money stops before it reaches somebody, and why");
  command->require_subcommand(1);
  command->footer(examples_of("audit"));

  options->coverage = command->add_subcommand(
      "coverage", "What of the GPU spend reaches a team, project, user; and what stops the rest");
  options->coverage->add_option("--by", options->by, "Dimensions, separated by commas")
      ->capture_default_str();
  add_common(*options->coverage, *options);
  add_top(*options->coverage, *options);

  options->join =
      command->add_subcommand("join", "Lines with no node and nodes with no line, with amounts");
  add_common(*options->join, *options);
  add_top(*options->join, *options);
  add_prices(*options->join, *options);

  options->commitments = command->add_subcommand(
      "commitments", "What was paid for each commitment, and what use and idle hours took of it");
  add_common(*options->commitments, *options);

  options->estimate = command->add_subcommand(
      "estimate", "The machines at list price beside the bill, and why the two differ");
  options->estimate->add_option("--by", options->estimate_by, "A row for each of these")
      ->check(CLI::IsMember({"instance_type", "node"}))
      ->capture_default_str();
  add_common(*options->estimate, *options);
  add_top(*options->estimate, *options);
  add_prices(*options->estimate, *options);

  options->labels = declare_label_audit(*command);
  options->trail = declare_trail_audit(*command);
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
