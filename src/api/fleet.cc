// GET /api/v1/fleet: each node and card, held, busy or idle.
#include "api/fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "api/answers.h"
#include "api/data_routes.h"
#include "config/config.h"
#include "core/card_share.h"
#include "core/split.h"
#include "report/number_format.h"

namespace pennyweight::api {
namespace {

using server::Request;
using server::Response;

constexpr std::string_view kList = "fleet";
constexpr std::uint64_t kPartsPerMillion = 1'000'000;

using WorkloadKey = std::pair<ClusterId, WorkloadId>;
using NodeKey = std::pair<ClusterId, NodeId>;

// "0.93" of parts of a whole.
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

// What one card was seen to do: the sums of its readings of the last minutes.
struct Seen {
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
  explicit Assembly(const FleetQuestion& question) : question_(question) {
    for (const Node& node : question.facts.nodes) {
      machines_[{node.cluster, node.name}].node = &node;
    }
    for (const Gpu& gpu : question.facts.gpus) add_card(gpu);
    add_usage();
    if (question.facts.view != nullptr) {
      // What is named first, so that what only counts devices gets the cards that are left.
      add_shares();
      add_named();
      add_counted();
      add_prices();
    }
  }

  std::vector<Machine> finish() && {
    std::vector<Machine> all;
    for (auto& [key, machine] : machines_) {
      if (machine.node != nullptr) all.push_back(std::move(machine));
    }
    return all;
  }

 private:
  struct Place {
    NodeKey node;
    std::size_t card;
  };

  void add_card(const Gpu& gpu) {
    const auto found = machines_.find({gpu.cluster, gpu.node});
    if (found == machines_.end()) return;
    std::vector<Card>& cards = found->second.cards;
    const Place place{found->first, cards.size()};
    places_.insert_or_assign(gpu.uuid, place);
    Card card{.index = gpu.index,
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

  // A card that nobody has listed, of a node that says how many it has.
  void fill(Machine& machine) {
    for (auto index = static_cast<std::uint32_t>(machine.cards.size());
         index < machine.node->gpu_count; ++index) {
      machine.cards.push_back({.index = index,
                               .uuid = {},
                               .model = machine.node->gpu_model,
                               .mig = {},
                               .holders = {},
                               .busy = {},
                               .memory = {}});
    }
  }

  void add_usage() {
    for (auto& [key, machine] : machines_) fill(machine);
    std::map<GpuId, Seen> seen;
    // Of a card that is cut the instances speak, and not the card.
    for (const Usage& usage : question_.facts.usages) seen[usage.gpu].add(usage);
    for (const auto& [gpu, sums] : seen) {
      Card* const card = find(gpu);
      if (card == nullptr) continue;
      card->busy = part_text(sums.busy_ppm, sums.busy_count * kPartsPerMillion);
      card->memory = part_text(sums.used, sums.total);
    }
  }

  void add_shares() {
    for (const auto& [id, cluster] : question_.facts.view->clusters) {
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

  // Cards that the holding names, and those on which telemetry saw the workload.
  void add_named() {
    for (const Holding& holding : question_.facts.holdings) {
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
    for (const Holding& holding : question_.facts.holdings) {
      const LiveShare* const share = share_of(holding);
      const auto* nodes = std::get_if<OnNodes>(&holding.placement);
      if (share == nullptr || nodes == nullptr) continue;
      for (const OnNodes::Part& on : nodes->parts) {
        hold_some(holding.cluster, *share, on, share_text(holding.device));
      }
    }
  }

  void hold(const ClusterId& cluster, const LiveShare& share, const GpuId& gpu,
            const std::string& part) {
    Card* const card = find(gpu);
    if (card != nullptr) put(*card, holder(cluster, share, part, true));
  }

  // So many devices of a node, nobody says which: those that it is known to be on, then free ones.
  void hold_some(const ClusterId& cluster, const LiveShare& share, const OnNodes::Part& on,
                 const std::string& part) {
    const auto machine = machines_.find({cluster, on.node});
    if (machine == machines_.end()) return;
    std::uint32_t left = on.devices;
    for (const GpuId& gpu : share.gpus) {
      const auto place = places_.find(gpu);
      if (left > 0 && place != places_.end() && place->second.node == machine->first) --left;
    }
    for (Card& card : machine->second.cards) {
      if (left == 0) return;
      if (!card.holders.empty()) continue;
      put(card, holder(cluster, share, part, false));
      --left;
    }
  }

  CardHolder holder(const ClusterId& cluster, const LiveShare& share, const std::string& part,
                    bool is_placed) const {
    if (!question_.sees(cluster, share)) {
      return {.workload = {}, .share = part, .owner = {}, .is_placed = is_placed};
    }
    return {.workload = share.workload.text(),
            .share = part,
            .owner = owner_of(share),
            .is_placed = is_placed};
  }

  static void put(Card& card, CardHolder holder) {
    // A holding and telemetry may both name the card; others without names are each their own.
    const bool is_there = !holder.workload.empty() &&
                          std::ranges::find(card.holders, holder.workload, &CardHolder::workload) !=
                              card.holders.end();
    if (!is_there) card.holders.push_back(std::move(holder));
  }

  void add_prices() {
    if (!question_.is_cut) {
      for (const auto& [id, cluster] : question_.facts.view->clusters) {
        for (const auto& [node, price] : cluster.recent.node_prices) {
          const auto found = machines_.find({id, node});
          if (found != machines_.end()) found->second.price_per_hour = price;
        }
      }
      return;
    }
    // Of somebody in a scope: what his workloads that are on one node only pay there.
    for (const LiveLine& line : live_lines(*question_.facts.view)) {
      if (line.is_nobody || !line.runs || !line.hour) continue;
      if (line.share().nodes.size() != 1 || !question_.sees(line.cluster, line.share())) continue;
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

  Card* find(const GpuId& gpu) {
    const auto place = places_.find(gpu);
    if (place == places_.end()) return nullptr;
    return &machines_.at(place->second.node).cards[place->second.card];
  }

  const FleetQuestion& question_;
  std::map<NodeKey, Machine> machines_;
  std::map<GpuId, Place> places_;
  std::map<WorkloadKey, const LiveShare*> running_;
};

std::string key_of(const Machine& machine) {
  return machine.node->cluster.text() + '\n' + machine.node->name.text();
}

void write_holders(JsonWriter& out, const Card& card) {
  out.key("holders").begin_list();
  for (const CardHolder& holder : card.holders) {
    out.begin_object()
        .field("workload", holder.workload.empty() ? "others" : holder.workload)
        .field("share", holder.share)
        .field("owner", holder.owner)
        .field("placed", holder.is_placed)
        .end_object();
  }
  out.end_list();
}

void write_machine(JsonWriter& out, const Machine& machine, bool is_cut) {
  const Node& node = *machine.node;
  const bool is_held =
      std::ranges::any_of(machine.cards, [](const Card& card) { return !card.holders.empty(); });
  const auto amount = [](const Money& money) { return to_text(money.amount()); };
  out.begin_object()
      .field("cluster", node.cluster.text())
      .field("node", node.name.text())
      .field("instance_type", node.instance_type)
      .field("region", node.region)
      .field("state", is_held ? "held" : "free");
  const std::optional<Money>& price = machine.price_per_hour;
  out.field("price_per_hour", price ? std::optional(amount(*price)) : std::nullopt);
  out.field("currency", price ? std::optional(price->currency().text()) : std::nullopt);
  // Its cards cost the same, and together the whole.
  std::vector<Money> parts;
  if (price && !is_cut && !machine.cards.empty()) {
    parts = split(*price, std::vector<Weight>(machine.cards.size(), Weight{1}));
  }
  out.key("gpus").begin_list();
  for (std::size_t i = 0; i < machine.cards.size(); ++i) {
    const Card& card = machine.cards[i];
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

Response fleet(const Parts& parts, const Request& request) {
  const Desk desk(parts, request);
  Asked asked(request);
  const std::string cluster = asked.text("cluster").value_or("");
  const Page page = asked.page(kList);
  if (auto no = asked.refused()) return *std::move(no);
  const auto facts = desk.fleet(cluster);
  if (!facts) return refusal(facts.error());
  const std::vector<Machine> all = machines_of(
      {.facts = *facts,
       .sees = [&](const ClusterId& in, const LiveShare& share) { return desk.sees(in, share); },
       .is_cut = desk.is_scoped()});
  // The first that comes after the last that was given, whether that is still there or not.
  const auto begin =
      page.after ? std::ranges::upper_bound(all, *page.after, {}, key_of) : all.begin();
  const auto count = std::min<std::size_t>(page.limit, static_cast<std::size_t>(all.end() - begin));
  const std::span<const Machine> shown(begin, count);
  JsonWriter out;
  out.begin_object().key("at");
  if (facts->view != nullptr) {
    out.value(facts->view->at);
  } else {
    out.null();
  }
  out.key("nodes").begin_list();
  for (const Machine& machine : shown) write_machine(out, machine, desk.is_scoped());
  out.end_list();
  const bool is_last = begin + static_cast<std::ptrdiff_t>(count) == all.end();
  out.field("next", is_last ? std::nullopt : std::optional(to_cursor(kList, key_of(shown.back()))));
  out.end_object();
  return json(out);
}

}  // namespace

std::vector<Machine> machines_of(const FleetQuestion& question) {
  return Assembly(question).finish();
}

std::vector<server::Route> fleet_routes(const Parts& parts) {
  return {{.method = "GET",
           .path = "/api/v1/fleet",
           .handler = [&parts](const Request& request) { return fleet(parts, request); },
           .needs = "read_fleet"}};
}

}  // namespace pennyweight::api
