#include "app/cli/pricing_options.h"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "app/cli/manifest_paths.h"
#include "app/context/context.h"
#include "config/guardrail_config.h"
#include "core/try.h"
#include "ingest/manifests/manifest_files.h"

namespace pennyweight {
namespace {

constexpr std::uint64_t kHourMs = 3'600'000;

// "8", "0.5": hours, to the millisecond.
Result<std::optional<std::uint64_t>> read_hours(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto hours = parse_exact_decimal(text);
  constexpr Int128 kTicksPerMs = Int128{Decimal::kTicksPerUnit} / Int128{kHourMs};
  if (!hours || hours->ticks() <= 0 || *hours > Decimal::from_units(2'400'000)) {
    return usage_error(fmt::format("--hours: '{}' is no time in hours such as 8 or 0.5", text));
  }
  return static_cast<std::uint64_t>((hours->ticks() + kTicksPerMs - 1) / kTicksPerMs);
}

}  // namespace

void add_pricing_options(CLI::App& command, PricingOptions& pricing) {
  command.add_option("--provider", pricing.provider, "Only machines of this one, such as aws");
  command.add_option("--region", pricing.region, "The region, where the files state none");
  command.add_option("--instance-type", pricing.instance_type,
                     "The machine for GPUs, where the files demand none");
  command
      .add_option("--option", pricing.option,
                  "How machines are bought, where the files do "
                  "not demand spot")
      ->check(CLI::IsMember({"on_demand", "spot", "committed_1y", "committed_3y"}));
  command.add_option("--gpu-model", pricing.gpu_models,
                     "The GPU of requests that state none; NAME=MODEL says what a name in the "
                     "files means; may be repeated");
  command.add_option("--currency", pricing.currency,
                     "Only prices in this currency; by default, "
                     "that of the rules, or USD");
  command.add_option("--prices-as-of", pricing.prices_as_of,
                     "Prices in force then, such as 2026-07-31; by default, today");
  command.add_option("--hours", pricing.hours, "How long a run takes that states no limit");
}

Result<guardrails::EstimateOptions> read_pricing_options(const PricingOptions& arguments,
                                                         const Config& config, Instant now) {
  guardrails::EstimateOptions options = config.guardrails->pricing;
  options.at = now;
  if (!arguments.provider.empty()) options.provider = arguments.provider;
  if (!arguments.region.empty()) options.region = arguments.region;
  if (!arguments.instance_type.empty()) options.instance_type = arguments.instance_type;
  // CLI11 has checked it.
  if (!arguments.option.empty()) options.option = *parse_purchase_option(arguments.option);
  if (!arguments.currency.empty()) {
    const auto currency = Currency::parse(arguments.currency);
    if (!currency) return usage_error("--currency: " + currency.error().message);
    options.currency = *currency;
  }
  if (!arguments.prices_as_of.empty()) {
    const auto at = parse_instant(arguments.prices_as_of);
    if (!at) return usage_error("--prices-as-of: " + at.error().message);
    options.at = *at;
  }
  std::set<std::string> given;
  for (const std::string& text : arguments.gpu_models) {
    const std::size_t equals = text.find('=');
    const bool has_name = equals != std::string::npos;
    const std::string name = has_name ? text.substr(0, equals) : "";
    const std::string model = has_name ? text.substr(equals + 1) : text;
    if (!given.insert(name).second) {
      return usage_error(fmt::format("--gpu-model: '{}' is given twice", name));
    }
    options.gpu_models[name] = model;
  }
  const auto run_ms = TRY(read_hours(arguments.hours));
  options.run_ms = run_ms;
  return options;
}

Result<guardrails::Estimate> estimate_paths(const std::vector<std::string>& paths,
                                            const Catalog& catalog,
                                            const guardrails::EstimateOptions& options) {
  const auto files = TRY(read_manifest_paths(paths));
  return estimate_files(files, catalog, options);
}

Result<guardrails::Estimate> estimate_files(std::span<const manifests::ManifestFile> files,
                                            const Catalog& catalog,
                                            const guardrails::EstimateOptions& options) {
  const auto reading = TRY(manifests::read_manifest_files(files));
  auto estimate = guardrails::estimate_workloads(reading, catalog, options);
  if (!estimate) return as_usage_error(estimate.error());
  return estimate;
}

}  // namespace pennyweight
