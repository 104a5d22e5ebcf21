#include "reporting/queries/activity_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "core/billing_period.h"
#include "core/card_share.h"
#include "core/try.h"
#include "reporting/number_format.h"
#include "reporting/queries/activity.h"
#include "reporting/queries/costs.h"
#include "reporting/queries/holding_selection.h"
#include "reporting/queries/host_usage_day.h"
#include "reporting/queries/node_price_tiers.h"
#include "reporting/queries/usage_query.h"

namespace pennyweight {
namespace {

constexpr std::string_view kActivityReport = "activity";
constexpr std::string_view kMeasures = "measures";
constexpr std::string_view kEfficiency = "efficiency";
constexpr std::string_view kXdmodJobs = "xdmod:jobs";
constexpr std::string_view kClusterUtilization = "sreport:cluster-utilization";
constexpr std::string_view kUserByAccount = "sreport:UserUtilizationByAccount";
constexpr std::string_view kAccountByUser = "sreport:AccountUtilizationByUser";
constexpr std::string_view kSizesByAccount = "sreport:SizesByAccount";

// Tables show hours as GPU time; a node-hour or a core-hour is shown as a GPU-hour would be.
GpuTime hours_of_ms(UInt128 units_ms) { return GpuTime::of(units_ms * CardShare::kUnitsPerCard); }
GpuTime hours_of_milli(UInt128 milli_ms) {
  return GpuTime::of(milli_ms * (CardShare::kUnitsPerCard / 1000));
}
constexpr Int128 kMsOfAnHour = 3'600'000;
Ratio gib_hours(UInt128 byte_ms) {
  return {static_cast<Int128>(byte_ms), (Int128{1} << 30) * kMsOfAnHour};
}

// Whole minutes, half to even, as sreport rounds them.
std::uint64_t minutes_of(UInt128 units_ms, std::uint64_t units) {
  const UInt128 minute = UInt128{60'000} * units;
  const UInt128 whole = units_ms / minute, rest = units_ms % minute;
  const bool up = rest * 2 > minute || (rest * 2 == minute && whole % 2 == 1);
  return static_cast<std::uint64_t>(whole + (up ? 1 : 0));
}
std::uint64_t cpu_minutes(UInt128 milli_ms) { return minutes_of(milli_ms, 1000); }
std::uint64_t gpu_minutes(GpuTime time) {
  return minutes_of(time.count(), CardShare::kUnitsPerCard);
}

Ratio per_job(GpuTime all, std::uint64_t jobs) {
  if (jobs == 0) return {0, 1};
  return {static_cast<Int128>(all.count()), static_cast<Int128>(kGpuHour.count()) * Int128{jobs}};
}

// A measure as a column of a table.
struct MeasureColumn {
  Column column;
  Cell (*cell)(const ActivityMeasures&);
};

using M = ActivityMeasures;

Column hours_column(const char* name, const char* title) {
  return {name, title, ColumnKind::kGpuHours};
}
Column count_column(const char* name, const char* title) {
  return {name, title, ColumnKind::kCount};
}

// From submission to begin, of the jobs that began; empty where none says when it was submitted.
Cell cell_of_wait(const M& m) { return m.waited == 0 ? Cell() : Cell(hours_of_ms(m.wait)); }
Cell cell_of_mean_wait(const M& m) {
  return m.waited == 0 ? Cell() : Cell(per_job(hours_of_ms(m.wait), m.waited));
}

std::vector<MeasureColumn> columns_of_activity(bool has_capacity) {
  std::vector<MeasureColumn> columns = {
      {count_column("jobs_started", "started"), [](const M& m) -> Cell { return m.started; }},
      {count_column("jobs_ended", "ended"), [](const M& m) -> Cell { return m.ended; }},
      {count_column("jobs_running", "running"), [](const M& m) -> Cell { return m.running; }},
      {count_column("jobs_never_started", "never started"),
       [](const M& m) -> Cell { return m.never_started; }},
      {hours_column("gpu_hours", "GPU-hours"), [](const M& m) -> Cell { return m.gpu; }},
      {hours_column("device_hours", "device-hours"),
       [](const M& m) -> Cell { return hours_of_ms(m.devices); }},
      {hours_column("cpu_hours", "CPU-hours"),
       [](const M& m) -> Cell { return hours_of_milli(m.cpu_milli); }},
      {hours_column("memory_gib_hours", "memory GiB-hours"),
       [](const M& m) -> Cell { return gib_hours(m.memory_bytes); }},
      {hours_column("gpu_memory_gib_hours", "GPU memory GiB-hours"),
       [](const M& m) -> Cell { return gib_hours(m.gpu_memory.count()); }},
      {hours_column("node_hours", "node-hours"),
       [](const M& m) -> Cell { return hours_of_ms(m.nodes); }},
      {hours_column("wall_hours", "wall-hours"),
       [](const M& m) -> Cell { return hours_of_ms(m.wall); }},
      {hours_column("wait_hours", "waited"), cell_of_wait},
      {hours_column("wait_hours_mean", "mean wait"), cell_of_mean_wait},
      {count_column("tasks_started", "tasks"),
       [](const M& m) -> Cell { return m.with_tasks == 0 ? Cell() : Cell(m.tasks); }}};
  if (!has_capacity) return columns;
  columns.push_back({hours_column("gpu_capacity_hours", "of GPU-hours"),
                     [](const M& m) -> Cell { return m.gpu_capacity; }});
  columns.push_back({hours_column("cpu_capacity_hours", "of CPU-hours"),
                     [](const M& m) -> Cell { return hours_of_milli(m.cpu_milli_capacity); }});
  columns.push_back({hours_column("node_capacity_hours", "of node-hours"),
                     [](const M& m) -> Cell { return hours_of_ms(m.node_capacity); }});
  return columns;
}

Cell efficiency(UInt128 used, UInt128 requested) {
  if (requested == 0) return {};
  return Ratio{static_cast<Int128>(used), static_cast<Int128>(requested)};
}

// Requested beside used, in the time whose use is known.
std::vector<MeasureColumn> columns_of_efficiency() {
  const auto percent_column = [](const char* name, const char* title) {
    return Column{name, title, ColumnKind::kPercent};
  };
  return {{count_column("jobs_running", "running"), [](const M& m) -> Cell { return m.running; }},
          {hours_column("cpu_hours", "CPU-hours"),
           [](const M& m) -> Cell { return hours_of_milli(m.cpu_milli); }},
          {hours_column("cpu_hours_known", "with known use"),
           [](const M& m) -> Cell { return hours_of_milli(m.cpu_milli_known); }},
          {hours_column("cpu_hours_used", "used"),
           [](const M& m) -> Cell { return hours_of_ms(m.cpu_used); }},
          {percent_column("cpu_efficiency", "CPU efficiency"),
           [](const M& m) -> Cell {
             return efficiency(m.cpu_used_of_requested * 1000, m.cpu_milli_known);
           }},
          {hours_column("memory_gib_hours", "memory GiB-hours"),
           [](const M& m) -> Cell { return gib_hours(m.memory_bytes); }},
          {hours_column("memory_gib_hours_known", "with known use"),
           [](const M& m) -> Cell { return gib_hours(m.memory_bytes_known); }},
          {hours_column("memory_gib_hours_used", "used"),
           [](const M& m) -> Cell { return gib_hours(m.memory_used * 1024); }},
          {percent_column("memory_efficiency", "memory efficiency"),
           [](const M& m) -> Cell {
             return efficiency(m.memory_used_of_requested * 1024, m.memory_bytes_known);
           }},
          {hours_column("memory_gib_hours_peak", "peak"),
           [](const M& m) -> Cell { return gib_hours(m.memory_peak * 1024); }},
          {hours_column("memory_gib_hours_peak_known", "with known peak"),
           [](const M& m) -> Cell { return gib_hours(m.memory_bytes_peak_known); }},
          {percent_column("memory_peak_efficiency", "peak of memory"), [](const M& m) -> Cell {
             return efficiency(m.memory_peak_of_requested * 1024, m.memory_bytes_peak_known);
           }}};
}

// The statistics of Open XDMoD's realm Jobs, under its own names.
std::vector<MeasureColumn> columns_of_xdmod() {
  return {{count_column("job_count", "Number of Jobs Ended"),
           [](const M& m) -> Cell { return m.ended - m.never_started; }},
          {count_column("started_job_count", "Number of Jobs Started"),
           [](const M& m) -> Cell { return m.started; }},
          {count_column("running_job_count", "Number of Jobs Running"),
           [](const M& m) -> Cell { return m.running; }},
          {hours_column("total_cpu_hours", "CPU Hours: Total"),
           [](const M& m) -> Cell { return hours_of_milli(m.cpu_milli); }},
          {hours_column("avg_cpu_hours", "CPU Hours: Per Job"),
           [](const M& m) -> Cell { return per_job(hours_of_milli(m.cpu_milli), m.running); }},
          {hours_column("total_gpu_hours", "GPU Hours: Total"),
           [](const M& m) -> Cell { return m.gpu; }},
          {hours_column("avg_gpu_hours", "GPU Hours: Per Job"),
           [](const M& m) -> Cell { return per_job(m.gpu, m.running); }},
          {hours_column("total_node_hours", "Node Hours: Total"),
           [](const M& m) -> Cell { return hours_of_ms(m.nodes); }},
          {hours_column("total_wallduration_hours", "Wall Hours: Total"),
           [](const M& m) -> Cell { return hours_of_ms(m.wall); }},
          {hours_column("avg_wallduration_hours", "Wall Hours: Per Job"),
           [](const M& m) -> Cell { return per_job(hours_of_ms(m.wall), m.running); }},
          {hours_column("total_waitduration_hours", "Wait Hours: Total"), cell_of_wait},
          {hours_column("avg_waitduration_hours", "Wait Hours: Per Job"), cell_of_mean_wait}};
}

std::vector<MeasureColumn> columns_of_utilization() {
  return {{count_column("cpu_allocated", "CPU minutes allocated"),
           [](const M& m) -> Cell { return cpu_minutes(m.cpu_milli); }},
          {count_column("cpu_idle", "idle"),
           [](const M& m) -> Cell {
             const bool any = m.cpu_milli_capacity > m.cpu_milli;
             return cpu_minutes(any ? m.cpu_milli_capacity - m.cpu_milli : 0);
           }},
          {count_column("cpu_reported", "reported"),
           [](const M& m) -> Cell { return cpu_minutes(m.cpu_milli_capacity); }},
          {count_column("gpu_allocated", "GPU minutes allocated"),
           [](const M& m) -> Cell { return gpu_minutes(m.gpu); }},
          {count_column("gpu_idle", "idle"),
           [](const M& m) -> Cell {
             const bool any = m.gpu_capacity > m.gpu;
             return gpu_minutes(any ? m.gpu_capacity - m.gpu : GpuTime());
           }},
          {count_column("gpu_reported", "reported"),
           [](const M& m) -> Cell { return gpu_minutes(m.gpu_capacity); }}};
}

std::vector<MeasureColumn> columns_of_account_by_user() {
  return {{count_column("cpu", "CPU minutes"),
           [](const M& m) -> Cell { return cpu_minutes(m.cpu_milli); }},
          {count_column("mem", "MiB minutes"),
           [](const M& m) -> Cell { return minutes_of(m.memory_bytes, std::uint64_t{1} << 20); }},
          {count_column("node", "node minutes"),
           [](const M& m) -> Cell { return minutes_of(m.nodes, 1); }},
          {count_column("gres/gpu", "GPU minutes"),
           [](const M& m) -> Cell { return minutes_of(m.gres_gpus, 1); }},
          {count_column("gres/shard", "shard minutes"),
           [](const M& m) -> Cell { return minutes_of(m.gres_shards, 1); }}};
}

template <std::size_t kSize>
Cell cell_of_size(const M& m) {
  return cpu_minutes(m.cpu_by_size[kSize]);
}

std::vector<MeasureColumn> columns_of_sizes() {
  return {{count_column("cpus_0_49", "0-49 CPUs"), cell_of_size<0>},
          {count_column("cpus_50_249", "50-249 CPUs"), cell_of_size<1>},
          {count_column("cpus_250_499", "250-499 CPUs"), cell_of_size<2>},
          {count_column("cpus_500_999", "500-999 CPUs"), cell_of_size<3>},
          {count_column("cpus_1000", ">= 1000 CPUs"), cell_of_size<4>}};
}

struct ReportForm {
  std::vector<std::string> by;  // where the query names none
  std::vector<MeasureColumn> columns;
};

ReportForm form_of(std::string_view name, bool has_capacity) {
  if (name == kXdmodJobs) return {{}, columns_of_xdmod()};
  if (name == kEfficiency) return {{}, columns_of_efficiency()};
  if (name == kClusterUtilization) return {{"cluster"}, columns_of_utilization()};
  if (name == kAccountByUser) {
    return {{"cluster", "slurm_account", "label:user"}, columns_of_account_by_user()};
  }
  if (name == kUserByAccount) {
    return {{"cluster", "label:user", "slurm_account"}, columns_of_account_by_user()};
  }
  if (name == kSizesByAccount) return {{"cluster", "slurm_account"}, columns_of_sizes()};
  return {{}, columns_of_activity(has_capacity)};
}

void add_gap(Table& table, std::uint64_t count, std::string_view what) {
  if (count > 0) table.notes.push_back(fmt::format("{} {}", counted(count, "holding"), what));
}

Table table_of(const Activity& activity, const ActivityOptions& options, std::string_view name) {
  const ReportForm form = form_of(name, activity.has_capacity());
  Table table{.title = name == kActivityReport ? "Activity"
                       : name == kMeasures     ? "Measures"
                       : name == kEfficiency   ? "Efficiency of CPUs and memory"
                                               : std::string(name),
              .currency = {},
              .columns = {},
              .rows = {},
              .total = {},
              .notes = {}};
  const bool has_step = options.step != TimeBucket::kNone;
  if (has_step) table.columns.push_back({"from", "from", ColumnKind::kText});
  for (const std::string& dimension : options.by) {
    table.columns.push_back({dimension, dimension, ColumnKind::kText});
  }
  for (const MeasureColumn& each : form.columns) table.columns.push_back(each.column);
  for (const auto& [key, measures] : activity.rows()) {
    Row row;
    if (has_step) row.emplace_back(key.bucket);
    for (const std::string& value : key.keys) row.emplace_back(value);
    for (const MeasureColumn& each : form.columns) row.push_back(each.cell(measures));
    table.rows.push_back(std::move(row));
  }
  if (has_step || !options.by.empty()) {
    Row total;
    for (std::size_t i = 0; i < options.by.size() + (has_step ? 1 : 0); ++i) {
      total.emplace_back(i == 0 ? Cell("total") : Cell());
    }
    for (const MeasureColumn& each : form.columns) total.push_back(each.cell(activity.total()));
    table.total = std::move(total);
  }
  const ActivityGaps& gaps = activity.gaps();
  add_gap(table, gaps.without_cpu, "without a number of CPUs: not in the CPU-hours");
  add_gap(table, gaps.without_memory, "without host memory: not in the memory GiB-hours");
  add_gap(table, gaps.without_share,
          "of a share of a GPU whose size is not known: not in the GPU-hours");
  if (name == kActivityReport || name == kMeasures || name == kXdmodJobs) {
    add_gap(table, gaps.without_submit,
            "that began and do not say when they were submitted: not in the waits");
  }
  if (activity.total().with_tasks > 0 && (name == kActivityReport || name == kMeasures)) {
    add_gap(table, gaps.without_tasks,
            "that began and do not say how many tasks they had: not in the tasks");
  }
  add_gap(table, gaps.without_node, "that name only a pool: not in the node-hours");
  if (gaps.suspended > 0) {
    // A wall-hour is shown as a GPU-hour is.
    const GpuTime time = GpuTime::of(gaps.suspended_ms * CardShare::kUnitsPerCard);
    add_gap(table, gaps.suspended,
            fmt::format("suspended for {} hours in all: in the hours of devices, memory and nodes, "
                        "as sreport counts them, and not in those of CPUs, wall time and GPUs, nor "
                        "in cost reports",
                        format_gpu_hours(time, 4, Thousands::kSeparated)));
  }
  return table;
}

// Adds what telemetry saw to the rows of the same keys, which are the first `keys` columns of both.
// What only telemetry has, such as the energy that nobody held, gets rows of its own.
void join_usage(Table& table, const Table& usage, std::size_t keys) {
  constexpr std::size_t kGpuHours = 1;  // the same as of the activity, or what is there
  const std::size_t before = table.columns.size();
  const auto key_of = [&](const Row& row) {
    std::vector<std::string> key;
    for (std::size_t i = 0; i < keys; ++i) key.push_back(std::get<std::string>(row[i]));
    return key;
  };
  const auto append = [&](Row& row, const Row& seen) {
    row.insert(row.end(), seen.begin() + static_cast<std::ptrdiff_t>(keys + kGpuHours), seen.end());
  };
  for (std::size_t i = keys + kGpuHours; i < usage.columns.size(); ++i) {
    table.columns.push_back(usage.columns[i]);
  }
  std::map<std::vector<std::string>, const Row*> seen;
  for (const Row& row : usage.rows) seen.emplace(key_of(row), &row);
  for (Row& row : table.rows) {
    const auto found = seen.find(key_of(row));
    if (found == seen.end()) {
      row.resize(table.columns.size());
      continue;
    }
    append(row, *found->second);
    seen.erase(found);
  }
  for (const auto& [key, row] : seen) {
    Row more(before);
    std::ranges::copy(key, more.begin());
    append(more, *row);
    table.rows.push_back(std::move(more));
  }
  std::ranges::stable_sort(table.rows, {}, key_of);
  if (table.total && usage.total) append(*table.total, *usage.total);
  if (table.total) table.total->resize(table.columns.size());
  table.notes.insert(table.notes.end(), usage.notes.begin(), usage.notes.end());
}

// The holdings are read once a day.
constexpr std::size_t kEfficiencyDaysMax = 400;

// Day by day, so that memory does not depend on how many there are.
Result<void> add_host_usage(Store& store, const ClusterId& cluster, const Interval& range,
                            const TimeZone& zone, Activity& activity) {
  // The days on which anything was used: nobody reads two hundred empty years. What began before
  // the range may reach into it.
  std::set<Instant> days;
  const Interval begins(std::max(range.begin() - kHostUsageMax, kInstantMin), range.end());
  TRY(store.scan_outcomes(cluster, begins, [&](std::span<const Outcome> some) {
    for (const Outcome& outcome : some) {
      if (!is_measure_of_host_usage(outcome.measure)) continue;
      for (Instant at = outcome.during.begin(); at < outcome.during.end();) {
        const Interval day = day_of(at, zone);
        if (day.overlap(range)) days.insert(day.begin());
        at = day.end();
      }
    }
    return true;
  }));
  if (days.size() > kEfficiencyDaysMax) {
    return fail(ErrorCode::kLimit,
                fmt::format("CPU and memory use is known of {} days of cluster '{}', and at most "
                            "{} can be asked for at once; name fewer with --from and --to",
                            days.size(), cluster.text(), kEfficiencyDaysMax));
  }
  for (const Instant first : days) {
    const auto day = day_of(first, zone).overlap(range);
    if (!day) continue;
    HostUsageDay usage(*day);
    TRY(store.scan_outcomes(cluster, usage.begins(), [&](std::span<const Outcome> some) {
      for (const Outcome& outcome : some) usage.add(outcome);
      return true;
    }));
    if (usage.empty()) continue;
    TRY(store.scan_holdings(cluster, *day, [&](std::span<const Holding> some) {
      for (const Holding& holding : some) activity.add_host_usage(holding, usage, *day);
      return true;
    }));
  }
  return {};
}

}  // namespace

const std::vector<NamedActivityReport>& activity_reports() {
  static const std::vector<NamedActivityReport> kReports = {
      {kActivityReport, "jobs and hours, by any dimension of holdings"},
      {kMeasures, "activity, and what telemetry saw: utilisation and energy"},
      {kEfficiency, "CPUs and memory requested and used"},
      {kXdmodJobs, "the statistics of Open XDMoD's realm Jobs"},
      {kClusterUtilization, "sreport cluster Utilization, in minutes"},
      {kAccountByUser, "sreport cluster AccountUtilizationByUser, in minutes"},
      {kUserByAccount, "sreport cluster UserUtilizationByAccount, in minutes"},
      {kSizesByAccount, "sreport job SizesByAccount, in CPU minutes"}};
  return kReports;
}

Result<Table> query_activity(Store& store, const ActivityQuery& params, const Policy& policy,
                             Instant now) {
  const auto& reports = activity_reports();
  if (std::ranges::find(reports, params.as, &NamedActivityReport::name) == reports.end()) {
    std::string list;
    for (const NamedActivityReport& each : reports) {
      list += (list.empty() ? "" : ", ") + std::string(each.name);
    }
    return fail(ErrorCode::kBadValue,
                fmt::format("there is no report '{}'; the reports are {}", params.as, list));
  }
  ActivityOptions options{.by = form_of(params.as, false).by, .filters = {}, .from = {}, .to = {}};
  if (!params.by.empty()) options.by.clear();
  for (const std::string& text : params.by) {
    for (std::string& name : split_list(text)) {
      TRY(check_holding_dimension(name, policy, {}));
      options.by.push_back(std::move(name));
    }
  }
  for (const std::string& text : params.filters) {
    auto filter = TRY(parse_holding_filter(text, policy, {}));
    options.filters.push_back(std::move(filter));
  }
  options.filters.insert(options.filters.end(), params.scope.begin(), params.scope.end());
  const auto range_of_days = TRY(local_range(params.dates, policy.time_zone));
  options.from = range_of_days.from;
  options.to = range_of_days.to;
  const auto step = parse_time_bucket(params.step);
  if (!step) {
    return fail(ErrorCode::kBadValue, fmt::format("there is no step '{}'", params.step));
  }
  options.step = *step;

  const auto nodes = TRY(store.nodes());
  const auto gpus = TRY(store.gpus());
  const auto overview = TRY(store.overview());
  Activity activity(options, policy, nodes, gpus);
  if (needs_price_tiers(options.by, options.filters)) {
    auto tiers = TRY(billed_price_tiers(store, options.from, options.to, policy.time_zone));
    activity.set_price_tiers(std::move(tiers));
  }
  // Holdings whose time was over before the first day may have been suspended into it.
  constexpr std::chrono::days kSuspendedMax{31};
  const Instant from = options.from.value_or(kInstantMin);
  const Interval range(std::max(from - kSuspendedMax, kInstantMin),
                       options.to.value_or(kInstantMax));
  for (const std::string& cluster : overview.clusters) {
    TRY(store.scan_holdings(ClusterId(cluster), range, [&](std::span<const Holding> some) {
      for (const Holding& holding : some) activity.add(holding);
      return true;
    }));
    TRY(store.scan_outcomes(ClusterId(cluster), range, [&](std::span<const Outcome> some) {
      for (const Outcome& outcome : some) activity.add(outcome);
      return true;
    }));
    if (params.as != kEfficiency) continue;
    TRY(add_host_usage(store, ClusterId(cluster), Interval(from, range.end()), policy.time_zone,
                       activity));
  }
  activity.add_capacity(std::min(options.to.value_or(now), now));
  Table table = table_of(activity, options, params.as);
  if (params.as != kMeasures) return table;
  const UsageQuery seen{.by = options.by,
                        .filters = params.filters,
                        .dates = params.dates,
                        .step = params.step,
                        .scope = params.scope,
                        .observed_only = true};
  const auto usage = TRY(query_usage(store, seen, policy, now));
  join_usage(table, usage, options.by.size() + (options.step != TimeBucket::kNone ? 1 : 0));
  return table;
}

}  // namespace pennyweight
