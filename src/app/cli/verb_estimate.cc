// estimate: what manifests, job scripts and plans would cost before they run.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/estimate_history.h"
#include "app/cli/manifest_revision.h"
#include "app/cli/pricing_options.h"
#include "app/cli/shared_options.h"
#include "app/cli/verb.h"
#include "app/context/catalog_file.h"
#include "app/context/version.h"
#include "core/try.h"
#include "insight/guardrails/comparison.h"
#include "insight/guardrails/estimate.h"
#include "insight/guardrails/estimate_report.h"
#include "insight/guardrails/findings.h"

namespace pennyweight {
namespace {

struct EstimateArguments {
  std::vector<std::string> paths;
  std::vector<std::string> base;
  PricingOptions pricing;
  std::string max_per_hour;
  std::string max_per_run;
  std::string max_per_month;
  std::string max_increase;
  bool refuses_unpriced = false;
  bool asks_ledger = false;
  std::string by = "team";
  std::string format = "text";
  std::optional<int> digits;
};

Result<std::optional<Money>> read_limit(std::string_view name, const std::string& text,
                                        Currency currency) {
  if (text.empty()) return std::nullopt;
  const auto amount = parse_exact_decimal(text);
  if (amount && !amount->is_negative()) return Money::from_decimal(*amount, currency);
  return usage_error(fmt::format("{}: '{}' is no amount such as 1500.00", name, text));
}

Result<guardrails::EstimateLimits> read_limits(const EstimateArguments& arguments,
                                               Currency currency) {
  guardrails::EstimateLimits limits;
  const auto per_hour = TRY(read_limit("--max-per-hour", arguments.max_per_hour, currency));
  const auto per_run = TRY(read_limit("--max-per-run", arguments.max_per_run, currency));
  const auto per_month = TRY(read_limit("--max-per-month", arguments.max_per_month, currency));
  const auto increase = TRY(read_limit("--max-increase", arguments.max_increase, currency));
  if (increase && arguments.base.empty()) {
    return usage_error("--max-increase compares with --base, which is not given");
  }
  limits.per_hour = per_hour;
  limits.per_run = per_run;
  limits.per_month = per_month;
  limits.increase_per_month = increase;
  limits.refuses_unpriced = arguments.refuses_unpriced;
  return limits;
}

void print_estimate(const EstimateArguments& arguments, const guardrails::Estimate& estimate,
                    const guardrails::EstimateComparison* comparison,
                    const std::vector<guardrails::Finding>& findings,
                    const std::vector<Table>& history, const Context& context) {
  if (arguments.format == "markdown") {
    context.console.print(guardrails::estimate_markdown(estimate, comparison, findings, history));
  } else if (arguments.format == "sarif") {
    context.console.print(guardrails::findings_sarif(findings, kProgramVersion));
  } else if (arguments.format == "junit") {
    context.console.print(guardrails::estimate_junit(estimate, findings));
  } else {
    std::vector<Table> tables = guardrails::estimate_tables(estimate);
    if (comparison != nullptr) {
      tables.insert(tables.begin(), guardrails::comparison_table(*comparison));
    }
    tables.insert(tables.end(), history.begin(), history.end());
    // One header for all rows: of CSV there is only the first table.
    if (arguments.format == "csv") tables.resize(1);
    print_tables(tables, {.format = arguments.format, .digits = arguments.digits}, context);
  }
}

// The state before: files and folders, or what `paths` were in a revision of git.
Result<guardrails::Estimate> estimate_base(const EstimateArguments& arguments,
                                           const Catalog& catalog,
                                           const guardrails::EstimateOptions& options) {
  std::error_code ignored;
  std::vector<std::string> revisions;
  for (const std::string& base : arguments.base) {
    if (base != "-" && !std::filesystem::exists(base, ignored)) revisions.push_back(base);
  }
  if (revisions.empty()) return estimate_paths(arguments.base, catalog, options);
  if (arguments.base.size() > 1) {
    return usage_error(fmt::format("--base: there is no file or folder '{}'", revisions.front()));
  }
  const auto files = TRY(read_manifest_revision(revisions.front(), arguments.paths));
  return estimate_files(files, catalog, options);
}

Result<ExitCode> run(const EstimateArguments& arguments, Context& context) {
  const auto options =
      TRY(read_pricing_options(arguments.pricing, context.config, context.clock.now()));
  const auto limits = TRY(read_limits(arguments, options.currency));
  const auto catalog = TRY(load_catalog(context.config));
  const auto estimate = TRY(estimate_paths(arguments.paths, catalog, options));
  std::optional<guardrails::EstimateComparison> comparison;
  if (!arguments.base.empty()) {
    const auto before = TRY(estimate_base(arguments, catalog, options));
    comparison = guardrails::compare_estimates(before, estimate);
  }
  const guardrails::EstimateComparison* compared = comparison ? &*comparison : nullptr;
  const auto findings = guardrails::find_problems(estimate, compared, limits);
  std::vector<Table> history;
  if (arguments.asks_ledger) {
    auto found = TRY(estimate_history(estimate, arguments.by, context));
    history = std::move(found);
  }
  print_estimate(arguments, estimate, compared, findings, history, context);
  for (const guardrails::Finding& finding : findings) {
    if (!finding.fails) continue;
    context.console.warn(fmt::format("{}: {}", finding.about, finding.message));
  }
  return guardrails::any_fails(findings) ? ExitCode::kCheckFailed : ExitCode::kDone;
}

}  // namespace

Verb declare_estimate(CLI::App& app) {
  const auto options = std::make_shared<EstimateArguments>();
  CLI::App* command = app.add_subcommand(
      "estimate", "Price manifests, job scripts and plans before they run, and compare changes");
  command
      ->add_option("FILE", options->paths,
                   "Kubernetes manifests, Slurm scripts, Compose files, Terraform plans in JSON; "
                   "files, folders, or - for standard input")
      ->required();
  command->add_option("--base", options->base,
                      "The state before: a revision of git, or files and folders; shows what the "
                      "change costs");
  add_pricing_options(*command, options->pricing);
  command->add_option("--max-per-hour", options->max_per_hour, "Fail above this, exit code 1");
  command->add_option("--max-per-run", options->max_per_run, "Fail where a run may cost more");
  command->add_option("--max-per-month", options->max_per_month, "Fail above this");
  command->add_option("--max-increase", options->max_increase,
                      "Fail where the change adds more a month");
  command->add_flag("--refuse-unpriced", options->refuses_unpriced,
                    "Fail where something can't be priced");
  command->add_flag("--history", options->asks_ledger,
                    "Add from the ledger whose it is, what their budgets have left after it, and "
                    "what similar workloads really cost");
  command->add_option("--by", options->by, "The dimension of owners, for --history")
      ->capture_default_str();
  command->add_option("--format", options->format, "text, csv, json, markdown, sarif or junit")
      ->check(CLI::IsMember({"text", "csv", "json", "markdown", "sarif", "junit"}))
      ->capture_default_str();
  command->add_option("--digits", options->digits, "Digits of money in text")
      ->check(CLI::Range(0, Decimal::kFractionDigits));
  command->footer(examples_footer("estimate"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
