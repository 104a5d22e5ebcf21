// report: postings added up by any dimensions.
#include <fmt/format.h>

#include <algorithm>

#include "app/selection.h"
#include "app/table_options.h"
#include "app/verb.h"
#include "report/cost_report.h"

namespace pennyweight {
namespace {

struct ReportOptions {
  std::vector<std::string> by = {"team"};
  std::vector<std::string> filters;
  DateOptions dates;
  std::string every = "none";
  std::string cost = "effective";
  std::string sort = "cost";
  std::uint64_t top = 0;  // 0: all
  TableOptions table;
};

TimeBucket bucket_of(const std::string& every) {
  if (every == "day") return TimeBucket::kDay;
  if (every == "week") return TimeBucket::kWeek;
  if (every == "month") return TimeBucket::kMonth;
  return TimeBucket::kNone;
}

std::vector<CostColumn> costs_of(const std::string& cost) {
  if (cost == "billed") return {CostColumn::kBilled};
  if (cost == "list") return {CostColumn::kList};
  if (cost == "contracted") return {CostColumn::kContracted};
  if (cost == "all") {
    return {CostColumn::kEffective, CostColumn::kBilled, CostColumn::kList,
            CostColumn::kContracted};
  }
  return {CostColumn::kEffective};
}

std::string title_of(const ReportOptions& options, const CostReport& report) {
  std::string title = "Cost by ";
  for (std::size_t i = 0; i < report.dimensions.size(); ++i) {
    title += (i == 0 ? "" : ", ") + report.dimensions[i];
  }
  if (report.bucket != TimeBucket::kNone) title += ", every " + options.every;
  if (!options.dates.month.empty()) title += ", " + options.dates.month;
  if (!options.dates.from.empty()) title += ", from " + options.dates.from;
  if (!options.dates.to.empty()) title += ", to " + options.dates.to;
  for (const std::string& filter : options.filters) title += ", " + filter;
  return title;
}

Result<ExitCode> run(const ReportOptions& options, Context& context) {
  const Policy& policy = context.config.policy;
  const auto dimensions = parse_dimensions(options.by, policy);
  if (!dimensions) return std::unexpected(dimensions.error());
  if (std::find(dimensions->begin(), dimensions->end(), "currency") != dimensions->end()) {
    return wrong_usage("every currency has a table of its own already; leave it out of --by");
  }
  CostReport report{.title = "",
                    .dimensions = *dimensions,
                    .costs = costs_of(options.cost),
                    .bucket = bucket_of(options.every),
                    .sort = options.sort == "key" ? CostSort::kKey : CostSort::kCost};
  if (options.top > 0) report.top = options.top;
  report.title = title_of(options, report);

  SummaryQuery query;
  query.bucket = report.bucket;
  query.group_by = query_dimensions(report);
  if (const auto dates = select_dates(options.dates, query); !dates) {
    return std::unexpected(dates.error());
  }
  for (const std::string& text : options.filters) {
    const auto filters = parse_filter(text, policy);
    if (!filters) return std::unexpected(filters.error());
    query.filters.insert(query.filters.end(), filters->begin(), filters->end());
  }

  const auto store = open_ledger(context.config);
  if (!store) return std::unexpected(store.error());
  const auto rows = (*store)->summarise(query);
  if (!rows) return std::unexpected(rows.error());
  const auto tables = cost_tables(*rows, report);
  print_tables(tables, options.table, context);
  if (!tables.empty()) return ExitCode::kDone;

  const auto overview = (*store)->overview();
  if (!overview) return std::unexpected(overview.error());
  if (overview->postings == 0) {
    return fail(ErrorCode::kNotFound, "nothing is allocated yet; run 'pennyweight allocate' first");
  }
  context.console.warn("no posting matches the filters and dates");
  return ExitCode::kDone;
}

}  // namespace

Verb declare_report(CLI::App& app) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::App* command = app.add_subcommand("report", "Show costs by team, cluster, or any dimension");
  command->add_option("--by", options->by, "Dimensions, separated by commas")
      ->capture_default_str();
  command->add_option("--filter", options->filters,
                      "DIMENSION=VALUE[,VALUE…] or DIMENSION!=…; may be repeated");
  add_date_options(*command, options->dates);
  command
      ->add_option("--every", options->every, "One row for each day, week (from Monday) or month")
      ->check(CLI::IsMember({"none", "day", "week", "month"}));
  command->add_option("--cost", options->cost, "Which of the bill's costs")
      ->check(CLI::IsMember({"effective", "billed", "list", "contracted", "all"}))
      ->capture_default_str();
  command->add_option("--sort", options->sort, "The largest first, or by name")
      ->check(CLI::IsMember({"cost", "key"}))
      ->capture_default_str();
  command->add_option("--top", options->top, "Show the first N owners and the others as one row");
  add_table_options(*command, options->table);
  command->footer(examples_of("report"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
