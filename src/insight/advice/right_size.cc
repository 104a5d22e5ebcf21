#include "insight/advice/right_size.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/gpu/gpu_speed.h"
#include "insight/advice/apply_text.h"
#include "insight/advice/formulas/measured_fit.h"

namespace pennyweight::advising {
namespace {

constexpr std::size_t kRunsMin = 3;
constexpr std::size_t kDaysMin = 7;
constexpr std::uint64_t kHourOfMs = 3'600'000;
constexpr std::int64_t kTicksPerMicro = Money::kTicksPerUnit / 1'000'000;

std::string percent_text(std::uint64_t ppm) {
  const std::uint64_t tenths = (ppm + 500) / 1000;
  return fmt::format("{}.{} %", tenths / 10, tenths % 10);
}
std::string gib_text(std::uint64_t bytes) {
  const std::uint64_t tenths = bytes / ((1ull << 30) / 10);
  return fmt::format("{}.{} GiB", tenths / 10, tenths % 10);
}

// One GPU's part of the cheapest on-demand instance that has a model.
struct Offer {
  const GpuModel* model;
  std::string instance_type;
  Money per_gpu_hour;
};

class RightSizeSearch {
 public:
  RightSizeSearch(const ClusterId& cluster, const ActivityProfiles& profiles,
                  const std::map<std::string, WorkOnNodes>& works, const FleetView& fleet,
                  const FleetHours& hours, const NodeBill& bill,
                  const std::map<std::uint32_t, HourFlags>& released, const Catalog& catalog,
                  Instant prices_at)
      : cluster_(cluster),
        profiles_(profiles),
        works_(works),
        fleet_(fleet),
        hours_(hours),
        bill_(bill),
        released_(released),
        catalog_(catalog),
        prices_at_(prices_at) {}

  RightSizeAdvice run() {
    for (const auto& [key, profile] : profiles_.profiles()) consider(profile);
    return {std::move(proposals_), {gaps_.begin(), gaps_.end()}};
  }

 private:
  std::optional<Money> price_of(const InstanceType& type, const std::string& region) const {
    const auto rate = catalog_.find_rate({.instance_type = type.name,
                                          .region = region,
                                          .option = PurchaseOption::kOnDemand,
                                          .at = prices_at_});
    if (!rate || type.gpu_count == 0) return std::nullopt;
    return scaled(Money::from_decimal(rate->per_hour, rate->currency), 1, type.gpu_count);
  }

  // Whether the instance has as many GPUs as the work holds of a node, and CPU and memory for it.
  static bool has_room(const InstanceType& type, const WorkOnNodes& work) {
    const auto fits = [](const std::optional<std::uint64_t>& has,
                         const std::optional<std::uint64_t>& asked) {
      return !asked || !has || *has >= *asked;
    };
    return type.gpu_count == *work.gpus_per_node.begin() && fits(type.cpu_milli, work.cpu_milli) &&
           fits(type.memory_bytes, work.memory_bytes);
  }

  std::vector<Offer> offers(const InstanceType& source, const std::string& region,
                            const WorkOnNodes& work, Currency currency) const {
    std::map<const GpuModel*, Offer> best;
    for (const InstanceType& type : catalog_.instance_types()) {
      if (type.provider != source.provider || !has_room(type, work)) continue;
      const GpuModel* model = find_gpu_model(type.gpu_model);
      const auto price = price_of(type, region);
      if (model == nullptr || !price || price->currency() != currency || price->ticks() <= 0) {
        continue;
      }
      const auto [at, is_new] = best.try_emplace(model, Offer{model, type.name, *price});
      if (!is_new && price->ticks() < at->second.per_gpu_hour.ticks()) {
        at->second = {model, type.name, *price};
      }
    }
    std::vector<Offer> all;
    for (const auto& [model, offer] : best) all.push_back(offer);
    std::sort(all.begin(), all.end(),
              [](const Offer& a, const Offer& b) { return a.model->name < b.model->name; });
    return all;
  }

  static MeasuredCard card(const GpuModel& model, bool needs_bf16, const Money& price) {
    const GpuSpeed speed = gpu_speed(model);
    return {.memory_bytes = model.memory_bytes,
            .memory_gb_per_second = speed.memory_gb_per_second,
            .dense_gflops = needs_bf16 ? speed.bf16_dense_gflops : speed.fp16_dense_gflops,
            .price_micros = static_cast<std::uint64_t>(price.ticks() / kTicksPerMicro)};
  }

  void consider(const ActivityProfile& profile) {
    const auto metric = profile.metric();
    if (!metric || profile.held_ms == 0) return;
    if (profile.runs.size() < kRunsMin && profile.days.size() < kDaysMin) return;
    const auto work = works_.find(profile.work);
    if (work == works_.end() || work->second.gpus_per_node.size() != 1) return;
    const HeldCost held = cost_of_held(profile, work->second);
    if (held.on_demand.empty() && held.beside_ms == 0) return;  // paid anyway, or spot
    if (*metric == ActivityMetric::kGpuUtil || profile.dram.total_ms() == 0 ||
        profile.memory.total_ms() == 0) {
      gaps_.insert(
          "another GPU model takes SM or engine activity, DRAM activity and memory, and is not "
          "advised from GPU_UTIL alone: let dcgm-exporter send "
          "DCGM_FI_PROF_SM_ACTIVE, DCGM_FI_PROF_DRAM_ACTIVE and DCGM_FI_DEV_FB_USED");
      return;
    }
    if (UInt128{profile.observed_ms} * 10 < UInt128{profile.held_ms} * 8) return;
    const GpuModel* model = find_gpu_model(profile.gpu_model);
    const InstanceType* type = catalog_.find_instance_type(profile.instance_type);
    if (model == nullptr) {
      gaps_.insert("the model of some GPUs is not known to the tables: state it in the inventory");
      return;
    }
    const auto price = type == nullptr ? std::nullopt : price_of(*type, profile.region);
    if (!price) {
      gaps_.insert(
          fmt::format("no list price of '{}' in '{}', so no other GPU can be compared with {}",
                      profile.instance_type, profile.region, model->name));
      return;
    }
    const TimeBins& activity = profile.activity[static_cast<std::size_t>(*metric)];
    const MeasuredLoad load{.mean_activity_ppm = activity.mean(),
                            .p95_activity_ppm = activity.quantile(950),
                            .mean_dram_ppm = profile.dram.mean(),
                            .p99_memory_bytes = profile.memory.quantile(990)};
    const bool needs_bf16 = gpu_speed(*model).bf16_dense_gflops > 0;
    const MeasuredCard source = card(*model, needs_bf16, *price);
    for (const CardDirection direction : {CardDirection::kSmaller, CardDirection::kLarger}) {
      std::optional<Offer> best;
      MeasuredFit best_fit;
      for (const Offer& offer : offers(*type, profile.region, work->second, price->currency())) {
        if (offer.model == model) continue;
        const bool is_dearer = offer.per_gpu_hour.ticks() > price->ticks();
        if (is_dearer != (direction == CardDirection::kLarger)) continue;
        const MeasuredFit fit = fit_measured(direction, load, source,
                                             card(*offer.model, needs_bf16, offer.per_gpu_hour));
        if (!fit.fits || fit.relative_cost_ppm == 0) continue;
        if (best && fit.relative_cost_ppm >= best_fit.relative_cost_ppm) continue;
        best = offer;
        best_fit = fit;
      }
      if (best) propose(profile, held, *metric, load, *model, *price, *best, best_fit, direction);
    }
  }

  // What the bill says of the nodes of the profile's type that the work held.
  struct HeldCost {
    std::map<Currency, Money> on_demand;  // of hours in which it held them whole and alone
    std::uint64_t alone_hours = 0;        // of nodes
    std::uint64_t beside_ms = 0;          // of its GPUs, on nodes that stay
    std::uint64_t gpus_per_node = 0;
    WorkManager manager = WorkManager::kUnknown;
  };
  HeldCost cost_of_held(const ActivityProfile& profile, const WorkOnNodes& work) const {
    HeldCost held;
    held.gpus_per_node = *work.gpus_per_node.begin();
    held.manager = work.manager;
    for (const auto& [node, ms] : work.beside_ms) {
      const Node& fact = fleet_.any_fact(node);
      if (fact.instance_type != profile.instance_type || fact.region != profile.region) continue;
      if (bill_.is_committed(node) || bill_.avoidable(node).empty()) continue;
      const bool is_spot = std::ranges::none_of(bill_.avoidable(node), &NodeLine::is_on_demand);
      if (is_spot) continue;
      held.beside_ms += ms;
      const auto alone = work.alone.find(node);
      if (alone == work.alone.end()) continue;
      HourFlags counted = alone->second;
      const auto gone = released_.find(node);
      for (std::size_t hour = 0; gone != released_.end() && hour < counted.size(); ++hour) {
        counted[hour] = counted[hour] && !gone->second[hour];
      }
      held.alone_hours += static_cast<std::uint64_t>(std::ranges::count(counted, true));
      for (const auto& [currency, money] : bill_.on_demand_cost_of(node, hours_, counted)) {
        held.on_demand.try_emplace(currency, Money::zero(currency)).first->second += money;
      }
    }
    return held;
  }

  void propose(const ActivityProfile& profile, const HeldCost& held, ActivityMetric metric,
               const MeasuredLoad& load, const GpuModel& model, const Money& price,
               const Offer& offer, const MeasuredFit& fit, CardDirection direction) {
    if (fit.relative_cost_ppm >= 1'000'000) return;
    const auto on_demand = held.on_demand.find(price.currency());
    const Money none = Money::zero(price.currency());
    const Money spent = on_demand == held.on_demand.end() ? none : on_demand->second;
    const Money beside = scaled(price, held.beside_ms, kHourOfMs);
    const auto part = [](const Money& cost, std::uint64_t relative_ppm) {
      return relative_ppm >= 1'000'000 ? Money::zero(cost.currency())
                                       : scaled(cost, 1'000'000 - relative_ppm, 1'000'000);
    };
    const Money saved = part(spent, fit.relative_cost_ppm);
    const Money moved = part(beside, fit.relative_cost_ppm);
    if (saved.is_zero() && moved.is_zero()) return;
    const auto monthly = [&](const Money& money) {
      return scaled(money, kHoursPerMonth, hours_.hours());
    };
    // With a tenth more load than was measured.
    const Money low = part(spent, fit.relative_cost_ppm + fit.relative_cost_ppm / 10);
    Proposal advice{
        .id = proposal_id(AdviceKind::kRightSize, cluster_,
                          fmt::format("{}\n{}{}", profile.work, model.name,
                                      direction == CardDirection::kLarger ? "\nlarger" : "")),
        .kind = AdviceKind::kRightSize,
        .cluster = cluster_,
        .subject = fmt::format("work {} on {}", profile.work, model.name),
        .change = fmt::format("Run it on {} instead of {}", offer.model->name, model.name),
        .monthly = {monthly(low), monthly(saved), monthly(saved + moved)},
        .observed = saved,
        .moved = moved,
        .basis = SavingBasis::kListPrice};
    advice.evidence = {
        fmt::format("{}: mean {}, p95 {}; DRAM_ACTIVE: mean {}", to_text(metric),
                    percent_text(load.mean_activity_ppm), percent_text(load.p95_activity_ppm),
                    percent_text(load.mean_dram_ppm)),
        fmt::format("GPU memory: p99 {}, peak {}, of {}; {} has {}",
                    gib_text(load.p99_memory_bytes), gib_text(profile.memory.peak()),
                    gib_text(model.memory_bytes), offer.model->name,
                    gib_text(offer.model->memory_bytes)),
        fmt::format("there it would need {} of the compute and {} of the bandwidth, and take {} of "
                    "the time",
                    percent_text(fit.compute_ppm), percent_text(fit.bandwidth_ppm),
                    percent_text(fit.slowdown_ppm)),
        fmt::format("list prices of a GPU-hour: {} {} here, {} on {}", to_text(price.amount()),
                    price.currency().text(), to_text(offer.per_gpu_hour.amount()),
                    offer.instance_type),
        fmt::format("{} {} on {} {}; {} GPU-hours held, of which {} idle are not counted",
                    profile.runs.size(), profile.runs.size() == 1 ? "run" : "runs",
                    profile.days.size(), profile.days.size() == 1 ? "day" : "days",
                    profile.held_ms / kHourOfMs, profile.idle_ms / kHourOfMs),
        saved.is_zero()
            ? std::string("it never had a node to itself for a whole hour, so nothing falls off "
                          "the bill by itself")
            : fmt::format("it had on-demand nodes to itself for {} hours, {} {} on the bill; what "
                          "it held beside others is only in the high end",
                          held.alone_hours, to_text(spent.amount()), spent.currency().text())};
    const bool is_long = profile.days.size() >= kDaysMin && profile.runs.size() >= kRunsMin;
    const bool is_seen = UInt128{profile.observed_ms} * 100 >= UInt128{profile.held_ms} * 95;
    advice.confidence = is_long && is_seen ? Confidence::kMedium : Confidence::kLow;
    advice.confidence_reason = fmt::format(
        "telemetry saw {} % of the GPU time; at list prices, and whether the nodes then go is not "
        "known",
        std::min<UInt128>(100, UInt128{profile.observed_ms} * 100 / profile.held_ms) == 100
            ? 100
            : profile.observed_ms * 100 / profile.held_ms);
    advice.risk =
        "Kernels may run slower than bandwidth and peak compute suggest; try one run first.";
    advice.apply = other_gpu_text(held.manager, profile.work, offer.model->device_name,
                                  offer.model->name, held.gpus_per_node);
    advice.owner = profile.owner;
    advice.looked_for = fmt::format("work {}", profile.work);
    advice.workload = profile.runs.size() == 1 ? *profile.runs.begin() : WorkloadId("(several)");
    advice.alternatives_of = right_size_set(cluster_, profile.work, model.name);
    // The hours that it would leave can't be committed to as well.
    advice.conflicts_with = {fmt::format(
        "commitment\n{}\n{}, {}\n{}", cluster_.text(), profile.instance_type,
        profile.region.empty() ? "any region" : profile.region, price.currency().text())};
    proposals_.push_back(std::move(advice));
  }

  const ClusterId& cluster_;
  const ActivityProfiles& profiles_;
  const std::map<std::string, WorkOnNodes>& works_;
  const FleetView& fleet_;
  const FleetHours& hours_;
  const NodeBill& bill_;
  const std::map<std::uint32_t, HourFlags>& released_;
  const Catalog& catalog_;
  Instant prices_at_;
  std::vector<Proposal> proposals_;
  std::set<std::string> gaps_;
};

}  // namespace

std::string right_size_set(const ClusterId& cluster, std::string_view work,
                           std::string_view model) {
  return fmt::format("right-size\n{}\n{}\n{}", cluster.text(), work, model);
}

RightSizeAdvice propose_right_sizes(const ClusterId& cluster, const ActivityProfiles& profiles,
                                    const std::map<std::string, WorkOnNodes>& works,
                                    const FleetView& fleet, const FleetHours& hours,
                                    const NodeBill& bill,
                                    const std::map<std::uint32_t, HourFlags>& released,
                                    const Catalog& catalog, Instant prices_at) {
  return RightSizeSearch(cluster, profiles, works, fleet, hours, bill, released, catalog, prices_at)
      .run();
}

}  // namespace pennyweight::advising
