#include "ingest/schedulers/kubernetes/cluster_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pennyweight::kubernetes {
namespace {

// How long the ledger's answer that it has no such GPU is trusted.
constexpr std::chrono::minutes kAskAgain{10};

std::string_view api_group(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

std::string claim_key(std::string_view name_space, std::string_view name) {
  return fmt::format("{}/{}", name_space, name);
}

std::string device_key(std::string_view driver, std::string_view pool, std::string_view device) {
  return fmt::format("{}/{}/{}", driver, pool, device);
}

// Whether two facts about the same thing differ only in their time.
bool says_same(Node a, const Node& b) {
  a.from = b.from;
  a.id = b.id;
  a.source = b.source;
  return a == b;
}
bool says_same(Gpu a, const Gpu& b) {
  a.from = b.from;
  a.id = b.id;
  a.source = b.source;
  return a == b;
}

// A node of a DRA driver without feature discovery says nothing of its GPUs; its ResourceSlices do.
Node with_gpus(Node node, const std::vector<Gpu>& gpus) {
  if (node.gpu_count > 0 || gpus.empty()) return node;
  node.gpu_count = static_cast<std::uint32_t>(gpus.size());
  if (node.gpu_model.empty()) node.gpu_model = gpus.front().model;
  return node;
}

// When the present state began: at creation, or when the change was seen.
template <class Fact>
Instant fact_begin(const Fact& now, const std::optional<Fact>& before, Instant seen) {
  if (!before) return now.from == kInstantMin ? seen : now.from;
  if (now.from > before->from && (!before->to || now.from >= *before->to)) return now.from;
  return std::max(seen, before->from + std::chrono::milliseconds(1));
}

// The fact to report; nothing where the last fact says the same.
template <class Fact>
std::optional<Fact> next_fact(Fact now, const std::optional<Fact>& before, Instant seen) {
  if (before && says_same(now, *before)) return std::nullopt;
  now.from = fact_begin(now, before, seen);
  return now;
}

// A fact of length zero, which ends the one before because the object is gone.
template <class Fact>
std::optional<Fact> last_fact(const std::optional<Fact>& before, Instant gone_at) {
  if (!before || before->to) return std::nullopt;
  Fact last = *before;
  last.from = std::max(gone_at, before->from + std::chrono::milliseconds(1));
  last.to = last.from;
  return last;
}

// The sharing of a node as far as its fact says; a fact can't say MIG with one profile.
NodeSharing sharing_of_fact(const Node& node) {
  NodeSharing sharing;
  sharing.gpu_model = node.gpu_model;
  sharing.physical_gpus = node.gpu_count;
  sharing.replicas = node.gpu_replicas;
  sharing.replicas_renamed = node.replicas_renamed;
  sharing.is_mps = node.sharing == GpuSharing::kMps;
  return sharing;
}

}  // namespace

ClusterState::ClusterState(ClusterOptions options) : options_(std::move(options)) {}
ClusterState::~ClusterState() = default;

void ClusterState::apply(const Object& object, Instant at) {
  ++counts_.objects;
  if (const auto* pod = std::get_if<Pod>(&object)) return apply_pod(*pod, at, false);
  if (const auto* node = std::get_if<NodeObject>(&object)) return apply_node(*node, at, false);
  if (const auto* one = std::get_if<Namespace>(&object)) return apply_namespace(*one, false);
  if (const auto* claim = std::get_if<ResourceClaim>(&object)) return apply_claim(*claim, false);
  if (const auto* slice = std::get_if<ResourceSlice>(&object)) {
    return apply_slice(*slice, at, false);
  }
  apply_owner(std::get<Workload>(object), false);
}

void ClusterState::apply_deleted(const Object& object, Instant at) {
  ++counts_.objects;
  if (const auto* pod = std::get_if<Pod>(&object)) return apply_pod(*pod, at, true);
  if (const auto* node = std::get_if<NodeObject>(&object)) return apply_node(*node, at, true);
  if (const auto* one = std::get_if<Namespace>(&object)) return apply_namespace(*one, true);
  if (const auto* claim = std::get_if<ResourceClaim>(&object)) return apply_claim(*claim, true);
  if (const auto* slice = std::get_if<ResourceSlice>(&object)) return apply_slice(*slice, at, true);
  apply_owner(std::get<Workload>(object), true);
}

void ClusterState::apply_pod(const Pod& pod, Instant at, bool is_deleted) {
  const std::string& uid = pod.meta.uid;
  if (done_.contains(uid)) {
    if (is_deleted) done_.erase(uid);
    return;
  }
  auto found = pods_.find(uid);
  if (found == pods_.end()) {
    if (pods_.size() >= kPodsMax) {
      ++counts_.over_limit;
      return;
    }
    found = pods_.try_emplace(uid).first;
    found->second.seen = at;
  }
  PodEntry& entry = found->second;
  if (entry.is_gone) return;  // a late message: what is gone does not come back
  entry.record = make_record(pod, options_.labels);
  entry.holdings.clear();
  // The clock of the scheduler is ahead of ours: it runs since it was seen to run.
  if (entry.record.begin && *entry.record.begin > at && !entry.begin_seen) entry.begin_seen = at;
  if (entry.record.begin && entry.begin_seen) entry.record.begin = entry.begin_seen;
  // The containers of a deleted pod are gone, whatever its phase was.
  if (is_deleted && !entry.record.has_ended && pod.terminated) {
    entry.record.has_ended = true;
    entry.record.end = pod.terminated;
  }
  entry.seen = std::max(entry.seen, at);
  note_kills(pod, entry, at);
  if (is_deleted) gone_pod(entry, at);
}

void ClusterState::note_kills(const Pod& pod, PodEntry& entry, Instant at) {
  const PodRecord& record = entry.record;
  if (record.request.extended.empty() && record.claims.empty()) return;
  std::optional<Instant> last = entry.killed;
  for (const KilledContainer& one : pod.killed) {
    // Without a time it is the same kill at every update.
    const Instant killed = one.at.value_or(at);
    if (entry.killed && (!one.at || killed <= *entry.killed)) continue;
    last = last ? std::max(*last, killed) : killed;
    if (kills_.size() >= kKillsKept) continue;
    kills_.push_back({.workload = WorkloadId(fmt::format("{}/{}", record.name_space, record.name)),
                      .container = one.name,
                      .at = killed});
  }
  entry.killed = last;
}

void ClusterState::gone_pod(PodEntry& pod, Instant at) {
  pod.is_gone = true;
  pod.gone_at = at;
}

void ClusterState::end_owner(std::string_view uid) {
  if (const auto owner = owners_.find(uid); owner != owners_.end()) owner->second.is_gone = true;
  if (const auto one = namespace_of_uid_.find(uid); one != namespace_of_uid_.end()) {
    namespaces_[one->second].is_gone = true;
    namespace_of_uid_.erase(one);
  }
}

void ClusterState::end_pod(std::string_view uid, Instant end) {
  const auto found = pods_.find(uid);
  if (found == pods_.end() || found->second.is_gone) return;
  gone_pod(found->second, end);
}

void ClusterState::apply_node(const NodeObject& node, Instant at, bool is_deleted) {
  const std::string& name = node.meta.name;
  auto found = nodes_.find(name);
  if (found == nodes_.end()) {
    if (is_deleted) return;
    if (nodes_.size() >= kNodesMax) {
      ++counts_.over_limit;
      return;
    }
    ++changes_;
    found = nodes_.try_emplace(name).first;
    found->second.changed = at;
  }
  NodeEntry& entry = found->second;
  const bool is_other = !entry.record.uid.empty() && entry.record.uid != node.meta.uid;
  if (is_deleted) {
    if (!is_other) gone_node(entry, at);
    return;
  }
  NodeRecord record = make_record(options_.cluster, node);
  if (entry.record.uid.empty() || entry.is_gone || is_other ||
      !says_same(record.fact, entry.record.fact)) {
    entry.changed = at;
    entry.is_reported = false;
  }
  const bool decides_as_before = !entry.is_gone && record.sharing == entry.record.sharing &&
                                 record.problem == entry.record.problem &&
                                 record.fact.gpu_count == entry.record.fact.gpu_count;
  if (!decides_as_before) ++changes_;
  entry.is_gone = false;
  entry.record = std::move(record);
  entry.outages.set(
      entry.record.out_of_use,
      entry.record.out_of_use.empty() ? entry.record.ready_changed : entry.record.out_of_use_since,
      at);
  update_gpus(name, at);
}

void ClusterState::gone_node(NodeEntry& node, Instant at) {
  if (node.is_gone) return;
  ++changes_;
  node.is_gone = true;
  node.is_reported = false;
  node.gone_at = at;
  node.outages.clear(std::nullopt, at);
  node.gpus_changed = true;
}

void ClusterState::update_gpus(const std::string& node, Instant at) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return;
  NodeEntry& entry = found->second;
  std::vector<const ResourceSlice*> slices;
  if (const auto of_node = slices_of_node_.find(node); of_node != slices_of_node_.end()) {
    for (const std::string& uid : of_node->second) slices.push_back(&slices_.at(uid));
  }
  std::vector<Gpu> gpus = slice_gpus(options_.cluster, slices);
  for (const Gpu& gpu : entry.record.gpus) {
    if (std::ranges::find(gpus, gpu.uuid, &Gpu::uuid) == gpus.end()) gpus.push_back(gpu);
  }
  std::ranges::sort(gpus, {}, &Gpu::uuid);
  for (Gpu& gpu : gpus) gpu.from = entry.record.fact.from;
  if (gpus == entry.gpus) return;
  ++changes_;
  entry.gpus = std::move(gpus);
  entry.gpus_changed = true;
  entry.is_reported = false;
  entry.changed = std::max(entry.changed, at);
  for (const Gpu& gpu : entry.gpus) {
    gpus_.try_emplace(gpu.uuid.text());
    for (const MigInstance& instance : gpu.mig_instances) {
      instances_.insert_or_assign(instance.id.text(), gpu.uuid.text());
    }
  }
}

void ClusterState::apply_namespace(const Namespace& one, bool is_deleted) {
  const auto [at, is_new] = namespaces_.try_emplace(one.meta.name);
  PackedTexts labels(one.meta.labels);
  if (is_new || at->second.value != labels) ++changes_;
  at->second.is_gone = is_deleted;
  at->second.value = std::move(labels);
  namespace_of_uid_.insert_or_assign(one.meta.uid, one.meta.name);
}

void ClusterState::apply_claim(const ResourceClaim& claim, bool is_deleted) {
  ++changes_;
  std::string key = claim_key(claim.meta.name_space, claim.meta.name);
  const auto found = claims_.find(key);
  if (found == claims_.end() && claims_.size() >= kOthersMax) {
    ++counts_.over_limit;
    return;
  }
  Tracked<ResourceClaim>& kept = claims_[std::move(key)];
  kept.is_gone = is_deleted;
  // A claim is deallocated as soon as its last pod has ended, which may be before that is reported.
  if (claim.devices.empty() && kept.value.meta.uid == claim.meta.uid) return;
  kept.value = claim;
}

void ClusterState::apply_slice(const ResourceSlice& slice, Instant at, bool is_deleted) {
  ++changes_;
  const auto found = slices_.find(slice.meta.uid);
  std::string node = slice.node;
  if (found != slices_.end()) {
    for (const SliceDevice& device : found->second.devices) {
      slice_devices_.erase(device_key(found->second.driver, found->second.pool, device.name));
    }
    node = found->second.node;
    slices_of_node_[node].erase(slice.meta.uid);
    slices_.erase(found);
    if (!is_deleted && node != slice.node) update_gpus(node, at);
  }
  if (!is_deleted) {
    if (slices_.size() >= kOthersMax) {
      ++counts_.over_limit;
      return;
    }
    const ResourceSlice& kept = slices_.emplace(slice.meta.uid, slice).first->second;
    for (const SliceDevice& device : kept.devices) {
      slice_devices_.insert_or_assign(device_key(kept.driver, kept.pool, device.name), &device);
    }
    node = kept.node;
    slices_of_node_[node].insert(kept.meta.uid);
  }
  update_gpus(node, at);
}

void ClusterState::apply_owner(const Workload& workload, bool is_deleted) {
  const auto found = owners_.find(workload.meta.uid);
  if (found == owners_.end() && owners_.size() >= kOthersMax) {
    ++counts_.over_limit;
    return;
  }
  OwnerEntry& entry = owners_[workload.meta.uid];
  OwnerRecord record{.api_version = workload.meta.api_version,
                     .kind = workload.meta.kind,
                     .name = workload.meta.name,
                     .labels = PackedTexts(workload.meta.labels),
                     .owners = workload.meta.owners};
  if (record != entry.record) ++changes_;
  entry.is_gone = is_deleted;
  entry.record = std::move(record);
}

void ClusterState::mark_relisted(std::string_view kind, std::string_view api_version,
                                 const std::set<std::string>& uids, Instant at) {
  ++changes_;
  listed_.emplace(kind);
  if (kind == "Pod") {
    for (auto& [uid, pod] : pods_) {
      if (pod.is_gone || uids.contains(uid)) continue;
      // Its end was not seen: it counts up to when it was last seen.
      gone_pod(pod, std::max(pod.seen, reported_until_.value_or(pod.seen)));
      if (!pod.record.has_ended && pod.gone_at < at) pod.missed_at = at;
    }
    std::erase_if(done_, [&](const std::string& uid) { return !uids.contains(uid); });
  } else if (kind == "Node") {
    for (auto& [name, node] : nodes_) {
      if (!uids.contains(node.record.uid)) {
        gone_node(node, std::max(node.changed, reported_until_.value_or(at)));
      }
    }
  } else if (kind == "Namespace") {
    for (const auto& [uid, name] : namespace_of_uid_) {
      if (!uids.contains(uid)) namespaces_[name].is_gone = true;
    }
    std::erase_if(namespace_of_uid_, [&](const auto& one) { return !uids.contains(one.first); });
  } else if (kind == "ResourceClaim") {
    for (auto& [key, claim] : claims_) {
      if (!uids.contains(claim.value.meta.uid)) claim.is_gone = true;
    }
  } else if (kind == "ResourceSlice") {
    std::vector<ResourceSlice> gone;
    for (const auto& [uid, slice] : slices_) {
      if (!uids.contains(uid)) gone.push_back(slice);
    }
    for (const ResourceSlice& slice : gone) apply_slice(slice, at, true);
  } else {
    for (auto& [uid, owner] : owners_) {
      const bool is_of_list = owner.record.kind == kind &&
                              api_group(owner.record.api_version) == api_group(api_version);
      if (is_of_list && !uids.contains(uid)) owner.is_gone = true;
    }
  }
}

bool ClusterState::is_ready() const {
  return std::ranges::all_of(options_.wait_for,
                             [&](const std::string& kind) { return listed_.contains(kind); });
}

void ClusterState::problem(Facts& facts, std::string what) {
  if (facts.problems.size() < kProblemsKept) facts.problems.push_back(std::move(what));
}

const NodeSharing* ClusterState::find_sharing(const std::string& name, std::string& problem) {
  const auto found = nodes_.find(name);
  if (found != nodes_.end()) {
    problem = found->second.record.problem;
    return problem.empty() ? &found->second.record.sharing : nullptr;
  }
  const auto remembered = ledger_sharing_.find(name);
  if (remembered != ledger_sharing_.end()) return &remembered->second;
  if (!options_.known.node || ledger_sharing_.size() >= kNodesMax) return nullptr;
  const auto known = options_.known.node(NodeId(name));
  if (!known) return nullptr;
  return &ledger_sharing_.insert_or_assign(name, sharing_of_fact(*known)).first->second;
}

bool ClusterState::has_gpu(const std::string& name) const {
  const auto found = nodes_.find(name);
  return found == nodes_.end() || found->second.record.fact.gpu_count > 0 ||
         !found->second.record.problem.empty();
}

bool ClusterState::is_known_gpu(const std::string& id, Instant now) {
  if (gpus_.contains(id) || instances_.contains(id)) return true;
  if (!options_.known.gpu) return false;
  if (!gpu_queries_at_ || now >= *gpu_queries_at_ + kAskAgain ||
      gpu_queries_.size() >= kOthersMax) {
    gpu_queries_.clear();
    gpu_queries_at_ = now;
  }
  const auto [at, is_new] = gpu_queries_.try_emplace(id);
  if (is_new) at->second = options_.known.gpu(GpuId(id)).has_value();
  return at->second;
}

PodLabels ClusterState::make_labels(const PodRecord& pod) const {
  const std::vector<Owner> owners =
      owner_chain(pod.owners, [&](std::string_view uid) -> const OwnerRecord* {
        const auto found = owners_.find(uid);
        return found == owners_.end() ? nullptr : &found->second.record;
      });
  const auto name_space = namespaces_.find(pod.name_space);
  return pod_labels(
      {.name_space = pod.name_space,
       .pod = pod.name,
       .node = pod.node,
       .service_account = pod.service_account,
       .priority_class = pod.priority_class,
       .images = pod.images,
       .final_phase = pod.final_phase,
       .labels = &pod.labels,
       .annotations = &pod.annotations,
       .namespace_labels = name_space == namespaces_.end() ? nullptr : &name_space->second.value,
       .owners = owners});
}

std::optional<Instant> ClusterState::pod_end(const PodEntry& pod) const {
  if (pod.record.has_ended) {
    if (pod.record.end) return pod.record.end;
    return pod.is_gone ? std::min(pod.gone_at, pod.seen) : pod.seen;
  }
  if (pod.is_gone) return pod.gone_at;
  return std::nullopt;
}

// Adds the readings of a pod that holds what it held when it was last reported. False: it must be
// looked at.
bool ClusterState::give_readings(const PodEntry& pod, Instant now, Facts& facts) const {
  // What the ledger knows of GPUs may have changed after kAskAgain.
  if (pod.holdings.empty() || pod.decided_by != changes_ || now >= pod.decided_at + kAskAgain) {
    return false;
  }
  for (const auto& holding : pod.holdings) {
    if (now <= holding->held.begin()) return false;
    facts.readings.push_back({.holding = holding, .until = now});
  }
  return true;
}

bool ClusterState::report_pod(PodEntry& pod, Instant now, Facts& facts) {
  const PodRecord& record = pod.record;
  const auto end = pod_end(pod);
  if (!end && give_readings(pod, now, facts)) return false;
  pod.holdings.clear();
  if (!record.begin) return end.has_value();
  if (options_.gpu_nodes_only && record.request.extended.empty() && record.claims.empty() &&
      !has_gpu(record.node)) {
    return end.has_value();
  }
  const auto held = Interval::of(*record.begin, end.value_or(now));
  if (!held) {
    if (end) ++counts_.without_time;
    return end.has_value();
  }
  AllocationContext around;
  around.sharing = find_sharing(record.node, around.sharing_problem);
  around.is_known_gpu = [&](const std::string& id) { return is_known_gpu(id, now); };
  around.claim = [&](std::string_view name_space, std::string_view name) {
    const auto found = claims_.find(claim_key(name_space, name));
    return found == claims_.end() ? nullptr : &found->second.value;
  };
  around.slice_device = [&](const ClaimedDevice& device) -> const SliceDevice* {
    const auto found = slice_devices_.find(device_key(device.driver, device.pool, device.device));
    return found == slice_devices_.end() ? nullptr : found->second;
  };
  HeldDevices parts = held_devices(record, around);
  std::string problems;
  for (const std::string& what : parts.problems) problems += what + "\n";
  if (problems != pod.problems) {
    for (std::string& what : parts.problems) problem(facts, std::move(what));
    pod.problems = std::move(problems);
  }
  PodLabels labels = make_labels(record);
  counts_.labels_dropped += end ? labels.dropped : 0;
  for (Holding& holding : make_holdings(options_.cluster, record, std::move(parts), *held,
                                        end.has_value() && !pod.missed_at, labels.labels)) {
    if (pod.missed_at) {
      facts.vanished.push_back(
          {.workload = holding.workload, .attempt = holding.attempt, .gone_by = *pod.missed_at});
    }
    if (end && options_.known.has_ended &&
        options_.known.has_ended(holding.workload, holding.attempt)) {
      continue;
    }
    if (options_.gives_readings && !end && pod.problems.empty()) {
      pod.holdings.push_back(std::make_shared<const Holding>(holding));
      pod.decided_by = changes_;
      pod.decided_at = now;
    }
    facts.holdings.push_back(std::move(holding));
  }
  if (end) ++counts_.ended;
  return end.has_value();
}

void ClusterState::report_gpus(NodeEntry& node, Facts& facts) {
  std::set<std::string_view> there;
  for (const Gpu& gpu : node.gpus) {
    if (node.is_gone) break;
    there.insert(gpu.uuid.text());
    GpuEntry& entry = gpus_[gpu.uuid.text()];
    if (!entry.reported && options_.known.gpu) entry.reported = options_.known.gpu(gpu.uuid);
    auto fact = next_fact(gpu, entry.reported, node.changed);
    node.reported_gpus.insert(gpu.uuid.text());
    if (!fact) continue;
    entry.reported = *fact;
    facts.gpus.push_back(*std::move(fact));
  }
  const Instant gone_at = node.is_gone ? node.gone_at : node.changed;
  for (auto at = node.reported_gpus.begin(); at != node.reported_gpus.end();) {
    if (there.contains(*at)) {
      ++at;
      continue;
    }
    const auto gpu = gpus_.find(*at);
    // The GPU may have moved to another node, which has reported it by then or will.
    if (gpu != gpus_.end() && gpu->second.reported &&
        gpu->second.reported->node == node.record.fact.name) {
      if (auto fact = last_fact(gpu->second.reported, gone_at)) {
        facts.gpus.push_back(*std::move(fact));
      }
      ++changes_;
      gpus_.erase(gpu);
    }
    at = node.reported_gpus.erase(at);
  }
}

void ClusterState::report_nodes(Instant now, Facts& facts) {
  for (auto& [name, node] : nodes_) {
    node.outages.report(options_.cluster, node.record.fact.name, now, facts.outages);
    if (!node.reported && options_.known.node)
      node.reported = options_.known.node(node.record.fact.name);
    if (!node.record.problem.empty() && node.record.problem != node.problem) {
      problem(facts, fmt::format("node {}: {}", name, node.record.problem));
    }
    node.problem = node.record.problem;
    if (!node.is_reported) {
      auto fact = node.is_gone ? last_fact(node.reported, node.gone_at)
                               : next_fact(with_gpus(node.record.fact, node.gpus), node.reported,
                                           node.changed);
      if (fact) {
        node.reported = *fact;
        facts.nodes.push_back(*std::move(fact));
      }
      node.is_reported = true;
    }
    if (node.gpus_changed) report_gpus(node, facts);
    node.gpus_changed = false;
  }
}

Facts ClusterState::facts(Instant now) {
  Facts facts;
  report_nodes(now, facts);
  const bool is_later = !reported_until_ || now > *reported_until_;
  if (is_ready()) {
    for (auto at = pods_.begin(); at != pods_.end();) {
      PodEntry& pod = at->second;
      if (!is_later && !pod_end(pod)) {
        ++at;
        continue;
      }
      if (!report_pod(pod, now, facts)) {
        ++at;
        continue;
      }
      if (!pod.is_gone) done_.insert(at->first);
      at = pods_.erase(at);
    }
  }
  if (is_later) reported_until_ = now;
  facts.kills = std::exchange(kills_, {});
  for (const auto& [name, node] : nodes_) {
    if (!node.is_gone && node.record.is_spot) facts.spot_nodes.emplace_back(name);
  }
  forget_unneeded();
  return facts;
}

void ClusterState::forget_unneeded() {
  const auto gone = [](const auto& kept) {
    return static_cast<std::size_t>(
        std::ranges::count_if(kept, [](const auto& one) { return one.second.is_gone; }));
  };
  const std::size_t gone_owners = gone(owners_), gone_claims = gone(claims_);
  const std::size_t gone_spaces = gone(namespaces_), gone_nodes = gone(nodes_);
  if (std::max({gone_owners, gone_claims, gone_spaces, gone_nodes}) <= kGoneKept) return;
  std::set<std::string, std::less<>> owners, claims, spaces, nodes;
  for (const auto& [uid, pod] : pods_) {
    spaces.insert(pod.record.name_space);
    nodes.insert(pod.record.node);
    for (const std::string& claim : pod.record.claims) {
      claims.insert(claim_key(pod.record.name_space, claim));
    }
    const auto note = [&](std::string_view owner) -> const OwnerRecord* {
      owners.emplace(owner);
      const auto found = owners_.find(owner);
      return found == owners_.end() ? nullptr : &found->second.record;
    };
    static_cast<void>(owner_chain(pod.record.owners, note));
  }
  const auto drop = [](auto& kept, const auto& needed) {
    std::erase_if(
        kept, [&](const auto& one) { return one.second.is_gone && !needed.contains(one.first); });
  };
  drop(owners_, owners);
  drop(claims_, claims);
  drop(namespaces_, spaces);
  std::erase_if(nodes_, [&](const auto& one) {
    return one.second.is_gone && one.second.is_reported && !nodes.contains(one.first);
  });
}

ClusterCounts ClusterState::counts() const {
  ClusterCounts counts = counts_;
  counts.pods = pods_.size();
  counts.nodes = static_cast<std::size_t>(
      std::ranges::count_if(nodes_, [](const auto& one) { return !one.second.is_gone; }));
  counts.owners = owners_.size();
  return counts;
}

}  // namespace pennyweight::kubernetes
