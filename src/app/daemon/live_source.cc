#include "app/daemon/live_source.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <ranges>
#include <sstream>
#include <utility>

#include "core/files/file.h"
#include "ingest/schedulers/kubernetes/api_resources.h"

namespace pennyweight {
namespace {

// How far back a Slurm cluster is read the first time.
constexpr std::chrono::days kSlurmFirstLook{31};

kubernetes::ClusterOptions cluster_options(const ClusterId& cluster,
                                           const LiveInventory& inventory) {
  return {
      .cluster = cluster,
      .gives_readings = true,
      .known = {
          .node = [&inventory,
                   cluster](const NodeId& name) { return inventory.node(cluster, name); },
          .gpu = [&inventory, cluster](const GpuId& uuid) { return inventory.gpu(cluster, uuid); },
          .has_ended =
              [&inventory, cluster](const WorkloadId& workload, const std::string& attempt) {
                return inventory.has_ended(cluster, workload, attempt);
              }}};
}

CollectedFacts collected(const ClusterId& cluster, kubernetes::Facts facts) {
  CollectedFacts all{.holdings = std::move(facts.holdings),
                     .readings = std::move(facts.readings),
                     .nodes = std::move(facts.nodes),
                     .gpus = std::move(facts.gpus),
                     .outages = std::move(facts.outages),
                     .rejected = {},
                     .problems = std::move(facts.problems)};
  for (kubernetes::VanishedPod& pod : facts.vanished) {
    all.vanished.push_back({.cluster = cluster,
                            .workload = std::move(pod.workload),
                            .attempt = std::move(pod.attempt),
                            .gone_by = pod.gone_by});
  }
  for (kubernetes::MemoryKill& kill : facts.kills) {
    all.kills.push_back({.cluster = cluster,
                         .workload = std::move(kill.workload),
                         .container = std::move(kill.container),
                         .at = kill.at});
  }
  for (NodeId& node : facts.spot_nodes) all.spot_nodes.emplace_back(cluster, std::move(node));
  return all;
}

void add(CollectedFacts& to, CollectedFacts more) {
  const auto move_all = [](auto& from, auto& into) {
    std::ranges::move(from, std::back_inserter(into));
  };
  move_all(more.holdings, to.holdings);
  move_all(more.readings, to.readings);
  move_all(more.nodes, to.nodes);
  move_all(more.gpus, to.gpus);
  move_all(more.outages, to.outages);
  move_all(more.rejected, to.rejected);
  move_all(more.problems, to.problems);
  move_all(more.vanished, to.vanished);
  move_all(more.kills, to.kills);
  move_all(more.spot_nodes, to.spot_nodes);
}

std::vector<std::string> split_words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), std::istream_iterator<std::string>()};
}

// The environment of this process, for programs that it starts.
std::vector<std::string> environment() {
  std::vector<std::string> all;
  for (char** entry = ::environ; *entry != nullptr; ++entry) all.emplace_back(*entry);
  return all;
}

std::vector<kubernetes::ResourceType> all_resources() {
  std::vector<kubernetes::ResourceType> types = kubernetes::holder_resources();
  std::ranges::copy(kubernetes::owner_resources(), std::back_inserter(types));
  return types;
}

kubernetes::ApiClusterOptions api_options(const KubernetesConfig& config,
                                          kubernetes::ApiServer server, bool scrapes,
                                          const LiveInventory& inventory, std::uint64_t seed) {
  kubernetes::ClusterOptions options = cluster_options(config.cluster, inventory);
  options.labels.annotations = config.annotations;
  options.gpu_nodes_only = config.gpu_nodes_only;
  options.wait_for = {"Pod", "Node", "Namespace"};
  kubernetes::ApiClusterOptions all{.server = std::move(server),
                                    .types = all_resources(),
                                    .cluster = std::move(options),
                                    .targets = {},
                                    .seed = seed};
  if (scrapes) all.targets.push_back({});
  return all;
}

}  // namespace

void GpuLookup::update(const LiveInventory& inventory) {
  std::map<std::tuple<ClusterId, NodeId, std::uint32_t>, GpuId> gpus;
  for (const ClusterId& cluster : inventory.clusters()) {
    for (const Gpu& gpu : inventory.gpus(cluster)) {
      if (!gpu.to) gpus.insert_or_assign({cluster, gpu.node, gpu.index}, gpu.uuid);
    }
  }
  const std::lock_guard lock(mutex_);
  gpus_ = std::move(gpus);
}

std::optional<GpuId> GpuLookup::gpu_at(const ClusterId& cluster, const NodeId& node,
                                       std::uint32_t index) const {
  const std::lock_guard lock(mutex_);
  const auto found = gpus_.find({cluster, node, index});
  if (found == gpus_.end()) return std::nullopt;
  return found->second;
}

KubernetesSource::KubernetesSource(const KubernetesConfig& config, kubernetes::ApiServer server,
                                   bool scrapes, const LiveInventory& inventory, std::uint64_t seed,
                                   Clock& clock)
    : cluster_(config.cluster),
      clock_(clock),
      api_(api_options(config, std::move(server), scrapes, inventory, seed), clock) {}

CollectedFacts KubernetesSource::collect() {
  kubernetes::Facts facts = api_.facts();
  if (std::string trouble = api_.last_trouble(); !trouble.empty()) {
    const std::lock_guard lock(status_mutex_);
    last_error_ = std::move(trouble);
    failed_at_ = clock_.now();
  }
  return collected(cluster_, std::move(facts));
}

SourceStatus KubernetesSource::status() const {
  SourceStatus status;
  if (api_.is_listed()) status.heard_at = api_.known_until();
  const std::lock_guard lock(status_mutex_);
  status.last_error = last_error_;
  status.failed_at = failed_at_;
  return status;
}

std::map<std::string, std::uint64_t> KubernetesSource::counts() const {
  const kubernetes::ApiClusterCounts counts = api_.counts();
  return {{"pods", counts.cluster.pods},
          {"nodes", counts.cluster.nodes},
          {"objects", counts.cluster.objects},
          {"over_limit", counts.cluster.over_limit},
          {"resources", counts.resources},
          {"resources_watching", counts.resources_watching},
          {"lists", counts.lists},
          {"watches", counts.watches},
          {"events", counts.events},
          {"bookmarks", counts.bookmarks},
          {"expired", counts.expired},
          {"refusals", counts.refusals},
          {"failures", counts.failures},
          {"unreadable", counts.unreadable}};
}

std::uint64_t StateMetricsSource::declare(const telemetry::StateSeries& series) {
  const std::lock_guard lock(mutex_);
  Series known{.cluster = series.cluster, .handle = 0, .packed = {}};
  if (!excluded_.contains(series.cluster)) {
    known.handle = of(series.cluster).metrics.declare(series);
  }
  if (known.handle != 0) {
    known.packed = series.metric;
    for (const prometheus::Label& label : series.labels) {
      known.packed += '\0' + label.name + '\0' + label.value;
    }
  }
  series_.push_back(std::move(known));
  return series_.size();
}

void StateMetricsSource::declare_again(Series& series) {
  std::vector<std::string> parts;
  for (const auto part : std::views::split(series.packed, '\0')) {
    parts.emplace_back(part.begin(), part.end());
  }
  telemetry::StateSeries declared{
      .cluster = series.cluster, .metric = std::move(parts[0]), .labels = {}};
  for (std::size_t i = 1; i + 1 < parts.size(); i += 2) {
    declared.labels.push_back({std::move(parts[i]), std::move(parts[i + 1])});
  }
  series.handle = of(series.cluster).metrics.declare(declared);
}

void StateMetricsSource::sample(std::uint64_t handle, std::int64_t at_ms, double value) {
  const std::lock_guard lock(mutex_);
  Series& series = series_[handle - 1];
  if (series.handle == 0) return;
  if (of(series.cluster).metrics.sample(series.handle, at_ms, value)) return;
  declare_again(series);
  if (series.handle != 0) of(series.cluster).metrics.sample(series.handle, at_ms, value);
}

void StateMetricsSource::stale(std::uint64_t handle, std::int64_t at_ms) {
  const std::lock_guard lock(mutex_);
  const Series& series = series_[handle - 1];
  // A series that was forgotten has nothing to end.
  if (series.handle != 0) of(series.cluster).metrics.stale(series.handle, at_ms);
}

StateMetricsSource::ClusterMetrics& StateMetricsSource::of(const ClusterId& cluster) {
  std::unique_ptr<ClusterMetrics>& one = clusters_[cluster];
  if (!one) one = std::make_unique<ClusterMetrics>(cluster_options(cluster, inventory_));
  return *one;
}

CollectedFacts StateMetricsSource::collect() {
  const std::lock_guard lock(mutex_);
  CollectedFacts all;
  for (auto& [cluster, one] : clusters_) {
    const auto known_until = one->metrics.settle();
    if (known_until) add(all, collected(cluster, one->state.facts(*known_until)));
  }
  return all;
}

std::map<std::string, std::uint64_t> StateMetricsSource::counts() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, std::uint64_t> counts;
  for (const auto& [cluster, one] : clusters_) {
    counts["series"] += one->metrics.series();
    counts["refused"] += one->metrics.refused();
    counts["pods"] += one->state.counts().pods;
    counts["nodes"] += one->state.counts().nodes;
  }
  return counts;
}

SlurmSource::SlurmSource(const SlurmConfig& config, const ClusterConfig& cluster,
                         std::string state_file, const GpuLookup& known, Clock& clock, Log& log)
    : cluster_(config.cluster),
      interval_(config.interval_ms),
      state_file_(std::move(state_file)),
      clock_(clock),
      log_(log),
      poller_({.cluster = config.cluster,
               .slurm_cluster = {},
               .sacct = split_words(config.sacct),
               .scontrol = split_words(config.scontrol),
               .sacctmgr = split_words(config.sacctmgr),
               .environment = environment(),
               .zone = cluster.time_zone,
               .since = clock.now() - kSlurmFirstLook,
               .partitions_are_pools = cluster.partitions_are_pools,
               .running_every = interval_},
              clock, [&known, id = config.cluster](const NodeId& node, std::uint32_t index) {
                return known.gpu_at(id, node, index);
              }) {
  if (const auto text = read_file(state_file_, slurm::kPollerStateBytesMax)) {
    if (const auto restored = poller_.restore(*text); !restored) {
      log_.warn("slurm_state_unreadable",
                {{"file", state_file_}, {"why", restored.error().message}});
    }
  }
  thread_ = std::thread([this] { run(); });
}

SlurmSource::~SlurmSource() { stop(); }

void SlurmSource::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void SlurmSource::run() {
  using Steady = std::chrono::steady_clock;
  while (true) {
    const Steady::time_point begun = Steady::now();
    slurm::PollResult result = poller_.poll();
    // A backlog is read piece by piece, without a pause.
    const bool has_more = result.failures.empty() && !result.is_caught_up;
    report(std::move(result));
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopping_ || confirmed_; });
    if (std::exchange(confirmed_, false)) {
      poller_.confirm_stored();
      save();
    }
    if (!has_more) changed_.wait_until(lock, begun + interval_, [&] { return stopping_; });
    if (stopping_) return;
  }
}

void SlurmSource::report(slurm::PollResult result) {
  CollectedFacts seen{.holdings = std::move(result.holdings),
                      .nodes = std::move(result.nodes),
                      .gpus = {},
                      .outages = std::move(result.outages),
                      .rejected = std::move(result.rejected),
                      .problems = std::move(result.notes)};
  for (const Error& failure : result.failures) seen.problems.push_back(failure.message);
  const std::lock_guard lock(mutex_);
  ++counts_["polls"];
  counts_["failures"] += result.failures.size();
  counts_["rejected"] += result.rejected_count;
  counts_["ended_jobs"] += result.ended_jobs;
  counts_["running_jobs"] = result.running_jobs;
  ready_ = ready_ || (result.failures.empty() && result.is_caught_up);
  if (result.failures.empty()) {
    status_.heard_at = result.at;
  } else {
    status_.last_error = result.failures.front().message;
    status_.failed_at = clock_.now();
  }
  waiting_ = std::move(seen);
  collected_ = false;
}

void SlurmSource::save() {
  auto file = OutputFile::create(state_file_);
  Result<void> written;
  if (file) {
    written = file->write(poller_.save());
    if (written) written = file->commit();
  } else {
    written = std::unexpected(file.error());
  }
  if (!written) {
    log_.warn("slurm_state_unwritten", {{"file", state_file_}, {"why", written.error().message}});
  }
}

CollectedFacts SlurmSource::collect() {
  const std::lock_guard lock(mutex_);
  if (!waiting_) return {};
  collected_ = true;
  return *std::exchange(waiting_, std::nullopt);
}

void SlurmSource::confirm_stored() {
  {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(collected_, false)) return;
    confirmed_ = true;
  }
  changed_.notify_all();
}

bool SlurmSource::is_ready() const {
  const std::lock_guard lock(mutex_);
  return ready_;
}

SourceStatus SlurmSource::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

std::map<std::string, std::uint64_t> SlurmSource::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace pennyweight
