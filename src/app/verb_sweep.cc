// sweep: rows that programs which died left on ClickHouse go.
#include <fmt/format.h>

#include <chrono>

#include "app/verb.h"
#include "store/clickhouse/sweep.h"

namespace pennyweight {
namespace {

struct SweepOptions {
  unsigned days = 7;
};
constexpr unsigned kDaysMax = 3'650;

Result<ExitCode> run(const SweepOptions& options, Context& context) {
  if (!is_on_clickhouse(context.config)) {
    context.console.print("a ledger in a file keeps nothing of an import that was broken off\n");
    return ExitCode::kDone;
  }
  const auto address = cluster_options(context.config);
  if (!address) return std::unexpected(address.error());
  const auto swept = sweep_clickhouse(*address, std::chrono::days(options.days));
  if (!swept) return std::unexpected(swept.error());
  context.console.print(
      fmt::format("{} broken off or under way, {} given up for good, rows of {} on their way out\n",
                  swept->waiting, swept->condemned, swept->cleared));
  return ExitCode::kDone;
}

}  // namespace

Verb declare_sweep(CLI::App& app) {
  const auto options = std::make_shared<SweepOptions>();
  CLI::App* command = app.add_subcommand(
      "sweep", "Delete what imports and runs that were broken off left on ClickHouse");
  command
      ->add_option("--days", options->days,
                   "Only what an earlier sweep found so long ago, and nobody committed since")
      ->check(CLI::Range(0u, kDaysMax))
      ->capture_default_str();
  command->footer(examples_of("sweep"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
