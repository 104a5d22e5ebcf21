// sweep: deletes rows that interrupted programs left on ClickHouse.
#include <fmt/format.h>

#include <chrono>

#include "app/cli/verb.h"
#include "core/try.h"
#include "ledger/store/clickhouse/sweep.h"

namespace pennyweight {
namespace {

struct SweepOptions {
  unsigned days = 7;
};
constexpr unsigned kDaysMax = 3'650;

Result<ExitCode> run(const SweepOptions& options, Context& context) {
  if (!is_on_clickhouse(context.config)) {
    context.console.print("a ledger in a file keeps nothing of an interrupted import\n");
    return ExitCode::kDone;
  }
  const auto address = TRY(clickhouse_options(context.config));
  const auto swept = TRY(sweep_clickhouse(address, std::chrono::days(options.days)));
  context.console.print(
      fmt::format("{} interrupted or under way, {} abandoned, rows of {} being deleted\n",
                  swept.waiting, swept.condemned, swept.cleared));
  return ExitCode::kDone;
}

}  // namespace

Verb declare_sweep(CLI::App& app) {
  const auto options = std::make_shared<SweepOptions>();
  CLI::App* command =
      app.add_subcommand("sweep", "Delete what interrupted imports and runs left on ClickHouse");
  command
      ->add_option(
          "--days", options->days,
          "Only what an earlier sweep found at least this long ago, and is still uncommitted")
      ->check(CLI::Range(0u, kDaysMax))
      ->capture_default_str();
  command->footer(examples_footer("sweep"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
