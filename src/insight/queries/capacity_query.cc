#include "insight/queries/capacity_query.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "allocation/device_share.h"
#include "core/billing_period.h"
#include "core/card_share.h"
#include "core/try.h"
#include "ledger/holding.h"
#include "ledger/node.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

constexpr std::array<std::size_t, 3> kShownDays = {30, 60, 90};
constexpr std::size_t kUnusedDays = 28;
constexpr std::int64_t kMilli = 1000;
constexpr auto kUnits = static_cast<std::int64_t>(CardShare::kUnitsPerCard);
constexpr int kBuyPercent = 90;    // of the futures in which what is bought suffices
constexpr int kLetGoPercent = 95;  // in which what is kept does

using ModelKey = GpuModelAndRegion;
using CapacityNode = std::pair<ClusterId, NodeId>;

std::int64_t in_milli(std::uint64_t gpus) { return static_cast<std::int64_t>(gpus) * kMilli; }

// More or fewer GPUs are held from a moment on, in CardShare's units.
struct HeldChange {
  Instant at;
  std::int64_t units = 0;
  // What ends makes room for what begins at the same moment.
  auto operator<=>(const HeldChange&) const = default;
};

struct Skipped {
  std::uint64_t unplaced = 0;      // held somewhere in a pool
  std::uint64_t unknown_node = 0;  // on nodes, or GPUs, that the ledger does not have
  std::uint64_t unknown_share = 0;
};

class DemandReader {
 public:
  DemandReader(std::span<const Node> nodes, std::span<const Gpu> gpus) {
    for (const Node& node : nodes) nodes_.insert_or_assign({node.cluster, node.name}, &node);
    for (const Gpu& gpu : gpus) {
      node_of_gpu_.insert_or_assign({gpu.cluster, gpu.uuid}, gpu.node);
      for (const MigInstance& instance : gpu.mig_instances) {
        node_of_gpu_.insert_or_assign({gpu.cluster, instance.id}, gpu.node);
      }
    }
  }

  void add(const Holding& holding) {
    if (holding.is_reservation) return;  // its group's holdings count
    std::map<NodeId, std::uint64_t> devices;
    if (const auto* on_nodes = std::get_if<OnNodes>(&holding.placement)) {
      for (const OnNodes::NodeDevices& part : on_nodes->parts) devices[part.node] += part.devices;
    } else if (const auto* on_gpus = std::get_if<OnGpus>(&holding.placement)) {
      for (const GpuId& gpu : on_gpus->gpus) {
        const auto node = node_of_gpu_.find({holding.cluster, gpu});
        if (node == node_of_gpu_.end()) {
          ++skipped.unknown_node;
        } else {
          ++devices[node->second];
        }
      }
    } else {
      ++skipped.unplaced;
      return;
    }
    for (const auto& [name, count] : devices) {
      if (count == 0) continue;
      const auto node = nodes_.find({holding.cluster, name});
      if (node == nodes_.end()) {
        ++skipped.unknown_node;
        continue;
      }
      const Node& on = *node->second;
      const auto share = device_share(holding.device, {.gpu_model = on.gpu_model, .node = &on});
      // Who holds a part whose size nobody knows holds one GPU at most.
      if (!share) ++skipped.unknown_share;
      const std::uint64_t one =
          share ? std::max(share->compute, share->memory).units() : CardShare::whole().units();
      const auto units = static_cast<std::int64_t>(one * count);
      std::vector<HeldChange>& changes = changes_[{on.gpu_model, on.region}];
      changes.push_back({holding.held.begin(), units});
      changes.push_back({holding.held.end(), -units});
    }
  }

  // The peak of each day between the begins of days; the last one ends the last day.
  std::vector<std::int64_t> peaks_milli(const ModelKey& key, std::span<const Instant> day_begins) {
    std::vector<HeldChange>& changes = changes_[key];
    std::ranges::sort(changes);
    std::vector<std::int64_t> out;
    std::int64_t held = 0;
    auto next = changes.begin();
    for (std::size_t day = 0; day + 1 < day_begins.size(); ++day) {
      while (next != changes.end() && next->at <= day_begins[day]) held += (next++)->units;
      std::int64_t most = held;
      while (next != changes.end() && next->at < day_begins[day + 1]) {
        held += (next++)->units;
        most = std::max(most, held);
      }
      out.push_back(most * kMilli / kUnits);
    }
    return out;
  }
  std::optional<Instant> first_change() const {
    std::optional<Instant> first;
    for (const auto& [key, changes] : changes_) {
      for (const HeldChange& one : changes) first = std::min(first.value_or(one.at), one.at);
    }
    return first;
  }

  Skipped skipped;

 private:
  std::map<CapacityNode, const Node*> nodes_;  // the last fact of each
  std::map<std::pair<ClusterId, GpuId>, NodeId> node_of_gpu_;
  std::map<ModelKey, std::vector<HeldChange>> changes_;
};

void add_skipped_notes(const Skipped& skipped, CapacityResult& result) {
  const auto say = [&](std::uint64_t count, std::string_view what) {
    if (count > 0) result.notes.push_back(fmt::format("{} {}", counted(count, "run"), what));
  };
  say(skipped.unplaced, "somewhere in a pool: not counted, since nobody knows on which GPUs");
  say(skipped.unknown_node, "on nodes that the ledger does not have: not counted");
  say(skipped.unknown_share,
      "held a part of a GPU of unknown size: counted as a whole one (which nodes lack a model?)");
}

// "12.3", of thousandths.
std::string gpus_text(std::int64_t milli) {
  const std::int64_t tenths = (milli + 50) / 100;
  return fmt::format("{}.{}", tenths / 10, tenths % 10);
}

Cell percent_cell(const std::optional<int>& percent) {
  return percent ? Cell{static_cast<std::uint64_t>(*percent)} : Cell{};
}

// So many GPUs on each day of the outlook.
std::vector<std::int64_t> steady(std::uint64_t gpus) {
  return std::vector<std::int64_t>(kCapacityDaysAhead, in_milli(gpus));
}

std::string name_of(const ModelCapacity& one) {
  const std::string model = one.model.empty() ? "GPUs of unknown model" : one.model;
  return one.region.empty() ? model : fmt::format("{} in {}", model, one.region);
}

std::int64_t recent_peak(const ModelCapacity& one) {
  const std::size_t count = std::min(one.peaks_milli.size(), kUnusedDays);
  std::int64_t most = 0;
  for (std::size_t i = one.peaks_milli.size() - count; i < one.peaks_milli.size(); ++i) {
    most = std::max(most, one.peaks_milli[i]);
  }
  return most;
}

// "buy 16 (…)", "let go of 8 (…)"; empty: neither.
std::string propose_change(const ModelCapacity& one) {
  if (!one.has_outlook) return "";
  const auto buy = one.outlook.enough(kCapacityDaysAhead, kBuyPercent);
  const auto keep = one.outlook.enough(kCapacityDaysAhead, kLetGoPercent);
  if (buy && *buy > one.gpus) {
    return fmt::format("buy {}: {} suffice with {} %", counted(*buy - one.gpus, "GPU"), *buy,
                       kBuyPercent);
  }
  if (keep && *keep < one.gpus) {
    return fmt::format("let go of up to {}: {} suffice with {} %", counted(one.gpus - *keep, "GPU"),
                       *keep, kLetGoPercent);
  }
  return "";
}

}  // namespace

Result<CapacityResult> query_capacity(Store& store, const CapacityQuery& query) {
  const auto is_chosen = [&](const ClusterId& cluster) {
    return query.clusters.empty() ||
           std::ranges::find(query.clusters, cluster.text()) != query.clusters.end();
  };
  std::vector<Node> nodes = TRY(store.nodes());
  std::erase_if(nodes, [&](const Node& node) { return !is_chosen(node.cluster); });
  const std::vector<Gpu> gpus = TRY(store.gpus());
  std::map<ModelKey, ModelCapacity> models;
  std::set<ClusterId> clusters;
  for (const Node& node : nodes) {
    if (node.gpu_count == 0) continue;
    clusters.insert(node.cluster);
    ModelCapacity& one = models[{node.gpu_model, node.region}];
    one.model = node.gpu_model;
    one.region = node.region;
    if (node.from > query.now || (node.to && *node.to <= query.now)) continue;
    ++one.nodes;
    one.gpus += node.gpu_count;
  }
  if (models.empty() && !query.clusters.empty()) {
    return fail(ErrorCode::kNotFound, fmt::format("the ledger has no node with GPUs of cluster {}",
                                                  fmt::join(query.clusters, ", ")));
  }
  if (models.empty()) {
    return fail(ErrorCode::kNotFound,
                "the ledger has no node with GPUs: import nodes, or connect a cluster");
  }
  CapacityResult result;
  result.today = TRY(parse_date(local_date(query.now, query.zone)));
  // Days of the configured time zone, up to yesterday's end.
  std::vector<Instant> day_begins{start_of_day(query.now, query.zone)};
  for (int i = 0; i < query.days_back; ++i) {
    day_begins.push_back(start_of_day(day_begins.back() - std::chrono::hours(12), query.zone));
  }
  std::ranges::reverse(day_begins);
  DemandReader demand(nodes, gpus);
  const Interval past(day_begins.front(), day_begins.back());
  for (const ClusterId& cluster : clusters) {
    TRY(store.scan_holdings(cluster, past, [&](std::span<const Holding> batch) {
      for (const Holding& holding : batch) demand.add(holding);
      return true;
    }));
  }
  // Before the first work nothing is known; the day on which it begins is not whole.
  const auto first = demand.first_change();
  while (day_begins.size() > 1 && (!first || day_begins.front() < *first)) {
    day_begins.erase(day_begins.begin());
  }
  const ReservedCapacity reserved =
      TRY(ReservedCapacity::read(store, nodes, query.join_rules, query.ends, query.now));
  result.reservations = reserved.reserved();
  add_skipped_notes(demand.skipped, result);
  for (auto& [key, one] : models) {
    one.peaks_milli = demand.peaks_milli(key, day_begins);
    one.without_renewal_milli = steady(one.gpus);
    for (std::size_t day = 0; day < one.without_renewal_milli.size(); ++day) {
      const std::int64_t ended =
          reserved.ended_milli(key, result.today, result.today + std::chrono::days(day));
      one.without_renewal_milli[day] = std::max<std::int64_t>(in_milli(one.gpus) - ended, 0);
    }
    if (!one.peaks_milli.empty()) {
      auto outlook = forecasting::forecast_capacity(one.peaks_milli, kCapacityDaysAhead);
      if (outlook) {
        one.outlook = *std::move(outlook);
        one.has_outlook = true;
      }
    }
    if (one.gpus > 0 || recent_peak(one) > 0) result.models.push_back(std::move(one));
  }
  std::ranges::stable_sort(result.models,
                           [](const auto& a, const auto& b) { return a.gpus > b.gpus; });
  return result;
}

std::vector<Table> capacity_tables(const CapacityResult& result) {
  Table models;
  models.title = "Capacity";
  models.columns = {{"model", "model"},
                    {"region", "region"},
                    {"nodes", "nodes", ColumnKind::kCount},
                    {"gpus", "GPUs", ColumnKind::kCount},
                    {"peak", "peak, 28 days"},
                    {"unused", "unused"},
                    {"peak_30", "peak in 30 days"},
                    {"low_80", "80 % from"},
                    {"high_80", "to"},
                    {"percent_30", "P(out) 30 d, %", ColumnKind::kCount},
                    {"percent_60", "60 d", ColumnKind::kCount},
                    {"percent_90", "90 d", ColumnKind::kCount},
                    {"runs_out", "runs out"},
                    {"proposal", "proposal"}};
  for (const ModelCapacity& one : result.models) {
    const std::int64_t peak = recent_peak(one);
    Row row{one.model,
            one.region,
            one.nodes,
            one.gpus,
            one.peaks_milli.empty() ? std::string() : gpus_text(peak),
            one.peaks_milli.empty()
                ? std::string()
                : gpus_text(std::max<std::int64_t>(in_milli(one.gpus) - peak, 0))};
    const std::size_t shown = kShownDays.front() - 1;
    const auto expected = one.has_outlook ? one.outlook.peak_milli(shown) : std::nullopt;
    const auto range = one.has_outlook ? one.outlook.range_milli(shown) : std::nullopt;
    row.emplace_back(expected ? gpus_text(*expected) : std::string());
    row.emplace_back(range ? gpus_text(range->low) : std::string());
    row.emplace_back(range ? gpus_text(range->high) : std::string());
    for (const std::size_t count : kShownDays) {
      row.push_back(one.has_outlook
                        ? percent_cell(one.outlook.percent_out(one.without_renewal_milli, count))
                        : Cell{});
    }
    const auto out =
        one.has_outlook ? one.outlook.runs_out(one.without_renewal_milli) : std::nullopt;
    row.emplace_back(out ? to_text(result.today + std::chrono::days(*out)) : std::string());
    row.emplace_back(propose_change(one));
    models.rows.push_back(std::move(row));
    if (!one.has_outlook ||
        !one.outlook.percent_out(one.without_renewal_milli, kShownDays.front())) {
      models.notes.push_back(fmt::format("{}: {} of history are too few for a probability",
                                         name_of(one),
                                         counted(one.peaks_milli.size(), "complete day")));
    }
    for (const std::string& note : one.outlook.basis.notes) {
      models.notes.push_back(fmt::format("{}: {}", name_of(one), note));
    }
  }
  models.notes.emplace_back(
      "peak: the most GPUs that were held at one time of a day; work that waits is not counted. "
      "P(out): the share of earlier forecasts after whose errors a peak would exceed the GPUs that "
      "are there, without those whose reservation ends until then");
  std::ranges::copy(result.notes, std::back_inserter(models.notes));
  Table reserved;
  reserved.title = "Reservations and commitments";
  reserved.columns = {{"reservation", "reservation"},
                      {"model", "model"},
                      {"region", "region"},
                      {"gpus", "GPUs, mean"},
                      {"ends", "ends"}};
  for (const ReservedGpus& one : result.reservations) {
    reserved.rows.push_back({one.id, one.model, one.region, gpus_text(one.gpus_milli),
                             one.ends ? to_text(*one.ends) : std::string()});
    if (one.ends && *one.ends <= result.today) {
      reserved.notes.push_back(
          fmt::format("{} ended on {}: what it covered counts as long as its nodes are there",
                      one.id, to_text(*one.ends)));
    }
  }
  if (!reserved.rows.empty()) {
    reserved.notes.emplace_back(
        "GPUs: the mean that it covered in the last week of the bill's lines. A node that several "
        "cover is in each of their rows; for when GPUs run out it counts once, until the last of "
        "them ends");
  }
  return {std::move(models), std::move(reserved)};
}

}  // namespace pennyweight
