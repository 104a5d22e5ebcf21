#include "insight/queries/incident_cause.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <span>

#include "core/int128.h"
#include "core/try.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

// Of some days: what their GPU time costs by list prices, and on how many nodes it was.
struct MachineDays {
  Int128 list = 0;
  UInt128 time = 0;
  std::int64_t node_days = 0;
  std::int64_t days = 0;
};

Result<MachineDays> read_machine_days(SummaryQuery query,
                                      std::span<const std::pair<Date, Date>> spans,
                                      const SummarySource& summarise) {
  MachineDays sum;
  for (const auto& [first, last] : spans) {
    query.first_day = first;
    query.last_day = last;
    sum.days += (last - first).count() + 1;
    const auto rows = TRY(summarise(query));
    for (const SummaryRow& row : rows) {
      const UInt128 time = row.gpu_time.count() + row.idle_time.count();
      if (time == 0) continue;
      sum.list += row.costs.list.ticks();
      sum.time += time;
      if (!row.keys.front().empty() && row.gpu_time.count() > 0) ++sum.node_days;
    }
  }
  return sum;
}

// " (8 more nodes)", of the means of a day.
std::string nodes_text(const MachineDays& before, const MachineDays& after) {
  const std::int64_t parts = before.days * after.days;
  const std::int64_t more = after.node_days * before.days - before.node_days * after.days;
  const std::int64_t size = more < 0 ? -more : more;
  const auto whole = static_cast<std::uint64_t>((size + parts / 2) / parts);
  if (whole == 0) return "";
  const bool is_exact = size % parts == 0;
  return fmt::format(" ({}{} {} {})", is_exact ? "" : "about ", whole, more < 0 ? "fewer" : "more",
                     whole == 1 ? "node" : "nodes");
}

// ", list price +5.2 %"
std::string list_price_text(const MachineDays& before, const MachineDays& after) {
  if (before.time == 0 || after.time == 0 || before.list <= 0 || after.list <= 0) return "";
  // What the time after would cost at the old price.
  const auto old =
      multiply_divide(static_cast<UInt128>(before.list), after.time, before.time).quotient;
  if (old == 0) return "";
  const bool is_higher = static_cast<UInt128>(after.list) > old;
  const UInt128 change =
      is_higher ? static_cast<UInt128>(after.list) - old : old - static_cast<UInt128>(after.list);
  if (change / 1'000 > old) return "";  // a price from nothing is no change of it
  const auto permille = static_cast<std::uint64_t>(multiply_divide(change, 1000, old).quotient);
  if (permille == 0) return ", list price unchanged";
  return fmt::format(", list price {}{}.{} %", is_higher ? "+" : "-", permille / 10, permille % 10);
}

}  // namespace

Result<std::string> describe_incident_cause(const IncidentCauseQuery& query,
                                            const SummarySource& summarise) {
  SummaryQuery summary;
  summary.bucket = TimeBucket::kDay;
  summary.group_by = {"node"};
  summary.filters = query.filters;
  const MachineDays after = TRY(read_machine_days(summary, query.days, summarise));
  const MachineDays before = TRY(read_machine_days(summary, query.before, summarise));
  if (after.days == 0 || before.days == 0) return std::string();
  return nodes_text(before, after) + list_price_text(before, after);
}

}  // namespace pennyweight
