#include "reporting/queries/usage_report.h"

#include <algorithm>
#include <functional>
#include <set>

#include "allocation/device_share.h"
#include "allocation/dimensions.h"
#include "allocation/gpu_layouts.h"
#include "core/card_share.h"

namespace pennyweight {
namespace {

constexpr const char* kNobody = "(nobody)";
constexpr const char* kWholeCard = "(card)";
constexpr std::int64_t kMinuteMs = 60'000;
constexpr std::int64_t kHourMs = 3'600'000;

std::optional<Interval> overlap(const Interval& a, const Interval& b) {
  return Interval::of(std::max(a.begin(), b.begin()), std::min(a.end(), b.end()));
}

// The time in which a node fact is in force, of those of its name by `from`.
std::optional<Interval> presence(const std::vector<const Node*>& facts, std::size_t i,
                                 const Interval& during) {
  Instant end = facts[i]->to.value_or(during.end());
  if (i + 1 < facts.size()) end = std::min(end, facts[i + 1]->from);
  return Interval::of(std::max(facts[i]->from, during.begin()), std::min(end, during.end()));
}

// Cuts at the whole minutes or hours of UTC.
void each_step(const Interval& time, std::int64_t step_ms,
               const std::function<void(const Interval&)>& take) {
  for (std::int64_t at = unix_ms(time.begin()); at < unix_ms(time.end());) {
    const std::int64_t end = std::min(at - at % step_ms + step_ms, unix_ms(time.end()));
    take(Interval(from_unix_ms(at), from_unix_ms(end)));
    at = end;
  }
}

}  // namespace

std::optional<UsageStep> parse_usage_step(std::string_view text) {
  if (text == "none") return UsageStep::kNone;
  if (text == "minute") return UsageStep::kMinute;
  if (text == "hour") return UsageStep::kHour;
  if (text == "day") return UsageStep::kDay;
  if (text == "week") return UsageStep::kWeek;
  if (text == "month") return UsageStep::kMonth;
  return std::nullopt;
}

UsageMeasures& UsageMeasures::operator+=(const UsageMeasures& other) {
  there += other.there;
  seen += other.seen;
  busy += other.busy;
  peak = std::max(peak, other.peak);
  for (const auto& [permille, time] : other.histogram) histogram[permille] += time;
  memory_seen += other.memory_seen;
  memory += other.memory;
  energy += other.energy;
  energy_seen += other.energy_seen;
  return *this;
}

std::optional<std::uint64_t> UsageMeasures::p95_permille() const {
  UInt128 all = 0;
  for (const auto& [permille, time] : histogram) all += time;
  UInt128 below = 0;
  for (const auto& [permille, time] : histogram) {
    below += time;
    if (below * 100 >= all * 95) return permille;
  }
  return std::nullopt;
}

// A GPU of a node in a time in which the node does not change.
struct UsageReport::ReportedGpu {
  GpuId uuid;  // empty: one that nothing names
  NodeId node_name;
  const Node* node = nullptr;  // null: no inventory has it
  Interval present;
};

struct UsageReport::Holder {
  const Holding* holding;
  Labels resolved;
};

// A holder on a card.
struct UsageReport::Entry {
  const Holder* holder;
  Interval time;
  std::uint64_t share;      // of the card's compute
  std::string device;       // whose utilisation is the holder's; empty: not known
  bool has_device = false;  // the device as a whole, not a part of it
};

struct UsageReport::DayView {
  const ObservedDay& day;
  std::map<std::pair<std::string, std::string>, const UtilizationSeries*> series;
  std::map<std::string, std::string> canonical;  // other names of MIG instances
  std::map<std::string, GpuId> card_of;          // of MIG instances, and of cards themselves
  std::map<std::string, std::string> profiles;   // of MIG instances
  std::map<std::string, std::string> models;     // of cards
  std::map<GpuId, NodeId> nodes;                 // of cards
  std::map<GpuId, std::map<std::string, CardShare>> instances;  // of cards, with their parts
  // Where workloads are seen; devices as name() has them.
  std::multimap<std::string, WorkloadSighting> placed;

  std::string name(const std::string& device) const {
    const auto found = canonical.find(device);
    return found == canonical.end() ? device : found->second;
  }
};

UsageReport::UsageReport(const UsageOptions& options, const Policy& policy,
                         const std::vector<Node>& nodes, const std::vector<Gpu>& gpus)
    : options_(options), policy_(policy), gpus_(gpus), values_(policy, nodes), gpu_memory_(gpus) {
  const auto is_of_device = [&](const std::string& name) {
    return name == "gpu" || name == "instance" || values_.is_of_node(name);
  };
  is_of_holders_ = !std::ranges::all_of(options_.by, is_of_device) ||
                   !std::ranges::all_of(options_.filters, is_of_device, &SummaryFilter::dimension);
}

void UsageReport::each_bucket(
    const Interval& time,
    const std::function<void(const std::string&, const Interval&)>& take) const {
  const TimeZone& zone = policy_.time_zone;
  switch (options_.step) {
    case UsageStep::kNone:
      return take("", time);
    case UsageStep::kDay:
      return take(local_date(start_of_day(time.begin(), zone), zone), time);
    case UsageStep::kWeek:
      return take(local_date(start_of_week(time.begin(), zone), zone), time);
    case UsageStep::kMonth:
      return take(local_date(start_of_month(time.begin(), zone), zone), time);
    case UsageStep::kMinute:
    case UsageStep::kHour:
      break;
  }
  const std::int64_t step = options_.step == UsageStep::kMinute ? kMinuteMs : kHourMs;
  each_step(time, step, [&](const Interval& piece) {
    const std::int64_t begin = unix_ms(piece.begin());
    take(to_text(from_unix_ms(begin - begin % step)), piece);
  });
}

void UsageReport::add(const std::string& bucket, const std::vector<std::string>& keys,
                      const UsageMeasures& measures) {
  if (has_too_many_) return;
  const auto [row, is_new] = rows_.try_emplace({bucket, keys});
  if (is_new && rows_.size() > options_.rows_max) {
    rows_.erase(row);
    has_too_many_ = true;
    return;
  }
  row->second += measures;
  total_ += measures;
}

// What a vGPU there is a part of; 0: as the model has.
std::uint64_t UsageReport::memory_of(const Holding& holding, const ReportedGpu& card) const {
  return card.uuid.empty()
             ? gpu_memory_.of_node(holding.cluster, card.node_name, holding.held.begin())
             : gpu_memory_.of_gpu(holding.cluster, card.uuid, holding.held.begin());
}

// The values of a row, if the filters let it pass. Without a holder, nobody holds the card.
std::optional<std::vector<std::string>> UsageReport::keys_of(const Holder* holder,
                                                             const ReportedGpu& card) const {
  const auto value_of = [&](const std::string& dimension) -> std::string {
    if (dimension == "gpu") return card.uuid.text().empty() ? kNoValue : card.uuid.text();
    std::optional<std::string> value;
    if (holder != nullptr) {
      value = values_.of(dimension, *holder->holding, card.node, holder->resolved);
    } else if (values_.is_of_node(dimension)) {
      value = values_.of_node(dimension, card.node);
    } else {
      return kNobody;
    }
    if (!value && dimension == "node") value = card.node_name.text();
    return value && !value->empty() ? *value : kNoValue;
  };
  for (const SummaryFilter& filter : options_.filters) {
    if (filter.dimension == "instance") continue;
    const bool is_listed =
        std::ranges::find(filter.values, value_of(filter.dimension)) != filter.values.end();
    if (is_listed == filter.negate) return std::nullopt;
  }
  std::vector<std::string> keys;
  for (const std::string& dimension : options_.by) keys.push_back(value_of(dimension));
  return keys;
}

void UsageReport::add_utilization(const DayView& view, const Interval& time,
                                  const std::string& device, const std::string& workload,
                                  std::uint64_t share, const std::vector<std::string>& keys) {
  const auto found = view.series.find({device, workload});
  if (found == view.series.end()) return;
  const Instant origin = view.day.utilization.during.begin();
  for (const UtilizationInterval& each : found->second->intervals) {
    const auto part = overlap(time, Interval(origin + std::chrono::milliseconds(each.begin_ms),
                                             origin + std::chrono::milliseconds(each.end_ms)));
    if (!part) continue;
    each_bucket(*part, [&](const std::string& bucket, const Interval& piece) {
      UsageMeasures sum;
      const UInt128 weight = UInt128{share} * piece.length_ms();
      if (each.compute != UtilizationInterval::kUnknown) {
        sum.seen = GpuTime::of(weight);
        sum.busy = weight * each.compute;
        sum.peak = each.compute;
        const std::uint64_t permille =
            (std::uint64_t{each.compute} * 1000 + CardShare::kUnitsPerCard / 2) /
            CardShare::kUnitsPerCard;
        sum.histogram[static_cast<std::uint16_t>(permille)] = weight;
      }
      if (each.memory != UtilizationInterval::kUnknown) {
        sum.memory_seen = GpuTime::of(weight);
        sum.memory = weight * each.memory;
      }
      add(bucket, keys, sum);
    });
  }
}

void UsageReport::add_devices(const DayView& view, const ReportedGpu& card) {
  const auto card_keys = keys_of(nullptr, card);
  if (!card_keys) return;
  const auto instance_at = std::ranges::find(options_.by, "instance");
  const bool by_instance = instance_at != options_.by.end();
  const auto named = [&](std::string device) -> std::optional<std::vector<std::string>> {
    for (const SummaryFilter& filter : options_.filters) {
      if (filter.dimension != "instance") continue;
      if ((std::ranges::find(filter.values, device) != filter.values.end()) == filter.negate) {
        return std::nullopt;
      }
    }
    std::vector<std::string> keys = *card_keys;
    if (by_instance) {
      keys[static_cast<std::size_t>(instance_at - options_.by.begin())] = std::move(device);
    }
    return keys;
  };
  // With a row for each instance, the card's row has what is left, and the energy.
  static const std::map<std::string, CardShare> kNoInstances;
  const auto found = view.instances.find(card.uuid);
  const auto& instances = found == view.instances.end() ? kNoInstances : found->second;
  std::uint64_t rest = CardShare::kUnitsPerCard;
  if (by_instance) {
    for (const auto& [device, share] : instances) rest -= std::min(rest, share.units());
  }
  if (const auto keys = named(kWholeCard)) {
    each_bucket(card.present, [&](const std::string& bucket, const Interval& piece) {
      UsageMeasures sum;
      sum.there = GpuTime::of(UInt128{rest} * piece.length_ms());
      add(bucket, *keys, sum);
    });
    if (const auto energy = view.day.energy.find(card.uuid); energy != view.day.energy.end()) {
      for (const EnergySegment& segment : energy->second) {
        const auto part = overlap(
            card.present, Interval(from_unix_ms(segment.begin_ms), from_unix_ms(segment.end_ms)));
        if (!part) continue;
        each_bucket(*part, [&](const std::string& bucket, const Interval& piece) {
          UsageMeasures sum;
          sum.energy =
              static_cast<Int128>(segment.taken(unix_ms(piece.begin()), unix_ms(piece.end())));
          sum.energy_seen = CardShare::whole().over_ms(piece.length_ms());
          add(bucket, *keys, sum);
        });
      }
    }
  }
  const auto whole = view.series.find({card.uuid.text(), ""});
  const bool has_whole = whole != view.series.end() &&
                         std::ranges::any_of(whole->second->intervals, [](const auto& each) {
                           return each.compute != UtilizationInterval::kUnknown;
                         });
  if (has_whole && (!by_instance || instances.empty())) {
    if (const auto keys = named(kWholeCard)) {
      add_utilization(view, card.present, card.uuid.text(), "", CardShare::kUnitsPerCard, *keys);
    }
    return;
  }
  for (const auto& [device, share] : instances) {
    const auto keys = named(device);
    if (!keys) continue;
    if (by_instance) {
      each_bucket(card.present, [&](const std::string& bucket, const Interval& piece) {
        UsageMeasures sum;
        sum.there = share.over_ms(piece.length_ms());
        add(bucket, *keys, sum);
      });
    }
    add_utilization(view, card.present, device, "", share.units(), *keys);
  }
}

void UsageReport::add_holders(const DayView& view, const ReportedGpu& card,
                              std::vector<Entry> entries) {
  std::ranges::sort(entries, [](const Entry& a, const Entry& b) {
    const Holding &left = *a.holder->holding, &right = *b.holder->holding;
    return std::tie(left.workload, left.attempt, a.time) <
           std::tie(right.workload, right.attempt, b.time);
  });
  std::vector<std::optional<std::vector<std::string>>> keys;
  for (const Entry& entry : entries) keys.push_back(keys_of(entry.holder, card));
  const auto nobody = keys_of(nullptr, card);

  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry& entry = entries[i];
    if (!keys[i] || entry.device.empty()) continue;
    const std::string& workload = entry.holder->holding->workload.text();
    const bool has_own = view.series.contains({entry.device, workload});
    if (!has_own && !entry.has_device) continue;
    add_utilization(view, entry.time, entry.device, has_own ? workload : "", entry.share, *keys[i]);
  }

  std::set<Instant> borders = {card.present.begin(), card.present.end()};
  for (const Entry& entry : entries) {
    borders.insert(entry.time.begin());
    borders.insert(entry.time.end());
  }
  static const std::vector<EnergySegment> kNone;
  const auto energy = view.day.energy.find(card.uuid);
  const auto& segments = energy == view.day.energy.end() ? kNone : energy->second;
  auto segment = segments.begin();
  for (auto border = borders.begin(); std::next(border) != borders.end(); ++border) {
    const Interval time(*border, *std::next(border));
    std::vector<std::size_t> active;
    UInt128 held = 0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (entries[i].time.begin() > time.begin() || entries[i].time.end() < time.end()) continue;
      active.push_back(i);
      held += entries[i].share;
    }
    const UInt128 whole = std::max(held, UInt128{CardShare::kUnitsPerCard});
    const UInt128 free = whole - held;
    if (nobody && free > 0) {
      each_bucket(time, [&](const std::string& bucket, const Interval& piece) {
        UsageMeasures sum;
        sum.there = GpuTime::of(free * piece.length_ms());
        add(bucket, *nobody, sum);
      });
    }
    while (segment != segments.end() && segment->end_ms <= unix_ms(time.begin())) ++segment;
    for (auto at = segment; at != segments.end() && at->begin_ms < unix_ms(time.end()); ++at) {
      const auto part =
          overlap(time, Interval(from_unix_ms(at->begin_ms), from_unix_ms(at->end_ms)));
      if (!part) continue;
      // Both sums are rounded at the ends of rows and of shares, and not row by row: so the rows of
      // a holder add up to any longer one, and those of all holders to what the GPU took.
      const std::int64_t first = unix_ms(part->begin());
      const auto taken_until = [&](std::int64_t at_ms, UInt128 shares) {
        return multiply_divide(at->taken(first, at_ms), shares, whole).quotient;
      };
      const auto seen_until = [&](std::int64_t at_ms, UInt128 share) {
        const auto ms = static_cast<UInt128>(at_ms - first);
        return multiply_divide(UInt128{CardShare::kUnitsPerCard} * ms, share, whole).quotient;
      };
      each_bucket(*part, [&](const std::string& bucket, const Interval& piece) {
        const std::int64_t begin = unix_ms(piece.begin()), end = unix_ms(piece.end());
        UInt128 before = 0;
        const auto taken = [&](UInt128 shares) {
          return static_cast<Int128>(taken_until(end, shares) - taken_until(begin, shares));
        };
        const auto give = [&](UInt128 share, const std::optional<std::vector<std::string>>& to) {
          UsageMeasures sum;
          sum.energy = taken(before + share) - taken(before);
          sum.energy_seen = GpuTime::of(seen_until(end, share) - seen_until(begin, share));
          before += share;
          if (to) add(bucket, *to, sum);
        };
        for (const std::size_t i : active) give(entries[i].share, keys[i]);
        if (free > 0) give(free, nobody);
      });
    }
  }
}

// What it holds, wherever that is, as the reports of activity count it.
void UsageReport::add_held(const DayView& view, const Holder& holder) {
  const Holding& holding = *holder.holding;
  const auto time = overlap(holding.held, view.day.during);
  if (!time) return;
  const auto give = [&](const ReportedGpu& card, std::uint64_t devices, const std::string& model,
                        const std::string& profile) {
    const bool is_plain = std::holds_alternative<WholeGpu>(holding.device);
    const Device device = is_plain && !profile.empty() ? Device(MigSlice{profile}) : holding.device;
    const std::string known = !model.empty()         ? model
                              : card.node != nullptr ? card.node->gpu_model
                                                     : holding.gpu_model;
    const auto share = device_share(
        device, {.gpu_model = known, .node = card.node, .memory_bytes = memory_of(holding, card)});
    const auto keys = keys_of(&holder, card);
    if (!share || !keys || devices == 0) return;
    each_bucket(*time, [&](const std::string& bucket, const Interval& piece) {
      UsageMeasures sum;
      sum.there = (share->compute * devices).over_ms(piece.length_ms());
      add(bucket, *keys, sum);
    });
  };
  const auto card_on = [&](const GpuId& uuid, const NodeId& node) {
    return ReportedGpu{.uuid = uuid,
                       .node_name = node,
                       .node = values_.node_at(holding.cluster, node, holding.held.begin()),
                       .present = *time};
  };
  if (const auto* on = std::get_if<OnNodes>(&holding.placement)) {
    for (const auto& part : on->parts) {
      give(card_on(GpuId(""), part.node), part.devices, "", "");
    }
  } else if (const auto* on_gpus = std::get_if<OnGpus>(&holding.placement)) {
    for (const GpuId& id : on_gpus->gpus) {
      const std::string device = view.name(id.text());
      const auto card = view.card_of.find(device);
      const auto profile = view.profiles.find(device);
      const GpuId uuid = card == view.card_of.end() ? id : card->second;
      const auto node = view.nodes.find(uuid);
      const auto model = view.models.find(uuid.text());
      give(card_on(uuid, node == view.nodes.end() ? NodeId("") : node->second), 1,
           model == view.models.end() ? "" : model->second,
           profile == view.profiles.end() ? "" : profile->second);
    }
  } else if (const auto* pool = std::get_if<InPool>(&holding.placement)) {
    const ReportedGpu somewhere{
        .uuid = GpuId(""), .node_name = NodeId(""), .node = nullptr, .present = *time};
    if (pool->devices > 0 && keys_of(&holder, somewhere)) ++without_gpu_;
    give(somewhere, pool->devices, "", "");
  }
}

void UsageReport::add_day(const ObservedDay& day, std::span<const Holding> holdings) {
  DayView view{.day = day,
               .series = {},
               .canonical = {},
               .card_of = {},
               .profiles = {},
               .models = {},
               .nodes = day.nodes,
               .instances = {},
               .placed = {}};
  std::map<GpuId, Instant> ended, began;
  std::vector<Gpu> of_cluster;
  std::ranges::copy_if(gpus_, std::back_inserter(of_cluster),
                       [&](const Gpu& gpu) { return gpu.cluster == day.cluster; });
  for (const GpuInForce& each : layouts_in_force(of_cluster)) {
    if (!each.during || !overlap(*each.during, day.during)) continue;
    const Gpu& gpu = *each.gpu;
    view.nodes.insert_or_assign(gpu.uuid, gpu.node);
    view.models.insert_or_assign(gpu.uuid.text(), gpu.model);
    view.card_of.insert_or_assign(gpu.uuid.text(), gpu.uuid);
    began.try_emplace(gpu.uuid, each.during->begin());
    if (gpu.to) {
      ended.insert_or_assign(gpu.uuid, *gpu.to);
    } else {
      ended.erase(gpu.uuid);
    }
    for (const MigInstance& instance : gpu.mig_instances) {
      view.card_of.insert_or_assign(instance.id.text(), gpu.uuid);
      view.profiles.insert_or_assign(instance.id.text(), instance.profile);
      const auto share = device_share(MigSlice{instance.profile}, {gpu.model, nullptr});
      if (share) view.instances[gpu.uuid][instance.id.text()] = share->compute;
    }
    for (const auto& [alias, instance] : each.aliases) {
      view.canonical.insert_or_assign(alias.text(), instance.text());
    }
  }
  for (const UtilizationSeries& series : day.utilization.series) {
    const std::string device = view.name(series.device.text());
    view.series.try_emplace({device, series.workload.text()}, &series);
  }
  for (const auto& [uuid, node] : day.nodes) view.card_of.try_emplace(uuid.text(), uuid);
  for (const WorkloadSighting& sighting : day.utilization.placed) {
    WorkloadSighting named = sighting;
    named.device = GpuId(view.name(sighting.device.text()));
    view.placed.emplace(sighting.workload.text(), std::move(named));
  }

  // The cards of each node, and of each of its facts.
  std::map<NodeId, std::vector<GpuId>> on_node;
  for (const auto& [uuid, node] : view.nodes) on_node[node].push_back(uuid);
  std::vector<ReportedGpu> cards;
  std::map<NodeId, std::vector<std::pair<std::size_t, std::size_t>>> pieces;  // of `cards`
  const auto add_cards = [&](const NodeId& name, const Node* node, const Interval& present,
                             const std::vector<GpuId>& known, std::size_t count) {
    const std::size_t first = cards.size();
    for (std::size_t i = 0; i < count; ++i) {
      const GpuId uuid = i < known.size() ? known[i] : GpuId("");
      // An inventory says since when a node has its GPUs; else they are there once they are stated.
      const auto begin = node == nullptr ? began.find(uuid) : began.end();
      const auto end = ended.find(uuid);
      const auto time = Interval::of(
          begin == began.end() ? present.begin() : std::max(present.begin(), begin->second),
          end == ended.end() ? present.end() : std::min(present.end(), end->second));
      if (time) cards.push_back({.uuid = uuid, .node_name = name, .node = node, .present = *time});
    }
    if (cards.size() > first) pieces[name].emplace_back(first, cards.size());
  };
  for (const auto& [name, facts] : values_.nodes()) {
    if (name.first != day.cluster.text()) continue;
    const NodeId node_name(name.second);
    for (std::size_t i = 0; i < facts.size(); ++i) {
      const auto present = presence(facts, i, day.during);
      if (!present) continue;
      // Where more GPUs are named than there are, as after a repair, those that were seen count.
      std::vector<GpuId> known = on_node[node_name];
      const std::size_t count = facts[i]->gpu_count;
      std::ranges::stable_sort(known, {},
                               [&](const GpuId& uuid) { return day.nodes.contains(uuid) ? 0 : 1; });
      const auto seen = static_cast<std::size_t>(std::ranges::count_if(
          known, [&](const GpuId& uuid) { return day.nodes.contains(uuid); }));
      if (known.size() > count) {
        known.resize(std::max(count, seen), GpuId(""));
      }
      add_cards(node_name, facts[i], *present, known, std::max(count, known.size()));
    }
  }
  for (const auto& [name, known] : on_node) {
    if (!pieces.contains(name)) add_cards(name, nullptr, day.during, known, known.size());
  }
  if (!is_of_holders_) {
    for (const ReportedGpu& card : cards) add_devices(view, card);
    return;
  }

  std::vector<Holder> holders;
  for (const Holding& holding : holdings) {
    if (holding.is_reservation || device_count(holding) == 0) continue;
    holders.push_back({.holding = &holding,
                       .resolved = resolve_dimensions(holding.cluster, holding.workload,
                                                      holding.labels, policy_)});
  }
  std::vector<std::vector<Entry>> entries(cards.size());
  std::map<GpuId, std::vector<std::size_t>> by_uuid;
  for (std::size_t i = 0; i < cards.size(); ++i) {
    if (!cards[i].uuid.empty()) by_uuid[cards[i].uuid].push_back(i);
  }
  for (const Holder& holder : holders) {
    add_held(view, holder);
    const Holding& holding = *holder.holding;
    // A device of it on the card, or n of the card's G-th part.
    const auto put = [&](std::size_t at, const std::string& device, std::uint64_t n,
                         std::uint64_t of) {
      const ReportedGpu& card = cards[at];
      const auto time =
          overlap(overlap(holding.held, day.during).value_or(card.present), card.present);
      if (!time || !overlap(holding.held, day.during)) return;
      const auto profile = view.profiles.find(device);
      const bool is_plain = std::holds_alternative<WholeGpu>(holding.device);
      const bool is_instance = profile != view.profiles.end();
      const auto model = view.models.find(card.uuid.text());
      const auto share =
          device_share(is_plain && is_instance ? Device(MigSlice{profile->second}) : holding.device,
                       {model != view.models.end() && !model->second.empty() ? model->second
                        : card.node != nullptr                               ? card.node->gpu_model
                                                                             : holding.gpu_model,
                        card.node, memory_of(holding, card)});
      if (!share) return;
      const auto units = static_cast<std::uint64_t>(UInt128{share->compute.units()} * n / of);
      entries[at].push_back({.holder = &holder,
                             .time = *time,
                             .share = units,
                             .device = device,
                             .has_device = is_instance || units == CardShare::kUnitsPerCard});
    };
    if (const auto* on_gpus = std::get_if<OnGpus>(&holding.placement)) {
      for (const GpuId& id : on_gpus->gpus) {
        const std::string device = view.name(id.text());
        const auto card = view.card_of.find(device);
        const auto at = by_uuid.find(card == view.card_of.end() ? id : card->second);
        if (at == by_uuid.end()) continue;
        for (const std::size_t i : at->second) put(i, device, 1, 1);
      }
    } else if (const auto* on = std::get_if<OnNodes>(&holding.placement)) {
      for (const auto& part : on->parts) {
        if (part.devices == 0) continue;
        const auto found = pieces.find(part.node);
        if (found == pieces.end()) continue;
        // The devices of this node that telemetry reports it on, if it is as many.
        std::set<std::string> placed;
        const auto [begin, end] = view.placed.equal_range(holding.workload.text());
        for (auto it = begin; it != end; ++it) {
          if (!it->second.is_within(holding.held)) continue;
          const std::string& device = it->second.device.text();
          const auto card = view.card_of.find(device);
          const auto node =
              card == view.card_of.end() ? view.nodes.end() : view.nodes.find(card->second);
          if (node != view.nodes.end() && node->second == part.node) placed.insert(device);
        }
        for (const auto& [first, last] : found->second) {
          const std::uint64_t count = last - first;
          if (placed.size() == part.devices) {
            for (std::size_t i = first; i < last; ++i) {
              for (const std::string& device : placed) {
                if (view.card_of.at(device) == cards[i].uuid) put(i, device, 1, 1);
              }
            }
          } else {
            for (std::size_t i = first; i < last; ++i) {
              const bool is_all = part.devices == count;
              put(i, is_all ? cards[i].uuid.text() : "", part.devices, count);
            }
          }
        }
      }
    }
  }
  for (std::size_t i = 0; i < cards.size(); ++i) {
    add_holders(view, cards[i], std::move(entries[i]));
  }
}

}  // namespace pennyweight
