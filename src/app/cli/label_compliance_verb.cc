#include "app/cli/label_compliance_verb.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "config/nearest.h"
#include "core/try.h"
#include "reporting/coverage/label_compliance.h"
#include "reporting/coverage/label_compliance_tables.h"
#include "reporting/number_format.h"
#include "reporting/queries/run_scan.h"
#include "reporting/queries/selection.h"

namespace pennyweight {
namespace {

TimeBucket parse_bucket(const LabelComplianceOptions& options) {
  if (options.by == "day") return TimeBucket::kDay;
  if (options.by == "week") return TimeBucket::kWeek;
  if (options.by == "month") return TimeBucket::kMonth;
  return TimeBucket::kNone;
}

// The configured requirements, or those of --key.
Result<LabelPolicy> select_requirements(const LabelComplianceOptions& options,
                                        const Config& config) {
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
      return usage_error(fmt::format("the configuration requires no label '{}'{}; it requires {}",
                                     key, suggestion(key, known), fmt::join(known, ", ")));
    }
    asked.required.push_back(*found);
  }
  return asked;
}

std::map<std::string, std::string> dimension_fallbacks(const Policy& policy) {
  std::map<std::string, std::string> fallbacks;
  for (const DimensionRule& rule : policy.dimensions) fallbacks[rule.dimension] = rule.fallback;
  return fallbacks;
}

Result<std::vector<CurrencyCompliance>> evaluate_compliance(Store& store,
                                                            const LabelComplianceOptions& options,
                                                            const Config& config) {
  auto policy = TRY(select_requirements(options, config));
  const auto scopes = TRY(allocated_scopes(store, options.month));
  LabelCompliance compliance(std::move(policy), dimension_fallbacks(config.policy),
                             parse_bucket(options));
  RunScan scan(store);
  for (const Scope& scope : scopes) {
    auto dimensions = store.dimensions_of(scope);
    if (!dimensions) return as_usage_error(dimensions.error());
    compliance.begin_run(scope, *std::move(dimensions), scan.holding_finder());
    TRY(scan.scan(
        scope, [&](const Holding& holding) { compliance.add(holding); },
        [&](const Posting& posting) { compliance.add(posting); }));
  }
  return compliance.finish();
}

Result<std::vector<Table>> compliance_output(const std::vector<CurrencyCompliance>& all,
                                             const LabelComplianceOptions& options) {
  const std::string period_label = month_label(options.month);
  std::string show = options.show;
  const bool is_csv = options.table.format == "csv";
  if (show == "all" && is_csv) show = options.by == "none" ? "keys" : "time";
  if (show == "time" && options.by == "none") {
    return usage_error("--show time needs --by day, week or month");
  }
  std::vector<Table> tables;
  const auto add = [&](std::vector<Table> more) {
    std::ranges::move(more, std::back_inserter(tables));
  };
  if (show == "keys" || show == "all") add(label_tables(all, period_label));
  if (show == "time" || (show == "all" && options.by != "none")) {
    add(label_period_tables(all, period_label));
  }
  if (show == "offenders" || show == "all")
    add(label_offender_tables(all, period_label, options.top));
  return tables;
}

Result<Decimal> parse_percent(const std::string& text) {
  const auto percent = parse_exact_decimal(text);
  if (percent && percent->ticks() >= 0 && *percent <= Decimal::from_units(100)) return *percent;
  return usage_error(
      fmt::format("--fail-below must be a percentage from 0 to 100, not '{}'", text));
}

// The labels below the required percentage, with what they have; empty: none.
std::string labels_below(const std::vector<CurrencyCompliance>& all, Decimal percent) {
  std::string text;
  for (const CurrencyCompliance& one : all) {
    for (const KeyCompliance& key : one.keys) {
      if (meets_percent(key, percent)) continue;
      const auto has =
          format_percent(key.met().ticks(), key.evaluated().effective.ticks(), 2).value_or("0.00");
      text += fmt::format("{}{} {} % of {}", text.empty() ? "" : ", ", key.key, has,
                          one.currency.text());
    }
  }
  return text;
}

}  // namespace

std::shared_ptr<LabelComplianceOptions> declare_label_compliance(CLI::App& audit) {
  const auto options = std::make_shared<LabelComplianceOptions>();
  options->command =
      audit.add_subcommand("labels", "How much cost has the required labels, and whose has not");
  CLI::App& command = *options->command;
  add_booked_month_option(command, options->month);
  command.add_option("--by", options->by, "Also per day, week (from Monday) or month")
      ->check(CLI::IsMember({"none", "day", "week", "month"}))
      ->capture_default_str();
  command.add_option("--key", options->keys, "Only these labels, as labels.required names them")
      ->delimiter(',');
  command.add_option("--top", options->top, "At most this many offenders per label")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      .add_option("--show", options->show,
                  "Which table; csv has keys by default, or time with --by")
      ->check(CLI::IsMember({"all", "keys", "time", "offenders"}))
      ->capture_default_str();
  command.add_option("--fail-below", options->fail_below,
                     "End with exit code 1 if less than this percentage of the cost has a "
                     "label");
  add_table_options(command, options->table);
  command.footer(examples_footer("audit"));
  return options;
}

Result<ExitCode> run_label_compliance(const LabelComplianceOptions& options, Context& context) {
  if (!options.month.empty()) {
    if (const auto month = check_month(options.month); !month) return as_usage_error(month.error());
  }
  std::optional<Decimal> percent;
  if (!options.fail_below.empty()) {
    const auto given = TRY(parse_percent(options.fail_below));
    percent = given;
  }
  const auto store = TRY(open_ledger(context.config));
  const auto all = TRY(evaluate_compliance(*store, options, context.config));
  const auto tables = TRY(compliance_output(all, options));
  print_tables(tables, options.table, context);
  if (!percent) return ExitCode::kDone;
  const std::string found = labels_below(all, *percent);
  if (found.empty()) return ExitCode::kDone;
  return fail(ErrorCode::kConflict, fmt::format("below {} %: {}", to_text(*percent), found));
}

}  // namespace pennyweight
