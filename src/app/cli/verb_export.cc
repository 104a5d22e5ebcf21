// export: writes the ledger's tables to files for other programs.
#include <fmt/format.h>

#include <limits>

#include "app/cli/focus_export.h"
#include "app/cli/shared_options.h"
#include "app/cli/verb.h"
#include "core/duckdb/table_writer.h"
#include "core/try.h"
#include "reporting/number_format.h"
#include "reporting/queries/selection.h"

namespace pennyweight {
namespace {

using FileCell = duckdb::Cell;
using duckdb::ColumnType;
using duckdb::TableColumn;
using duckdb::TableWriter;

struct ExportOptions {
  std::string what;
  std::string format = "csv";
  std::string out;
  std::vector<std::string> by = {"cluster,team"};
  std::string every = "day";
  DateOptions dates;
  FocusExportOptions focus;
};

FileCell text_or_null(const std::string& text) {
  return text.empty() ? FileCell() : FileCell(text);
}

FileCell count_cell(std::uint64_t count) { return static_cast<std::int64_t>(count); }

// GPU-hours as a decimal of 18 digits; another column has the exact fraction.
FileCell hours_cell(GpuTime time) {
  const auto hours = parse_exact_decimal(format_gpu_hours(time, 18, Thousands::kPlain));
  return hours ? FileCell(*hours) : FileCell();
}

std::string date_text(std::chrono::sys_days day) { return to_text(Instant(day)).substr(0, 10); }

void append_costs(std::vector<FileCell>& row, const Costs& costs) {
  row.emplace_back(costs.currency().text());
  for (const Money& cost : {costs.billed, costs.effective, costs.list, costs.contracted}) {
    row.emplace_back(cost.amount());
  }
}

void append_cost_columns(std::vector<TableColumn>& columns) {
  columns.push_back({"currency", ColumnType::kText});
  for (const char* name : {"billed_cost", "effective_cost", "list_cost", "contracted_cost"}) {
    columns.push_back({name, ColumnType::kDecimal});
  }
}

Result<std::uint64_t> write_postings(Store& store, TableWriter& writer, const SummaryQuery& query) {
  const auto postings =
      TRY(store.largest_postings(query, std::numeric_limits<std::int64_t>::max()));
  for (const Posting& posting : postings) {
    std::vector<FileCell> row = {
        to_text(posting.charge),
        std::string(to_text(posting.kind)),
        std::string(to_text(posting.component)),
        posting.interval.begin(),
        posting.interval.end(),
        date_text(posting.day),
        text_or_null(posting.node.text()),
        text_or_null(posting.gpu.text()),
        text_or_null(posting.workload.text()),
        posting.holding ? FileCell(to_text(*posting.holding)) : FileCell()};
    append_costs(row, posting.costs);
    row.push_back(hours_cell(posting.gpu_time));
    row.emplace_back(exact_gpu_hours(posting.gpu_time));
    TRY(writer.append(row));
  }
  return postings.size();
}

std::vector<TableColumn> posting_columns() {
  std::vector<TableColumn> columns = {
      {"charge", ColumnType::kText},    {"kind", ColumnType::kText},
      {"component", ColumnType::kText}, {"begin", ColumnType::kTimestamp},
      {"end", ColumnType::kTimestamp},  {"day", ColumnType::kText},
      {"node", ColumnType::kText},      {"gpu", ColumnType::kText},
      {"workload", ColumnType::kText},  {"holding", ColumnType::kText}};
  append_cost_columns(columns);
  columns.push_back({"gpu_hours", ColumnType::kDecimal});
  columns.push_back({"gpu_hours_exact", ColumnType::kText});
  return columns;
}

std::vector<TableColumn> charge_columns() {
  std::vector<TableColumn> columns = {{"charge", ColumnType::kText},
                                      {"file_line", ColumnType::kInteger},
                                      {"billing_period_start", ColumnType::kTimestamp},
                                      {"billing_period_end", ColumnType::kTimestamp},
                                      {"charge_period_start", ColumnType::kTimestamp},
                                      {"charge_period_end", ColumnType::kTimestamp},
                                      {"charge_category", ColumnType::kText},
                                      {"pricing_category", ColumnType::kText},
                                      {"service_name", ColumnType::kText},
                                      {"region_id", ColumnType::kText},
                                      {"resource_id", ColumnType::kText},
                                      {"instance_type", ColumnType::kText},
                                      {"charge_description", ColumnType::kText}};
  append_cost_columns(columns);
  return columns;
}

std::vector<FileCell> charge_row(const Charge& charge) {
  std::vector<FileCell> row = {
      to_text(charge.id),
      charge.source.line == 0 ? FileCell() : count_cell(charge.source.line),
      charge.billing_period.begin(),
      charge.billing_period.end(),
      charge.charge_period.begin(),
      charge.charge_period.end(),
      std::string(to_text(charge.charge_category)),
      charge.pricing_category ? FileCell(std::string(to_text(*charge.pricing_category)))
                              : FileCell(),
      text_or_null(charge.service_name),
      text_or_null(charge.region_id),
      text_or_null(charge.resource_id),
      text_or_null(charge.instance_type),
      text_or_null(charge.charge_description)};
  append_costs(row, charge.costs);
  return row;
}

Result<std::uint64_t> write_charges(Store& store, TableWriter& writer, const std::string& month) {
  std::uint64_t rows = 0;
  Result<void> written;
  TRY(store.scan_charges(month, [&](std::span<const Charge> charges) {
    for (const Charge& charge : charges) {
      written = writer.append(charge_row(charge));
      if (!written) return false;
      ++rows;
    }
    return true;
  }));
  if (!written) return std::unexpected(written.error());
  return rows;
}

std::vector<TableColumn> summary_columns(const SummaryQuery& query) {
  std::vector<TableColumn> columns;
  if (query.bucket != TimeBucket::kNone) columns.push_back({"period", ColumnType::kText});
  for (const std::string& dimension : query.group_by) {
    columns.push_back({dimension, ColumnType::kText});
  }
  append_cost_columns(columns);
  columns.push_back({"gpu_hours", ColumnType::kDecimal});
  columns.push_back({"idle_gpu_hours", ColumnType::kDecimal});
  columns.push_back({"postings", ColumnType::kInteger});
  return columns;
}

Result<std::uint64_t> write_summary(Store& store, TableWriter& writer, const SummaryQuery& query) {
  const auto rows = TRY(store.summarise(query));
  for (const SummaryRow& summary : rows) {
    std::vector<FileCell> row;
    if (query.bucket != TimeBucket::kNone) {
      row.push_back(summary.bucket ? FileCell(date_text(*summary.bucket)) : FileCell());
    }
    for (const std::string& key : summary.keys) row.push_back(text_or_null(key));
    append_costs(row, summary.costs);
    row.push_back(hours_cell(summary.gpu_time));
    row.push_back(hours_cell(summary.idle_time));
    row.push_back(count_cell(summary.postings));
    TRY(writer.append(row));
  }
  return rows.size();
}

Result<SummaryQuery> parse_query(const ExportOptions& options, const Policy& policy) {
  SummaryQuery query;
  if (const auto dates = apply_dates(options.dates, query); !dates) {
    return as_usage_error(dates.error());
  }
  if (options.what != "summary") return query;
  auto dimensions = parse_dimensions(options.by, policy);
  if (!dimensions) return as_usage_error(dimensions.error());
  query.group_by = std::move(*dimensions);
  if (std::find(query.group_by.begin(), query.group_by.end(), "kind") == query.group_by.end()) {
    query.group_by.emplace_back("kind");
  }
  std::erase(query.group_by, "currency");  // a column of its own in any case
  query.bucket = options.every == "day"     ? TimeBucket::kDay
                 : options.every == "week"  ? TimeBucket::kWeek
                 : options.every == "month" ? TimeBucket::kMonth
                                            : TimeBucket::kNone;
  return query;
}

// Combines the options of `focus` with the shared ones.
Result<ExitCode> run_focus(const ExportOptions& options, bool is_grouped, Context& context) {
  if (!(options.dates.from.empty() && options.dates.to.empty())) {
    return usage_error(
        "bill lines are exported by --month, not by --from and --to, since a line may span days");
  }
  FocusExportOptions focus = options.focus;
  focus.format = options.format;
  focus.month = options.dates.month;
  focus.out = options.out;
  if (is_grouped) focus.by = options.by;
  return export_focus(focus, context);
}

Result<ExitCode> run(const ExportOptions& options, Context& context) {
  const auto query = TRY(parse_query(options, context.config.policy));
  if (options.what == "charges" && !(options.dates.from.empty() && options.dates.to.empty())) {
    return usage_error(
        "bill lines are exported by --month, not by --from and --to, since a line may span days");
  }
  const auto store = TRY(open_ledger(context.config));
  auto writer = TRY(TableWriter::create(options.what == "postings"  ? posting_columns()
                                        : options.what == "charges" ? charge_columns()
                                                                    : summary_columns(query),
                                        options.out + ".spill"));
  if (options.what != "charges") {
    TRY(warn_of_staleness(*store, options.dates.month, context));
  }
  const auto rows = options.what == "postings"  ? write_postings(*store, writer, query)
                    : options.what == "charges" ? write_charges(*store, writer, options.dates.month)
                                                : write_summary(*store, writer, query);
  if (!rows) return std::unexpected(rows.error());
  const auto format =
      options.format == "parquet" ? duckdb::FileFormat::kParquet : duckdb::FileFormat::kCsv;
  if (auto written = writer.write(options.out, format); !written) {
    return std::unexpected(written.error().during("cannot write " + options.out));
  }
  context.console.say(
      fmt::format("{}: {} rows", options.out, format_count(*rows, Thousands::kSeparated)));
  return ExitCode::kDone;
}

}  // namespace

Verb declare_export(CLI::App& app) {
  const auto options = std::make_shared<ExportOptions>();
  CLI::App* command =
      app.add_subcommand("export", "Write postings, bill lines, sums or FOCUS to a file");
  command->add_option("WHAT", options->what, "postings, charges (the bill lines), summary or focus")
      ->required()
      ->check(CLI::IsMember({"postings", "charges", "summary", "focus"}));
  command->add_option("--format", options->format, "csv or parquet")
      ->check(CLI::IsMember({"csv", "parquet"}))
      ->capture_default_str();
  command->add_option("--out", options->out, "The file to write")->required();
  const CLI::Option* by = command
                              ->add_option("--by", options->by,
                                           "summary: the dimensions; focus: the owners' "
                                           "dimensions, instead of workloads")
                              ->capture_default_str();
  command->add_option("--every", options->every, "summary: one row per")
      ->check(CLI::IsMember({"none", "day", "week", "month"}))
      ->capture_default_str();
  add_date_options(*command, options->dates);
  FocusExportOptions& focus = options->focus;
  command->add_option("--focus-version", focus.version, "focus: the version")
      ->check(CLI::IsMember({"1.2", "1.3", "1.4"}))
      ->capture_default_str();
  command->add_option("--rows", focus.rows, "focus: bill lines as allocated, or as billed")
      ->check(CLI::IsMember({"allocated", "charges"}))
      ->capture_default_str();
  command->add_option("--metadata", focus.metadata,
                      "focus: the metadata file; default: --out plus .metadata.json");
  command->add_flag("--with-transfers", focus.with_transfers,
                    "focus: add rows for spread and corrected cost");
  command->footer(examples_footer("export"));
  return {command, [options, by](Context& context) {
            return options->what == "focus" ? run_focus(*options, by->count() > 0, context)
                                            : run(*options, context);
          }};
}

}  // namespace pennyweight
