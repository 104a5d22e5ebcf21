#include "app/table_options.h"

namespace pennyweight {

void add_table_options(CLI::App& command, TableOptions& options) {
  command.add_option("--format", options.format, "text rounds for the eye; csv and json are exact")
      ->check(CLI::IsMember({"text", "csv", "json"}))
      ->capture_default_str();
  command.add_option("--digits", options.digits, "Digits of money in text")
      ->check(CLI::Range(0, Decimal::kFractionDigits))
      ->capture_default_str();
}

void add_date_options(CLI::App& command, DateOptions& dates) {
  command.add_option("--month", dates.month, "A bill's month, such as 2026-03");
  command.add_option("--from", dates.from, "The first local day, such as 2026-03-01");
  command.add_option("--to", dates.to, "The last local day, inclusive");
}

void print_tables(const std::vector<Table>& tables, const TableOptions& options,
                  const Context& context) {
  const TableFormat format = parse_table_format(options.format).value_or(TableFormat::kText);
  context.console.print(render(tables, format, context.console.style(options.digits)));
}

}  // namespace pennyweight
