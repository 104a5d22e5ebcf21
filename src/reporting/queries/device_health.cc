#include "reporting/queries/device_health.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/int128.h"
#include "core/try.h"
#include "ledger/usage.h"

namespace pennyweight {
namespace {

constexpr std::size_t kHealthRowsMax = 1'000'000;
constexpr std::array<std::string_view, 5> kDeviceDimensions = {"cluster", "node", "gpu", "instance",
                                                               "gpu_model"};

enum class Combining { kMean, kMost, kSum, kLast };

Combining combining_of(const UsageNumber& number) {
  const std::string_view name = number.column;
  if (number.is_sum) return Combining::kSum;
  if (name == "last_xid") return Combining::kLast;
  return name.contains("_max_") || name == "memory_total_bytes" ? Combining::kMost
                                                                : Combining::kMean;
}

// A counter since the driver was loaded says nothing of a time; what was used in it has its own
// number.
bool is_shown(const UsageNumber& number) {
  return std::string_view(number.column) != "energy_millijoules";
}

bool is_of_events(const UsageNumber& number) {
  const std::string_view name = number.column;
  return name == "xid_errors" || name == "last_xid" || name == "ecc_errors" ||
         name == "throttled_ms";
}

bool has_event(const Usage& usage) {
  return usage.xid_errors.value_or(0) > 0 || usage.ecc_errors.value_or(0) > 0 ||
         usage.throttled_ms.value_or(0) > 0;
}

const std::string& value_of(std::string_view dimension, const Usage& usage) {
  if (dimension == "cluster") return usage.cluster.text();
  if (dimension == "node") return usage.node.text();
  if (dimension == "gpu") return usage.gpu.text();
  if (dimension == "instance") return usage.mig_instance;
  return usage.model;
}

// One number of a row, so far.
struct HealthNumber {
  UInt128 sum = 0;
  UInt128 weight = 0;  // 0: no value came
  std::uint64_t most = 0;
  std::uint64_t last = 0;
  Instant last_at = kInstantMin;

  void add(std::uint64_t value, std::uint64_t ms, Instant at) {
    sum += UInt128{value} * ms;
    weight += ms;
    most = std::max(most, value);
    if (at >= last_at) last = value;
    last_at = std::max(last_at, at);
  }
  Cell cell(Combining how, UInt128 total) const {
    if (weight == 0) return {};
    switch (how) {
      case Combining::kMean:
        return static_cast<std::uint64_t>((sum + weight / 2) / weight);
      case Combining::kMost:
        return most;
      case Combining::kSum:
        return static_cast<std::uint64_t>(total);
      case Combining::kLast:
        return last == 0 ? Cell() : Cell(last);
    }
    return {};
  }
};

struct HealthRow {
  std::array<HealthNumber, kUsageNumbers.size()> numbers = {};
  std::array<UInt128, kUsageNumbers.size()> totals = {};
  std::uint64_t hottest = 0;  // the highest temperature of a span or a reading

  void add(const Usage& usage, Instant at) {
    const std::uint64_t ms = std::max<std::uint64_t>(1, usage.span_ms);
    for (std::size_t i = 0; i < kUsageNumbers.size(); ++i) {
      const auto& value = usage.*kUsageNumbers[i].field;
      if (!value) continue;
      numbers[i].add(*value, ms, at);
      totals[i] += *value;
    }
    hottest = std::max(hottest, usage.temperature_celsius.value_or(0));
  }
};

class DeviceHealth {
 public:
  DeviceHealth(const DeviceHealthQuery& query, const TimeZone& zone) : query_(query), zone_(zone) {}

  void add(const Usage& usage, Instant at) {
    // What a container used is its own.
    if (usage.of_workload || (query_.events_only && !has_event(usage))) return;
    for (const SummaryFilter& filter : query_.filters) {
      const bool is_listed = std::ranges::find(filter.values, value_of(filter.dimension, usage)) !=
                             filter.values.end();
      if (is_listed == filter.negate) return;
    }
    UsageKey key{.bucket = bucket_of(at), .keys = {}};
    for (const std::string& dimension : query_.by) key.keys.push_back(value_of(dimension, usage));
    rows_[std::move(key)].add(usage, at);
  }
  std::size_t size() const { return rows_.size(); }

  Table table() const {
    Table table{.title = query_.events_only ? "What went wrong with GPUs" : "Health of GPUs",
                .currency = {},
                .columns = {},
                .rows = {},
                .total = {},
                .notes = {}};
    const bool has_time = query_.events_only || query_.step != UsageStep::kNone;
    if (has_time) table.columns.push_back({"from", "from", ColumnKind::kText});
    for (const std::string& dimension : query_.by) {
      table.columns.push_back({dimension, dimension, ColumnKind::kId});
    }
    for (const UsageNumber& number : kUsageNumbers) {
      if (!is_listed(number)) continue;
      table.columns.push_back({number.column, std::string(number.label), ColumnKind::kCount});
    }
    if (!query_.events_only) {
      table.columns.push_back({"temperature_peak_celsius", "hottest C", ColumnKind::kCount});
    }
    for (const auto& [key, row] : rows_) {
      Row cells;
      if (has_time) cells.emplace_back(key.bucket);
      for (const std::string& value : key.keys) cells.emplace_back(value);
      for (std::size_t i = 0; i < kUsageNumbers.size(); ++i) {
        if (!is_listed(kUsageNumbers[i])) continue;
        cells.push_back(row.numbers[i].cell(combining_of(kUsageNumbers[i]), row.totals[i]));
      }
      if (!query_.events_only) cells.push_back(row.hottest == 0 ? Cell() : Cell(row.hottest));
      table.rows.push_back(std::move(cells));
    }
    return table;
  }

 private:
  bool is_listed(const UsageNumber& number) const {
    return is_shown(number) && (!query_.events_only || is_of_events(number));
  }
  std::string bucket_of(Instant at) const {
    if (query_.events_only) return to_text(at);
    switch (query_.step) {
      case UsageStep::kNone:
        return "";
      case UsageStep::kMinute:
        return to_text(std::chrono::floor<std::chrono::minutes>(at));
      case UsageStep::kHour:
        return to_text(std::chrono::floor<std::chrono::hours>(at));
      case UsageStep::kDay:
        return local_date(start_of_day(at, zone_), zone_);
      case UsageStep::kWeek:
        return local_date(start_of_week(at, zone_), zone_);
      case UsageStep::kMonth:
        return local_date(start_of_month(at, zone_), zone_);
    }
    return "";
  }

  const DeviceHealthQuery& query_;
  const TimeZone& zone_;
  std::map<UsageKey, HealthRow> rows_;
};

Result<void> check_dimension(const std::string& name) {
  if (std::ranges::find(kDeviceDimensions, name) != kDeviceDimensions.end()) return {};
  return fail(ErrorCode::kBadValue,
              fmt::format("the health of GPUs is not known by '{}'; use cluster, node, gpu, "
                          "instance or gpu_model",
                          name));
}

}  // namespace

Result<Table> query_device_health(Store& store, const DeviceHealthQuery& query,
                                  const Policy& policy, const std::optional<Interval>& range) {
  for (const std::string& name : query.by) TRY(check_dimension(name));
  for (const SummaryFilter& filter : query.filters) TRY(check_dimension(filter.dimension));
  if (query.events_only && query.step != UsageStep::kNone) {
    return fail(ErrorCode::kBadValue, "events have their own times; leave out the step");
  }
  const std::chrono::milliseconds shift(policy.usage.shift_ms);
  const auto overview = TRY(store.overview());
  const auto gpus = TRY(store.gpus());
  std::set<std::string> clusters(overview.clusters.begin(), overview.clusters.end());
  for (const Gpu& gpu : gpus) clusters.insert(gpu.cluster.text());
  DeviceHealth health(query, policy.time_zone);
  bool is_too_long = false;
  for (const std::string& cluster : clusters) {
    if (!range) break;
    for (const Interval& day : cut_by_day(*range, policy.time_zone)) {
      TRY(store.scan_usage(ClusterId(cluster), Interval(day.begin() - shift, day.end() - shift),
                           UsageDetail::kAll, [&](std::span<const Usage> some) {
                             for (const Usage& usage : some) {
                               const Instant at = usage.at + shift;
                               if (day.begin() <= at && at < day.end()) health.add(usage, at);
                             }
                             is_too_long = health.size() > kHealthRowsMax;
                             return !is_too_long;
                           }));
      if (is_too_long) {
        return fail(ErrorCode::kLimit,
                    fmt::format("more than {} rows; ask for fewer days, a longer step, fewer "
                                "dimensions or a filter",
                                kHealthRowsMax));
      }
    }
  }
  return health.table();
}

}  // namespace pennyweight
