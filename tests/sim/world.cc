// The fleet and the jobs of a world. What a device is of its card is stated here a second time, by
// hand from the vendors' tables, so that the engine's own tables are held against it.
#include "world.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/check.h"
#include "simulate/random.h"

namespace pennyweight::sim {
namespace {

constexpr std::uint64_t kCard = CardShare::kUnitsPerCard;

struct Profile {
  const char* name;
  std::uint64_t compute, memory;  // slices
};
struct Layout {
  std::vector<std::size_t> profiles;                        // by index
  std::uint64_t stranded_compute = 0, stranded_memory = 0;  // slices that nothing more can use
  bool is_watched = true;
};
struct Model {
  const char* name;
  std::uint64_t memory_gib;
  std::uint64_t compute_slices, memory_slices;  // 0: no MIG
  std::vector<Profile> profiles;
  std::vector<Layout> layouts;
};

// NVIDIA MIG user guide, "supported profiles"; the layouts are those of mig-parted's defaults, and
// some that leave a part of the card unusable: by hand, since this is the truth. An A100 with a 1g
// beside larger instances is known to measure them wrongly (DCGM issues 138, 248, 152).
const std::vector<Model>& models() {
  static const std::vector<Model> all = {
      {"A100-SXM4-40GB",
       40,
       7,
       8,
       {{"1g.5gb", 1, 1},
        {"1g.10gb", 1, 2},
        {"2g.10gb", 2, 2},
        {"3g.20gb", 3, 4},
        {"4g.20gb", 4, 4},
        {"7g.40gb", 7, 8}},
       {{{0, 0, 0, 0, 0, 0, 0}, 0, 1},
        {{3, 3}, 1, 0},
        {{4, 3}},
        {{2, 2, 2}},
        {{0, 0, 2, 3}, 0, 0, false},
        {{1, 1, 1, 1}, 3, 0},
        {{5}}}},
      {"H100-SXM5-80GB",
       80,
       7,
       8,
       {{"1g.10gb", 1, 1},
        {"1g.20gb", 1, 2},
        {"2g.20gb", 2, 2},
        {"3g.40gb", 3, 4},
        {"4g.40gb", 4, 4},
        {"7g.80gb", 7, 8}},
       {{{0, 0, 0, 0, 0, 0, 0}, 0, 1},
        {{3, 3}, 1, 0},
        {{4, 3}},
        {{2, 2, 2, 0}, 0, 1},
        {{0, 0, 2, 3}},
        {{3}},
        {{5}}}},
      {"A30",
       24,
       4,
       4,
       {{"1g.6gb", 1, 1}, {"2g.12gb", 2, 2}, {"4g.24gb", 4, 4}},
       {{{0, 0, 0, 0}}, {{1, 1}}, {{1, 0, 0}}, {{2}}}},
      {"T4", 16, 0, 0, {}, {}},
      {"L4", 24, 0, 0, {}, {}},
  };
  return all;
}

const Model& model_named(const std::string& name) {
  for (const Model& model : models()) {
    if (name == model.name) return model;
  }
  CHECK(false, "a world has only the models above");
}

const Profile& profile_named(const Model& model, const std::string& name) {
  for (const Profile& profile : model.profiles) {
    if (name == profile.name) return profile;
  }
  CHECK(false, "a world has only the profiles above");
}

struct CardUnits {
  std::uint64_t compute, memory;
};

// The truth about one device, whatever the engine's tables say.
CardUnits truth_of(const Device& device, const Node& node) {
  const auto even = [](std::uint64_t parts, std::uint64_t whole) {
    return CardUnits{kCard * parts / whole, kCard * parts / whole};
  };
  if (const auto* part = std::get_if<CardFraction>(&device)) {
    return {part->compute.units(), part->memory.units()};
  }
  if (const auto* slice = std::get_if<MigSlice>(&device)) {
    const Model& model = model_named(node.gpu_model);
    const Profile& profile = profile_named(model, slice->profile);
    return {kCard * profile.compute / model.compute_slices,
            kCard * profile.memory / model.memory_slices};
  }
  if (std::holds_alternative<Shard>(device)) return even(node.gpu_count, node.shard_count);
  if (std::holds_alternative<MpsUnit>(device)) return even(node.gpu_count, node.mps_count);
  if (std::holds_alternative<Replica>(device)) return even(1, node.gpu_replicas);
  if (const auto* vgpu = std::get_if<VirtualGpu>(&device)) {
    std::uint64_t memory = kCard;
    if (vgpu->memory_percent) memory = kCard * *vgpu->memory_percent / 100;
    if (vgpu->memory_bytes) {
      // The worlds ask for whole 64ths of a card's memory, of which a card has whole units.
      const std::uint64_t slice = (model_named(node.gpu_model).memory_gib << 30) / 64;
      memory = kCard / 64 * (*vgpu->memory_bytes / slice);
    }
    return {vgpu->cores_percent ? kCard * *vgpu->cores_percent / 100 : memory, memory};
  }
  return {kCard, kCard};
}

enum class Mode {
  kWhole,
  kMigNamed,    // pods name instances
  kMigCounted,  // jobs ask for a number of a profile on a node
  kReplicas,
  kShards,
  kMpsUnits,
  kVirtual,
  kFractions,
  kSoldPart,  // the cloud sells a part of a card as a machine
  kCpuOnly,
};
constexpr std::uint64_t kModes = 10;

// A node as the maker thinks of it.
struct Site {
  ClusterId cluster;
  NodeId name;
  Mode mode;
  bool orderly;  // its scheduler never gives out more than there is
  const Model* model;
  std::vector<GpuId> cards;
  bool is_loose = false;  // only telemetry tells on which cards its jobs are
};

// What a holding shares with whom over a part of its time.
struct Turn {
  Interval during;
  std::uint64_t party = 0, parties = 1;
  const Holding* reserved = nullptr;
  std::uint64_t mine(std::uint64_t units) const {
    return units / parties + (party < units % parties ? 1 : 0);
  }
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
               .asks = {},
               .pool_asks = {},
               .loose_nodes = {},
               .samples = {},
               .policy = {}},
        random_(seed, "world") {
    world_.month = "2025-03";
  }

  World make() {
    make_policy();
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

  void make_policy() {
    static const std::vector<ShareWeights> kWeights = {{500, 500}, {600, 400}, {1000, 0},
                                                       {0, 1},     {800, 200}, {1, 2}};
    static const std::vector<Basis> kBases = {{Basis::Kind::kRequest, 500},
                                              {Basis::Kind::kUsage, 500},
                                              {Basis::Kind::kMax, 500},
                                              {Basis::Kind::kBlend, 500},
                                              {Basis::Kind::kBlend, 333}};
    Policy& policy = world_.policy;
    policy.basis = any_of(kBases);
    policy.weights = any_of(kWeights);
    if (below(4) == 0) {
      policy.sharing.push_back({.cluster = below(2) == 0 ? "c0" : "",
                                .gpu_model = below(2) == 0 ? "A100-SXM4-40GB" : "",
                                .workload = {},
                                .weights = any_of(kWeights),
                                .basis = {}});
    }
    if (below(4) == 0) {
      std::optional<ShareWeights> weights;
      if (below(3) == 0) weights = any_of(kWeights);
      policy.sharing.push_back({.cluster = {},
                                .gpu_model = {},
                                .workload = {{"team", LabelMatch::Op::kIn, {"nlp", "inf*"}}},
                                .weights = weights,
                                .basis = any_of(kBases)});
    }
    policy.node_split = below(3) == 0 ? NodeSplit::kWholeNode : NodeSplit::kResidual;
    const auto parts = [](std::int64_t gpu, std::int64_t cpu, std::int64_t memory) {
      const auto tenths = [](std::int64_t n) {
        return Decimal::from_ticks(Int128{Decimal::kTicksPerUnit} / 10 * n);
      };
      return std::array{tenths(gpu), tenths(cpu), tenths(memory)};
    };
    const auto ratio = parts(90, 9, 1), stated = parts(7, 2, 1);
    policy.node_splits = {{"sim.ratio", NodeSplit::kRatio, ratio[0], ratio[1], ratio[2]},
                          {"sim.explicit*", NodeSplit::kExplicit, stated[0], stated[1], stated[2]}};
    policy.overhead = {{"namespace", LabelMatch::Op::kIn, {"kube-system"}}};
    make_spread(policy);
    static const std::vector<std::uint64_t> kIntervals = {600'000, 1'800'000, 3'600'000};
    policy.usage.interval_ms = any_of(kIntervals);
    if (below(3) == 0) policy.usage.shift_ms = 90'000 - static_cast<std::int64_t>(below(180'000));
    static const std::vector<std::string> kZones = {"UTC", "UTC", "America/New_York",
                                                    "Asia/Kolkata"};
    policy.time_zone = TimeZone::parse(any_of(kZones)).value();
    policy.dimensions = {{"team", {"team", "namespace"}, "(unowned)"}, {"user", {"user"}, ""}};
  }

  // What becomes of idle and shared cost: one rule a kind at most, so that what is left is known.
  void make_spread(Policy& policy) {
    for (const PostingKind kind :
         {PostingKind::kUnallocated, PostingKind::kStranded, PostingKind::kUnavailable,
          PostingKind::kHeldIdle, PostingKind::kOverhead, PostingKind::kShared}) {
      if (below(2) == 0) continue;
      SpreadRule rule;
      rule.kind = kind;
      rule.how = static_cast<Spread>(below(4));
      rule.within = static_cast<SpreadWithin>(below(3));
      rule.over = static_cast<SpreadOver>(below(2));
      static const std::vector<SpreadMeasure> kMeasures = {
          SpreadMeasure::kGpuCost, SpreadMeasure::kCost, SpreadMeasure::kGpuTime,
          SpreadMeasure::kMemoryTime, SpreadMeasure::kCpuCost};
      rule.measure = any_of(kMeasures);
      if (rule.how == Spread::kEven || rule.how == Spread::kFixed) rule.dimension = "team";
      if (rule.how == Spread::kFixed) {
        rule.parts = {{"nlp", Decimal::from_units(2)},
                      {"sales, and (others)", Decimal::from_ticks(Decimal::kTicksPerUnit / 2)}};
      }
      policy.spread.push_back(rule);
    }
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
    node.id = FactId{natural_key(node)};
    world_.nodes.push_back(node);
    if (!node.to && below(6) == 0) change_node(node);
    site.is_loose = mode == Mode::kWhole && below(4) == 0;
    if (site.is_loose) world_.loose_nodes.push_back(site.name);
    for (std::uint32_t g = 0; g < node.gpu_count; ++g) make_card(site, node, g);
    sites_.push_back(std::move(site));
  }

  // It is set up anew while it runs, or goes away and comes back.
  void change_node(Node node) {
    const Instant at = std::max(node.from + std::chrono::minutes(1), any_instant());
    if (below(2) == 0) {
      world_.nodes.back().to = at;
      node.from = at + std::chrono::minutes(1 + below(600));
    } else {
      node.from = at;
    }
    if (node.gpu_replicas > 0) node.gpu_replicas = node.gpu_replicas == 4 ? 2 : 4;
    if (node.shard_count > 0) node.shard_count *= 2;
    node.id = FactId{natural_key(node)};
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
      gpu.id = FactId{natural_key(gpu)};
      world_.gpus.push_back(gpu);
      world_.cards.push_back(std::move(card));
    }
  }

  // Instances are named by their UUID, or as sources do that have none: "<card>/gi<N>".
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
        // It still names cards or still does not: telemetry of its first life would say where it
        // is.
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

  // A reservation pod that holds a card, and the fractions for which it does.
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

  // Instances of the layouts in force while it runs; by mistake, sometimes those of another time.
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

  // Without devices: DaemonSets of the system, and pods that only need the host.
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
      const CardUnits each = truth_of(job.device, Node{world_.nodes.front()});
      world_.pool_asks.push_back({.holding = world_.holdings.size(),
                                  .pools = in.pools,
                                  .units = {each.compute * in.devices, each.memory * in.devices,
                                            *job.cpu_milli, *job.memory_bytes}});
      world_.holdings.push_back(job);
    }
  }

  // ---- the truth about a job --------------------------------------------------------------------

  // Keeps the job and what it truly asks for. An orderly site's scheduler refuses what does not
  // fit.
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
    std::vector<Ask> asks;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      if (jobs[j].is_reservation) continue;  // its fractions ask for it
      for (const Turn& turn : turns_of(jobs, j)) {
        const auto more = asks_of(jobs[j], turn, world_.holdings.size() + j);
        asks.insert(asks.end(), more.begin(), more.end());
      }
    }
    if (site.orderly && !fits(asks)) return false;
    world_.asks.insert(world_.asks.end(), asks.begin(), asks.end());
    world_.holdings.insert(world_.holdings.end(), jobs.begin(), jobs.end());
    return true;
  }

  // Its time, cut where those with whom it shares come and go.
  static std::vector<Turn> turns_of(const std::vector<Holding>& jobs, std::size_t index) {
    const Holding& job = jobs[index];
    std::vector<Instant> cuts;
    for (const Holding& other : jobs) {
      if (job.claim.empty() && !other.is_reservation && &other != &job) continue;
      for (const Instant at : {other.held.begin(), other.held.end()}) {
        if (job.held.begin() <= at && at <= job.held.end()) cuts.push_back(at);
      }
    }
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    std::vector<Turn> turns;
    for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
      Turn turn{.during = Interval(cuts[c], cuts[c + 1]), .parties = job.claim.empty() ? 1u : 0u};
      for (std::size_t other = 0; other < jobs.size(); ++other) {
        if (!jobs[other].held.overlap(turn.during)) continue;
        if (jobs[other].is_reservation) turn.reserved = &jobs[other];
        if (job.claim.empty()) continue;
        if (other == index) turn.party = turn.parties;
        ++turn.parties;
      }
      turns.push_back(turn);
    }
    return turns;
  }

  std::vector<Ask> asks_of(const Holding& job, const Turn& turn, std::size_t index) const {
    std::vector<Ask> asks;
    const auto add = [&](std::size_t machine, std::size_t card, std::size_t seat,
                         std::optional<Interval> during, const CardUnits& gpu,
                         std::optional<std::uint64_t> cpu, std::optional<std::uint64_t> memory) {
      const auto present = world_.presence_of_node(machine);
      if (during) during = during->overlap(turn.during);
      if (!during || !present) return;
      during = during->overlap(*present);
      if (!during) return;
      const Node& node = world_.nodes[machine];
      const CardUnits mine = {turn.mine(gpu.compute), turn.mine(gpu.memory)};
      // Who does not say what they need of the host has the part of it that they have of its GPUs.
      const auto like_gpus = [&](std::uint64_t capacity) -> std::uint64_t {
        if (node.gpu_count == 0) return 0;
        return static_cast<std::uint64_t>(UInt128{capacity} * mine.compute /
                                          (world_.card_units(node) * node.gpu_count));
      };
      asks.push_back(
          {.holding = index,
           .machine = machine,
           .card = card,
           .seat = seat,
           .during = *during,
           .units = {mine.compute, mine.memory, cpu.value_or(like_gpus(node.cpu_milli.value_or(0))),
                     memory.value_or(like_gpus(node.memory_bytes.value_or(0)))}});
    };
    const auto of = [](std::uint64_t units, std::uint64_t part) {
      return static_cast<std::uint64_t>(UInt128{units} * part / kCard);
    };
    const Placement& where = turn.reserved ? turn.reserved->placement : job.placement;
    if (const auto* on = std::get_if<OnNodes>(&where)) {
      for (std::size_t p = 0; p < on->parts.size(); ++p) {
        const std::uint64_t parts = on->parts.size();
        const auto part_of = [&](const std::optional<std::uint64_t>& whole) {
          return whole ? std::optional(*whole / parts + (p < *whole % parts ? 1 : 0)) : whole;
        };
        for (std::size_t m = 0; m < world_.nodes.size(); ++m) {
          const Node& node = world_.nodes[m];
          if (node.name != on->parts[p].node) continue;
          const std::uint64_t devices = on->parts[p].devices;
          const CardUnits each = devices == 0 ? CardUnits{0, 0} : truth_of(job.device, node);
          const std::uint64_t units = world_.card_units(node);
          add(m, kAnywhere, 0, job.held,
              {of(units, each.compute) * devices, of(units, each.memory) * devices},
              part_of(job.cpu_milli), part_of(job.memory_bytes));
        }
      }
      return asks;
    }
    bool first = true;  // what it states for the host, it states for all of its devices together
    for (const GpuId& id : std::get<OnGpus>(where).gpus) {
      for (std::size_t g = 0; g < world_.gpus.size(); ++g) {
        const auto present = world_.presence_of_gpu(g);
        const auto& seats = world_.cards[g].seats;
        const bool is_named = world_.gpus[g].uuid == id ||
                              std::any_of(seats.begin(), seats.end(),
                                          [&](const Seat& seat) { return seat.id == id; });
        if (!present || !is_named) continue;
        const auto held = job.held.overlap(*present);
        for (std::size_t m = 0; m < world_.nodes.size(); ++m) {
          if (world_.nodes[m].name != world_.gpus[g].node) continue;
          const CardUnits each = truth_of(job.device, world_.nodes[m]);
          bool first_seat = first;
          for (std::size_t s = 0; s < world_.cards[g].seats.size(); ++s) {
            const Seat& seat = world_.cards[g].seats[s];
            if (seat.id != id && world_.gpus[g].uuid != id) continue;
            const auto host = [&](const std::optional<std::uint64_t>& whole) {
              return whole && !first_seat ? std::optional<std::uint64_t>(0) : whole;
            };
            add(m, g, s, held, {of(seat.units[0], each.compute), of(seat.units[1], each.memory)},
                host(job.cpu_milli), host(job.memory_bytes));
            first_seat = false;
          }
        }
      }
      first = false;
    }
    return asks;
  }

  // Whether there is room even if everything that overlaps an ask at any time came together.
  bool fits(const std::vector<Ask>& asks) const {
    for (const Ask& ask : asks) {
      const Node& node = world_.nodes[ask.machine];
      const std::uint64_t gpus = world_.card_units(node) * node.gpu_count;
      const Units capacity = {gpus, gpus, node.cpu_milli.value_or(~std::uint64_t{0} >> 2),
                              node.memory_bytes.value_or(~std::uint64_t{0} >> 2)};
      Units on_node{}, on_seat{};
      const auto take = [&](const Ask& other) {
        if (other.machine != ask.machine || !other.during.overlap(ask.during)) return;
        for (std::size_t axis = 0; axis < kAxisCount; ++axis) {
          on_node[axis] += other.units[axis];
          if (other.card == ask.card && other.seat == ask.seat) on_seat[axis] += other.units[axis];
        }
      };
      for (const Ask& other : world_.asks) take(other);
      for (const Ask& other : asks) take(other);
      for (std::size_t axis = 0; axis < kAxisCount; ++axis) {
        if (on_node[axis] > capacity[axis]) return false;
        if (axis >= 2 || ask.card == kAnywhere) continue;
        if (on_seat[axis] > world_.cards[ask.card].seats[ask.seat].units[axis]) return false;
      }
    }
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
  return std::any_of(pool_asks.begin(), pool_asks.end(),
                     [&](const PoolAsk& ask) { return holdings[ask.holding].cluster == cluster; });
}

World make_world(std::uint64_t seed) { return WorldMaker(seed).make(); }

}  // namespace pennyweight::sim
