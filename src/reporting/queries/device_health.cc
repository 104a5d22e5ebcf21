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
#include <vector>

#include "core/int128.h"
#include "core/try.h"
#include "ledger/usage.h"
#include "ledger/usage_summary.h"

namespace pennyweight {
namespace {

constexpr std::array<std::string_view, 5> kDeviceDimensions = {"cluster", "node", "gpu", "instance",
                                                               "gpu_model"};

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
  std::uint64_t weight = 0;   // 0: no value came
  std::uint64_t extreme = 0;  // the most, or the last
  bool is_left_out = false;   // a MIG instance's came, which is not its card's

  Cell cell(UsageCombining how) const {
    if (weight == 0 || is_left_out) return {};
    switch (how) {
      case UsageCombining::kMean:
        return static_cast<std::uint64_t>((sum + weight / 2) / weight);
      case UsageCombining::kMost:
        return extreme;
      case UsageCombining::kSum:
        return static_cast<std::uint64_t>(sum);
      case UsageCombining::kLast:
        return extreme == 0 ? Cell() : Cell(extreme);
      case UsageCombining::kNever:
        return {};
    }
    return {};
  }
};

struct HealthRow {
  std::vector<HealthNumber> numbers;  // of those that are listed
  std::uint64_t hottest = 0;          // the highest temperature of a span or a reading
  Instant last_at = kInstantMin;      // of the last XID
};

// A number that the table has.
struct Listed {
  const UsageNumber* number;
  const UsageSummaryRule* rule;
};

class DeviceHealth {
 public:
  DeviceHealth(const DeviceHealthQuery& query, const TimeZone& zone) : query_(query), zone_(zone) {
    for (std::size_t i = 0; i < kUsageNumbers.size(); ++i) {
      const UsageSummaryRule& rule = kUsageSummaryRules[i];
      if (rule.combining == UsageCombining::kNever) continue;
      if (query.events_only && !rule.is_of_event) continue;
      listed_.push_back({&kUsageNumbers[i], &rule});
    }
    // One instance of a card is meant.
    names_instance_ =
        std::ranges::find(query.by, "instance") != query.by.end() ||
        std::ranges::any_of(query.filters, [](const SummaryFilter& filter) {
          return filter.dimension == "instance" && !filter.negate && filter.values.size() == 1;
        });
  }

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
    add(usage, at, rows_[std::move(key)]);
  }
  bool is_too_long() const { return rows_.size() > query_.rows_max; }

  // Takes the rows away as it goes, so that they are not there twice.
  Table take_table() {
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
    for (const Listed& each : listed_) {
      table.columns.push_back(
          {each.number->column, std::string(each.number->label), ColumnKind::kCount});
    }
    if (!query_.events_only) {
      table.columns.push_back({"temperature_peak_celsius", "hottest C", ColumnKind::kCount});
    }
    bool is_left_out = false;
    table.rows.reserve(rows_.size());
    while (!rows_.empty()) {
      const auto node = rows_.extract(rows_.begin());
      const HealthRow& row = node.mapped();
      Row cells;
      cells.reserve(table.columns.size());
      if (has_time) cells.emplace_back(node.key().bucket);
      for (const std::string& value : node.key().keys) cells.emplace_back(value);
      for (std::size_t i = 0; i < listed_.size(); ++i) {
        cells.push_back(row.numbers[i].cell(listed_[i].rule->combining));
        is_left_out = is_left_out || row.numbers[i].is_left_out;
      }
      if (!query_.events_only) cells.push_back(row.hottest == 0 ? Cell() : Cell(row.hottest));
      table.rows.push_back(std::move(cells));
    }
    if (is_left_out) {
      table.notes.emplace_back(
          "memory and activity are each MIG instance's own: where GPUs have instances, those "
          "columns are empty unless 'instance' is one of the dimensions");
    }
    return table;
  }

 private:
  void add(const Usage& usage, Instant at, HealthRow& row) const {
    const std::uint64_t ms = std::max<std::uint64_t>(1, usage.span_ms);
    const bool is_part = !usage.mig_instance.empty() && !names_instance_;
    if (row.numbers.empty()) row.numbers.resize(listed_.size());
    for (std::size_t i = 0; i < listed_.size(); ++i) {
      const auto& value = usage.*listed_[i].number->field;
      if (!value) continue;
      HealthNumber& number = row.numbers[i];
      if (is_part && listed_[i].rule->is_of_instance) {
        number.is_left_out = true;
        continue;
      }
      number.weight += ms;
      switch (listed_[i].rule->combining) {
        case UsageCombining::kMean:
          number.sum += UInt128{*value} * ms;
          break;
        case UsageCombining::kMost:
          number.extreme = std::max(number.extreme, *value);
          break;
        case UsageCombining::kSum:
          number.sum += *value;
          break;
        case UsageCombining::kLast:
          if (at >= row.last_at) number.extreme = *value;
          row.last_at = std::max(row.last_at, at);
          break;
        case UsageCombining::kNever:
          break;
      }
    }
    row.hottest = std::max(row.hottest, usage.temperature_celsius.value_or(0));
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
  std::vector<Listed> listed_;
  bool names_instance_ = false;
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
  for (const std::string& cluster : clusters) {
    if (!range) break;
    for (const Interval& day : cut_by_day(*range, policy.time_zone)) {
      TRY(store.scan_usage(ClusterId(cluster), Interval(day.begin() - shift, day.end() - shift),
                           UsageDetail::kAll, [&](std::span<const Usage> some) {
                             for (const Usage& usage : some) {
                               const Instant at = usage.at + shift;
                               if (day.begin() <= at && at < day.end()) health.add(usage, at);
                               if (health.is_too_long()) return false;
                             }
                             return true;
                           }));
      if (health.is_too_long()) {
        return fail(ErrorCode::kLimit,
                    fmt::format("the health of GPUs is told in at most {} rows, and these are "
                                "more; ask for {}fewer GPUs by a filter, or for a shorter time",
                                query.rows_max,
                                query.events_only ? "" : "a longer step, fewer dimensions, "));
      }
    }
  }
  return health.take_table();
}

}  // namespace pennyweight
