#include "app/audit_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "config/nearest.h"
#include "labels/compliance.h"
#include "labels/compliance_tables.h"
#include "questions/run_scan.h"
#include "questions/selection.h"
#include "report/number_format.h"

namespace pennyweight {
namespace {

TimeBucket bucket_of(const LabelAuditOptions& options) {
  if (options.by == "day") return TimeBucket::kDay;
  if (options.by == "week") return TimeBucket::kWeek;
  if (options.by == "month") return TimeBucket::kMonth;
  return TimeBucket::kNone;
}

// The configured requirements, or those of --key.
Result<LabelPolicy> asked_policy(const LabelAuditOptions& options, const Config& config) {
  if (config.labels.required.empty()) {
    return fail(ErrorCode::kConfig,
                "the configuration requires no label: labels.required is an empty list");
  }
  if (options.keys.empty()) return config.labels;
  std::vector<std::string> known;
  for (const LabelRequirement& each : config.labels.required) known.push_back(each.key);
  LabelPolicy asked;
  for (const std::string& key : options.keys) {
    const auto found = std::ranges::find(config.labels.required, key, &LabelRequirement::key);
    if (found == config.labels.required.end()) {
      return wrong_usage(fmt::format("the configuration requires no label '{}'{}; there are {}",
                                     key, suggestion(key, known), fmt::join(known, ", ")));
    }
    asked.required.push_back(*found);
  }
  return asked;
}

std::map<std::string, std::string> fallbacks_of(const Policy& policy) {
  std::map<std::string, std::string> fallbacks;
  for (const DimensionRule& rule : policy.dimensions) fallbacks[rule.dimension] = rule.fallback;
  return fallbacks;
}

Result<std::vector<CurrencyCompliance>> comply(Store& store, const LabelAuditOptions& options,
                                               const Config& config) {
  auto policy = asked_policy(options, config);
  if (!policy) return std::unexpected(policy.error());
  const auto scopes = allocated_scopes(store, options.month);
  if (!scopes) return std::unexpected(scopes.error());
  Compliance book(*std::move(policy), fallbacks_of(config.policy), bucket_of(options));
  RunScan scan(store);
  for (const Scope& scope : *scopes) {
    auto dimensions = store.dimensions_of(scope);
    if (!dimensions) return as_usage(dimensions.error());
    book.begin(scope, *std::move(dimensions), scan.finder());
    const auto scanned = scan.scan(
        scope, [&](const Holding& holding) { book.add(holding); },
        [&](const Posting& posting) { book.add(posting); });
    if (!scanned) return std::unexpected(scanned.error());
  }
  return book.finish();
}

Result<std::vector<Table>> tables_of(const std::vector<CurrencyCompliance>& all,
                                     const LabelAuditOptions& options) {
  const std::string what = options.month.empty() ? "all months" : options.month;
  std::string show = options.show;
  const bool is_csv = options.table.format == "csv";
  if (show == "all" && is_csv) show = options.by == "none" ? "keys" : "time";
  if (show == "time" && options.by == "none") {
    return wrong_usage("--show time needs --by day, week or month");
  }
  std::vector<Table> tables;
  const auto add = [&](std::vector<Table> more) {
    std::ranges::move(more, std::back_inserter(tables));
  };
  if (show == "keys" || show == "all") add(label_tables(all, what));
  if (show == "time" || (show == "all" && options.by != "none")) {
    add(label_period_tables(all, what));
  }
  if (show == "offenders" || show == "all") add(label_offender_tables(all, what, options.top));
  return tables;
}

Result<Decimal> percent_of(const std::string& text) {
  const auto percent = parse_exact_decimal(text);
  if (percent && percent->ticks() >= 0 && *percent <= Decimal::from_units(100)) return *percent;
  return wrong_usage(fmt::format("--fail-below is a percentage from 0 to 100, not '{}'", text));
}

// What of which key is below the wanted percentage; nothing: none is.
std::string below(const std::vector<CurrencyCompliance>& all, Decimal percent) {
  std::string text;
  for (const CurrencyCompliance& one : all) {
    for (const KeyCompliance& key : one.keys) {
      if (meets_percent(key, percent)) continue;
      const auto has =
          format_percent(key.met().ticks(), key.judged().effective.ticks(), 2).value_or("0.00");
      text += fmt::format("{}{} {} % of {}", text.empty() ? "" : ", ", key.key, has,
                          one.currency.text());
    }
  }
  return text;
}

}  // namespace

std::shared_ptr<LabelAuditOptions> declare_label_audit(CLI::App& audit) {
  const auto options = std::make_shared<LabelAuditOptions>();
  options->command = audit.add_subcommand(
      "labels", "Whose cost has the labels that are required, and whose has not");
  CLI::App& command = *options->command;
  command.add_option("--month", options->month, "The month of the accounts, such as 2026-03");
  command.add_option("--by", options->by, "The same for each day, week (from Monday) or month")
      ->check(CLI::IsMember({"none", "day", "week", "month"}))
      ->capture_default_str();
  command.add_option("--key", options->keys, "Only these labels, as labels.required names them")
      ->delimiter(',');
  command.add_option("--top", options->top, "How many offenders of each label at most")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      .add_option("--show", options->show,
                  "Which of the tables; csv without it has keys, or time with --by")
      ->check(CLI::IsMember({"all", "keys", "time", "offenders"}))
      ->capture_default_str();
  command.add_option("--fail-below", options->fail_below,
                     "End with exit code 1 where less than so many percent of the cost have a "
                     "label");
  add_table_options(command, options->table);
  command.footer(examples_of("audit"));
  return options;
}

Result<ExitCode> run_label_audit(const LabelAuditOptions& options, Context& context) {
  if (!options.month.empty()) {
    if (const auto month = check_month(options.month); !month) return as_usage(month.error());
  }
  std::optional<Decimal> percent;
  if (!options.fail_below.empty()) {
    const auto given = percent_of(options.fail_below);
    if (!given) return std::unexpected(given.error());
    percent = *given;
  }
  const auto store = open_ledger(context.config);
  if (!store) return std::unexpected(store.error());
  const auto all = comply(**store, options, context.config);
  if (!all) return std::unexpected(all.error());
  const auto tables = tables_of(*all, options);
  if (!tables) return std::unexpected(tables.error());
  print_tables(*tables, options.table, context);
  if (!percent) return ExitCode::kDone;
  const std::string found = below(*all, *percent);
  if (found.empty()) return ExitCode::kDone;
  return fail(ErrorCode::kConflict, fmt::format("below {} %: {}", to_text(*percent), found));
}

}  // namespace pennyweight
