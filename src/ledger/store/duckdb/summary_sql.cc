#include "ledger/store/duckdb/summary_sql.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "ledger/store/duckdb/fact_table.h"

namespace pennyweight {
namespace {

struct BuiltInColumn {
  const char* dimension;
  const char* expression;
  bool of_charge;  // stored in the charge, not in the posting or its run
};
constexpr std::array kBuiltInColumns = {
    BuiltInColumn{"cluster", "r.cluster", false},
    BuiltInColumn{"month", "r.month", false},
    BuiltInColumn{"billing_month", "coalesce(c.billing_month, r.month)", true},
    BuiltInColumn{"kind", "p.kind", false},
    BuiltInColumn{"component", "p.component", false},
    BuiltInColumn{"node", "p.node", false},
    BuiltInColumn{"gpu", "p.gpu", false},
    BuiltInColumn{"workload", "p.workload", false},
    BuiltInColumn{"currency", "p.currency", false},
    BuiltInColumn{"charge", "replace(p.charge_id::VARCHAR, '-', '')", false},
    BuiltInColumn{"service", "coalesce(c.service_name, '')", true},
    BuiltInColumn{"category", "coalesce(c.charge_category, '')", true},
    BuiltInColumn{"pricing", "coalesce(c.pricing_category, '')", true},
    BuiltInColumn{"price_tier",
                  "CASE c.pricing_category WHEN 'Standard' THEN 'on_demand' WHEN 'Dynamic' THEN "
                  "'spot' WHEN 'Committed' THEN 'committed' ELSE '' END",
                  true},
    BuiltInColumn{"charge_class", "CASE WHEN c.is_correction THEN 'Correction' ELSE '' END", true},
    BuiltInColumn{"instance_type", "coalesce(c.instance_type, '')", true},
    BuiltInColumn{"region", "coalesce(c.region_id, '')", true},
    BuiltInColumn{"account", "coalesce(c.billing_account_id, '')", true},
    BuiltInColumn{"sub_account", "coalesce(c.sub_account_id, '')", true},
    BuiltInColumn{"resource", "coalesce(c.resource_id, '')", true},
};
static_assert(kBuiltInColumns.size() == std::size(kBuiltInDimensions),
              "every dimension has its column");

std::string bucket_expression(TimeBucket bucket) {
  switch (bucket) {
    case TimeBucket::kNone:
      return "CAST(NULL AS DATE)";
    case TimeBucket::kDay:
      return "p.day";
    case TimeBucket::kWeek:
      return "CAST(date_trunc('week', p.day) AS DATE)";
    case TimeBucket::kMonth:
      return "CAST(date_trunc('month', p.day) AS DATE)";
  }
  CHECK(false, "every bucket is listed");
}

const BuiltInColumn* find_built_in_column(std::string_view dimension) {
  const auto found = std::ranges::find(kBuiltInColumns, dimension, &BuiltInColumn::dimension);
  return found == kBuiltInColumns.end() ? nullptr : &*found;
}

// Stored in the charge, not in the posting or its run.
bool is_of_charge(std::string_view dimension) {
  const BuiltInColumn* built_in = find_built_in_column(dimension);
  return built_in == nullptr ? is_tag_dimension(dimension) : built_in->of_charge;
}

constexpr const char* kJoinCharges = " LEFT JOIN charges c ON c.charge_id = p.charge_id";
constexpr const char* kFrom = " FROM postings p JOIN runs r ON r.run_id = p.run_id";

}  // namespace

SummarySql::SummarySql(const SummaryQuery& query)
    : bucket_(query.bucket), group_by_(query.group_by) {
  if (query.as_of) {
    runs_ = "r.run_id IN (SELECT arg_max(run_id, number) FROM runs WHERE made_at <= " +
            parameter(*query.as_of) + " GROUP BY cluster, month)";
  }
  for (const std::string& dimension : query.group_by) keys_.push_back(value_of(dimension));
  if (query.first_day) where_ += " AND p.day >= " + parameter(*query.first_day);
  if (query.last_day) where_ += " AND p.day <= " + parameter(*query.last_day);
  for (const SummaryFilter& filter : query.filters) {
    if (filter.values.empty()) {
      if (!filter.negate) where_ += " AND false";
      continue;
    }
    std::string list;
    for (const std::string& value : filter.values) {
      list += (list.empty() ? "" : ", ") + parameter(value);
    }
    const std::string condition =
        " AND " + value_of(filter.dimension) + (filter.negate ? " NOT IN (" : " IN (") + list + ")";
    // The runs are known before any posting is read.
    const bool of_run = filter.dimension == "cluster" || filter.dimension == "month";
    (of_run ? runs_ : where_) += condition;
    filters_charges_ |= is_of_charge(filter.dimension);
  }
  if (joins_charges_) joins_ += kJoinCharges;
}

std::string SummarySql::value_of(const std::string& dimension) {
  if (const BuiltInColumn* built_in = find_built_in_column(dimension)) {
    joins_charges_ |= built_in->of_charge;
    return built_in->expression;
  }
  if (is_tag_dimension(dimension)) {
    joins_charges_ = true;
    return "coalesce(list_extract(map_extract(c.tags, " +
           parameter(std::string(tag_key(dimension))) + "), 1), '')";
  }
  for (const auto& [name, alias] : joined_) {
    if (name == dimension) return "coalesce(" + alias + ".value, '')";
  }
  const std::string alias = "d" + std::to_string(joined_.size());
  joined_.emplace_back(dimension, alias);
  joins_ += " LEFT JOIN run_dimensions " + alias + " ON " + alias + ".run_id = p.run_id AND " +
            alias + ".workload = p.workload AND " + alias + ".dimension = " + parameter(dimension);
  return "coalesce(" + alias + ".value, '')";
}

std::string SummarySql::parameter(Parameter value) {
  parameters_.push_back(std::move(value));
  return "$" + std::to_string(parameters_.size());
}

void SummarySql::bind(duckdb::Statement& statement) const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (const auto* text = std::get_if<std::string>(&parameters_[i])) {
      statement.bind_text(i + 1, *text);
    } else if (const auto* at = std::get_if<Instant>(&parameters_[i])) {
      statement.bind_timestamp_ms(i + 1, *at);
    } else {
      statement.bind_date(i + 1, std::get<std::chrono::sys_days>(parameters_[i]));
    }
  }
}

std::string SummarySql::sums() const {
  const std::string zero = "0::HUGEINT";
  const std::string of_device = "p.component IN ('gpu', 'whole')";
  const std::string held = "p.kind IN ('used', 'held_idle') AND p.workload <> ''";
  const auto time = [&](const std::string& when, const char* column) {
    return "sum(CASE WHEN " + of_device + " AND " + when + " THEN " + column + " ELSE " + zero +
           " END)";
  };
  return "sum(p.billed_cost) AS billed, sum(p.effective_cost) AS effective, "
         "sum(p.list_cost) AS list, sum(p.contracted_cost) AS contracted, " +
         time(held, "p.gpu_time") + " AS held, " + time("NOT (" + held + ")", "p.gpu_time") +
         " AS idle, sum(p.memory_time) AS memory, " + time(held, "p.observed_time") +
         " AS observed, count(*)::UBIGINT AS postings";
}

std::string SummarySql::summarise() const {
  std::string select = "SELECT " + bucket_expression(bucket_);
  for (const std::string& key : keys_) select += ", " + key;
  std::string group;
  for (std::size_t i = 1; i <= keys_.size() + 2; ++i) {
    group += (group.empty() ? "" : ", ") + std::to_string(i);
  }
  return select + ", p.currency, " + sums() + kFrom + joins_ + " WHERE " + runs_ + where_ +
         " GROUP BY " + group;
}

std::string SummarySql::scan() const {
  const auto asks_for = [&](const char* dimension) {
    return std::ranges::find(group_by_, dimension) != group_by_.end();
  };
  // A run is identified by its cluster and month; its category says whether there is a line at all.
  if (!joins_charges_ || filters_charges_ || !asks_for("cluster") || !asks_for("month") ||
      !asks_for("category")) {
    return summarise();
  }
  std::string line_columns, same_line, inner, outer, group = "1, 2, 3, 4";
  std::uint64_t grouped = 4;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const std::string name = "k" + std::to_string(i);
    if (group_by_[i] == "billing_month") {
      line_columns += ", c.billing_month AS " + name;
      outer += ", coalesce(l." + name + ", r.month)";
    } else if (is_of_charge(group_by_[i])) {
      line_columns += ", " + keys_[i] + " AS " + name;
      outer += ", coalesce(l." + name + ", '')";
    } else if (group_by_[i] == "cluster" || group_by_[i] == "month") {
      outer += ", " + keys_[i];
      continue;
    } else {
      inner += ", " + keys_[i] + " AS " + name;
      outer += ", s." + name;
      group += ", " + std::to_string(++grouped);
      continue;
    }
    same_line += (same_line.empty() ? "" : " AND ") + ("a." + name + " = b." + name);
  }
  std::string joins = joins_;
  joins.resize(joins.size() - std::string_view(kJoinCharges).size());
  // The two references to runs are written differently, so that the engine does not merge both
  // scans of postings into one and keep its rows: for a month of 3.4 million postings that halves
  // the processor time.
  return "WITH lines AS MATERIALIZED (SELECT c.charge_id" + line_columns +
         " FROM charges c WHERE c.charge_id IN (SELECT p.charge_id FROM postings p WHERE p.run_id "
         "IN (SELECT r.run_id FROM runs r WHERE " +
         runs_ +
         "))), distinct_lines AS MATERIALIZED (SELECT row_number() OVER ()::UINTEGER AS line, * "
         "FROM (SELECT DISTINCT * EXCLUDE (charge_id) FROM lines)), "
         "line_of AS MATERIALIZED (SELECT a.charge_id, b.line FROM lines a JOIN distinct_lines b "
         "ON " +
         same_line + "), sums AS MATERIALIZED (SELECT p.run_id AS run_id, c.line AS line, " +
         bucket_expression(bucket_) + " AS bucket, p.currency AS currency" + inner + ", " + sums() +
         kFrom + joins + " LEFT JOIN line_of c ON c.charge_id = p.charge_id WHERE " + runs_ +
         where_ + " GROUP BY " + group + ") SELECT s.bucket" + outer +
         ", s.currency, s.billed, s.effective, s.list, s.contracted, s.held, s.idle, s.memory, "
         "s.observed, s.postings FROM sums s JOIN runs r ON r.run_id = s.run_id "
         "LEFT JOIN distinct_lines l ON l.line = s.line";
}

std::string SummarySql::largest(std::uint64_t at_most, std::uint64_t skipped) const {
  return "SELECT " + posting_columns("p.") + kFrom + joins_ + " WHERE " + runs_ + where_ +
         // As is_larger(): the cast rounds.
         " ORDER BY abs(p.effective_cost)::DECIMAL(38, 12) DESC, p.day, p.node, p.workload, " +
         posting_order("p.") + " LIMIT " + std::to_string(at_most) + " OFFSET " +
         std::to_string(skipped);
}

std::string posting_order(const std::string& prefix) {
  std::string order;
  const auto add = [&](const std::string& term) { order += (order.empty() ? "" : ", ") + term; };
  add(prefix + "charge_id");
  add("list_position(['gpu', 'cpu', 'memory', 'whole'], " + prefix + "component)");
  for (const char* column : {"day", "node", "gpu", "workload"}) add(prefix + column);
  add("list_position(['used', 'held_idle', 'unallocated', 'stranded', 'overhead', 'unavailable', "
      "'shared'], " +
      prefix + "kind)");
  add(prefix + "posted_from");
  add(prefix + "posted_to");
  add(prefix + "holding_id NULLS FIRST");
  for (const char* column :
       {"weight", "billed_cost", "effective_cost", "list_cost", "contracted_cost", "currency",
        "gpu_time", "memory_time", "observed_time"}) {
    add(prefix + column);
  }
  return order;
}

}  // namespace pennyweight
