// export: tables of the ledger as files for other programs.
#include <fmt/format.h>

#include <limits>

#include "app/focus_export.h"
#include "app/table_options.h"
#include "app/verb.h"
#include "duckdb/table_writer.h"
#include "questions/selection.h"
#include "report/number_format.h"

namespace pennyweight {
namespace {

using duckdb::Cell;
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

Cell text_or_null(const std::string& text) { return text.empty() ? Cell() : Cell(text); }

Cell count_cell(std::uint64_t count) { return static_cast<std::int64_t>(count); }

// GPU-hours as a decimal of 18 digits; the fraction that is exact stands beside it.
Cell hours_cell(GpuTime time) {
  const auto hours = parse_exact_decimal(format_gpu_hours(time, 18, Thousands::kPlain));
  return hours ? Cell(*hours) : Cell();
}

std::string date_text(std::chrono::sys_days day) { return to_text(Instant(day)).substr(0, 10); }

void append_costs(std::vector<Cell>& row, const Costs& costs) {
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
  const auto postings = store.largest_postings(query, std::numeric_limits<std::int64_t>::max());
  if (!postings) return std::unexpected(postings.error());
  for (const Posting& posting : *postings) {
    std::vector<Cell> row = {to_text(posting.charge),
                             std::string(to_text(posting.kind)),
                             std::string(to_text(posting.component)),
                             posting.interval.begin(),
                             posting.interval.end(),
                             date_text(posting.day),
                             text_or_null(posting.node.text()),
                             text_or_null(posting.gpu.text()),
                             text_or_null(posting.workload.text()),
                             posting.holding ? Cell(to_text(*posting.holding)) : Cell()};
    append_costs(row, posting.costs);
    row.push_back(hours_cell(posting.gpu_time));
    row.emplace_back(exact_gpu_hours(posting.gpu_time));
    if (auto ok = writer.append(row); !ok) return std::unexpected(ok.error());
  }
  return postings->size();
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

std::vector<Cell> charge_row(const Charge& charge) {
  std::vector<Cell> row = {
      to_text(charge.id),
      charge.source.line == 0 ? Cell() : count_cell(charge.source.line),
      charge.billing_period.begin(),
      charge.billing_period.end(),
      charge.charge_period.begin(),
      charge.charge_period.end(),
      std::string(to_text(charge.charge_category)),
      charge.pricing_category ? Cell(std::string(to_text(*charge.pricing_category))) : Cell(),
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
  const auto scanned = store.scan_charges(month, [&](std::span<const Charge> charges) {
    for (const Charge& charge : charges) {
      written = writer.append(charge_row(charge));
      if (!written) return false;
      ++rows;
    }
    return true;
  });
  if (!scanned) return std::unexpected(scanned.error());
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
  const auto rows = store.summarise(query);
  if (!rows) return std::unexpected(rows.error());
  for (const SummaryRow& summary : *rows) {
    std::vector<Cell> row;
    if (query.bucket != TimeBucket::kNone) {
      row.push_back(summary.bucket ? Cell(date_text(*summary.bucket)) : Cell());
    }
    for (const std::string& key : summary.keys) row.push_back(text_or_null(key));
    append_costs(row, summary.costs);
    row.push_back(hours_cell(summary.gpu_time));
    row.push_back(hours_cell(summary.idle_time));
    row.push_back(count_cell(summary.postings));
    if (auto ok = writer.append(row); !ok) return std::unexpected(ok.error());
  }
  return rows->size();
}

Result<SummaryQuery> query_of(const ExportOptions& options, const Policy& policy) {
  SummaryQuery query;
  if (const auto dates = select_dates(options.dates, query); !dates) {
    return as_usage(dates.error());
  }
  if (options.what != "summary") return query;
  auto dimensions = parse_dimensions(options.by, policy);
  if (!dimensions) return as_usage(dimensions.error());
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

// What only `focus` has, and what it shares with the others.
Result<ExitCode> run_focus(const ExportOptions& options, bool is_grouped, Context& context) {
  if (!(options.dates.from.empty() && options.dates.to.empty())) {
    return wrong_usage("bill lines are exported by --month, since a line may span days");
  }
  FocusExportOptions focus = options.focus;
  focus.format = options.format;
  focus.month = options.dates.month;
  focus.out = options.out;
  if (is_grouped) focus.by = options.by;
  return export_focus(focus, context);
}

Result<ExitCode> run(const ExportOptions& options, Context& context) {
  const auto query = query_of(options, context.config.policy);
  if (!query) return std::unexpected(query.error());
  if (options.what == "charges" && !(options.dates.from.empty() && options.dates.to.empty())) {
    return wrong_usage("bill lines are exported by --month, since a line may span days");
  }
  const auto store = open_ledger(context.config);
  if (!store) return std::unexpected(store.error());
  auto writer = TableWriter::create(options.what == "postings"  ? posting_columns()
                                    : options.what == "charges" ? charge_columns()
                                                                : summary_columns(*query),
                                    options.out + ".spill");
  if (!writer) return std::unexpected(writer.error());
  const auto rows = options.what == "postings" ? write_postings(**store, *writer, *query)
                    : options.what == "charges"
                        ? write_charges(**store, *writer, options.dates.month)
                        : write_summary(**store, *writer, *query);
  if (!rows) return std::unexpected(rows.error());
  const auto format =
      options.format == "parquet" ? duckdb::FileFormat::kParquet : duckdb::FileFormat::kCsv;
  if (auto written = writer->write(options.out, format); !written) {
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
                                           "Of a summary: its dimensions; of focus: the owners, "
                                           "where not by workload")
                              ->capture_default_str();
  command->add_option("--every", options->every, "Of a summary: one row for each")
      ->check(CLI::IsMember({"none", "day", "week", "month"}))
      ->capture_default_str();
  add_date_options(*command, options->dates);
  FocusExportOptions& focus = options->focus;
  command->add_option("--focus-version", focus.version, "Of focus: the version")
      ->check(CLI::IsMember({"1.2", "1.3", "1.4"}))
      ->capture_default_str();
  command->add_option("--rows", focus.rows, "Of focus: bill lines as allocated, or as billed")
      ->check(CLI::IsMember({"allocated", "charges"}))
      ->capture_default_str();
  command->add_option("--metadata", focus.metadata,
                      "Of focus: the metadata file; else --out with .metadata.json behind");
  command->add_flag("--with-transfers", focus.with_transfers,
                    "Of focus: also what was spread and corrected, as rows of their own");
  command->footer(examples_of("export"));
  return {command, [options, by](Context& context) {
            return options->what == "focus" ? run_focus(*options, by->count() > 0, context)
                                            : run(*options, context);
          }};
}

}  // namespace pennyweight
