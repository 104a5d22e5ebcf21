#include "allocation/explain_sharing.h"

#include <fmt/format.h>

#include <algorithm>

#include "allocation/explain_text.h"
#include "allocation/holding_order.h"
#include "allocation/occupancy.h"
#include "allocation/seat_intervals.h"
#include "core/billing_period.h"
#include "core/check.h"

namespace pennyweight {
namespace {

// Further intervals are summed up in one line: the first ones show the rule, the sum the amount.
constexpr std::size_t kIntervalsShown = 24;
constexpr std::size_t kOthersShown = 12;

std::string basis_text(const Basis& basis) {
  switch (basis.kind) {
    case Basis::Kind::kRequest:
      return "request: what the holder requested";
    case Basis::Kind::kUsage:
      return "usage: the observed usage; unobserved time by request";
    case Basis::Kind::kMax:
      return "max: the larger of request and observed usage, at every moment";
    case Basis::Kind::kBlend:
      return fmt::format("blend: {}/1000 of the request and the rest of the usage",
                         basis.request_permille);
  }
  return "";
}

std::string units_text(std::uint64_t units) { return share_text(CardShare::from_units(units)); }

std::string clock(Instant at) { return to_text(at); }

// The segment of the charge in which the posting lies, as the run cut it.
Interval charge_segment(const ExplanationInput& in) {
  const Posting& posting = in.postings[in.chosen];
  for (const Interval& piece : cut_by_day(in.charge.charge_period, in.policy.time_zone)) {
    if (piece.contains(posting.interval.begin())) return piece;
  }
  CHECK(false, "a posting lies in its charge's period");
}

class SharingExplainer {
 public:
  explicit SharingExplainer(const ExplanationInput& in)
      : in_(in),
        posting_(in.postings[in.chosen]),
        segment_(charge_segment(in)),
        holdings_(sort_holdings(in.facts->holdings)),
        fleet_(in.nodes, in.facts->gpus, in.facts->outages, in.catalog),
        demands_(resolve_demands(holdings_, fleet_, 1)) {}

  SharingExplanation run() {
    const auto rules = SharingRules::of(in_.policy, in_.run.scope.cluster, fleet_, holdings_);
    if (!rules || !find_machine()) return std::move(out_);
    rules_ = &*rules;
    // As in a run, the whole day is read: what a series says about its device depends on all of it.
    const Interval day = day_of(segment_.begin(), in_.policy.time_zone);
    ObservedUtilization seen{.during = day, .series = {}, .placed = {}};
    if (in_.facts->utilization) {
      auto loaded = in_.facts->utilization(day);
      if (!loaded) {
        out_.steps.push_back({"What telemetry saw", {{"not read", loaded.error().message}}});
        return std::move(out_);
      }
      seen = std::move(*loaded);
    }
    const UtilizationIndex index(seen, fleet_);
    const AllocationContext context{fleet_, demands_.selectors, *rules, holdings_};
    std::vector<const Demand*> active;
    bool pooled = false;
    for (const Demand& demand : demands_.all) {
      if (!demand.during.overlap(segment_)) continue;
      active.push_back(&demand);
      pooled |= demand.level == Demand::Level::kPool;
    }
    const auto all = place_demands(segment_, active, context, index);
    const auto first = std::partition_point(
        all.begin(), all.end(), [&](const PlacedDemand& each) { return each.machine < machine_; });
    auto last = first;
    while (last != all.end() && last->machine == machine_) ++last;
    const std::span<const PlacedDemand> placed(first, last);
    const auto occupancy = machine_occupancy(segment_, machine_, placed, context, index, pooled);
    if (posting_.holding) {
      explain_holder(placed, index);
      if (!pooled) check_weight(occupancy);
    } else {
      explain_idle(occupancy);
    }
    return std::move(out_);
  }

 private:
  using Facts = std::vector<std::pair<std::string, std::string>>;

  bool find_machine() {
    for (const std::uint32_t m : fleet_.machines_named(posting_.node)) {
      const auto& present = fleet_.machines()[m].present;
      if (!present || !present->overlap(posting_.interval)) continue;
      machine_ = m;
      return true;
    }
    return false;
  }

  bool is_chosen(const PlacedDemand& each) const {
    return holdings_[each.demand->holding]->id == posting_.holding &&
           each.during.overlap(posting_.interval).has_value();
  }

  void explain_holder(std::span<const PlacedDemand> placed, const UtilizationIndex& index) {
    for (std::size_t i = 0; i < placed.size(); ++i) {
      if (!is_chosen(placed[i])) continue;
      explain_rule(placed[i]);
      if (posting_.component != Component::kGpu) break;
      if (placed[i].level == Demand::Level::kMachine) {
        explain_machine(placed);
        break;
      }
      // A holder of several seats (a MIG GPU as a whole) is explained seat by seat, up to three.
      std::size_t shown = 0;
      for (std::size_t c = i; c < placed.size() && shown < 3; ++c) {
        if (!is_chosen(placed[c]) || placed[c].level != Demand::Level::kSeat) continue;
        const auto& card = fleet_.cards()[fleet_.seats()[placed[c].target].card];
        if (!posting_.gpu.empty() && card.gpu->uuid != posting_.gpu) continue;
        explain_seat(placed, c, index);
        ++shown;
      }
      break;
    }
  }

  void explain_rule(const PlacedDemand& each) {
    Facts facts;
    const std::uint32_t holding = each.demand->holding;
    const Holding& mine = *holdings_[holding];
    const UnitWeights& weights = rules_->weights(machine_, holding);
    facts.emplace_back("basis", basis_text(rules_->basis(machine_, holding)));
    facts.emplace_back("formula",
                       fmt::format("({} x compute + {} x memory) / {}, each scaled down where all "
                                   "holders together are more than there is",
                                   weights.compute, weights.memory, rules_->weights_sum()));
    if (rules_->is_overhead(holding)) {
      facts.emplace_back("kind", "overhead: the policy counts this workload as the cluster's own");
    }
    if (!mine.claim.empty()) explain_claim(facts, mine);
    if (!mine.gpu_group.empty()) explain_group(facts, mine);
    if (each.level == Demand::Level::kSeat && each.demand->level == Demand::Level::kMachine) {
      facts.emplace_back("on which GPU", "as telemetry names the workload on it");
    }
    out_.steps.push_back({"The rule of sharing", std::move(facts)});
  }

  void explain_claim(Facts& facts, const Holding& mine) const {
    std::size_t sharers = 0;
    for (const Holding* other : holdings_) {
      sharers += other->claim == mine.claim && other->held.overlap(segment_) ? 1 : 0;
    }
    facts.emplace_back("claim", fmt::format("{}, held by {} in this time, each the same at every "
                                            "moment",
                                            mine.claim, sharers));
  }

  void explain_group(Facts& facts, const Holding& mine) const {
    for (const Holding* other : holdings_) {
      if (!other->is_reservation || other->gpu_group != mine.gpu_group) continue;
      if (!other->held.overlap(posting_.interval)) continue;
      facts.emplace_back(
          "reserved GPU",
          fmt::format("{} holds {} for the group {}; it pays nothing itself",
                      other->workload.text(), to_text(other->placement), mine.gpu_group));
    }
  }

  // Holders that name only the node share what is left of it.
  void explain_machine(std::span<const PlacedDemand> placed) {
    Facts facts;
    const auto gpus = fleet_.machines()[machine_].gpu_count;
    facts.emplace_back("where", fmt::format("{} {} of node {}; nothing says which", gpus,
                                            gpus == 1 ? "GPU" : "GPUs", posting_.node.text()));
    const auto chosen =
        std::ranges::find_if(placed, [&](const PlacedDemand& each) { return is_chosen(each); });
    if (chosen != placed.end() &&
        std::holds_alternative<OnGpus>(holdings_[chosen->demand->holding]->placement)) {
      facts.emplace_back("why there",
                         "no inventory has what it names in this time, but one has it "
                         "at another time of the holding");
    }
    others(facts, placed, [](const PlacedDemand&) { return true; });
    out_.steps.push_back({"Who shared the node", std::move(facts)});
  }

  template <class Is>
  void others(Facts& facts, std::span<const PlacedDemand> placed, Is is) const {
    std::size_t shown = 0, more = 0;
    for (const PlacedDemand& each : placed) {
      if (!is(each)) continue;
      if (shown == kOthersShown) {
        ++more;
        continue;
      }
      ++shown;
      facts.emplace_back(
          holdings_[each.demand->holding]->workload.text() + (is_chosen(each) ? " (this one)" : ""),
          fmt::format("{} of the compute, {} of the memory of a GPU, {}",
                      units_text(each.units[kCompute]), units_text(each.units[kMemory]),
                      to_text(each.during)));
    }
    if (more > 0) facts.emplace_back("and others", std::to_string(more));
  }

  void explain_seat(std::span<const PlacedDemand> placed, std::size_t chosen,
                    const UtilizationIndex& index) {
    const std::uint32_t seat_index = placed[chosen].target;
    const Fleet::Seat& seat = fleet_.seats()[seat_index];
    Facts facts;
    facts.emplace_back(
        "seat", fmt::format("{}: {} of the compute, {} of the memory of its GPU", seat.id.text(),
                            units_text(seat.units[kCompute]), units_text(seat.units[kMemory])));
    others(facts, placed, [&](const PlacedDemand& each) {
      return each.level == Demand::Level::kSeat && each.target == seat_index;
    });
    out_.steps.push_back({"Who shared the device", std::move(facts)});

    std::vector<SeatClaim> claims;
    std::size_t position = 0;
    for (std::size_t c = 0; c < placed.size(); ++c) {
      if (placed[c].level != Demand::Level::kSeat || placed[c].target != seat_index) continue;
      if (c == chosen) position = claims.size();
      const std::uint32_t holding = placed[c].demand->holding;
      claims.push_back({.during = placed[c].during,
                        .requested = {placed[c].units[kCompute], placed[c].units[kMemory]},
                        .basis = rules_->basis(machine_, holding),
                        .own = index.workload(seat_index, holdings_[holding]->workload),
                        .weights = rules_->weights(machine_, holding)});
    }
    SeatInput input{.during = segment_,
                    .capacity = seat.units,
                    .claims = claims,
                    .device = index.device(seat_index),
                    .telemetry_begin = index.from()};
    UInt128 weight_cut = 0;
    if (rules_->differ_by_holder() && is_whole_gpu(seat.units)) {
      input.weights = rules_->weights(machine_);
      weight_cut = share_seat(input).shares[position].weight_cut;
    }
    list_intervals(trace_seat_intervals(input, position), placed[chosen].demand->holding,
                   weight_cut);
  }

  static std::string axis_text(const SeatIntervalAxis& axis) {
    std::string text = fmt::format("requested {}", units_text(axis.requested));
    text +=
        axis.observed ? fmt::format(", observed {}", units_text(*axis.observed)) : ", not observed";
    if (axis.charged != axis.requested)
      text += fmt::format(", charged {}", units_text(axis.charged));
    if (axis.all_charged > axis.capacity) {
      text += fmt::format(" scaled by {}", fraction(axis.capacity, axis.all_charged));
    }
    return text;
  }

  void list_intervals(const std::vector<SeatInterval>& intervals, std::uint32_t holding,
                      UInt128 weight_cut) {
    Facts facts;
    std::array<UInt128, kGpuAxes> given{}, used{};
    std::uint64_t samples = 0, observed_ms = 0, all_ms = 0;
    for (std::size_t i = 0; i < intervals.size(); ++i) {
      const SeatInterval& moment = intervals[i];
      samples += moment.samples;
      all_ms += moment.during.length_ms();
      if (moment.axes[kCompute].observed) observed_ms += moment.during.length_ms();
      for (std::size_t axis = 0; axis < kGpuAxes; ++axis) {
        given[axis] += moment.axes[axis].given;
        used[axis] += moment.axes[axis].used;
      }
      if (i >= kIntervalsShown) continue;
      facts.emplace_back(
          fmt::format("{} … {}", clock(moment.during.begin()), clock(moment.during.end())),
          fmt::format("{} ms: compute {}; memory {}", moment.during.length_ms(),
                      axis_text(moment.axes[kCompute]), axis_text(moment.axes[kMemory])));
    }
    if (intervals.size() > kIntervalsShown) {
      facts.emplace_back("further moments",
                         fmt::format("{}, summed up below", intervals.size() - kIntervalsShown));
    }
    facts.emplace_back("observed",
                       fmt::format("{} of {} ms, in {} samples", observed_ms, all_ms, samples));
    const UnitWeights& weights = rules_->weights(machine_, holding);
    const auto sum = [&](const char* name, const std::array<UInt128, kGpuAxes>& amounts) {
      facts.emplace_back(
          name, fmt::format("{} x {} + {} x {} = {}", to_text(amounts[kCompute]), weights.compute,
                            to_text(amounts[kMemory]), weights.memory,
                            to_text(amounts[kCompute] * weights.compute +
                                    amounts[kMemory] * weights.memory)));
    };
    sum("charged: unit-ms x weights", given);
    sum("of which used", used);
    if (weight_cut > 0) {
      facts.emplace_back("less, since together they weigh more than the GPU", to_text(weight_cut));
    }
    out_.steps.push_back({"Moment by moment", std::move(facts)});
  }

  // Checks that the recomputed weight of the holder on this machine and GPU is what was posted.
  void check_weight(const MachineOccupancy& occupancy) {
    if (posting_.component != Component::kGpu || rules_->differ_by_holder()) return;
    UInt128 given = 0, used = 0;
    bool overhead = false;
    for (const MachineHolder& part : occupancy.holders) {
      if (holdings_[part.holding]->id != posting_.holding) continue;
      const bool on_card = part.card != kNoIndex;
      if (on_card == posting_.gpu.empty()) continue;
      if (on_card && fleet_.cards()[part.card].gpu->uuid != posting_.gpu) continue;
      const UnitWeights& weights = rules_->weights(machine_, part.holding);
      given += part.given[kCompute] * weights.compute + part.given[kMemory] * weights.memory;
      used += part.used[kCompute] * weights.compute + part.used[kMemory] * weights.memory;
      overhead |= rules_->is_overhead(part.holding);
    }
    const UInt128 expected = overhead                                  ? given
                             : posting_.kind == PostingKind::kHeldIdle ? given - used
                                                                       : used;
    out_.exact &= expected == posting_.weight;
  }

  void explain_idle(const MachineOccupancy& occupancy) {
    Facts facts;
    const Fleet::Machine& machine = fleet_.machines()[machine_];
    switch (posting_.kind) {
      case PostingKind::kStranded:
        explain_layouts(facts, machine);
        facts.emplace_back("also stranded", "GPUs while all of the host's CPU or memory was held");
        break;
      case PostingKind::kUnavailable:
        for (const Outage& outage : in_.facts->outages) {
          if (outage.node != posting_.node || !outage.during.overlap(segment_)) continue;
          facts.emplace_back("outage", to_text(outage.during) + " " + outage.reason);
        }
        break;
      case PostingKind::kHeldIdle:
        facts.emplace_back("why", "it was held, and its holders' basis charges for less");
        break;
      case PostingKind::kUnallocated:
        facts.emplace_back("why", "nobody held it");
        break;
      case PostingKind::kUsed:
      case PostingKind::kOverhead:
      case PostingKind::kShared:
        return;
    }
    for (std::size_t axis = 0; axis < kGpuAxes; ++axis) {
      facts.emplace_back(
          axis == kCompute ? "compute" : "memory",
          fmt::format("of {} unit-ms: {} free, {} stranded, {} unavailable",
                      to_text(occupancy.capacity[axis]), to_text(occupancy.residual[axis]),
                      to_text(occupancy.stranded[axis]), to_text(occupancy.unavailable[axis])));
    }
    out_.steps.push_back({"Why it is idle", std::move(facts)});
  }

  void explain_layouts(Facts& facts, const Fleet::Machine& machine) const {
    for (const std::uint32_t c : machine.cards) {
      const Fleet::InstalledGpu& card = fleet_.cards()[c];
      if (!card.is_cut || !card.present || !card.present->overlap(segment_)) continue;
      std::string layout;
      for (const MigInstance& instance : card.gpu->mig_instances) {
        layout += (layout.empty() ? "" : " + ") + instance.profile;
      }
      facts.emplace_back(
          card.gpu->uuid.text(),
          fmt::format("{} leaves {} of the compute and {} of the memory to nobody", layout,
                      units_text(card.stranded[kCompute]), units_text(card.stranded[kMemory])));
    }
  }

  const ExplanationInput& in_;
  const Posting& posting_;
  Interval segment_;
  std::vector<const Holding*> holdings_;
  Fleet fleet_;
  Demands demands_;
  const SharingRules* rules_ = nullptr;
  std::uint32_t machine_ = kNoIndex;
  SharingExplanation out_;
};

}  // namespace

SharingExplanation explain_sharing(const ExplanationInput& input) {
  CHECK(input.facts.has_value(), "the sharing is explained from facts");
  return SharingExplainer(input).run();
}

}  // namespace pennyweight
