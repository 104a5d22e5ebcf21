#include "reporting/queries/activity.h"

#include <algorithm>
#include <array>
#include <set>

#include "allocation/device_share.h"
#include "allocation/dimensions.h"
#include "core/gpu/gpu_model.h"
#include "core/overloaded.h"
#include "core/whole_count.h"
#include "ledger/job_without_time.h"
#include "ledger/task_count.h"

namespace pennyweight {
namespace {

constexpr std::array<std::uint64_t, 4> kSizesMilli = {50'000, 250'000, 500'000, 1'000'000};

std::size_t size_class(std::uint64_t cpu_milli) {
  std::size_t size = 0;
  while (size < kSizesMilli.size() && cpu_milli >= kSizesMilli[size]) ++size;
  return size;
}

// How long it waited from submission to its begin; nothing: it does not say, or was submitted
// later.
std::optional<std::uint64_t> wait_of(const Holding& holding) {
  const auto label = holding.labels.find(kSubmitTimeLabel);
  if (!label) return std::nullopt;
  const auto submitted = parse_instant(*label);
  if (!submitted || *submitted > holding.held.begin()) return std::nullopt;
  return static_cast<std::uint64_t>((holding.held.begin() - *submitted).count());
}

// How many tasks it started; nothing: it does not say.
std::optional<std::uint64_t> tasks_of(const Holding& holding) {
  const auto label = holding.labels.find(kTasksLabel);
  if (!label) return std::nullopt;
  const auto tasks = parse_count(*label, kTasksMax);
  return tasks ? std::optional(*tasks) : std::nullopt;
}

}  // namespace

ActivityMeasures& ActivityMeasures::operator+=(const ActivityMeasures& other) {
  started += other.started;
  ended += other.ended;
  running += other.running;
  never_started += other.never_started;
  gpu += other.gpu;
  gpu_memory += other.gpu_memory;
  devices += other.devices;
  gres_gpus += other.gres_gpus;
  gres_shards += other.gres_shards;
  cpu_milli += other.cpu_milli;
  memory_bytes += other.memory_bytes;
  nodes += other.nodes;
  wall += other.wall;
  tasks += other.tasks;
  with_tasks += other.with_tasks;
  waited += other.waited;
  wait += other.wait;
  gpu_capacity += other.gpu_capacity;
  cpu_milli_capacity += other.cpu_milli_capacity;
  node_capacity += other.node_capacity;
  cpu_used += other.cpu_used;
  cpu_used_of_requested += other.cpu_used_of_requested;
  cpu_milli_known += other.cpu_milli_known;
  memory_used += other.memory_used;
  memory_used_of_requested += other.memory_used_of_requested;
  memory_bytes_known += other.memory_bytes_known;
  memory_peak += other.memory_peak;
  memory_peak_of_requested += other.memory_peak_of_requested;
  memory_bytes_peak_known += other.memory_bytes_peak_known;
  for (std::size_t i = 0; i < std::size(cpu_by_size); ++i) cpu_by_size[i] += other.cpu_by_size[i];
  return *this;
}

Activity::Activity(const ActivityOptions& options, const Policy& policy,
                   const std::vector<Node>& nodes, const std::vector<Gpu>& gpus)
    : options_(options), policy_(policy), values_(policy, nodes), gpu_memory_(gpus) {
  for (const Gpu& gpu : gpus) {
    gpus_.try_emplace({gpu.cluster.text(), gpu.uuid.text()}, &gpu);
    for (const MigInstance& instance : gpu.mig_instances) {
      gpus_.try_emplace({gpu.cluster.text(), instance.id.text()}, &gpu);
    }
  }
  const auto is_of_node = [&](const std::string& name) { return values_.is_of_node(name); };
  has_capacity_ = std::ranges::all_of(options_.by, is_of_node) &&
                  std::ranges::all_of(options_.filters, is_of_node, &SummaryFilter::dimension);
}

Activity::Portion Activity::portion_on(const Holding& holding, const Node* node,
                                       std::uint64_t devices, const Gpu* gpu,
                                       const std::string& profile) const {
  Portion portion{
      .node = node, .devices = devices, .cpu_milli = {}, .memory_bytes = {}, .compute = {}};
  portion.nodes = node != nullptr ? 1 : 0;
  if (devices == 0) return portion;
  const bool has_model = gpu != nullptr && !gpu->model.empty();
  const std::string gpu_model = has_model         ? gpu->model
                                : node != nullptr ? node->gpu_model
                                                  : holding.gpu_model;
  const bool is_plain = std::holds_alternative<WholeGpu>(holding.device);
  const Device device = is_plain && !profile.empty() ? Device(MigSlice{profile}) : holding.device;
  const std::uint64_t memory_bytes =
      gpu != nullptr    ? gpu_memory_.of_gpu(gpu->cluster, gpu->uuid, holding.held.begin())
      : node != nullptr ? gpu_memory_.of_node(node->cluster, node->name, holding.held.begin())
                        : 0;
  const auto share =
      device_share(device, {.gpu_model = gpu_model, .node = node, .memory_bytes = memory_bytes});
  if (!share) {
    portion.is_share_unknown = true;
    return portion;
  }
  portion.compute = share->compute;
  if (const GpuModel* known = find_gpu_model(gpu_model)) {
    portion.gpu_memory_bytes =
        static_cast<std::uint64_t>(multiply_divide(UInt128{known->memory_bytes} * devices,
                                                   share->memory.units(), CardShare::kUnitsPerCard)
                                       .quotient);
  }
  return portion;
}

std::vector<Activity::Portion> Activity::portions_of(const Holding& holding) const {
  std::vector<Portion> portions;
  const Instant begin = holding.held.begin();
  if (const auto* on = std::get_if<OnNodes>(&holding.placement)) {
    for (const auto& part : on->parts) {
      portions.push_back(portion_on(holding, values_.node_at(holding.cluster, part.node, begin),
                                    part.devices, nullptr, ""));
      portions.back().nodes = 1;  // it names the node, whether or not an inventory has it
    }
  } else if (const auto* on_gpus = std::get_if<OnGpus>(&holding.placement)) {
    std::set<NodeId> seen;
    for (const GpuId& id : on_gpus->gpus) {
      const auto found = gpus_.find({holding.cluster.text(), id.text()});
      if (found == gpus_.end()) {
        portions.push_back(portion_on(holding, nullptr, 1, nullptr, ""));
        continue;
      }
      const Gpu& gpu = *found->second;
      std::string profile;
      for (const MigInstance& instance : gpu.mig_instances) {
        if (instance.id == id) profile = instance.profile;
      }
      portions.push_back(
          portion_on(holding, values_.node_at(holding.cluster, gpu.node, begin), 1, &gpu, profile));
      // Of several GPUs of one node the first stands for the node.
      portions.back().nodes = seen.insert(gpu.node).second ? 1 : 0;
    }
  } else {
    const auto& in = std::get<InPool>(holding.placement);
    portions.push_back(portion_on(holding, nullptr, in.devices, nullptr, ""));
  }
  // What a holding requests of its host is spread over its nodes evenly, as an allocation does.
  const std::uint64_t count = portions.size();
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto part = [&](const std::optional<std::uint64_t>& whole) {
      return whole ? std::optional(*whole / count + (i < *whole % count ? 1 : 0)) : whole;
    };
    portions[i].cpu_milli = part(holding.cpu_milli);
    portions[i].memory_bytes = part(holding.memory_bytes);
  }
  return portions;
}

bool Activity::passes(const Holding& holding, const Portion& portion,
                      const Labels& resolved) const {
  return std::ranges::all_of(options_.filters, [&](const SummaryFilter& filter) {
    const std::string value =
        values_.of(filter.dimension, holding, portion.node, resolved).value_or("");
    const bool is_listed =
        std::ranges::find(filter.values, value) != filter.values.end() ||
        (value.empty() && std::ranges::find(filter.values, kNoValue) != filter.values.end());
    return is_listed != filter.negate;
  });
}

std::vector<std::string> Activity::keys_of(const Holding& holding, const Portion& portion,
                                           const Labels& resolved) const {
  std::vector<std::string> keys;
  for (const std::string& dimension : options_.by) {
    const auto value = values_.of(dimension, holding, portion.node, resolved);
    keys.push_back(value && !value->empty() ? *value : kNoValue);
  }
  return keys;
}

std::vector<std::pair<std::string, Interval>> Activity::buckets_of(const Interval& time) const {
  const TimeZone& zone = policy_.time_zone;
  std::vector<std::pair<std::string, Interval>> buckets;
  const auto cut = Interval::of(std::max(time.begin(), options_.from.value_or(time.begin())),
                                std::min(time.end(), options_.to.value_or(time.end())));
  if (!cut) return buckets;
  if (options_.step == TimeBucket::kNone) return {{"", *cut}};
  for (const Interval& day : cut_by_day(*cut, zone)) {
    const Instant first = options_.step == TimeBucket::kDay    ? start_of_day(day.begin(), zone)
                          : options_.step == TimeBucket::kWeek ? start_of_week(day.begin(), zone)
                                                               : start_of_month(day.begin(), zone);
    std::string name = local_date(first, zone);
    if (!buckets.empty() && buckets.back().first == name) {
      buckets.back().second = Interval(buckets.back().second.begin(), day.end());
    } else {
      buckets.emplace_back(std::move(name), day);
    }
  }
  return buckets;
}

void Activity::add(const Holding& holding) {
  if (holding.is_reservation) return;  // what it reserves is told of those who hold it
  // A suspended job gives back its processors and keeps its devices, memory and nodes, as sreport
  // counts them. Nothing says when it was suspended: it is taken off its end.
  const Interval kept(holding.held.begin(),
                      holding.held.end() + std::chrono::milliseconds(holding.suspended_ms));
  const auto times = buckets_of(kept);
  if (times.empty()) return;
  const Labels resolved =
      resolve_dimensions(holding.cluster, holding.workload, holding.labels, policy_);
  std::map<std::vector<std::string>, std::vector<const Portion*>> by_row;
  const std::vector<Portion> portions = portions_of(holding);
  bool any = false;
  for (const Portion& portion : portions) {
    if (!passes(holding, portion, resolved)) continue;
    any = true;
    by_row[keys_of(holding, portion, resolved)].push_back(&portion);
  }
  if (!any) return;
  const bool is_further = is_run_in({"total", {}}, holding);
  const auto is_unknown = [](const Portion& portion) { return portion.is_share_unknown; };
  if (std::ranges::any_of(portions, is_unknown)) ++gaps_.without_share;
  const auto wait = wait_of(holding);
  const auto tasks = tasks_of(holding);
  const bool begins = times.front().second.contains(holding.held.begin());
  if (!is_further) {
    if (std::holds_alternative<InPool>(holding.placement)) ++gaps_.without_node;
    if (!holding.cpu_milli) ++gaps_.without_cpu;
    if (!holding.memory_bytes) ++gaps_.without_memory;
    if (begins && !wait) ++gaps_.without_submit;
    if (begins && !tasks) ++gaps_.without_tasks;
    const Interval time(times.front().second.begin(), times.back().second.end());
    const auto running = time.overlap(holding.held);
    const std::uint64_t ms = time.length_ms() - (running ? running->length_ms() : 0);
    if (ms > 0) ++gaps_.suspended;
    gaps_.suspended_ms += ms;
  }

  const bool is_gres_gpu = std::holds_alternative<WholeGpu>(holding.device) ||
                           std::holds_alternative<MigSlice>(holding.device);
  const bool is_shard = std::holds_alternative<Shard>(holding.device);
  const auto measure = [&](const std::vector<const Portion*>& of, const Interval& time,
                           bool is_counted) {
    ActivityMeasures sum;
    const std::uint64_t kept_ms = time.length_ms();
    const auto running = time.overlap(holding.held);
    const std::uint64_t ms = running ? running->length_ms() : 0;
    if (!is_counted) {
      sum.running = 1;
      sum.started = time.contains(holding.held.begin()) ? 1 : 0;
      const Instant end = kept.end();
      sum.ended = holding.ended && time.begin() < end && end <= time.end() ? 1 : 0;
      sum.wall = ms;
    }
    if (sum.started > 0 && wait) {
      sum.waited = 1;
      sum.wait = *wait;
    }
    if (sum.started > 0 && tasks) {
      sum.with_tasks = 1;
      sum.tasks = *tasks;
    }
    for (const Portion* portion : of) {
      const UInt128 devices = UInt128{portion->devices} * kept_ms;
      sum.gpu += (portion->compute * portion->devices).over_ms(ms);
      sum.gpu_memory += MemoryTime::of(UInt128{portion->gpu_memory_bytes} * ms);
      sum.devices += devices;
      if (is_gres_gpu) sum.gres_gpus += devices;
      if (is_shard) sum.gres_shards += devices;
      sum.cpu_milli += UInt128{portion->cpu_milli.value_or(0)} * ms;
      sum.memory_bytes += UInt128{portion->memory_bytes.value_or(0)} * kept_ms;
      if (!is_counted) sum.nodes += UInt128{portion->nodes} * kept_ms;
    }
    sum.cpu_by_size[size_class(holding.cpu_milli.value_or(0))] += sum.cpu_milli;
    return sum;
  };
  for (const auto& [bucket, time] : times) {
    for (const auto& [keys, of] : by_row) {
      const ActivityKey row{bucket, keys};
      rows_[row] += measure(of, time, is_run_in(row, holding));
    }
  }
  // Once, over the whole time: a job that is in several rows is still one job.
  std::vector<const Portion*> all;
  for (const auto& [keys, of] : by_row) all.insert(all.end(), of.begin(), of.end());
  total_ +=
      measure(all, Interval(times.front().second.begin(), times.back().second.end()), is_further);
}

void Activity::add_host_usage(const Holding& holding, const HostUsageDay& usage,
                              const Interval& day) {
  if (holding.is_reservation) return;
  const auto time = day.overlap(holding.held);
  if (!time) return;
  const auto buckets = buckets_of(*time);
  if (buckets.empty()) return;
  const Interval& cut = buckets.front().second;
  const auto cpu = usage.used(kHostCpuUsed, holding.workload, cut);
  const auto memory = usage.used(kHostMemoryUsed, holding.workload, cut);
  const auto peak = usage.used(kHostMemoryPeak, holding.workload, cut);
  if (cpu.known_ms + memory.known_ms + peak.known_ms == 0) return;
  // Of the holdings of one run the first stands for it.
  if (is_run_in({"host usage " + to_text(day.begin()), {}}, holding)) return;
  const Labels resolved =
      resolve_dimensions(holding.cluster, holding.workload, holding.labels, policy_);
  const std::vector<Portion> portions = portions_of(holding);
  for (std::size_t i = 0; i < portions.size(); ++i) {
    const Portion& portion = portions[i];
    if (!passes(holding, portion, resolved)) continue;
    // Which node used how much is not known: it is spread evenly, as what was requested is.
    const auto part = [&](UInt128 whole) {
      return whole / portions.size() + (i < whole % portions.size() ? 1 : 0);
    };
    ActivityMeasures used;
    used.cpu_used = part(cpu.amount);
    if (portion.cpu_milli.value_or(0) > 0) {
      used.cpu_used_of_requested = used.cpu_used;
      used.cpu_milli_known = UInt128{*portion.cpu_milli} * cpu.known_ms;
    }
    used.memory_used = part(memory.amount);
    used.memory_peak = part(peak.amount);
    if (portion.memory_bytes.value_or(0) > 0) {
      used.memory_used_of_requested = used.memory_used;
      used.memory_bytes_known = UInt128{*portion.memory_bytes} * memory.known_ms;
      used.memory_peak_of_requested = used.memory_peak;
      used.memory_bytes_peak_known = UInt128{*portion.memory_bytes} * peak.known_ms;
    }
    rows_[{buckets.front().first, keys_of(holding, portion, resolved)}] += used;
    total_ += used;
  }
}

void Activity::add(const Outcome& outcome) {
  if (!is_measure_of_jobs_without_time(outcome.measure)) return;
  const auto times = buckets_of(outcome.during);
  if (times.empty()) return;
  Holding job(outcome.cluster, outcome.workload, outcome.during, InPool{.pools = {}, .devices = 0});
  job.labels = outcome.labels;
  const Labels resolved = resolve_dimensions(job.cluster, job.workload, job.labels, policy_);
  Portion nowhere;
  if (!passes(job, nowhere, resolved)) return;
  // An export with more columns tells the same job with more labels.
  Fingerprint id;
  id.add(outcome.measure).add(job.cluster.text()).add(job.workload.text());
  id.add(unix_ms(outcome.during.begin()));
  if (!runs_.insert(id.hash()).second) return;
  ActivityMeasures one;
  one.ended = 1;
  if (outcome.measure == kJobsNeverStarted) {
    one.never_started = 1;
  } else {
    one.started = one.running = 1;
    if (const auto wait = wait_of(job)) {
      one.waited = 1;
      one.wait = *wait;
    } else {
      ++gaps_.without_submit;
    }
    ++gaps_.without_tasks;
  }
  ActivityKey row{times.front().first, {}};
  for (const std::string& dimension : options_.by) {
    const auto value = values_.of(dimension, job, nullptr, resolved);
    row.keys.push_back(value && !value->empty() ? *value : kNoValue);
  }
  rows_[row] += one;
  total_ += one;
}

bool Activity::is_run_in(const ActivityKey& row, const Holding& holding) {
  // The attempt of a further holding is that of the run, "/", and its kind of device. Where the
  // first has only that of the run, as pods do, it comes just before the others.
  const std::size_t cut = holding.attempt.find('/');
  Fingerprint run;
  run.add(row.bucket);
  for (const std::string& key : row.keys) run.add(key);
  run.add(holding.cluster.text())
      .add(holding.workload.text())
      .add(std::string_view(holding.attempt).substr(0, cut));
  if (cut != std::string::npos) {
    return rows_of_first_.contains(run.hash()) || !runs_.insert(run.hash()).second;
  }
  Fingerprint first;
  first.add(holding.cluster.text()).add(holding.workload.text()).add(holding.attempt);
  if (first_ != first.hash()) {
    first_ = first.hash();
    rows_of_first_.clear();
  }
  rows_of_first_.insert(run.hash());
  return false;
}

void Activity::add_capacity(Instant until) {
  if (!has_capacity_) return;
  for (const auto& [name, facts] : values_.nodes()) {
    for (std::size_t i = 0; i < facts.size(); ++i) {
      const Node& node = *facts[i];
      Instant end = node.to.value_or(until);
      if (i + 1 < facts.size()) end = std::min(end, facts[i + 1]->from);
      const auto present = Interval::of(node.from, std::min(end, until));
      if (!present) continue;
      std::vector<std::string> keys;
      for (const std::string& dimension : options_.by) {
        const std::string value = values_.of_node(dimension, &node).value_or("");
        keys.push_back(value.empty() ? kNoValue : value);
      }
      const bool is_in = std::ranges::all_of(options_.filters, [&](const SummaryFilter& filter) {
        const std::string value = values_.of_node(filter.dimension, &node).value_or("");
        return (std::ranges::find(filter.values, value) != filter.values.end()) != filter.negate;
      });
      if (!is_in) continue;
      for (const auto& [bucket, time] : buckets_of(*present)) {
        ActivityMeasures has;
        const std::uint64_t ms = time.length_ms();
        has.gpu_capacity = (CardShare::whole() * node.gpu_count).over_ms(ms);
        has.cpu_milli_capacity = UInt128{node.cpu_milli.value_or(0)} * ms;
        has.node_capacity = ms;
        rows_[{bucket, keys}] += has;
        total_ += has;
      }
    }
  }
}

}  // namespace pennyweight
