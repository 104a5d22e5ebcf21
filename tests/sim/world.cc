// The fleet and the jobs of a world.
#include "world.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/check.h"
#include "device_truth.h"
#include "ledger/end_keys.h"
#include "requests.h"
#include "testing/generate/random.h"

namespace pennyweight::sim {
namespace {

constexpr std::uint64_t kCard = CardShare::kUnitsPerCard;

enum class Mode {
  kWhole,
  kMigNamed,    // pods name instances
  kMigCounted,  // jobs request a number of a profile on a node
  kReplicas,
  kShards,
  kMpsUnits,
  kVirtual,
  kFractions,
  kSoldPart,  // the cloud sells a fraction of a GPU as a machine
  kCpuOnly,
};
constexpr std::uint64_t kModes = 10;

// Under which the ledger keeps it.
template <class Fact>
FactId stored_id(const Fact& fact) {
  return FactId{EndKeys<Fact>({}).key_of(fact)};
}

// A node as its maker plans it.
struct Site {
  ClusterId cluster;
  NodeId name;
  Mode mode;
  bool orderly;  // its scheduler never hands out more than there is
  const Model* model;
  std::vector<GpuId> cards;
  bool is_loose = false;  // only telemetry tells which GPUs its jobs are on
};

class WorldMaker {
 public:
  explicit WorldMaker(std::uint64_t seed)
      : world_{.seed = seed,
               .days = some_days(seed),
               .month = {},
               .clusters = {},
               .nodes = {},
               .gpus = {},
               .cards = {},
               .holdings = {},
               .outages = {},
               .usages = {},
               .corrections = {},
               .bill = {},
               .requests = {},
               .pool_requests = {},
               .loose_nodes = {},
               .samples = {},
               .policy = {}},
        random_(seed, "world") {
    world_.month = "2025-03";
  }

  World make() {
    world_.policy = any_policy(random_);
    const std::uint64_t clusters = 1 + (below(4) == 0 ? 1 : 0);
    for (std::uint64_t c = 0; c < clusters; ++c) {
      world_.clusters.emplace_back(fmt::format("c{}", c));
      const std::uint64_t nodes = 1 + below(4);
      for (std::uint64_t n = 0; n < nodes; ++n) make_node(world_.clusters.back(), c, n);
    }
    for (std::size_t s = 0; s < sites_.size(); ++s) make_jobs(s);
    for (const Site& site : sites_) make_outages(site);
    make_corrections();
    for (const ClusterId& cluster : world_.clusters) {
      if (below(4) == 0) make_pool_jobs(cluster);
    }
    make_weighted_jobs();
    add_bill(world_);
    add_telemetry(world_);
    return std::move(world_);
  }

 private:
  // In March 2025 a day of New York has 23 hours.
  static Interval some_days(std::uint64_t seed) {
    Random random(seed, "days");
    const Instant begin = *parse_instant("2025-03-01") + std::chrono::days(random.between(0, 20));
    return {begin, begin + std::chrono::days(random.between(1, 4))};
  }

  std::uint64_t below(std::uint64_t bound) { return random_.between(0, bound - 1); }
  template <class T>
  const T& any_of(const std::vector<T>& all) {
    return all[below(all.size())];
  }

  void make_corrections() {
    while (below(3) == 0) {
      Correction correction(any_of(world_.clusters),
                            fmt::format("correction {}", world_.corrections.size()), any_interval(),
                            Money::from_ticks(static_cast<Int128>(random_.next() >> 20), kUsd));
      const auto owner = [&] {
        Labels labels;
        CHECK(labels.set("team", below(2) == 0 ? "nlp" : "vision").has_value(), "a short label");
        return labels;
      };
      correction.from = owner();
      if (below(3) > 0) correction.to = owner();
      correction.reason = "agreed";
      correction.id = FactId{natural_key(correction)};
      world_.corrections.push_back(correction);
    }
  }

  void make_node(const ClusterId& cluster, std::uint64_t c, std::uint64_t n) {
    static const std::vector<std::string> kPools = {"a", "a", "b", ""};
    const auto mode = static_cast<Mode>(below(kModes));
    Site site{.cluster = cluster,
              .name = NodeId(fmt::format("n{}-{}", c, n)),
              .mode = mode,
              .orderly = below(3) > 0,
              .model = &models()[below(
                  mode == Mode::kMigNamed || mode == Mode::kMigCounted ? 3 : models().size())],
              .cards = {}};
    Node node{.cluster = cluster,
              .name = site.name,
              .provider_id = fmt::format("aws:///us-east-1a/i-{}{}", c, n),
              .instance_type = {},
              .region = {},
              .pool = PoolId(any_of(kPools)),
              .gpu_model = {},
              .cpu_milli = {},
              .memory_bytes = {},
              .from = world_.days.begin() - std::chrono::days(below(3)),
              .to = {},
              .id = {},
              .source = {}};
    if (mode != Mode::kCpuOnly) {
      node.gpu_count = static_cast<std::uint32_t>(1 + below(below(6) == 0 ? 8 : 3));
      node.gpu_model = site.model->name;
    }
    if (below(6) > 0) {
      node.cpu_milli = 1000 * (4 + below(96));
      node.memory_bytes = (16 + below(512)) << 30;
    }
    static const std::vector<std::uint32_t> kReplicas = {2, 3, 4, 7, 10, 16, 17};
    if (mode == Mode::kReplicas) {
      node.sharing = below(3) == 0 ? GpuSharing::kMps : GpuSharing::kTimeSlicing;
      node.gpu_replicas = any_of(kReplicas);
      node.replicas_renamed = below(2) == 0;
    }
    if (mode == Mode::kMigNamed && below(3) == 0) node.gpu_replicas = 2;  // shared instances
    if (mode == Mode::kShards) node.shard_count = node.gpu_count * any_of(kReplicas);
    if (mode == Mode::kMpsUnits) node.mps_count = node.gpu_count * 100;
    if (below(6) == 0) node.from = any_instant();
    if (below(6) == 0) node.to = std::max(node.from, any_instant()) + std::chrono::hours(1);
    static const std::vector<std::string> kTypes = {"", "", "", "sim.ratio", "sim.explicit.8x"};
    node.instance_type = any_of(kTypes);
    if (mode == Mode::kSoldPart) {
      node.instance_type = "g6f.2xlarge";  // a quarter of an L4, shown as one GPU
      node.gpu_model = "L4";
      node.gpu_count = 1;
      node.cpu_milli = 8'000;
      node.memory_bytes = std::uint64_t{32} << 30;
    }
    node.id = stored_id(node);
    world_.nodes.push_back(node);
    if (!node.to && below(6) == 0) change_node(node);
    site.is_loose = mode == Mode::kWhole && below(4) == 0;
    if (site.is_loose) world_.loose_nodes.push_back(site.name);
    for (std::uint32_t g = 0; g < node.gpu_count; ++g) make_card(site, node, g);
    sites_.push_back(std::move(site));
  }

  // The node is set up anew while it runs, or goes away and comes back.
  void change_node(Node node) {
    const Instant at = std::max(node.from + std::chrono::minutes(1), any_instant());
    if (below(2) == 0) {
      world_.nodes.back().to = at;
      world_.nodes.back().id = stored_id(world_.nodes.back());
      node.from = at + std::chrono::minutes(1 + below(600));
    } else {
      node.from = at;
    }
    if (node.gpu_replicas > 0) node.gpu_replicas = node.gpu_replicas == 4 ? 2 : 4;
    if (node.shard_count > 0) node.shard_count *= 2;
    node.id = stored_id(node);
    world_.nodes.push_back(node);
  }

  void make_card(Site& site, const Node& node, std::uint32_t g) {
    Gpu gpu{.cluster = site.cluster,
            .node = site.name,
            .uuid = GpuId(fmt::format("GPU-{}-{}", site.name.text(), g)),
            .index = g,
            .model = node.gpu_model,
            .memory_bytes = {},
            .mig_instances = {},
            .from = world_.days.begin() - std::chrono::days(5),
            .to = {},
            .id = {},
            .source = {}};
    site.cards.push_back(gpu.uuid);
    const std::uint64_t layouts = site.mode == Mode::kMigNamed ? 1 + below(3) : 1;
    for (std::uint64_t epoch = 0; epoch < layouts; ++epoch) {
      if (epoch > 0) {
        gpu.from = world_.gpus.back().from < world_.days.begin()
                       ? any_instant()
                       : world_.gpus.back().from + std::chrono::minutes(1 + below(2000));
      }
      gpu.mig_instances.clear();
      const std::uint64_t units = world_.card_units(node);
      Card card{.units = {units, units}, .seats = {}};
      if (site.mode == Mode::kMigNamed) {
        cut_card(*site.model, any_of(site.model->layouts), epoch, gpu, card);
      } else {
        card.seats.push_back({gpu.uuid, card.units});
      }
      gpu.id = stored_id(gpu);
      // Numbered instances could be a scrape of the layout before; so that layout says that it
      // ends.
      if (epoch == 2) {
        world_.gpus.back().to = gpu.from;
        world_.gpus.back().id = stored_id(world_.gpus.back());
      }
      world_.gpus.push_back(gpu);
      world_.cards.push_back(std::move(card));
    }
  }

  // Instances are named by their UUID, or "<gpu>/gi<N>" as sources without UUIDs do.
  static void cut_card(const Model& model, const Layout& layout, std::uint64_t epoch, Gpu& gpu,
                       Card& card) {
    const auto units = [&](std::uint64_t compute, std::uint64_t memory) {
      return std::array{kCard / model.compute_slices * compute,
                        kCard / model.memory_slices * memory};
    };
    std::array<std::uint64_t, 2> rest = card.units;
    const auto take = [&](const std::array<std::uint64_t, 2>& part) {
      for (std::size_t axis = 0; axis < 2; ++axis) rest[axis] -= part[axis];
    };
    for (std::size_t i = 0; i < layout.profiles.size(); ++i) {
      const Profile& profile = model.profiles[layout.profiles[i]];
      const GpuId id(epoch == 1 ? fmt::format("MIG-{}-{}", gpu.uuid.text(), i)
                                : fmt::format("{}/gi{}", gpu.uuid.text(), i + 1));
      gpu.mig_instances.push_back({id, profile.name});
      card.seats.push_back({id, units(profile.compute, profile.memory)});
      take(card.seats.back().units);
    }
    card.is_cut = true;
    card.is_watched = layout.is_watched;
    card.stranded = units(layout.stranded_compute, layout.stranded_memory);
    take(card.stranded);
    card.seats.push_back({gpu.uuid, rest});
  }

  Instant any_instant() {
    const std::uint64_t at = below(world_.days.length_ms());
    // Schedulers write whole seconds, others milliseconds.
    return world_.days.begin() + std::chrono::milliseconds(below(3) == 0 ? at : at / 1000 * 1000);
  }

  Interval any_interval() {
    static const std::vector<std::uint64_t> kLongest = {60'000, 3'600'000, 36'000'000, 180'000'000};
    const Instant begin = any_instant() - std::chrono::hours(below(3));
    return {begin, begin + std::chrono::milliseconds(1 + below(any_of(kLongest)))};
  }

  // ---- jobs -------------------------------------------------------------------------------------

  void make_jobs(std::size_t s) {
    const std::uint64_t jobs = below(9);
    for (std::uint64_t j = 0; j < jobs; ++j) make_job(sites_[s]);
    if (sites_[s].mode == Mode::kWhole || sites_[s].mode == Mode::kMigNamed) {
      if (below(3) == 0) make_claim(sites_[s]);
    }
    if (sites_[s].mode == Mode::kFractions && below(2) == 0) make_reserved(sites_[s]);
    if (below(3) == 0) make_system_pod(sites_[s]);
    if (below(3) == 0) make_host_pod(sites_[s]);
  }

  std::string next_name(const Site& site) {
    return fmt::format("{}-{}", site.name.text(), ++names_);
  }

  Holding blank(const ClusterId& cluster, const std::string& name, const Interval& held,
                Placement where) {
    static const std::vector<std::string> kTeams = {"nlp", "vision", "infra"};
    Holding job(cluster, WorkloadId(name), held, std::move(where));
    if (below(5) > 0) set(job, "team", any_of(kTeams));
    set(job, "user", fmt::format("u{}", below(4)));
    if (below(2) == 0) {
      job.cpu_milli = below(24'000);
      job.memory_bytes = below(std::uint64_t{1} << 36);
    }
    return job;
  }

  static void set(Holding& job, const std::string& key, const std::string& value) {
    CHECK(job.labels.set(key, value).has_value(), "short labels");
  }

  // A pod or job with its life: one run, several after preemption or failure, or one that is
  // resized in place while it runs.
  void make_job(const Site& site) {
    if (site.mode == Mode::kCpuOnly) return make_host_pod(site);
    const Interval first = any_interval();
    Holding job = blank(site.cluster, next_name(site), first, OnNodes{});
    ask_for_devices(job, site);
    if (!settle(job, site)) return;
    switch (below(5)) {
      case 0: {  // preempted, and queued again
        set(job, "state", "PREEMPTED");
        const Instant again = first.end() + std::chrono::seconds(below(7200));
        job.attempt = "2";
        job.held = {again, again + std::chrono::milliseconds(1 + below(20'000'000))};
        settle(job, site);
        break;
      }
      case 1: {  // resized: the same pod goes on with other requests
        job.attempt = "resize-1";
        job.held = {first.end(), first.end() + std::chrono::milliseconds(1 + below(20'000'000))};
        // It names GPUs or a node only, as before; otherwise telemetry of its first life would
        // place it.
        const Placement before = job.placement;
        ask_for_devices(job, site);
        if (job.placement.index() != before.index()) job.placement = before;
        settle(job, site);
        break;
      }
      case 2:  // another reading of it was mistaken for a second job
        if (!site.orderly) {
          job.workload = WorkloadId(job.workload.text() + "-again");
          settle(job, site);
        }
        break;
      default:
        break;
    }
  }

  void ask_for_devices(Holding& job, const Site& site) {
    const auto devices = static_cast<std::uint32_t>(1 + below(site.cards.size()));
    job.placement = below(2) == 0 && !site.is_loose ? Placement(named_cards(site, devices))
                                                    : Placement(on_node(site, devices));
    switch (site.mode) {
      case Mode::kWhole:
        job.device = WholeGpu{};
        if (below(4) == 0) spread_over_nodes(job, site);
        break;
      case Mode::kMigNamed:
        job.device = WholeGpu{};
        if (node_of(site).gpu_replicas > 0 && below(2) == 0) job.device = Replica{};
        name_instances(job, site);
        break;
      case Mode::kMigCounted:
        job.placement = on_node(site, 1 + static_cast<std::uint32_t>(below(3)));
        job.device = MigSlice{any_of(site.model->profiles).name};
        break;
      case Mode::kReplicas:
        job.device = Replica{};
        break;
      case Mode::kShards:
        job.device = Shard{};
        job.placement = on_node(site, 1 + static_cast<std::uint32_t>(below(4)));
        break;
      case Mode::kMpsUnits:
        job.device = MpsUnit{};
        job.placement = on_node(site, 1 + static_cast<std::uint32_t>(below(100)));
        break;
      case Mode::kVirtual:
        job.device = any_virtual_gpu(site);
        break;
      case Mode::kFractions:
        job.device = CardFraction{CardShare::from_units(below(kCard + 1)),
                                  CardShare::from_units(below(kCard + 1))};
        break;
      case Mode::kSoldPart:
        job.device = WholeGpu{};
        break;
      case Mode::kCpuOnly:
        break;
    }
  }

  const Node& node_of(const Site& site) const {
    return *std::find_if(world_.nodes.begin(), world_.nodes.end(), [&](const Node& node) {
      return node.name == site.name && node.cluster == site.cluster;
    });
  }

  // Pods that share one ResourceClaim.
  void make_claim(const Site& site) {
    std::vector<Holding> sharers;
    const std::string claim = next_name(site);
    Holding first = blank(site.cluster, claim, any_interval(), OnNodes{});
    ask_for_devices(first, site);
    if (std::holds_alternative<OnNodes>(first.placement)) {
      first.placement = named_cards(site, 1);
      if (site.mode == Mode::kMigNamed) return;
    }
    const std::uint64_t pods = 2 + below(2);
    for (std::uint64_t p = 0; p < pods; ++p) {
      Holding pod = first;
      pod.workload = WorkloadId(fmt::format("{}-{}", claim, p));
      pod.claim = claim;
      if (p > 0) pod.held = near(first.held);
      sharers.push_back(pod);
    }
    settle_together(std::move(sharers), site);
  }

  // A reservation pod that holds a GPU for its fractions.
  void make_reserved(const Site& site) {
    const std::string group = next_name(site);
    std::vector<Holding> pods;
    Holding reservation =
        blank(site.cluster, "runai-reservation/" + group, any_interval(), named_cards(site, 1));
    reservation.gpu_group = group;
    reservation.is_reservation = true;
    pods.push_back(reservation);
    const std::uint64_t fractions = 1 + below(3);
    // Sometimes fractions outlive their reservation; then only telemetry says where they are.
    const bool outlive = below(4) == 0;
    if (outlive) world_.loose_nodes.push_back(site.name);
    for (std::uint64_t f = 0; f < fractions; ++f) {
      const Interval time = near(reservation.held);
      const auto reserved = time.overlap(reservation.held);
      if (!outlive && !reserved) continue;
      Holding pod = blank(site.cluster, fmt::format("{}-{}", group, f), outlive ? time : *reserved,
                          on_node(site, 1));
      const auto share = CardShare::from_units(below(kCard / fractions + 1));
      pod.device = CardFraction{share, share};
      pod.gpu_group = group;
      pods.push_back(pod);
    }
    settle_together(std::move(pods), site);
  }

  // A time that mostly overlaps another.
  Interval near(const Interval& other) {
    const auto length = other.length_ms();
    const Instant begin = other.begin() + std::chrono::milliseconds(below(length));
    return {begin - std::chrono::milliseconds(below(length / 4 + 1)),
            begin + std::chrono::milliseconds(1 + below(length))};
  }

  void make_outages(const Site& site) {
    while (below(4) == 0) {
      Outage outage(site.cluster, site.name, any_interval());
      if (!site.cards.empty() && below(2) == 0) outage.gpu = any_of(site.cards);
      outage.reason = "drained";
      outage.id = FactId{natural_key(outage)};
      const bool is_new = std::none_of(world_.outages.begin(), world_.outages.end(),
                                       [&](const Outage& other) { return other.id == outage.id; });
      if (is_new) world_.outages.push_back(outage);
    }
  }

  OnNodes on_node(const Site& site, std::uint32_t devices) const {
    return OnNodes{{{site.name, devices}}};
  }

  OnGpus named_cards(const Site& site, std::uint32_t devices) {
    OnGpus on;
    const std::size_t first = below(site.cards.size());
    for (std::uint32_t i = 0; i < devices; ++i) {
      on.gpus.push_back(site.cards[(first + i) % site.cards.size()]);
    }
    return on;
  }

  // Instances of the layouts in force while it runs; sometimes, by mistake, those of another time.
  void name_instances(Holding& job, const Site& site) {
    std::vector<GpuId> instances;
    for (std::size_t i = 0; i < world_.gpus.size(); ++i) {
      const Gpu& gpu = world_.gpus[i];
      if (gpu.node != site.name) continue;
      const auto present = world_.presence_of_gpu(i);
      if (!present || (!present->contains(job.held.begin()) && below(10) > 0)) continue;
      for (const MigInstance& instance : gpu.mig_instances) instances.push_back(instance.id);
    }
    OnGpus on;
    const std::size_t wanted = 1 + below(2);
    while (!instances.empty() && on.gpus.size() < wanted) {
      const std::size_t chosen = below(instances.size());
      on.gpus.push_back(instances[chosen]);
      instances.erase(instances.begin() + static_cast<std::ptrdiff_t>(chosen));
    }
    if (on.gpus.empty()) on.gpus.push_back(site.cards.front());  // all of its seats
    job.placement = on;
  }

  VirtualGpu any_virtual_gpu(const Site& site) {
    VirtualGpu part{.cores_percent = {}, .memory_bytes = {}, .memory_percent = {}};
    if (below(4) > 0) part.cores_percent = static_cast<std::uint32_t>(1 + below(100));
    switch (below(3)) {
      case 0:
        part.memory_bytes = (1 + below(64)) * ((site.model->memory_gib << 30) / 64);
        break;
      case 1:
        part.memory_percent = static_cast<std::uint32_t>(1 + below(100));
        break;
      default:
        break;
    }
    return part;
  }

  void spread_over_nodes(Holding& job, const Site& site) {
    OnNodes on = on_node(site, 1 + static_cast<std::uint32_t>(below(2)));
    for (const Site& other : sites_) {
      if (other.mode != Mode::kWhole || other.cluster != site.cluster || other.name == site.name) {
        continue;
      }
      on.parts.push_back({other.name, 1 + static_cast<std::uint32_t>(below(2))});
    }
    job.placement = on;
  }

  // Without devices: system DaemonSets, and pods that only need the host.
  void make_system_pod(const Site& site) {
    Holding pod(site.cluster, WorkloadId("kube-system/" + next_name(site)), world_.days,
                on_node(site, 0));
    set(pod, "namespace", "kube-system");
    pod.cpu_milli = 1 + below(500);
    pod.memory_bytes = below(std::uint64_t{1} << 31);
    settle(pod, site);
  }

  void make_host_pod(const Site& site) {
    Holding pod = blank(site.cluster, next_name(site), any_interval(), on_node(site, 0));
    pod.cpu_milli = 1 + below(below(4) == 0 ? 200'000 : 4'000);  // sometimes the whole node
    pod.memory_bytes = below(std::uint64_t{1} << (below(4) == 0 ? 39 : 34));
    settle(pod, site);
  }

  void make_pool_jobs(const ClusterId& cluster) {
    const std::uint64_t jobs = 1 + below(6);
    for (std::uint64_t j = 0; j < jobs; ++j) {
      InPool in{.pools = {}, .devices = static_cast<std::uint32_t>(below(4))};
      if (below(2) == 0) in.pools.emplace_back("a");
      Holding job =
          blank(cluster, fmt::format("{}-pool-{}", cluster.text(), ++names_), any_interval(), in);
      job.cpu_milli = below(20'000);
      job.memory_bytes = below(std::uint64_t{1} << 36);
      if (below(2) == 0) {
        job.device = CardFraction{CardShare::from_units(below(kCard + 1)),
                                  CardShare::from_units(below(kCard + 1))};
      }
      job.id = FactId{natural_key(job)};
      const CardUnits each = true_units(job.device, Node{world_.nodes.front()});
      world_.pool_requests.push_back({.holding = world_.holdings.size(),
                                      .pools = in.pools,
                                      .units = {each.compute * in.devices, each.memory * in.devices,
                                                *job.cpu_milli, *job.memory_bytes}});
      world_.holdings.push_back(job);
    }
  }

  // In some worlds a rule gives one kind of work the weights that the policy's own are least like,
  // and such work shares a GPU with other work: together they may weigh more than it.
  void make_weighted_jobs() {
    Random random(world_.seed, "weighted jobs");
    if (random.between(0, 7) != 0) return;
    const auto site = std::find_if(sites_.begin(), sites_.end(),
                                   [&](const Site& s) { return has_whole_gpus(s); });
    if (site == sites_.end()) return;
    const ShareWeights& common = world_.policy.weights;
    const bool by_memory = common.compute >= common.memory;
    world_.policy.sharing.insert(
        world_.policy.sharing.begin(),
        {.cluster = {},
         .gpu_model = {},
         .workload = {{"kind", LabelMatch::Op::kIn, {"inference"}}},
         .weights = by_memory ? ShareWeights{0, 1000} : ShareWeights{1000, 0},
         .basis = {}});
    const GpuId& card = site->cards[random.between(0, site->cards.size() - 1)];
    const auto share = [](std::uint64_t eighths) {
      return CardShare::from_units(kCard / 8 * eighths);
    };
    // What they request fits on the GPU; only their weights do not.
    const std::uint64_t much = random.between(4, 7), little = random.between(1, 8 - much);
    const auto add = [&](const char* kind, bool of_memory, const Interval& held) {
      Holding job(site->cluster, WorkloadId(next_name(*site)), held, OnGpus{{card}});
      job.device = of_memory ? CardFraction{share(little), share(much)}
                             : CardFraction{share(much), share(little)};
      set(job, "kind", kind);
      set(job, "team", "nlp");
      settle(job, *site);
    };
    for (int pair = 0; pair < 3; ++pair) {
      const auto length = world_.days.length_ms();
      const auto begin = random.between(0, length - 1), join = random.between(0, length / 4);
      const Instant first = world_.days.begin() + std::chrono::milliseconds(begin);
      const Instant second = first + std::chrono::milliseconds(join);
      add("training", !by_memory, {first, second + std::chrono::hours(1)});
      add("inference", by_memory,
          {second, second + std::chrono::milliseconds(random.between(60'000, 36'000'000))});
    }
  }

  bool has_whole_gpus(const Site& site) const {
    return !site.cards.empty() && !site.is_loose && site.mode != Mode::kMigNamed &&
           site.mode != Mode::kMigCounted && site.mode != Mode::kSoldPart &&
           std::find(world_.loose_nodes.begin(), world_.loose_nodes.end(), site.name) ==
               world_.loose_nodes.end();
  }

  // ---- the truth about a job --------------------------------------------------------------------

  // Adds the job and what it truly requests. An orderly site's scheduler refuses what does not fit.
  bool settle(Holding job, const Site& site) { return settle_together({std::move(job)}, site); }

  bool settle_together(std::vector<Holding> jobs, const Site& site) {
    for (Holding& job : jobs) {
      if (job.held.end() > world_.days.end() && below(2) == 0) job.ended = false;
      if (below(12) == 0) job.suspended_ms = below(100'000);
      job.id = FactId{natural_key(job)};
    }
    std::sort(jobs.begin(), jobs.end(), [](const Holding& x, const Holding& y) {
      return std::tie(x.held, x.workload, x.attempt, x.id) <
             std::tie(y.held, y.workload, y.attempt, y.id);
    });
    const std::vector<TrueRequest> requests = true_requests(world_, jobs, world_.holdings.size());
    if (site.orderly && !fits(world_, requests)) return false;
    world_.requests.insert(world_.requests.end(), requests.begin(), requests.end());
    world_.holdings.insert(world_.holdings.end(), jobs.begin(), jobs.end());
    return true;
  }

  World world_;
  Random random_;
  std::vector<Site> sites_;
  std::uint64_t names_ = 0;
};

template <class Fact, class SameThing>
std::optional<Interval> presence(const std::vector<Fact>& facts, std::size_t index,
                                 const SameThing& same) {
  Instant end = facts[index].to.value_or(*parse_instant("2100-01-01"));
  for (const Fact& other : facts) {
    if (same(other, facts[index]) && other.from > facts[index].from)
      end = std::min(end, other.from);
  }
  return Interval::of(facts[index].from, end);
}

}  // namespace

std::optional<Interval> World::presence_of_node(std::size_t index) const {
  return presence(nodes, index, [](const Node& a, const Node& b) {
    return a.cluster == b.cluster && a.name == b.name;
  });
}

std::optional<Interval> World::presence_of_gpu(std::size_t index) const {
  return presence(gpus, index, [](const Gpu& a, const Gpu& b) { return a.uuid == b.uuid; });
}

std::uint64_t World::card_units(const Node& node) const {
  return node.instance_type == "g6f.2xlarge" ? kCard / 4 : kCard;
}

bool World::has_pool_holders(const ClusterId& cluster) const {
  return std::any_of(pool_requests.begin(), pool_requests.end(), [&](const TruePoolRequest& ask) {
    return holdings[ask.holding].cluster == cluster;
  });
}

World make_world(std::uint64_t seed) { return WorldMaker(seed).make(); }

}  // namespace pennyweight::sim
