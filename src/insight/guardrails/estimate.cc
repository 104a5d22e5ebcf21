#include "insight/guardrails/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <utility>

#include "allocation/pricing/node_split.h"
#include "allocation/pricing/rate_card.h"
#include "core/gpu/gpu_model.h"
#include "core/gpu/gpu_speed.h"
#include "core/plain_text.h"
#include "core/split.h"
#include "core/try.h"
#include "ingest/manifests/cron_schedule.h"
#include "insight/guardrails/machine_fit.h"
#include "insight/guardrails/offers.h"

namespace pennyweight::guardrails {
namespace {

using manifests::Lifetime;
using manifests::ReplicaGroup;

constexpr std::uint64_t kMsPerHour = 3'600'000;
constexpr std::uint64_t kBytesPerGiB = std::uint64_t{1} << 30U;
// 10^13 units: more than any bill, and small enough that sums of them stay in range.
constexpr Int128 kAmountTicksMax = Int128{Money::kTicksPerUnit} * Int128{10'000'000'000'000};

std::string gpu_name(const Offer& offer) {
  if (offer.card) return offer.card->model->name;
  return offer.type->gpu_count > 0 ? offer.type->gpu_model : "";
}

PricedMachine priced_machine(const Offer& offer) {
  return {.provider = offer.type->provider,
          .instance_type = offer.type->name,
          .gpu_model = gpu_name(offer),
          .region = offer.rate.region,
          .option = offer.rate.option,
          .per_hour = Money::from_decimal(offer.rate.per_hour, offer.rate.currency),
          .source = offer.rate.source};
}

Money machines_price(const Offer& offer, std::uint64_t machines) {
  return Money::from_ticks(offer.rate.per_hour.ticks() * static_cast<Int128>(machines),
                           offer.rate.currency);
}

// The share of `whole` that is asked for.
Money asked_share(Money whole, UInt128 asked, UInt128 all) {
  if (all == 0 || asked == 0) return Money::zero(whole.currency());
  const std::array<Weight, 2> weights = {asked, all - std::min(asked, all)};
  return split(whole, weights)[0];
}

class GroupPricer {
 public:
  // `lists`: offers that are kept; null: they are listed anew.
  GroupPricer(const Catalog& catalog, const EstimateOptions& options, const OfferLists* lists)
      : catalog_(catalog), options_(options), lists_(lists) {}

  // Prices a group per hour; its problem says why it can't.
  GroupEstimate price(const ReplicaGroup& group) {
    GroupEstimate estimate = empty_estimate(group);
    if (!group.problem.empty()) {
      estimate.problem = group.problem;
      return estimate;
    }
    if (!group.unknown_resources.empty()) {
      estimate.problem = fmt::format(
          "it asks for {}, and nothing says whether that is a GPU; give the file with its "
          "DeviceClass, or name it in guardrails.pricing.other_resources",
          printable_text(group.unknown_resources.front(), 120));
      return estimate;
    }
    const auto priced = price_per_hour(group, estimate);
    if (priced) return estimate;
    GroupEstimate unpriced = empty_estimate(group);
    unpriced.problem = priced.error().message;
    return unpriced;
  }

  // Says of a priced group that its price is of no particular region, where one is asked for that
  // the price list does not have; empty otherwise.
  std::string region_note(const GroupEstimate& estimate) const {
    const std::string& region = region_of(estimate.group);
    if (region.empty()) return "";
    const bool is_of_region = estimate.machine && !estimate.machine->region.empty();
    const auto& rates = catalog_.rates();
    const bool is_known =
        is_of_region || std::ranges::find(rates, region, &Rate::region) != rates.end();
    if (is_known) return "";
    return fmt::format("the price list has no region '{}'; the price is one that holds everywhere",
                       printable_text(region, 60));
  }

 private:
  const std::string& region_of(const ReplicaGroup& group) const {
    return group.place.region.empty() ? options_.region : group.place.region;
  }

  GroupEstimate empty_estimate(const ReplicaGroup& group) const {
    GroupEstimate estimate;
    estimate.group = group;
    for (Money* amount : {&estimate.gpu, &estimate.cpu, &estimate.memory, &estimate.idle}) {
      *amount = Money::zero(options_.currency);
    }
    return estimate;
  }

  std::string demanded_machine(const ReplicaGroup& group) const {
    if (!group.place.instance_type.empty()) return group.place.instance_type;
    const bool needs_machine = !group.gpus.empty() || group.takes_whole_machines;
    return needs_machine ? options_.instance_type : "";
  }

  Result<void> price_per_hour(const ReplicaGroup& group, GroupEstimate& estimate) {
    const std::string machine = demanded_machine(group);
    if (group.gpus.empty() && machine.empty()) {
      if (group.takes_whole_machines) {
        return fail(ErrorCode::kNotFound,
                    "it takes whole machines and does not say which, GPUs or not; say it with "
                    "--instance-type TYPE");
      }
      return price_host_only(group, estimate);
    }
    const GpuModel* model = nullptr;
    if (!group.gpus.empty()) {
      const GpuModel* const found = TRY(demanded_model(group, machine));
      model = found;
    }
    const PurchaseOption option = group.place.is_spot ? PurchaseOption::kSpot : options_.option;
    const std::string& region = region_of(group);
    if (!machine.empty() && catalog_.find_instance_type(machine) == nullptr) {
      return price_unknown_shape(group, machine, region, option, estimate);
    }
    const std::string provider =
        options_.provider.empty() ? group.place.provider : options_.provider;
    const auto listed = offers_in(provider, region);
    const std::vector<Offer>& offers = *listed;
    const Offer* best = nullptr;
    MachineFit best_fit;
    for (const Offer& offer : offers) {
      if (offer.rate.option != option) continue;
      if (!machine.empty() && offer.type->name != machine) continue;
      if (model != nullptr && (!offer.card || offer.card->model != model)) continue;
      if (!group.gpus.empty() && !is_of_vendor(offer, group.place.gpu_vendor)) continue;
      // Parts of a card are never what a whole GPU asks for, unless the machine is demanded.
      if (machine.empty() && offer.card && offer.card->part != CardShare::whole()) continue;
      const auto fit = fit_on_machines(group, offer);
      if (!fit) continue;
      if (best == nullptr || is_cheaper(offer, *fit, *best, best_fit)) {
        best = &offer;
        best_fit = *fit;
      }
    }
    if (best == nullptr) return nothing_fits(group, model, machine, provider, region, option);
    TRY(set_amounts(*best, best_fit, estimate));
    add_alternatives(group, *best, best_fit, offers, estimate);
    return {};
  }

  // A demanded machine has the GPUs of one vendor, and others are never among them.
  static bool is_of_vendor(const Offer& offer, const std::string& vendor) {
    return vendor.empty() || !offer.card || offer.card->model == nullptr ||
           offer.card->model->vendor == vendor;
  }

  static bool is_cheaper(const Offer& offer, const MachineFit& fit, const Offer& than,
                         const MachineFit& than_fit) {
    const Int128 price = machines_price(offer, fit.machines).ticks();
    const Int128 than_price = machines_price(than, than_fit.machines).ticks();
    if (price != than_price) return price < than_price;
    return offer.rate.per_hour < than.rate.per_hour;
  }

  // The model that the request demands. A demanded machine decides where no model is stated.
  Result<const GpuModel*> demanded_model(const ReplicaGroup& group,
                                         const std::string& machine) const {
    std::string name = group.place.gpu_model;
    if (const auto meant = options_.gpu_models.find(name); meant != options_.gpu_models.end()) {
      if (!name.empty() || machine.empty()) name = meant->second;
    }
    if (name.empty()) {
      if (!machine.empty()) return nullptr;
      return fail(ErrorCode::kNotFound,
                  "it does not say which GPU it needs; say it with --gpu-model MODEL or "
                  "--instance-type TYPE, or select nodes by nvidia.com/gpu.product");
    }
    if (const GpuModel* model = find_gpu_model(name)) {
      const std::string& vendor = group.place.gpu_vendor;
      if (vendor.empty() || vendor == model->vendor) return model;
      return fail(
          ErrorCode::kNotFound,
          fmt::format("it asks for a GPU of {}, and {} is one of {}; select nodes by a label "
                      "that names its model, such as amd.com/gpu.product-name",
                      vendor, model->name, model->vendor));
    }
    return fail(
        ErrorCode::kNotFound,
        fmt::format("'{}' is not a known GPU model, or matches several; say which "
                    "one with --gpu-model {}=MODEL, such as {}=A100-SXM4-80GB",
                    printable_text(name, 80), printable_text(name, 80), printable_text(name, 80)));
  }

  std::unexpected<Error> nothing_fits(const ReplicaGroup& group, const GpuModel* model,
                                      const std::string& machine, const std::string& provider,
                                      const std::string& region, PurchaseOption option) const {
    std::string what = machine.empty() ? "no machine" : fmt::format("no {}", machine);
    if (model != nullptr) what += fmt::format(" with {}", model->name);
    std::string where;
    if (!provider.empty()) where += fmt::format(" of {}", printable_text(provider, 60));
    if (!region.empty()) where += fmt::format(" in {}", printable_text(region, 60));
    return fail(ErrorCode::kNotFound,
                fmt::format("the price list has {}{} at a price {} in {} that holds one replica "
                            "({} GPUs, {} CPU, {} GiB); prices.override can add one",
                            what, where, to_text(option), options_.currency.text(),
                            gpu_count(group), (group.cpu_milli + 999) / 1000,
                            (group.memory_bytes + kBytesPerGiB - 1) / kBytesPerGiB));
  }

  static std::uint64_t gpu_count(const ReplicaGroup& group) {
    std::uint64_t count = 0;
    for (const RequestedDevice& device : group.gpus) count += device.count;
    return count;
  }

  // A machine that has a price and no shape, such as most machines without GPUs: whole ones only.
  Result<void> price_unknown_shape(const ReplicaGroup& group, const std::string& machine,
                                   const std::string& region, PurchaseOption option,
                                   GroupEstimate& estimate) const {
    auto rate = catalog_.find_rate(
        {.instance_type = machine, .region = region, .option = option, .at = options_.at});
    if (!rate) return std::unexpected(rate.error());
    if (!group.takes_whole_machines || !group.gpus.empty()) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("the price list does not say what GPUs, CPUs and memory a {} has",
                              printable_text(machine, 80)));
    }
    if (rate->currency != options_.currency) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("the price of {} is in {}; use --currency {}", machine,
                              rate->currency.text(), rate->currency.text()));
    }
    const Money each = Money::from_decimal(rate->per_hour, rate->currency);
    const Money all = TRY(scale_amount(each, group.replicas, 1));
    estimate.machine = PricedMachine{.provider = rate->provider,
                                     .instance_type = machine,
                                     .gpu_model = "",
                                     .region = rate->region,
                                     .option = option,
                                     .per_hour = each,
                                     .source = rate->source};
    estimate.machines = group.replicas;
    estimate.cpu = all;
    return {};
  }

  // Market prices of CPU and memory.
  Result<void> price_host_only(const ReplicaGroup& group, GroupEstimate& estimate) const {
    const auto date = std::chrono::floor<std::chrono::days>(options_.at);
    const HostUnitRates rates = TRY(catalog_.host_unit_rates_in(options_.currency, date));
    const Money cpu = Money::from_decimal(rates.per_cpu_hour, options_.currency);
    const Money gib = Money::from_decimal(rates.per_gib_hour, options_.currency);
    const Money one_cpu = TRY(scale_amount(cpu, group.cpu_milli, 1000));
    const Money one_memory = TRY(scale_amount(gib, group.memory_bytes, kBytesPerGiB));
    const Money all_cpu = TRY(scale_amount(one_cpu, group.replicas, 1));
    const Money all_memory = TRY(scale_amount(one_memory, group.replicas, 1));
    estimate.cpu = all_cpu;
    estimate.memory = all_memory;
    return {};
  }

  Result<void> set_amounts(const Offer& offer, const MachineFit& fit, GroupEstimate& estimate) {
    const PricedMachine machine = priced_machine(offer);
    const Money all = TRY(scale_amount(machine.per_hour, fit.machines, 1));
    estimate.machine = machine;
    estimate.machines = fit.machines;
    estimate.gpu_units = estimate.gpu_units_max = fit.gpu_units;
    const NodeSplitWeights weights = TRY(split_weights(offer));
    const std::array<Weight, 3> parts = {weights.gpu, weights.cpu, weights.memory};
    const std::vector<Money> amounts = split(all, parts);
    estimate.gpu = asked_share(amounts[0], fit.gpu_units, fit.gpu_units_all);
    estimate.cpu = asked_share(amounts[1], fit.cpu_milli, fit.cpu_milli_all);
    estimate.memory = asked_share(amounts[2], fit.memory_bytes, fit.memory_bytes_all);
    estimate.idle = all - estimate.per_hour();
    return {};
  }

  Result<NodeSplitWeights> split_weights(const Offer& offer) const {
    const InstanceType& type = *offer.type;
    if (!type.cpu_milli || !type.memory_bytes) return whole_node_split(offer.rate.per_hour);
    const auto date = std::chrono::floor<std::chrono::days>(options_.at);
    const HostUnitRates rates = TRY(catalog_.host_unit_rates_in(options_.currency, date));
    if (type.gpu_count > 0) {
      return residual_split(offer.rate.per_hour, *type.cpu_milli, *type.memory_bytes, rates);
    }
    NodeSplitWeights weights =
        residual_split(offer.rate.per_hour, *type.cpu_milli, *type.memory_bytes, rates);
    weights.cpu += std::exchange(weights.gpu, 0);  // a machine without GPUs
    return weights;
  }

  std::shared_ptr<const std::vector<Offer>> offers_in(const std::string& provider,
                                                      const std::string& region) {
    OfferFilter filter{
        .provider = provider, .region = region, .currency = options_.currency, .at = options_.at};
    if (lists_ != nullptr) return lists_->list(filter);
    if (!offers_filter_ || *offers_filter_ != filter) {
      offers_ = std::make_shared<const std::vector<Offer>>(list_offers(catalog_, filter));
      offers_filter_ = std::move(filter);
    }
    return offers_;
  }

  // Whether another model can take the place of this one: as much memory, and as fast.
  static bool can_replace(const GpuModel& model, const GpuModel& by) {
    if (by.memory_bytes < model.memory_bytes || by.vendor != model.vendor) return false;
    const GpuSpeed needed = gpu_speed(model);
    const GpuSpeed offered = gpu_speed(by);
    return needed.fp16_dense_gflops > 0 && needed.memory_gb_per_second > 0 &&
           offered.fp16_dense_gflops >= needed.fp16_dense_gflops &&
           offered.memory_gb_per_second >= needed.memory_gb_per_second;
  }

  // The cheapest machines of each purchase option, and with another GPU, that cost less.
  void add_alternatives(const ReplicaGroup& group, const Offer& chosen,
                        const MachineFit& chosen_fit, const std::vector<Offer>& offers,
                        GroupEstimate& estimate) const {
    const bool is_asked_for = options_.lists_alternatives && group.replicas > 0;
    if (!is_asked_for || group.gpus.empty() || !chosen.card) return;
    const Money now = machines_price(chosen, chosen_fit.machines);
    std::vector<Alternative> cheapest;
    for (const Offer& offer : offers) {
      if (!offer.card || offer.card->part != chosen.card->part) continue;
      const bool is_other = offer.card->model != chosen.card->model;
      // Another GPU is only compared as it would be bought, not with another commitment as well.
      if (is_other && (offer.rate.option != chosen.rate.option ||
                       !can_replace(*chosen.card->model, *offer.card->model))) {
        continue;
      }
      const auto fit = fit_on_machines(group, offer);
      if (!fit) continue;
      const Money cost = machines_price(offer, fit->machines);
      if (cost.ticks() >= now.ticks()) continue;
      Alternative found{.machine = priced_machine(offer),
                        .machines = fit->machines,
                        .per_hour = cost,
                        .saving_per_hour = now - cost,
                        .is_other_gpu = is_other};
      const auto same = std::ranges::find_if(cheapest, [&](const Alternative& other) {
        return other.is_other_gpu == is_other && other.machine.option == found.machine.option;
      });
      if (same == cheapest.end()) {
        cheapest.push_back(std::move(found));
      } else if (found.per_hour.ticks() < same->per_hour.ticks()) {
        *same = std::move(found);
      }
    }
    std::ranges::stable_sort(cheapest, {},
                             [](const Alternative& one) { return one.per_hour.ticks(); });
    estimate.alternatives = std::move(cheapest);
  }

  const Catalog& catalog_;
  const EstimateOptions& options_;
  const OfferLists* lists_;
  std::optional<OfferFilter> offers_filter_;  // of offers_
  std::shared_ptr<const std::vector<Offer>> offers_;
};

// The cost of a run and of a month of a group.
Result<void> add_periods(const GroupTerm& term, const EstimateOptions& options, GroupPricer& pricer,
                         GroupEstimate& estimate) {
  const ReplicaGroup& group = estimate.group;
  const Money per_hour = estimate.per_hour();
  if (group.replicas_max) {
    ReplicaGroup most = group;
    most.replicas = *group.replicas_max;
    const GroupEstimate at_most = pricer.price(most);
    if (!at_most.problem.empty()) return fail(ErrorCode::kBadValue, at_most.problem);
    estimate.gpu_units_max = at_most.gpu_units;
    estimate.per_hour_max = at_most.per_hour();
  }
  if (term.lifetime == Lifetime::kService) {
    const Money month = TRY(scale_amount(per_hour, kHoursPerMonth, 1));
    estimate.per_month = month;
    if (!estimate.per_hour_max) return {};
    const Money month_max = TRY(scale_amount(*estimate.per_hour_max, kHoursPerMonth, 1));
    estimate.per_month_max = month_max;
    return {};
  }
  std::optional<std::uint64_t> replica_ms = group.replica_ms_max;
  if (!replica_ms && options.run_ms) replica_ms = *options.run_ms * group.replicas;
  if (!replica_ms) return {};
  estimate.replica_ms_max = replica_ms;
  if (group.replicas > 0) {
    const Money most = estimate.per_hour_max.value_or(per_hour);
    const Money run = TRY(scale_amount(most, *replica_ms, kMsPerHour * group.replicas));
    estimate.per_run_max = run;
    if (group.replicas_max) {
      estimate.replica_ms_max = *replica_ms / group.replicas * *group.replicas_max;
    }
  } else {
    estimate.per_run_max = Money::zero(options.currency);
  }
  if (!term.runs_per_month) return {};
  const Money month = TRY(scale_amount(*estimate.per_run_max, *term.runs_per_month, 1));
  estimate.per_month = month;
  return {};
}

WorkloadEstimate estimate_workload(const manifests::WorkloadRequest& workload,
                                   const EstimateOptions& options, GroupPricer& pricer) {
  WorkloadEstimate result;
  result.workload = workload;
  result.notes = workload.notes;
  const auto runs_in_month = [&](Lifetime lifetime, const std::string& schedule) {
    std::optional<std::uint64_t> known;
    if (lifetime != Lifetime::kScheduled) return known;
    const std::chrono::year_month_day day(std::chrono::floor<std::chrono::days>(options.at));
    const auto runs = manifests::runs_in_month(schedule, static_cast<int>(day.year()),
                                               static_cast<unsigned>(day.month()));
    if (runs) {
      known = *runs;
    } else {
      result.notes.push_back(runs.error().message);
    }
    return known;
  };
  result.runs_per_month = runs_in_month(workload.lifetime, workload.schedule);
  for (const manifests::WorkloadPart& part : workload.parts) {
    result.runs_of_parts.push_back(runs_in_month(part.lifetime, part.schedule));
  }
  const std::vector<GroupTerm> terms = group_terms(result);
  for (ReplicaGroup group : workload.groups) {
    const GroupTerm& term = terms[result.groups.size()];
    std::erase_if(group.unknown_resources, [&](const std::string& name) {
      return std::ranges::any_of(options.other_resources, [&](const std::string& pattern) {
        return fits_pattern(pattern, name);
      });
    });
    GroupEstimate estimate = pricer.price(group);
    if (estimate.problem.empty()) {
      const auto added = add_periods(term, options, pricer, estimate);
      if (!added) {
        estimate = GroupEstimate();
        estimate.group = group;
        estimate.problem = added.error().message;
        for (Money* amount : {&estimate.gpu, &estimate.cpu, &estimate.memory, &estimate.idle}) {
          *amount = Money::zero(options.currency);
        }
      }
    }
    if (estimate.problem.empty()) {
      std::string note = pricer.region_note(estimate);
      const bool is_new = std::ranges::find(result.notes, note) == result.notes.end();
      if (!note.empty() && is_new) result.notes.push_back(std::move(note));
    }
    result.groups.push_back(std::move(estimate));
  }
  return result;
}

void add_totals(EstimateTotals& totals, const WorkloadEstimate& workload) {
  for (const GroupEstimate& group : workload.groups) {
    if (!group.problem.empty()) {
      ++totals.not_priced;
      continue;
    }
    totals.per_hour += group.per_hour();
    totals.idle += group.idle;
    if (group.per_run_max) totals.per_run_max += *group.per_run_max;
    if (group.per_month) {
      totals.per_month += *group.per_month;
      totals.per_month_max += group.per_month_max.value_or(*group.per_month);
    }
    if (!group.per_run_max && !group.per_month) ++totals.without_length;
  }
}

EstimateTotals zero_totals(Currency currency) {
  EstimateTotals totals;
  for (Money* amount : {&totals.per_hour, &totals.idle, &totals.per_run_max, &totals.per_month,
                        &totals.per_month_max}) {
    *amount = Money::zero(currency);
  }
  return totals;
}

Result<void> check_options(const Catalog& catalog, const EstimateOptions& options) {
  for (const auto& [name, model] : options.gpu_models) {
    if (find_gpu_model(model) != nullptr) continue;
    return fail(ErrorCode::kBadValue,
                fmt::format("--gpu-model: '{}' is not a known GPU model, or matches "
                            "several, such as A100-SXM4-40GB and A100-SXM4-80GB",
                            printable_text(model, 80)));
  }
  const bool is_known =
      options.instance_type.empty() || catalog.find_instance_type(options.instance_type) != nullptr;
  if (is_known) return {};
  return fail(ErrorCode::kBadValue, fmt::format("--instance-type: the price list has no '{}'",
                                                printable_text(options.instance_type, 80)));
}

}  // namespace

Result<Money> scale_amount(Money amount, std::uint64_t part, std::uint64_t whole) {
  CHECK(whole > 0, "a part of nothing");
  const auto too_large = [] {
    return fail(ErrorCode::kLimit,
                "it would cost more than 10,000,000,000,000, which is taken for a mistake");
  };
  const Int128 divisor = static_cast<Int128>(whole);
  const Int128 quotient = amount.ticks() / divisor;
  const Int128 remainder = amount.ticks() % divisor;
  Int128 whole_part{};
  Int128 rest{};
  if (__builtin_mul_overflow(quotient, static_cast<Int128>(part), &whole_part) ||
      __builtin_mul_overflow(remainder, static_cast<Int128>(part), &rest)) {
    return too_large();
  }
  if (whole_part > kAmountTicksMax) return too_large();  // so that the sums below stay in range
  Int128 extra = rest / divisor;
  const Int128 twice = (rest % divisor) * 2;
  const bool is_odd = ((whole_part + extra) % 2) != 0;
  if (twice > divisor || (twice == divisor && is_odd)) ++extra;
  if (whole_part > kAmountTicksMax - extra || extra > kAmountTicksMax) return too_large();
  return Money::from_ticks(whole_part + extra, amount.currency());
}

EstimateTotals totals_of(const WorkloadEstimate& workload, Currency currency) {
  EstimateTotals totals = zero_totals(currency);
  add_totals(totals, workload);
  return totals;
}

std::vector<GroupTerm> group_terms(const WorkloadEstimate& workload) {
  const GroupTerm of_whole{.lifetime = workload.workload.lifetime,
                           .runs_per_month = workload.runs_per_month};
  std::vector<std::optional<GroupTerm>> found(
      std::max(workload.workload.groups.size(), workload.groups.size()));
  for (std::size_t number = 0; number < workload.workload.parts.size(); ++number) {
    const manifests::WorkloadPart& part = workload.workload.parts[number];
    GroupTerm own{.lifetime = part.lifetime};
    if (number < workload.runs_of_parts.size()) own.runs_per_month = workload.runs_of_parts[number];
    for (const std::size_t index : part.groups) {
      if (index >= found.size()) continue;
      std::optional<GroupTerm>& term = found[index];
      const bool is_shared = term && *term != own;
      term = is_shared ? GroupTerm() : own;
    }
  }
  std::vector<GroupTerm> terms;
  terms.reserve(found.size());
  for (const auto& term : found) terms.push_back(term.value_or(of_whole));
  return terms;
}

std::optional<Money> month_max_of(const WorkloadEstimate& workload, Currency currency) {
  const std::vector<GroupTerm> terms = group_terms(workload);
  Money sum = Money::zero(currency);
  for (std::size_t i = 0; i < workload.groups.size(); ++i) {
    const GroupEstimate& group = workload.groups[i];
    if (!group.problem.empty()) return std::nullopt;
    if (terms[i].lifetime == Lifetime::kRun) {
      const auto month =
          scale_amount(group.per_hour_max.value_or(group.per_hour()), kHoursPerMonth, 1);
      if (!month) return std::nullopt;
      const bool is_shorter = group.per_run_max && group.per_run_max->ticks() < month->ticks();
      sum += is_shorter ? *group.per_run_max : *month;
    } else if (group.per_month) {
      sum += group.per_month_max.value_or(*group.per_month);
    } else {
      return std::nullopt;
    }
  }
  return sum;
}

EstimateTotals Estimate::totals() const {
  EstimateTotals totals = zero_totals(currency);
  for (const WorkloadEstimate& workload : workloads) add_totals(totals, workload);
  return totals;
}

Result<Estimate> estimate_workloads(const manifests::ManifestReading& reading,
                                    const Catalog& catalog, const EstimateOptions& options) {
  return estimate_workloads(reading, catalog, options, nullptr);
}

Result<Estimate> estimate_workloads(const manifests::ManifestReading& reading,
                                    const Catalog& catalog, const EstimateOptions& options,
                                    const OfferLists* offers) {
  TRY(check_options(catalog, options));
  std::size_t groups = 0;
  for (const manifests::WorkloadRequest& workload : reading.workloads) {
    groups += workload.groups.size();
  }
  if (groups > kGroupsMax) {
    return fail(ErrorCode::kLimit, fmt::format("{} groups of replicas are more than {}; estimate "
                                               "fewer files at once",
                                               groups, kGroupsMax));
  }
  Estimate estimate;
  estimate.currency = options.currency;
  estimate.unpriced = reading.unpriced;
  estimate.without_cost = reading.without_cost;
  estimate.cluster = reading.cluster;
  GroupPricer pricer(catalog, options, offers);
  for (const manifests::WorkloadRequest& workload : reading.workloads) {
    estimate.workloads.push_back(estimate_workload(workload, options, pricer));
  }
  return estimate;
}

}  // namespace pennyweight::guardrails
