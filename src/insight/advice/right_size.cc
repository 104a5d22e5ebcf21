#include "insight/advice/right_size.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/gpu/gpu_speed.h"
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
                  const Catalog& catalog, Instant prices_at, const Interval& period)
      : cluster_(cluster),
        profiles_(profiles),
        catalog_(catalog),
        prices_at_(prices_at),
        period_(period) {}

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

  std::vector<Offer> offers(const InstanceType& source, const std::string& region) const {
    std::map<const GpuModel*, Offer> best;
    for (const InstanceType& type : catalog_.instance_types()) {
      if (type.provider != source.provider || type.gpu_count == 0) continue;
      const GpuModel* model = find_gpu_model(type.gpu_model);
      const auto price = price_of(type, region);
      if (model == nullptr || !price || price->ticks() <= 0) continue;
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
      for (const Offer& offer : offers(*type, profile.region)) {
        if (offer.model == model || offer.per_gpu_hour.currency() != price->currency()) continue;
        const bool is_dearer = offer.per_gpu_hour.ticks() > price->ticks();
        if (is_dearer != (direction == CardDirection::kLarger)) continue;
        const MeasuredFit fit = fit_measured(direction, load, source,
                                             card(*offer.model, needs_bf16, offer.per_gpu_hour));
        if (!fit.fits || fit.relative_cost_ppm == 0) continue;
        if (best && fit.relative_cost_ppm >= best_fit.relative_cost_ppm) continue;
        best = offer;
        best_fit = fit;
      }
      if (best) propose(profile, *metric, load, *model, *price, *best, best_fit);
    }
  }

  void propose(const ActivityProfile& profile, ActivityMetric metric, const MeasuredLoad& load,
               const GpuModel& model, const Money& price, const Offer& offer,
               const MeasuredFit& fit) {
    const std::uint64_t useful_ms = profile.held_ms - std::min(profile.held_ms, profile.idle_ms);
    const Money spent = scaled(price, useful_ms, kHourOfMs);
    if (fit.relative_cost_ppm >= 1'000'000) return;
    const Money saved = scaled(spent, 1'000'000 - fit.relative_cost_ppm, 1'000'000);
    const auto monthly = [&](const Money& money) {
      return scaled(money, UInt128{kHoursPerMonth} * kHourOfMs, period_.length_ms());
    };
    // With a tenth more load than was measured, and at no more than the price's own difference.
    const std::uint64_t slower = fit.relative_cost_ppm + fit.relative_cost_ppm / 10;
    const Money low = slower >= 1'000'000 ? Money::zero(price.currency())
                                          : scaled(spent, 1'000'000 - slower, 1'000'000);
    Proposal advice{
        .id = proposal_id(AdviceKind::kRightSize, cluster_,
                          fmt::format("{}\n{}", profile.work, model.name)),
        .kind = AdviceKind::kRightSize,
        .cluster = cluster_,
        .subject = fmt::format("work {} on {}", profile.work, model.name),
        .change = fmt::format("Run it on {} instead of {}", offer.model->name, model.name),
        .monthly = {monthly(low), monthly(saved), monthly(saved)},
        .observed = saved,
        .moved = Money::zero(price.currency()),
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
                    profile.held_ms / kHourOfMs, profile.idle_ms / kHourOfMs)};
    const bool is_long = profile.days.size() >= kDaysMin && profile.runs.size() >= kRunsMin;
    const bool is_seen = UInt128{profile.observed_ms} * 100 >= UInt128{profile.held_ms} * 95;
    advice.sureness = is_long && is_seen ? Sureness::kMedium : Sureness::kLow;
    advice.sureness_reason = fmt::format(
        "telemetry saw {} % of the GPU time; at list prices, and whether the nodes then go is not "
        "known",
        std::min<UInt128>(100, UInt128{profile.observed_ms} * 100 / profile.held_ms) == 100
            ? 100
            : profile.observed_ms * 100 / profile.held_ms);
    advice.risk =
        "Kernels may run slower than bandwidth and peak compute suggest; try one run first.";
    advice.apply = fmt::format(
        "Kubernetes: nodeSelector nvidia.com/gpu.product for {}, on {}. Slurm: the GRES type of "
        "{} nodes.",
        offer.model->device_name, offer.instance_type, offer.model->name);
    advice.owner = profile.owner;
    advice.looked_for = fmt::format("work {}", profile.work);
    advice.workload = profile.runs.size() == 1 ? *profile.runs.begin() : WorkloadId("(several)");
    advice.alternatives_of =
        fmt::format("right-size\n{}\n{}\n{}", cluster_.text(), profile.work, model.name);
    // The hours that it would leave can't be committed to as well.
    advice.conflicts_with = fmt::format(
        "commitment\n{}\n{}, {}\n{}", cluster_.text(), profile.instance_type,
        profile.region.empty() ? "any region" : profile.region, price.currency().text());
    proposals_.push_back(std::move(advice));
  }

  const ClusterId& cluster_;
  const ActivityProfiles& profiles_;
  const Catalog& catalog_;
  Instant prices_at_;
  const Interval& period_;
  std::vector<Proposal> proposals_;
  std::set<std::string> gaps_;
};

}  // namespace

RightSizeAdvice propose_right_sizes(const ClusterId& cluster, const ActivityProfiles& profiles,
                                    const Catalog& catalog, Instant prices_at,
                                    const Interval& period) {
  return RightSizeSearch(cluster, profiles, catalog, prices_at, period).run();
}

}  // namespace pennyweight::advising
