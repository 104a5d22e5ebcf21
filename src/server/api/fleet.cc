// GET /api/v1/fleet: each node and GPU, held, busy or idle.
#include "server/api/fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "config/config.h"
#include "core/card_share.h"
#include "core/split.h"
#include "reporting/number_format.h"
#include "server/api/answers.h"
#include "server/api/endpoints.h"

namespace pennyweight::api {
namespace {

using server::Request;
using server::Response;

constexpr std::string_view kFleetList = "fleet";
constexpr std::uint64_t kPartsPerMillion = 1'000'000;

using WorkloadKey = std::pair<ClusterId, WorkloadId>;
using NodeKey = std::pair<ClusterId, NodeId>;

// A fraction as text: "0.93".
std::optional<std::string> part_text(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return std::nullopt;
  const auto hundredths =
      static_cast<std::uint64_t>((UInt128{std::min(part, whole)} * 100 + whole / 2) / whole);
  return fmt::format("{}.{:02}", hundredths / 100, hundredths % 100);
}

std::string share_text(const Device& device) {
  if (const auto* slice = std::get_if<MigSlice>(&device)) return slice->profile;
  if (const auto* part = std::get_if<CardFraction>(&device)) {
    return part_text(part->compute.units(), CardShare::kUnitsPerCard).value_or("0");
  }
  return std::holds_alternative<WholeGpu>(device) ? "1" : to_text(device);
}

std::string owner_of(const LiveShare& share) {
  for (const char* name : {"user", "team"}) {
    const auto value = share.dimensions.find(name);
    if (value && !value->empty()) return std::string(*value);
  }
  return share.dimensions.empty() ? "" : share.dimensions.entries().front().second;
}

// The telemetry of one GPU: sums of its samples of the last minutes.
struct GpuTelemetry {
  std::uint64_t busy_ppm = 0, busy_count = 0;
  std::uint64_t used = 0, total = 0;

  void add(const Usage& usage) {
    if (usage.of_workload) return;
    const auto busy = usage.engine_active_ppm ? usage.engine_active_ppm : usage.gpu_util_ppm;
    if (busy) {
      busy_ppm += std::min(*busy, kPartsPerMillion);
      ++busy_count;
    }
    if (usage.memory_used_bytes && usage.memory_total_bytes) {
      used += *usage.memory_used_bytes;
      total += *usage.memory_total_bytes;
    }
  }
};

class Assembly {
 public:
  explicit Assembly(const FleetInput& input) : input_(input) {
    for (const Node& node : input.facts.nodes) {
      machines_[{node.cluster, node.name}].node = &node;
    }
    for (const Gpu& gpu : input.facts.gpus) add_gpu(gpu);
    add_usage();
    if (input.facts.view != nullptr) {
      // Holdings that name GPUs come first; those that only count GPUs get the remaining ones.
      add_shares();
      add_named();
      add_counted();
      add_prices();
    }
  }

  std::vector<FleetNode> finish() && {
    std::vector<FleetNode> all;
    for (auto& [key, fleet_node] : machines_) {
      if (fleet_node.node != nullptr) all.push_back(std::move(fleet_node));
    }
    return all;
  }

 private:
  struct GpuLocation {
    NodeKey node;
    std::size_t card;
  };

  void add_gpu(const Gpu& gpu) {
    const auto found = machines_.find({gpu.cluster, gpu.node});
    if (found == machines_.end()) return;
    std::vector<FleetGpu>& cards = found->second.cards;
    const GpuLocation place{found->first, cards.size()};
    places_.insert_or_assign(gpu.uuid, place);
    FleetGpu card{.index = gpu.index,
                  .uuid = gpu.uuid.text(),
                  .model = gpu.model,
                  .mig = {},
                  .holders = {},
                  .busy = {},
                  .memory = {}};
    for (const MigInstance& instance : gpu.mig_instances) {
      places_.insert_or_assign(instance.id, place);
      card.mig.push_back(instance.profile);
    }
    cards.push_back(std::move(card));
  }

  // A GPU that no inventory lists, on a node that reports how many it has.
  void fill(FleetNode& fleet_node) {
    for (auto index = static_cast<std::uint32_t>(fleet_node.cards.size());
         index < fleet_node.node->gpu_count; ++index) {
      fleet_node.cards.push_back({.index = index,
                                  .uuid = {},
                                  .model = fleet_node.node->gpu_model,
                                  .mig = {},
                                  .holders = {},
                                  .busy = {},
                                  .memory = {}});
    }
  }

  void add_usage() {
    for (auto& [key, fleet_node] : machines_) fill(fleet_node);
    std::map<GpuId, GpuTelemetry> telemetry;
    // On a GPU with MIG, only the instances have usage, not the GPU.
    for (const Usage& usage : input_.facts.usages) telemetry[usage.gpu].add(usage);
    for (const auto& [gpu, sums] : telemetry) {
      FleetGpu* const card = find(gpu);
      if (card == nullptr) continue;
      card->busy = part_text(sums.busy_ppm, sums.busy_count * kPartsPerMillion);
      card->memory = part_text(sums.used, sums.total);
    }
  }

  void add_shares() {
    for (const auto& [id, cluster] : input_.facts.view->clusters) {
      for (const LiveShare& share : cluster.recent.shares) {
        if (share.workload.empty() || !share.running) continue;
        running_.insert_or_assign(WorkloadKey(id, share.workload), &share);
      }
    }
  }

  const LiveShare* share_of(const Holding& holding) const {
    const auto found = running_.find(WorkloadKey(holding.cluster, holding.workload));
    return found == running_.end() ? nullptr : found->second;
  }

  // The GPUs that the holding names, and those on which telemetry saw the workload.
  void add_named() {
    for (const Holding& holding : input_.facts.holdings) {
      const LiveShare* const share = share_of(holding);
      const auto* cards = std::get_if<OnGpus>(&holding.placement);
      if (share == nullptr || cards == nullptr) continue;
      for (const GpuId& gpu : cards->gpus) {
        hold(holding.cluster, *share, gpu, share_text(holding.device));
      }
    }
    for (const auto& [key, share] : running_) {
      const std::string part = share->device == to_text(Device{}) ? "1" : share->device;
      for (const GpuId& gpu : share->gpus) hold(key.first, *share, gpu, part);
    }
  }

  void add_counted() {
    for (const Holding& holding : input_.facts.holdings) {
      const LiveShare* const share = share_of(holding);
      const auto* nodes = std::get_if<OnNodes>(&holding.placement);
      if (share == nullptr || nodes == nullptr) continue;
      for (const OnNodes::NodeDevices& on : nodes->parts) {
        hold_some(holding.cluster, *share, on, share_text(holding.device));
      }
    }
  }

  void hold(const ClusterId& cluster, const LiveShare& share, const GpuId& gpu,
            const std::string& part) {
    FleetGpu* const card = find(gpu);
    if (card != nullptr) put(*card, holder(cluster, share, part, true));
  }

  // A holding of a number of devices: first the GPUs that it is known to use, then free ones.
  void hold_some(const ClusterId& cluster, const LiveShare& share, const OnNodes::NodeDevices& on,
                 const std::string& part) {
    const auto fleet_node = machines_.find({cluster, on.node});
    if (fleet_node == machines_.end()) return;
    std::uint32_t left = on.devices;
    for (const GpuId& gpu : share.gpus) {
      const auto place = places_.find(gpu);
      if (left > 0 && place != places_.end() && place->second.node == fleet_node->first) --left;
    }
    for (FleetGpu& card : fleet_node->second.cards) {
      if (left == 0) return;
      if (!card.holders.empty()) continue;
      put(card, holder(cluster, share, part, false));
      --left;
    }
  }

  GpuHolder holder(const ClusterId& cluster, const LiveShare& share, const std::string& part,
                   bool is_placed) const {
    if (!input_.sees(cluster, share)) {
      return {.workload = {}, .share = part, .owner = {}, .is_placed = is_placed};
    }
    return {.workload = share.workload.text(),
            .share = part,
            .owner = owner_of(share),
            .is_placed = is_placed};
  }

  static void put(FleetGpu& card, GpuHolder holder) {
    // A holding and telemetry may name the same GPU; unnamed holders are counted one by one.
    const bool is_there = !holder.workload.empty() &&
                          std::ranges::find(card.holders, holder.workload, &GpuHolder::workload) !=
                              card.holders.end();
    if (!is_there) card.holders.push_back(std::move(holder));
  }

  void add_prices() {
    if (!input_.is_scoped) {
      for (const auto& [id, cluster] : input_.facts.view->clusters) {
        for (const auto& [node, price] : cluster.recent.node_prices) {
          const auto found = machines_.find({id, node});
          if (found != machines_.end()) found->second.price_per_hour = price;
        }
      }
      return;
    }
    // For a scoped user: what the workloads in the scope pay that are on this node only.
    for (const LiveRow& line : live_rows(*input_.facts.view)) {
      if (line.is_unallocated || !line.runs || !line.hour) continue;
      if (line.share().nodes.size() != 1 || !input_.sees(line.cluster, line.share())) continue;
      const auto found = machines_.find({line.cluster, line.share().nodes.front()});
      if (found == machines_.end()) continue;
      std::optional<Money>& price = found->second.price_per_hour;
      if (!price) {
        price = line.hour;
      } else if (price->currency() == line.hour->currency()) {
        *price += *line.hour;
      }
    }
  }

  FleetGpu* find(const GpuId& gpu) {
    const auto place = places_.find(gpu);
    if (place == places_.end()) return nullptr;
    return &machines_.at(place->second.node).cards[place->second.card];
  }

  const FleetInput& input_;
  std::map<NodeKey, FleetNode> machines_;
  std::map<GpuId, GpuLocation> places_;
  std::map<WorkloadKey, const LiveShare*> running_;
};

std::string node_key(const FleetNode& fleet_node) {
  return fleet_node.node->cluster.text() + '\n' + fleet_node.node->name.text();
}

void write_holders(JsonWriter& out, const FleetGpu& card) {
  out.key("holders").begin_list();
  for (const GpuHolder& holder : card.holders) {
    out.begin_object()
        .field("workload", holder.workload.empty() ? "others" : holder.workload)
        .field("share", holder.share)
        .field("owner", holder.owner)
        .field("placed", holder.is_placed)
        .end_object();
  }
  out.end_list();
}

void write_fleet_node(JsonWriter& out, const FleetNode& fleet_node, bool is_cut) {
  const Node& node = *fleet_node.node;
  const bool is_held = std::ranges::any_of(
      fleet_node.cards, [](const FleetGpu& card) { return !card.holders.empty(); });
  const auto amount = [](const Money& money) { return to_text(money.amount()); };
  out.begin_object()
      .field("cluster", node.cluster.text())
      .field("node", node.name.text())
      .field("instance_type", node.instance_type)
      .field("region", node.region)
      .field("state", is_held ? "held" : "free");
  const std::optional<Money>& price = fleet_node.price_per_hour;
  out.field("price_per_hour", price ? std::optional(amount(*price)) : std::nullopt);
  out.field("currency", price ? std::optional(price->currency().text()) : std::nullopt);
  // Its GPUs cost the same, and together the whole price.
  std::vector<Money> parts;
  if (price && !is_cut && !fleet_node.cards.empty()) {
    parts = split(*price, std::vector<Weight>(fleet_node.cards.size(), Weight{1}));
  }
  out.key("gpus").begin_list();
  for (std::size_t i = 0; i < fleet_node.cards.size(); ++i) {
    const FleetGpu& card = fleet_node.cards[i];
    out.begin_object()
        .field("index", card.index)
        .field("uuid", card.uuid)
        .field("model", card.model)
        .texts("mig", card.mig)
        .field("held", !card.holders.empty())
        .field("busy", card.busy)
        .field("memory", card.memory);
    write_holders(out, card);
    out.field("cost_per_hour", parts.empty() ? std::nullopt : std::optional(amount(parts[i])));
    out.end_object();
  }
  out.end_list().end_object();
}

}  // namespace

std::vector<FleetNode> list_fleet_nodes(const FleetInput& input) {
  return Assembly(input).finish();
}

Response get_fleet(const Services& services, const Request& request) {
  const ScopedQueries queries(services, request);
  QueryParams params(request);
  const std::string cluster = params.text("cluster").value_or("");
  const Page page = params.page(kFleetList);
  if (auto problem = params.problem()) return *std::move(problem);
  const auto facts = queries.fleet(cluster);
  if (!facts) return refusal(facts.error());
  const auto last_held = queries.last_held();
  if (!last_held) return refusal(last_held.error());
  std::set<std::string> clusters;
  for (const Node& node : facts->nodes) clusters.insert(node.cluster.text());
  const std::vector<FleetNode> all = list_fleet_nodes(
      {.facts = *facts,
       .sees = [&](const ClusterId& in, const LiveShare& share) { return queries.sees(in, share); },
       .is_scoped = queries.is_scoped()});
  // The first node after the cursor, even if the cursor's node is gone.
  const auto begin =
      page.after ? std::ranges::upper_bound(all, *page.after, {}, node_key) : all.begin();
  const auto count = std::min<std::size_t>(page.limit, static_cast<std::size_t>(all.end() - begin));
  const std::span<const FleetNode> shown(begin, count);
  JsonWriter out;
  out.begin_object().key("at");
  if (facts->view != nullptr) {
    out.value(facts->view->at);
  } else {
    out.null();
  }
  out.key("nodes").begin_list();
  for (const FleetNode& fleet_node : shown) write_fleet_node(out, fleet_node, queries.is_scoped());
  out.end_list();
  out.key("clusters").begin_list();
  for (const std::string& name : clusters) {
    const auto in_view = facts->view == nullptr ? std::map<ClusterId, LiveCluster>::const_iterator{}
                                                : facts->view->clusters.find(ClusterId(name));
    const bool is_watched = facts->view != nullptr && in_view != facts->view->clusters.end() &&
                            in_view->second.is_watched;
    const auto held = last_held->find(name);
    out.begin_object().field("cluster", name).field("watched", is_watched).key("last_held");
    if (held == last_held->end()) {
      out.null();
    } else {
      out.value(Date(held->second));
    }
    out.end_object();
  }
  out.end_list();
  const bool is_last = begin + static_cast<std::ptrdiff_t>(count) == all.end();
  out.field("next",
            is_last ? std::nullopt : std::optional(to_cursor(kFleetList, node_key(shown.back()))));
  out.end_object();
  return json(out);
}

}  // namespace pennyweight::api
