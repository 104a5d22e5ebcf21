#include "reporting/coverage/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/check.h"
#include "ledger/posting.h"

namespace pennyweight {
namespace {

// In coverage_group_by().
enum Key : std::size_t { kKind, kComponent, kCategory, kInstanceType, kValue, kKeys };

// A transfer is no bill line, and so has no category.
bool is_transfer(const SummaryRow& row) { return row.keys[kCategory].empty(); }

bool is_for_machines(std::string_view category) {
  return category != to_text(ChargeCategory::kPurchase) &&
         category != to_text(ChargeCategory::kTax);
}

struct Sums {
  explicit Sums(Currency currency)
      : spend(Money::zero(currency)),
        reached(spend),
        by_spreading(spend),
        host(spend),
        unknown_commitment(spend),
        other(spend) {}

  Money spend, reached, by_spreading, host, unknown_commitment, other;
  std::map<GapReason, Money> gap;

  void stop(GapReason reason, Money amount) {
    gap.try_emplace(reason, Money::zero(amount.currency())).first->second += amount;
  }
};

class Counter {
 public:
  explicit Counter(const CoverageInput& input) : input_(input) {}

  void add(const SummaryRow& row, bool has_holder) {
    CHECK(row.keys.size() == kKeys, "grouped by coverage_group_by()");
    const auto kind = parse_posting_kind(row.keys[kKind]);
    const auto component = parse_component(row.keys[kComponent]);
    CHECK(kind && component, "a store gives kinds and components by their names");
    const Money amount = row.costs.effective;
    Sums& sums = of(amount.currency());
    switch (*component) {
      case Component::kCpu:
      case Component::kMemory:
        sums.host += amount;
        return;
      case Component::kGpu:
        break;
      case Component::kWhole:
        if (is_gpu_whole(row, *kind)) break;
        (*kind == PostingKind::kUnallocated && !is_transfer(row) ? sums.unknown_commitment
                                                                 : sums.other) += amount;
        return;
    }
    sums.spend += amount;
    const std::string& value = row.keys[kValue];
    const bool is_reached = !value.empty() && value != input_.dimension.fallback;
    if (is_reached && is_transfer(row)) {
      sums.by_spreading += amount;
    } else if (is_reached && *kind != PostingKind::kOverhead) {
      sums.reached += amount;
    } else {
      sums.stop(reason_of(row, *kind, *component, has_holder), amount);
    }
  }

  void add_unposted(Money amount, bool is_gpu) {
    Sums& sums = of(amount.currency());
    if (!is_gpu) {
      sums.other += amount;
      return;
    }
    sums.spend += amount;
    sums.stop(GapReason::kNeverAllocated, amount);
  }

  std::vector<Coverage> finish() const {
    std::vector<Coverage> all;
    for (const auto& [currency, sums] : by_currency_) {
      std::vector<GapAmount> gap;
      for (const auto& [reason, amount] : sums.gap) {
        if (!amount.is_zero()) gap.push_back({reason, amount});
      }
      std::ranges::stable_sort(gap, [](const GapAmount& a, const GapAmount& b) {
        return a.effective.ticks() > b.effective.ticks();
      });
      Coverage& made = all.emplace_back(Coverage{.dimension = input_.dimension.name,
                                                 .spend = sums.spend,
                                                 .reached = sums.reached,
                                                 .by_spreading = sums.by_spreading,
                                                 .gap = std::move(gap),
                                                 .host = sums.host,
                                                 .unknown_commitment = sums.unknown_commitment,
                                                 .other = sums.other});
      CHECK(made.spend == made.reached + made.by_spreading + made.gap_total(),
            "every amount is reached or stops somewhere");
    }
    return all;
  }

 private:
  Sums& of(Currency currency) {
    return by_currency_.try_emplace(currency, Sums(currency)).first->second;
  }

  bool is_gpu_whole(const SummaryRow& row, PostingKind kind) const {
    if (is_transfer(row) || !input_.has_gpus(row.keys[kInstanceType])) return false;
    return kind == PostingKind::kUnallocated || is_for_machines(row.keys[kCategory]);
  }

  static GapReason reason_of(const SummaryRow& row, PostingKind kind, Component component,
                             bool has_holder) {
    const bool is_system = kind == PostingKind::kOverhead && !is_transfer(row);
    if (has_holder && !is_system) {
      return row.keys[kValue].empty() ? GapReason::kNoLabel : GapReason::kFallback;
    }
    switch (kind) {
      case PostingKind::kUnallocated:
        return component == Component::kWhole ? GapReason::kUnusedCommitment
                                              : GapReason::kUnallocated;
      case PostingKind::kUsed:  // none is without a holder
      case PostingKind::kHeldIdle:
        return GapReason::kHeldIdle;
      case PostingKind::kStranded:
        return GapReason::kStranded;
      case PostingKind::kOverhead:
        return GapReason::kOverhead;
      case PostingKind::kUnavailable:
        return GapReason::kUnavailable;
      case PostingKind::kShared:
        return GapReason::kNoNode;
    }
    CHECK(false, "every kind is named above");
  }

  const CoverageInput& input_;
  std::map<Currency, Sums> by_currency_;
};

}  // namespace

std::string_view to_text(GapReason reason) {
  switch (reason) {
    case GapReason::kNoNode:
      return "line joins no node";
    case GapReason::kNeverAllocated:
      return "line was never allocated";
    case GapReason::kUnusedCommitment:
      return "commitment that nothing used";
    case GapReason::kUnallocated:
      return "nobody held the GPU";
    case GapReason::kHeldIdle:
      return "held, and charged to nobody";
    case GapReason::kStranded:
      return "stranded beside a MIG layout";
    case GapReason::kUnavailable:
      return "in an outage";
    case GapReason::kOverhead:
      return "system workloads";
    case GapReason::kFallback:
      return "holder lacks the label (fallback)";
    case GapReason::kNoLabel:
      return "holder lacks the label";
  }
  CHECK(false, "every reason is named above");
}

std::string advice(GapReason reason, std::string_view dimension) {
  switch (reason) {
    case GapReason::kNoNode:
      return "import these machines' inventory or state join rules: 'pennyweight audit join'";
    case GapReason::kNeverAllocated:
      return "run 'pennyweight allocate'";
    case GapReason::kUnusedCommitment:
      return "move use under it, or buy less: 'pennyweight audit commitments'";
    case GapReason::kUnallocated:
      return "fill the machines, switch them off, or spread kind unallocated";
    case GapReason::kHeldIdle:
      return "charge by request (basis), or spread kind held_idle";
    case GapReason::kStranded:
      return "choose MIG layouts that fill the card, or spread kind stranded";
    case GapReason::kUnavailable:
      return "claim it from the provider, or spread kind unavailable";
    case GapReason::kOverhead:
      return "spread kind overhead, or change the policy's overhead list";
    case GapReason::kFallback:
    case GapReason::kNoLabel:
      return fmt::format("label them, or add a label they have to dimensions.{}.from", dimension);
  }
  CHECK(false, "every reason is named above");
}

std::vector<std::string> coverage_group_by(const CoveredDimension& dimension) {
  return {"kind", "component", "category", "instance_type", dimension.name};
}

Money Coverage::gap_total() const {
  Money total = Money::zero(spend.currency());
  for (const GapAmount& part : gap) total += part.effective;
  return total;
}

std::vector<Coverage> coverage(const CoverageInput& input) {
  Counter counter(input);
  for (const SummaryRow& row : input.held) counter.add(row, true);
  for (const SummaryRow& row : input.bucket) counter.add(row, false);
  for (const Money& amount : input.unposted_gpu) counter.add_unposted(amount, true);
  for (const Money& amount : input.unposted_other) counter.add_unposted(amount, false);
  return counter.finish();
}

bool is_gpu_charge(const Charge& charge, const std::function<bool(std::string_view)>& has_gpus) {
  const bool is_unused = charge.commitment_discount_status == UsedOrUnused::kUnused ||
                         charge.capacity_reservation_status == UsedOrUnused::kUnused;
  return has_gpus(charge.instance_type) &&
         (is_unused || is_for_machines(to_text(charge.charge_category)));
}

}  // namespace pennyweight
