// usage: shows what telemetry saw of GPUs, nodes and workloads.
#include "app/cli/shared_options.h"
#include "app/cli/verb.h"
#include "core/try.h"
#include "reporting/export/table_parquet.h"
#include "reporting/queries/usage_query.h"

namespace pennyweight {
namespace {

struct UsageVerbOptions {
  UsageQuery query;
  std::string parquet;
  TableOptions table;
};

Result<ExitCode> run_usage(const UsageVerbOptions& options, Context& context) {
  const auto store = TRY(open_ledger(context.config));
  auto table = query_usage(*store, options.query, context.config.policy, context.clock.now());
  if (!table) return as_usage_error(table.error());
  if (table->rows.empty())
    context.console.warn("no GPU and no holding matches the filters and days");
  if (options.parquet.empty()) {
    print_tables({*std::move(table)}, options.table, context);
    return ExitCode::kDone;
  }
  TRY(write_parquet({&*table, 1}, options.parquet));
  return ExitCode::kDone;
}

}  // namespace

Verb declare_usage(CLI::App& app) {
  const auto options = std::make_shared<UsageVerbOptions>();
  CLI::App* command = app.add_subcommand(
      "usage", "Show how busy GPUs were, and their memory and energy, as telemetry saw them");
  command
      ->add_option("--by", options->query.by,
                   "Dimensions, separated by commas: gpu, instance, node, gpu_model, workload, "
                   "user, or any of 'report --as activity'")
      ->capture_default_str();
  command->add_option("--filter", options->query.filters,
                      "DIMENSION=VALUE[,VALUE…] or DIMENSION!=…; may be repeated");
  command->add_option("--month", options->query.dates.month, "A calendar month, such as 2026-03");
  command->add_option("--from", options->query.dates.from, "The first local day");
  command->add_option("--to", options->query.dates.to, "The last local day, inclusive");
  command
      ->add_option("--every", options->query.step,
                   "One row per minute or hour (of UTC), or per local day, week or month")
      ->check(CLI::IsMember({"none", "minute", "hour", "day", "week", "month"}));
  command
      ->add_option("--show", options->query.show,
                   "use: how busy GPUs were; health: every other number, such as power, "
                   "temperature, clocks and links; events: XIDs, memory errors and throttled time, "
                   "each when it was")
      ->check(CLI::IsMember({"use", "health", "events"}))
      ->capture_default_str();
  command->add_option("--parquet", options->parquet, "Write the rows to this Parquet file instead");
  add_table_options(*command, options->table);
  command->footer(examples_footer("usage"));
  return {command, [options](Context& context) { return run_usage(*options, context); }};
}

}  // namespace pennyweight
