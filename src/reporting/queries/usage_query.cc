#include "reporting/queries/usage_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "core/card_share.h"
#include "core/try.h"
#include "ledger/activity_scan.h"
#include "reporting/number_format.h"
#include "reporting/queries/device_health.h"
#include "reporting/queries/holding_dimensions.h"
#include "reporting/queries/holding_selection.h"
#include "reporting/queries/node_price_tiers.h"
#include "reporting/queries/telemetry_source.h"
#include "reporting/queries/usage_report.h"

namespace pennyweight {
namespace {

constexpr std::size_t kUsageRowsMax = 1'000'000;
// Each is read by itself, so that nobody keeps the ledger from others with a question about all
// time.
constexpr std::size_t kUsageDaysMax = 400;
constexpr std::uint64_t kPermille = 1000;
// A counter of energy may be read a day apart, so what is before and after a day matters to it.
constexpr auto kCounterReach = std::chrono::hours(24);

// The energy samples of a cluster around the day that is reported, each read once.
class EnergyWindow {
 public:
  EnergyWindow(Store& store, const ClusterId& cluster, const UsageRules& rules, Instant begin)
      : store_(store), cluster_(cluster), rules_(rules), read_until_(begin - kCounterReach) {}

  Result<void> move_to(const Interval& day, ObservedDay& observed) {
    for (auto& [uuid, card] : cards_) card.forget_before(day.begin());
    const Instant until = day.end() + kCounterReach;
    if (read_until_ < until) {
      const std::chrono::milliseconds shift(rules_.shift_ms);
      const Interval more(read_until_ - shift, until - shift);
      TRY(store_.scan_usage(cluster_, more, UsageDetail::kAll, [&](std::span<const Usage> rows) {
        for (const Usage& row : rows) {
          cards_.try_emplace(row.gpu, rules_).first->second.add(row);
          nodes_.insert_or_assign(row.gpu, row.node);
        }
        return true;
      }));
      read_until_ = until;
    }
    for (const auto& [uuid, card] : cards_) {
      auto segments = card.segments();
      std::erase_if(segments, [&](const EnergySegment& each) {
        return each.end_ms <= unix_ms(day.begin()) || each.begin_ms >= unix_ms(day.end());
      });
      if (!segments.empty()) observed.energy.emplace(uuid, std::move(segments));
    }
    observed.nodes = nodes_;
    return {};
  }

 private:
  Store& store_;
  ClusterId cluster_;
  const UsageRules& rules_;
  Instant read_until_;
  std::map<GpuId, CardEnergy> cards_;
  std::map<GpuId, NodeId> nodes_;
};

Cell ratio(UInt128 part, UInt128 whole) {
  if (whole == 0) return {};
  return Ratio{static_cast<Int128>(part), static_cast<Int128>(whole)};
}

// Utilisation times share times milliseconds is divided by it first, so that it fits a Ratio with
// room to be shown.
Cell mean(UInt128 sum, GpuTime over) {
  if (over == GpuTime()) return {};
  const UInt128 units = multiply_divide(sum, 1, CardShare::kUnitsPerCard).quotient;
  return ratio(units, over.count());
}

// A kilowatt-hour is shown as a GPU-hour is.
Cell energy_of(const UsageMeasures& m) {
  if (m.energy_seen == GpuTime() && m.energy == 0) return {};
  return GpuTime::of(static_cast<UInt128>(std::max<Int128>(m.energy, 0)));
}

void add_measures(Row& row, const UsageMeasures& m) {
  row.emplace_back(m.there);
  row.emplace_back(m.seen);
  row.push_back(mean(m.busy, m.seen));
  const auto p95 = m.p95_permille();
  row.push_back(p95 ? ratio(*p95, kPermille) : Cell());
  row.push_back(m.seen == GpuTime() ? Cell() : ratio(m.peak, CardShare::kUnitsPerCard));
  row.push_back(mean(m.memory, m.memory_seen));
  row.push_back(energy_of(m));
  row.emplace_back(m.energy_seen);
}

Table table_of_usage(const UsageReport& report, const UsageOptions& options) {
  Table table{.title = report.is_of_holders() ? "Usage, by who held it" : "Usage of GPUs",
              .currency = {},
              .columns = {},
              .rows = {},
              .total = {},
              .notes = {}};
  const bool has_step = options.step != UsageStep::kNone;
  if (has_step) table.columns.push_back({"from", "from", ColumnKind::kText});
  for (const std::string& dimension : options.by) {
    table.columns.push_back({dimension, dimension, ColumnKind::kText});
  }
  const auto hours = [&](const char* name, const char* title) {
    table.columns.push_back({name, title, ColumnKind::kGpuHours});
  };
  const auto percent = [&](const char* name, const char* title) {
    table.columns.push_back({name, title, ColumnKind::kPercent});
  };
  hours("gpu_hours", "GPU-hours");
  hours("seen_hours", "seen");
  percent("utilization", "utilisation");
  percent("utilization_p95", "95 % at or below");
  percent("utilization_peak", "peak");
  percent("memory_used", "memory");
  hours("energy_kwh", "kWh");
  hours("energy_seen_hours", "energy seen");
  for (const auto& [key, measures] : report.rows()) {
    Row row;
    if (has_step) row.emplace_back(key.bucket);
    for (const std::string& value : key.keys) row.emplace_back(value);
    add_measures(row, measures);
    table.rows.push_back(std::move(row));
  }
  if (has_step || !options.by.empty()) {
    Row total;
    for (std::size_t i = 0; i < options.by.size() + (has_step ? 1 : 0); ++i) {
      total.emplace_back(i == 0 ? Cell("total") : Cell());
    }
    add_measures(total, report.total());
    table.total = std::move(total);
  }
  if (report.without_gpu() > 0) {
    table.notes.push_back(fmt::format(
        "{} only a pool, on some day: which GPUs they had is not known, so what those took is "
        "nobody's here",
        report.without_gpu() == 1 ? "1 holding names"
                                  : fmt::format("{} holdings name", report.without_gpu())));
  }
  return table;
}

Result<UsageOptions> usage_options(const UsageQuery& params, const Policy& policy) {
  UsageOptions options{.by = {}, .filters = {}, .rows_max = kUsageRowsMax};
  const std::vector<std::string> further = usage_dimensions();
  for (const std::string& text : params.by) {
    for (std::string& name : split_list(text)) {
      TRY(check_holding_dimension(name, policy, further));
      options.by.push_back(std::move(name));
    }
  }
  for (const std::string& text : params.filters) {
    auto filter = TRY(parse_holding_filter(text, policy, further));
    options.filters.push_back(std::move(filter));
  }
  options.filters.insert(options.filters.end(), params.scope.begin(), params.scope.end());
  const auto step = parse_usage_step(params.step);
  if (!step) {
    return fail(ErrorCode::kBadValue,
                fmt::format("there is no step '{}'; use none, minute, hour, day, week or month",
                            params.step));
  }
  options.step = *step;
  return options;
}

// Whether a sample may say anything of the range. Reading a day costs some queries even where there
// is none.
Result<bool> has_telemetry(Store& store, const ClusterId& cluster, const UsageRules& rules,
                           const Interval& range) {
  const std::chrono::milliseconds shift(rules.shift_ms);
  const std::chrono::milliseconds reach = std::max<std::chrono::milliseconds>(
      {std::chrono::milliseconds(rules.hold_ms()), std::chrono::milliseconds(kUsageSpanMaxMs),
       kCounterReach});
  const Interval around(range.begin() - reach - shift, range.end() + reach - shift);
  const bool may_have = TRY(has_usage_after(store, cluster, around, 0));
  // A store that can't tell at once says yes.
  if (!may_have || dynamic_cast<ActivityScanner*>(&store) != nullptr) return may_have;
  bool found = false;
  TRY(store.scan_usage(cluster, around, UsageDetail::kAll, [&](std::span<const Usage> some) {
    found = found || !some.empty();
    return !found;
  }));
  return found;
}

Result<void> add_days(Store& store, const ClusterId& cluster, const Policy& policy,
                      const Interval& range, const std::vector<Gpu>& gpus, bool observed_only,
                      UsageReport& report) {
  std::vector<Gpu> of_cluster;
  std::ranges::copy_if(gpus, std::back_inserter(of_cluster),
                       [&](const Gpu& gpu) { return gpu.cluster == cluster; });
  const bool is_observed = TRY(has_telemetry(store, cluster, policy.usage, range));
  if (!is_observed && observed_only) return {};
  const UtilizationSource source = telemetry_source(store, cluster, of_cluster, policy.usage);
  EnergyWindow energy(store, cluster, policy.usage, range.begin());
  for (const Interval& day : cut_by_day(range, policy.time_zone)) {
    ObservedDay observed{.cluster = cluster,
                         .during = day,
                         .utilization = {.during = day, .series = {}, .placed = {}},
                         .energy = {},
                         .nodes = {}};
    if (is_observed) {
      observed.utilization = TRY(source(day));
      TRY(energy.move_to(day, observed));
    }
    std::vector<Holding> holdings;
    if (report.is_of_holders()) {
      TRY(store.scan_holdings(cluster, day, [&](std::span<const Holding> some) {
        holdings.insert(holdings.end(), some.begin(), some.end());
        return true;
      }));
    }
    report.add_day(observed, holdings);
    if (report.has_too_many()) {
      return fail(ErrorCode::kLimit,
                  fmt::format("more than {} rows; ask for fewer days, a longer step, fewer "
                              "dimensions or a filter",
                              kUsageRowsMax));
    }
  }
  return {};
}

Result<Table> query_health(Store& store, const UsageQuery& params, const UsageOptions& options,
                           const Policy& policy, const std::optional<Interval>& range) {
  const bool is_of_events = params.show == "events";
  if (!is_of_events && params.show != "health") {
    return fail(ErrorCode::kBadValue,
                fmt::format("'{}' can't be shown; use use, health or events", params.show));
  }
  // A GPU is not its holder's alone, before and after.
  if (!params.scope.empty()) {
    return fail(ErrorCode::kBadValue,
                "the health of GPUs is not shown by who held them; whose access is limited to a "
                "scope can't ask for it");
  }
  DeviceHealthQuery query{.by = options.by,
                          .filters = options.filters,
                          .step = options.step,
                          .events_only = is_of_events};
  if (query.by == std::vector<std::string>{"gpu"}) query.by = {"cluster", "node", "gpu"};
  return query_device_health(store, query, policy, range);
}

}  // namespace

std::vector<std::string> usage_dimensions() { return {"gpu", "instance"}; }

Result<Table> query_usage(Store& store, const UsageQuery& params, const Policy& policy,
                          Instant now) {
  const auto options = TRY(usage_options(params, policy));
  const auto days = TRY(local_range(params.dates, policy.time_zone));
  if (!days.from) {
    return fail(ErrorCode::kBadValue,
                "name the days: a month, or a first day and, unless it is today, a last day");
  }
  const auto range = Interval::of(*days.from, std::min(days.to.value_or(now), now));
  constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24) * (kUsageDaysMax + 1);
  if (range && range->end() - range->begin() > kLongest) {
    return fail(ErrorCode::kBadValue,
                fmt::format("from {} to {} are more than {} days, the most whose telemetry is read "
                            "at once; ask for fewer",
                            to_text(range->begin()), to_text(range->end()), kUsageDaysMax));
  }
  if (params.show != "use") return query_health(store, params, options, policy, range);
  const auto nodes = TRY(store.nodes());
  const auto gpus = TRY(store.gpus());
  const auto overview = TRY(store.overview());
  UsageReport report(options, policy, nodes, gpus);
  if (needs_price_tiers(options.by, options.filters)) {
    auto tiers = TRY(billed_price_tiers(store, days.from, days.to, policy.time_zone));
    report.set_price_tiers(std::move(tiers));
  }
  const bool has_instance = std::ranges::find(options.by, "instance") != options.by.end() ||
                            std::ranges::find(options.filters, "instance",
                                              &SummaryFilter::dimension) != options.filters.end();
  if (report.is_of_holders() && has_instance) {
    return fail(ErrorCode::kBadValue,
                "'instance' is of devices; use it with gpu, node and the like, without workloads "
                "and their owners");
  }
  std::set<std::string> clusters(overview.clusters.begin(), overview.clusters.end());
  for (const Gpu& gpu : gpus) clusters.insert(gpu.cluster.text());
  if (range) {
    for (const std::string& cluster : clusters) {
      TRY(add_days(store, ClusterId(cluster), policy, *range, gpus, params.observed_only, report));
    }
  }
  return table_of_usage(report, options);
}

}  // namespace pennyweight
