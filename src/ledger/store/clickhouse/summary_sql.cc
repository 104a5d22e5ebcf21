#include "ledger/store/clickhouse/summary_sql.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>

namespace pennyweight {
namespace {

// Where a built-in dimension is stored: in the posting, its run, or its bill line. A posting
// without a bill line (a transfer) has "" in the columns of the line.
enum class DimensionSource { kPosting, kRun, kLine };
struct BuiltInColumn {
  const char* dimension;
  const char* expression;
  DimensionSource of;
};
constexpr std::array kBuiltInColumns = {
    BuiltInColumn{"cluster", "", DimensionSource::kRun},
    BuiltInColumn{"month", "", DimensionSource::kRun},
    BuiltInColumn{"billing_month", "billing_month", DimensionSource::kLine},
    BuiltInColumn{"kind", "kind", DimensionSource::kPosting},
    BuiltInColumn{"component", "component", DimensionSource::kPosting},
    BuiltInColumn{"node", "node", DimensionSource::kPosting},
    BuiltInColumn{"gpu", "gpu", DimensionSource::kPosting},
    BuiltInColumn{"workload", "workload", DimensionSource::kPosting},
    BuiltInColumn{"currency", "currency", DimensionSource::kPosting},
    BuiltInColumn{"charge", "lower(hex(charge_id))", DimensionSource::kPosting},
    BuiltInColumn{"service", "service_name", DimensionSource::kLine},
    BuiltInColumn{"category", "charge_category", DimensionSource::kLine},
    BuiltInColumn{"pricing", "ifNull(pricing_category, '')", DimensionSource::kLine},
    BuiltInColumn{"price_tier",
                  "transform(ifNull(pricing_category, ''), ['Standard', 'Dynamic', 'Committed'], "
                  "['on_demand', 'spot', 'committed'], '')",
                  DimensionSource::kLine},
    BuiltInColumn{"charge_class", "if(is_correction, 'Correction', '')", DimensionSource::kLine},
    BuiltInColumn{"instance_type", "instance_type", DimensionSource::kLine},
    BuiltInColumn{"region", "region_id", DimensionSource::kLine},
    BuiltInColumn{"account", "billing_account_id", DimensionSource::kLine},
    BuiltInColumn{"sub_account", "sub_account_id", DimensionSource::kLine},
    BuiltInColumn{"resource", "resource_id", DimensionSource::kLine},
};
static_assert(kBuiltInColumns.size() == std::size(kBuiltInDimensions),
              "every dimension has its column");

const BuiltInColumn* find_built_in_column(std::string_view dimension) {
  const auto found = std::ranges::find(kBuiltInColumns, dimension, &BuiltInColumn::dimension);
  return found == kBuiltInColumns.end() ? nullptr : &*found;
}

// The value of a tag of the bill line; 0 is the place of no key, and "" the value there.
std::string tag_expression(std::string_view dimension) {
  return "tags_values[indexOf(tags_keys, " +
         clickhouse::sql_literal(std::string(tag_key(dimension))) + ")]";
}

// The first day of the month of `day`, in integers, since ClickHouse's own dates end in 2149.
// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days.
std::string month_begin() {
  const std::string of_era = "((day + 719468) % 146097)";
  const std::string year = "intDiv(" + of_era + " - intDiv(" + of_era + ", 1460) + intDiv(" +
                           of_era + ", 36524) - intDiv(" + of_era + ", 146096), 365)";
  const std::string of_year = "(" + of_era + " - (365 * " + year + " + intDiv(" + year +
                              ", 4) - intDiv(" + year + ", 100)))";
  const std::string month = "intDiv(5 * " + of_year + " + 2, 153)";
  return "toInt32(day - (" + of_year + " - intDiv(153 * " + month + " + 2, 5)))";
}

std::string bucket_expression(TimeBucket bucket) {
  switch (bucket) {
    case TimeBucket::kNone:
      return "toInt32(0)";
    case TimeBucket::kDay:
      return "day";
    case TimeBucket::kWeek:
      // Day 0 was a Thursday; adding whole weeks keeps the remainder from being negative.
      return "toInt32(day - (day + 700003) % 7)";
    case TimeBucket::kMonth:
      return month_begin();
  }
  CHECK(false, "every bucket is listed");
}

std::string list_of(const std::vector<std::string>& values) {
  std::string list;
  for (const std::string& value : values) {
    list += (list.empty() ? "" : ", ") + clickhouse::sql_literal(value);
  }
  return "(" + list + ")";
}

bool holds_nothing(const std::vector<std::string>& values) {
  return std::ranges::find(values, "") != values.end();
}

constexpr std::array kSums = {"billed", "effective", "list",     "contracted", "held",
                              "idle",   "memory",    "observed", "postings"};

std::string sums_of_postings() {
  const std::string of_device = "component IN ('gpu', 'whole')";
  const std::string held = "(kind IN ('used', 'held_idle') AND workload != '')";
  return "sum(billed_cost) AS billed, sum(effective_cost) AS effective, sum(list_cost) AS list, "
         "sum(contracted_cost) AS contracted, sumIf(gpu_time, " +
         of_device + " AND " + held + ") AS held, sumIf(gpu_time, " + of_device + " AND NOT " +
         held + ") AS idle, sum(memory_time) AS memory, sumIf(observed_time, " + of_device +
         " AND " + held +
         ") AS observed, toUInt64(count()) AS postings, sum(toFloat64(billed_cost)) AS "
         "billed_size, sum(toFloat64(effective_cost)) AS effective_size, sum(toFloat64(list_cost)) "
         "AS list_size, sum(toFloat64(contracted_cost)) AS contracted_size, "
         "sum((toFloat64(gpu_time) + if(" +
         held + ", toFloat64(observed_time), 0.)) * (" + of_device +
         ") + toFloat64(memory_time)) AS times_size";
}

// Whether a sum exceeds its column, for sums or for sums of sums. Times are never negative, so a
// time that overflowed is too small by all of them: one size column is enough for the four.
std::string sums_overflow(bool of_sums) {
  const auto of = [&](const std::string& name) { return of_sums ? "sum(" + name + ")" : name; };
  std::vector<SumColumns> costs;
  for (const std::string cost : {"billed", "effective", "list", "contracted"}) {
    costs.push_back({of(cost), of(cost + "_size")});
  }
  std::string times;
  for (const char* time : {"held", "idle", "memory", "observed"}) {
    times += std::string(" - toFloat64(") + of(time) + ")";
  }
  return "toUInt8(" + overflow_condition(costs) + " OR abs(" + of("times_size") + times +
         ") > 1e37)";
}

}  // namespace

ClickhouseSummarySql::ClickhouseSummarySql(const Scan& scan, std::span<const LedgerRun> runs,
                                           const SummaryQuery& query)
    : scan_(scan), bucket_(query.bucket) {
  // The runs are known before any posting is read.
  std::map<Scope, const LedgerRun*> chosen;
  for (const LedgerRun& run : runs) {
    if (query.as_of ? run.run.at <= *query.as_of : run.run.current) chosen[run.run.scope] = &run;
  }
  for (const SummaryFilter& filter : query.filters) {
    if (filter.dimension == "cluster" || filter.dimension == "month") {
      std::erase_if(chosen, [&](const auto& entry) {
        const Scope& scope = entry.first;
        const std::string& value =
            filter.dimension == "cluster" ? scope.cluster.text() : scope.month;
        const bool listed = std::ranges::find(filter.values, value) != filter.values.end();
        return listed == filter.negate;
      });
    }
  }
  for (const auto& [scope, run] : chosen) {
    runs_.push_back({run->session, scope.cluster.text(), scope.month});
    sessions_.push_back(run->session);
  }
  const auto number = [](std::chrono::sys_days day) {
    return std::to_string(day.time_since_epoch().count());
  };
  if (query.first_day) where_ += " AND day >= " + number(*query.first_day);
  if (query.last_day) where_ += " AND day <= " + number(*query.last_day);
  for (const SummaryFilter& filter : query.filters) where_ += condition(filter);
  for (const std::string& dimension : query.group_by) keys_.push_back(key_of(dimension));
}

std::string ClickhouseSummarySql::session_text() const { return session_list(sessions_); }

// A run's cluster or month, by the session of the posting.
std::string ClickhouseSummarySql::of_runs(std::string Run::* field) const {
  std::string sessions, values;
  for (const Run& run : runs_) {
    sessions +=
        (sessions.empty() ? "toUInt64(" : ", toUInt64(") + std::to_string(run.session) + ")";
    values += (values.empty() ? "" : ", ") + clickhouse::sql_literal(run.*field);
  }
  return "transform(session, [" + sessions + "], [" + values + "], '')";
}

// The name of the column of a dimension; a dimension that is used several times has one column.
std::string ClickhouseSummarySql::key_of(const std::string& dimension) {
  const auto named = [](auto& columns, const std::string& expression, const char* prefix) {
    for (const auto& [known, name] : columns) {
      if (known == expression) return name;
    }
    columns.emplace_back(expression, prefix + std::to_string(columns.size()));
    return columns.back().second;
  };
  const BuiltInColumn* built_in = find_built_in_column(dimension);
  if (is_tag_dimension(dimension)) {
    return named(inner_, named(lines_, tag_expression(dimension), "c"), "k");
  }
  if (built_in == nullptr) {
    const auto known = std::ranges::find(labels_, dimension);
    const auto index = known - labels_.begin();
    if (known == labels_.end()) labels_.push_back(dimension);
    return "d" + std::to_string(index);
  }
  switch (built_in->of) {
    case DimensionSource::kPosting:
      return named(inner_, built_in->expression, "k");
    case DimensionSource::kRun:
      return named(inner_, of_runs(dimension == "month" ? &Run::month : &Run::cluster), "k");
    case DimensionSource::kLine: {
      const std::string column = named(lines_, built_in->expression, "c");
      if (dimension != "billing_month") return named(inner_, column, "k");
      return named(inner_, "if(" + column + " = '', " + of_runs(&Run::month) + ", " + column + ")",
                   "k");
    }
  }
  CHECK(false, "every place of a dimension is listed");
}

std::string ClickhouseSummarySql::condition(const SummaryFilter& filter) const {
  if (filter.dimension == "cluster" || filter.dimension == "month") return "";
  if (filter.values.empty()) return filter.negate ? "" : " AND 0";
  const BuiltInColumn* built_in = find_built_in_column(filter.dimension);
  std::string holds;
  if (is_tag_dimension(filter.dimension)) {
    holds = bill_line_condition(tag_expression(filter.dimension), filter.values);
  } else if (built_in == nullptr) {
    holds = workload_condition(filter);
  } else if (filter.dimension == "billing_month") {
    holds = billing_month_condition(filter.values);
  } else if (built_in->of == DimensionSource::kLine) {
    holds = bill_line_condition(built_in->expression, filter.values);
  } else {
    holds = std::string(built_in->expression) + " IN " + list_of(filter.values);
  }
  return filter.negate ? " AND NOT (" + holds + ")" : " AND (" + holds + ")";
}

std::string ClickhouseSummarySql::bill_line_condition(
    const std::string& expression, const std::vector<std::string>& values) const {
  // "" is also the value of postings without a bill line, which no list of lines contains.
  const bool nothing = holds_nothing(values);
  return std::string("charge_id GLOBAL ") + (nothing ? "NOT IN" : "IN") +
         " (SELECT charge_id FROM " + scan_.snapshot().facts("charges") + " AND " + expression +
         (nothing ? " NOT IN " : " IN ") + list_of(values) + ")";
}

// The month of a posting without a bill line is that of its run.
std::string ClickhouseSummarySql::billing_month_condition(
    const std::vector<std::string>& values) const {
  std::vector<std::uint64_t> of_month;
  for (const Run& run : runs_) {
    if (std::ranges::find(values, run.month) != values.end()) of_month.push_back(run.session);
  }
  const std::string lines = scan_.snapshot().facts("charges");
  return "charge_id GLOBAL IN (SELECT charge_id FROM " + lines + " AND billing_month IN " +
         list_of(values) + ") OR (session IN " + session_list(of_month) +
         " AND charge_id GLOBAL NOT IN (SELECT charge_id FROM " + lines + "))";
}

std::string ClickhouseSummarySql::workload_condition(const SummaryFilter& filter) const {
  // "" is also the value of a workload without the dimension, which no list of dimensions contains.
  const bool nothing = holds_nothing(filter.values);
  return std::string("(session, workload) GLOBAL ") + (nothing ? "NOT IN" : "IN") +
         " (SELECT session, workload FROM " + scan_.all("run_dimensions") + " WHERE session IN " +
         session_text() + " AND dimension = " + clickhouse::sql_literal(filter.dimension) +
         " AND value " + (nothing ? "NOT IN " : "IN ") + list_of(filter.values) + ")";
}

std::string ClickhouseSummarySql::from() const {
  std::string text = " FROM " + scan_.all("postings");
  if (!lines_.empty()) {
    text += " GLOBAL ANY LEFT JOIN (SELECT charge_id";
    for (const auto& [expression, name] : lines_) text += ", " + expression + " AS " + name;
    text += " FROM " + scan_.snapshot().facts("charges") + ") AS l USING (charge_id)";
  }
  return text + " WHERE session IN " + session_text() + where_;
}

std::string ClickhouseSummarySql::summarise() const {
  std::string select = "SELECT " + bucket_expression(bucket_) + " AS bucket";
  std::string group = "bucket";
  for (const auto& [expression, name] : inner_) {
    select += ", " + expression + " AS " + name;
    group += ", " + name;
  }
  if (!labels_.empty()) group += ", session, workload";
  std::string keys;
  for (const std::string& key : keys_) keys += key + ", ";
  std::string sums;
  for (const char* name : kSums) sums += std::string(sums.empty() ? "" : ", ") + name;
  const std::string inner = select + (labels_.empty() ? "" : ", session, workload") +
                            ", currency AS code, " + sums_of_postings() + from() + " GROUP BY " +
                            group + ", code";
  if (labels_.empty()) {
    return "SELECT bucket, " + keys + "code, " + sums + ", " + sums_overflow(false) + " FROM (" +
           inner + ")";
  }
  std::string values, dimensions;
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    const std::string name = clickhouse::sql_literal(labels_[i]);
    values += ", anyIf(value, dimension = " + name + ") AS d" + std::to_string(i);
    dimensions += (i == 0 ? "" : ", ") + name;
  }
  std::string outer;
  for (const char* name : kSums) outer += std::string(", sum(") + name + ")";
  return "SELECT bucket, " + keys + "code" + outer + ", " + sums_overflow(true) + " FROM (" +
         inner + ") AS p ANY LEFT JOIN (SELECT session, workload" + values + " FROM " +
         scan_.all("run_dimensions") + " WHERE session IN " + session_text() +
         " AND dimension IN (" + dimensions +
         ") GROUP BY session, workload) AS w USING (session, workload) GROUP BY bucket, " + keys +
         "code";
}

std::string ClickhouseSummarySql::largest(std::uint64_t at_most, std::uint64_t skipped) const {
  return "WHERE session IN " + session_text() + where_ +
         // As is_larger(): half a unit more and the rest cut off rounds.
         " ORDER BY toDecimal128(abs(effective_cost) + toDecimal128('0.0000000000005', 18), 12) "
         "DESC, "
         "day, node, workload, " +
         clickhouse_posting_order() + " LIMIT " + std::to_string(at_most) + " OFFSET " +
         std::to_string(skipped);
}

}  // namespace pennyweight
