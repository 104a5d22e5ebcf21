// catalog: GPU models and their list prices, and which of them would run a given load.
#include "app/cli/shared_options.h"
#include "app/cli/verb.h"
#include "app/context/catalog_file.h"
#include "core/try.h"
#include "insight/queries/gpu_catalog.h"

namespace pennyweight {
namespace {

constexpr std::uint64_t kPpmOfPercent = 10'000;
constexpr std::uint64_t kGib = std::uint64_t{1} << 30;

struct CatalogOptions {
  std::string model;
  std::string provider;
  std::string region;
  std::string prices_as_of;
  std::string runs_on;
  std::optional<std::uint64_t> busy, busy_p95, bandwidth, memory_gib;
  TableOptions table;
};

Result<ExitCode> list_gpus(const CatalogOptions& options, Context& context) {
  GpuCatalogQuery query{.model = options.model,
                        .provider = options.provider,
                        .region = options.region,
                        .at = context.clock.now()};
  if (!options.prices_as_of.empty()) {
    const auto at = parse_instant(options.prices_as_of);
    if (!at) return usage_error("--prices-as-of: " + at.error().message);
    query.at = *at;
  }
  const bool is_any_given =
      options.busy || options.busy_p95 || options.bandwidth || options.memory_gib;
  if (options.runs_on.empty() && is_any_given) {
    return usage_error(
        "--busy, --busy-p95, --bandwidth and --memory are of work on a GPU: add "
        "--runs-on with its model");
  }
  if (!options.runs_on.empty()) {
    if (!options.busy || !options.bandwidth || !options.memory_gib) {
      return usage_error("--runs-on needs --busy and --bandwidth in percent and --memory in GiB");
    }
    query.load = CatalogLoad{
        .model = options.runs_on,
        .load = {.mean_activity_ppm = *options.busy * kPpmOfPercent,
                 .p95_activity_ppm = options.busy_p95.value_or(*options.busy) * kPpmOfPercent,
                 .mean_dram_ppm = *options.bandwidth * kPpmOfPercent,
                 .p99_memory_bytes = *options.memory_gib * kGib}};
  }
  const auto catalog = TRY(load_catalog(context.config));
  const auto tables = gpu_catalog_tables(catalog, query);
  if (!tables) return as_usage_error(tables.error());
  print_tables(*tables, options.table, context);
  return ExitCode::kDone;
}

}  // namespace

Verb declare_catalog(CLI::App& app) {
  const auto options = std::make_shared<CatalogOptions>();
  CLI::App* command = app.add_subcommand(
      "catalog", "List GPU models, their list prices, and which of them would run a load");
  command->add_option("--model", options->model, "Only this GPU model");
  command->add_option("--provider", options->provider, "Only prices of this provider, such as aws");
  command->add_option("--region", options->region,
                      "Only prices of this region; by default, the cheapest of any");
  command->add_option("--prices-as-of", options->prices_as_of,
                      "Prices of this day, such as 2026-07-31; by default, today");
  command->add_option("--runs-on", options->runs_on,
                      "The GPU model of work to find a card for, with the four options below");
  const CLI::Range percent(0, 100);
  command->add_option("--busy", options->busy, "Its mean SM activity, in percent")->check(percent);
  command
      ->add_option("--busy-p95", options->busy_p95,
                   "The 95th percentile of it; by default, the mean")
      ->check(percent);
  command->add_option("--bandwidth", options->bandwidth, "Its mean DRAM activity, in percent")
      ->check(percent);
  command
      ->add_option("--memory", options->memory_gib, "The 99th percentile of its GPU memory, in GiB")
      ->check(CLI::Range(0, 100'000));
  add_table_options(*command, options->table);
  command->footer(examples_footer("catalog"));
  return {command,
          [options](Context& context) -> Result<ExitCode> { return list_gpus(*options, context); }};
}

}  // namespace pennyweight
