#include "app/cli/focus_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "app/cli/shared_options.h"
#include "app/context/version.h"
#include "config/policy_text.h"
#include "core/billing_period.h"
#include "core/check.h"
#include "core/files/file.h"
#include "core/try.h"
#include "ledger/summary.h"
#include "reporting/export/month_export.h"
#include "reporting/number_format.h"
#include "reporting/queries/selection.h"

namespace pennyweight {
namespace {

std::string basis_name(const Run& run) {
  const auto policy = parse_policy_text(run.policy);
  if (!policy) return "unknown";
  switch (policy->basis.kind) {
    case Basis::Kind::kRequest:
      return "request";
    case Basis::Kind::kUsage:
      return "usage";
    case Basis::Kind::kMax:
      return "max";
    case Basis::Kind::kBlend:
      return fmt::format("blend {}/1000", policy->basis.request_permille);
  }
  CHECK(false, "every basis is listed");
}

// The current runs of a month, by scope.
Result<std::vector<AllocationMethod>> load_methods(Store& store, const std::string& month) {
  const auto runs = TRY(store.runs());
  std::vector<AllocationMethod> methods;
  for (const Run& run : runs) {
    if (!run.current || run.scope.month != month) continue;
    methods.push_back(
        {.id = "pennyweight-" + to_text(run.policy_version), .basis = basis_name(run), .run = run});
  }
  return methods;
}

void warn_columns(const std::map<std::string, std::uint64_t>& columns, std::string_view finding,
                  const Console& console) {
  for (const auto& [column, charges] : columns) {
    console.warn(fmt::format("{}: {} {}", column, counted(charges, "bill line"), finding));
  }
}

void warn_differences(const MonthExport& result, const Console& console) {
  warn_columns(result.filled, "without a value, which FOCUS requires; filled in", console);
  warn_columns(result.replaced,
               "with a value that FOCUS does not allow there; kept in x_ReplacedValues", console);
  warn_columns(result.emptied, "with a value where FOCUS requires null; written as null", console);
  warn_columns(result.unreadable, "with a text that is not a number; written as null", console);
  warn_columns(result.rounded, "with digits beyond 10^-18; rounded half to even", console);
  if (result.parted > 0) {
    console.warn(
        fmt::format("{} whose EffectiveCost FOCUS allows only in a row of its own; see "
                    "x_EffectiveCostOfChargeId",
                    counted(result.parted, "bill line")));
  }
  if (result.unallocated > 0) {
    console.warn(fmt::format("{} not allocated yet, written whole; run 'pennyweight allocate'",
                             counted(result.unallocated, "bill line")));
  }
  if (result.retired > 0) {
    console.warn(
        fmt::format("{} no longer in the ledger but still allocated, left out; run "
                    "'pennyweight allocate'",
                    counted(result.retired, "bill line")));
  }
}

Result<void> write_text(const std::string& path, std::string_view text) {
  auto file = TRY(OutputFile::create(path));
  TRY(file.write(text));
  return file.commit();
}

Result<void> check_options(const FocusExportOptions& options) {
  if (options.month.empty()) {
    return usage_error("'export focus' needs a month: --month 2026-03");
  }
  if (auto month = check_month(options.month); !month) return as_usage_error(month.error());
  if (options.out == "-") {
    return usage_error("'export focus' writes a file and its metadata; name the file with --out");
  }
  if (options.rows == "charges" && (options.with_transfers || !options.by.empty())) {
    return usage_error("--by and --with-transfers need --rows allocated");
  }
  return {};
}

// The dimensions of --by. Only dimensions of workloads can be owners.
Result<std::vector<std::string>> parse_owner_dimensions(const std::vector<std::string>& by,
                                                        const Policy& policy) {
  auto dimensions = parse_dimensions(by, policy);
  if (!dimensions) return as_usage_error(dimensions.error());
  for (const std::string& dimension : *dimensions) {
    if (std::ranges::find(kBuiltInDimensions, dimension) == std::end(kBuiltInDimensions)) continue;
    return usage_error(fmt::format(
        "--by {}: the owners of a FOCUS export are dimensions of workloads, such as team or user",
        dimension));
  }
  return *std::move(dimensions);
}

}  // namespace

Result<ExitCode> export_focus(const FocusExportOptions& options, Context& context) {
  TRY(check_options(options));
  auto by = TRY(parse_owner_dimensions(options.by, context.config.policy));
  const auto version = parse_focus_version(options.version);
  CHECK(version.has_value(), "the command line accepts only known versions");
  const auto store = TRY(open_ledger(context.config));

  const bool is_allocated = options.rows == "allocated";
  std::vector<AllocationMethod> methods;
  if (is_allocated) {
    TRY(warn_of_staleness(*store, options.month, context));
    auto found = TRY(load_methods(*store, options.month));
    methods = std::move(found);
  }
  const auto month = TRY(BillingPeriod::parse(options.month, TimeZone::utc()));
  const Interval period = month.to_interval();
  const auto result = TRY(export_month(
      *store,
      {.version = *version,
       .format = options.format == "parquet" ? FocusFormat::kParquet : FocusFormat::kCsv,
       .month = options.month,
       .period = period,
       .path = options.out,
       .is_allocated = is_allocated,
       .by = std::move(by),
       .with_transfers = options.with_transfers},
      methods));
  warn_differences(result, context.console);
  context.console.say(fmt::format("{}: {} of {}", options.out, counted(result.rows, "row"),
                                  counted(result.charges, "bill line")));

  const Instant now = context.clock.now();
  const std::string metadata =
      to_json({.version = *version,
               .columns = result.columns,
               .program_version = kProgramVersion,
               .month = options.month,
               .period = period,
               .at = now,
               .is_complete = now >= period.end() && result.unallocated == 0 && result.retired == 0,
               .is_allocated = is_allocated,
               .methods = methods});
  const std::string path =
      options.metadata.empty() ? options.out + ".metadata.json" : options.metadata;
  TRY(write_text(path, metadata));
  return ExitCode::kDone;
}

}  // namespace pennyweight
