#include "app/cli/utilisation_verb.h"

#include <fmt/format.h>

#include "app/cli/shared_options.h"
#include "app/context/catalog_file.h"
#include "core/billing_period.h"
#include "core/date.h"
#include "core/files/file.h"
#include "core/try.h"
#include "insight/queries/utilisation_query.h"
#include "reporting/pdf/invoice_pdf.h"
#include "reporting/pdf/table_pdf.h"

namespace pennyweight {

std::shared_ptr<UtilisationOptions> declare_utilisation(CLI::App& audit) {
  const auto options = std::make_shared<UtilisationOptions>();
  CLI::App* command = audit.add_subcommand(
      "utilisation",
      "Every GPU and MIG instance: how it was used, what it cost, and what would save it");
  options->command = command;
  command->add_option("--month", options->month, "The billing month; by default, the last one");
  command->add_option("--cluster", options->cluster, "Only this cluster");
  command->add_option("--format", options->format, "text, csv, json or pdf")
      ->check(CLI::IsMember({"text", "csv", "json", "pdf"}))
      ->capture_default_str();
  command->add_option("--out", options->out, "Write to this file; a PDF needs one");
  command->add_option("--prices-as-of", options->prices_as_of,
                      "List prices of what could be bought, such as 2026-07-31; by default, today");
  command->footer(examples_footer("audit"));
  return options;
}

Result<ExitCode> run_utilisation(const UtilisationOptions& options, Context& context) {
  if (options.format == "pdf" && options.out.empty()) {
    return usage_error("--format pdf needs --out FILE");
  }
  const std::string today = local_date(context.clock.now(), context.config.policy.time_zone);
  UtilisationQuery query{.month = options.month,
                         .cluster = options.cluster,
                         .prices_at = context.clock.now(),
                         .today = TRY(parse_date(today))};
  if (!options.prices_as_of.empty()) {
    const auto at = parse_instant(options.prices_as_of);
    if (!at) return usage_error("--prices-as-of: " + at.error().message);
    query.prices_at = *at;
  }
  const auto catalog = TRY(load_catalog(context.config));
  const auto store = TRY(open_ledger(context.config));
  auto tables = query_utilisation(*store, query,
                                  {.policy = context.config.policy,
                                   .catalog = catalog,
                                   .join_rules = context.config.join_rules,
                                   .clusters = context.config.clusters});
  if (!tables) return as_usage_error(tables.error());
  if (options.format == "csv") {
    // The rows of the easiest changes have other columns than those of GPUs.
    std::erase_if(*tables, [](const Table& table) { return table.columns.front().name != "node"; });
  }
  std::string text;
  if (options.format == "pdf") {
    const std::string& font = context.config.invoice.font;
    text = TRY(render_tables_pdf(
        {.title = "Utilisation of GPUs",
         .lead =
             {"Every GPU and MIG instance of the month: how much it was used while telemetry saw "
              "it, what it cost, and which change would save it. First what takes the least "
              "effort; then the GPUs, those under 30 % before the others."},
         .tables = *tables},
        font.empty() ? kPdfFont : font));
  } else {
    const TableFormat format = parse_table_format(options.format).value_or(TableFormat::kText);
    text = render(*tables, format,
                  options.out.empty() ? context.console.style(std::nullopt) : TextStyle{});
  }
  if (options.out.empty()) {
    context.console.print(text);
    return ExitCode::kDone;
  }
  auto file = TRY(OutputFile::create(options.out));
  TRY(file.write(text));
  TRY(file.commit());
  context.console.say("written to " + options.out);
  return ExitCode::kDone;
}

}  // namespace pennyweight
