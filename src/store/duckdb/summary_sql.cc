#include "store/duckdb/summary_sql.h"

#include <array>
#include <utility>

#include "store/duckdb/fact_table.h"

namespace pennyweight {
namespace {

struct BuiltIn {
  const char* dimension;
  const char* expression;
  bool of_charge;  // it stands in the charge, not in the posting or its run
};
constexpr std::array kBuiltIns = {
    BuiltIn{"cluster", "r.cluster", false},
    BuiltIn{"month", "r.month", false},
    BuiltIn{"kind", "p.kind", false},
    BuiltIn{"component", "p.component", false},
    BuiltIn{"node", "p.node", false},
    BuiltIn{"gpu", "p.gpu", false},
    BuiltIn{"workload", "p.workload", false},
    BuiltIn{"currency", "p.currency", false},
    BuiltIn{"charge", "replace(p.charge_id::VARCHAR, '-', '')", false},
    BuiltIn{"service", "coalesce(c.service_name, '')", true},
    BuiltIn{"category", "coalesce(c.charge_category, '')", true},
    BuiltIn{"pricing", "coalesce(c.pricing_category, '')", true},
    BuiltIn{"instance_type", "coalesce(c.instance_type, '')", true},
    BuiltIn{"region", "coalesce(c.region_id, '')", true},
    BuiltIn{"account", "coalesce(c.billing_account_id, '')", true},
    BuiltIn{"sub_account", "coalesce(c.sub_account_id, '')", true},
    BuiltIn{"resource", "coalesce(c.resource_id, '')", true},
};
static_assert(kBuiltIns.size() == std::size(kBuiltInDimensions), "every dimension has its column");

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

constexpr const char* kFrom = " FROM postings p JOIN runs r ON r.run_id = p.run_id";

}  // namespace

SummarySql::SummarySql(const SummaryQuery& query) : bucket_(query.bucket) {
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
    where_ +=
        " AND " + value_of(filter.dimension) + (filter.negate ? " NOT IN (" : " IN (") + list + ")";
  }
  if (joins_charges_) joins_ += " LEFT JOIN charges c ON c.charge_id = p.charge_id";
}

std::string SummarySql::value_of(const std::string& dimension) {
  for (const BuiltIn& built_in : kBuiltIns) {
    if (dimension != built_in.dimension) continue;
    joins_charges_ |= built_in.of_charge;
    return built_in.expression;
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

std::string SummarySql::parameter(std::variant<std::string, std::chrono::sys_days> value) {
  parameters_.push_back(std::move(value));
  return "$" + std::to_string(parameters_.size());
}

void SummarySql::bind(duckdb::Statement& statement) const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (const auto* text = std::get_if<std::string>(&parameters_[i])) {
      statement.bind_text(i + 1, *text);
    } else {
      statement.bind_date(i + 1, std::get<std::chrono::sys_days>(parameters_[i]));
    }
  }
}

std::string SummarySql::summarise() const {
  std::string select = "SELECT " + bucket_expression(bucket_);
  for (const std::string& key : keys_) select += ", " + key;
  select +=
      ", p.currency, sum(p.billed_cost), sum(p.effective_cost), sum(p.list_cost), "
      "sum(p.contracted_cost), ";
  const std::string zero = "0::HUGEINT";
  const std::string of_device = "p.component IN ('gpu', 'whole')";
  const std::string held = "p.kind IN ('used', 'held_idle') AND p.workload <> ''";
  const auto time = [&](const std::string& when, const char* column) {
    return "sum(CASE WHEN " + of_device + " AND " + when + " THEN " + column + " ELSE " + zero +
           " END), ";
  };
  select += time(held, "p.gpu_time") + time("NOT (" + held + ")", "p.gpu_time") +
            "sum(p.memory_time), " + time(held, "p.observed_time") + "count(*)::UBIGINT";
  std::string group;
  for (std::size_t i = 1; i <= keys_.size() + 2; ++i) {
    group += (group.empty() ? "" : ", ") + std::to_string(i);
  }
  return select + kFrom + joins_ + " WHERE " + where_ + " GROUP BY " + group;
}

std::string SummarySql::largest(std::uint64_t at_most) const {
  return "SELECT " + posting_columns("p.") + kFrom + joins_ + " WHERE " + where_ +
         " ORDER BY abs(p.effective_cost) DESC, p.day, p.node, p.workload, " + posting_order("p.") +
         " LIMIT " + std::to_string(at_most);
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
