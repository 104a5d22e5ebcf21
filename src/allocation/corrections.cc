#include "allocation/corrections.h"

#include <fmt/format.h>

#include <set>
#include <string>

#include "core/billing_period.h"
#include "core/check.h"

namespace pennyweight {
namespace {

// The dimensions that a correction may name: of a rule, or of a workload that an earlier policy
// allocated.
std::set<std::string, std::less<>> known_dimensions(const DistributionInput& input) {
  std::set<std::string, std::less<>> known;
  for (const DimensionRule& rule : input.policy.dimensions) known.insert(rule.dimension);
  for (const OwnerRule& rule : input.policy.owners) {
    for (const auto& [dimension, value] : rule.set) known.insert(dimension);
  }
  for (const WorkloadDimensions& workload : input.dimensions) {
    for (const auto& [dimension, value] : workload.dimensions.entries()) {
      if (!known.contains(dimension)) known.insert(dimension);
    }
  }
  return known;
}

std::string text_of(Money amount) {
  return fmt::format("{} {}", to_text(amount.amount()), amount.currency().text());
}

Costs four_of(Money amount) { return {amount, amount, amount, amount}; }

struct PartOfDay {
  Interval during;
  std::chrono::sys_days day;
  bool in_month;
  Money amount;
};

// Splits the amount over all days of the correction, also those of other months, so that the runs
// of all its months post the whole together.
std::vector<PartOfDay> parts_by_day(const Correction& correction, const DistributionInput& input) {
  const TimeZone& zone = input.policy.time_zone;
  const std::vector<Interval> days = cut_by_day(correction.during, zone);
  std::vector<Weight> lengths;
  for (const Interval& day : days) lengths.push_back(day.length_ms());
  const std::vector<Money> amounts = split(correction.amount, lengths);
  std::vector<PartOfDay> parts;
  for (std::size_t i = 0; i < days.size(); ++i) {
    const std::string date = local_date(days[i].begin(), zone);
    const auto midnight = parse_instant(date);
    CHECK(midnight.has_value(), "a local date reads back");
    parts.push_back({.during = days[i],
                     .day = std::chrono::floor<std::chrono::days>(*midnight),
                     .in_month = date.starts_with(input.month + "-"),
                     .amount = amounts[i]});
  }
  return parts;
}

Posting posting_of(const FactId& transfer, const PartOfDay& part, const Labels& owner,
                   Money amount) {
  return {.charge = transfer,
          .kind = owner.empty() ? PostingKind::kUnallocated : PostingKind::kUsed,
          .component = Component::kWhole,
          .interval = part.during,
          .day = part.day,
          .node = NodeId(""),
          .gpu = GpuId(""),
          .workload = owner.empty() ? WorkloadId("") : owner_workload(owner),
          .holding = std::nullopt,
          .weight = 0,
          .costs = four_of(amount),
          .gpu_time = {},
          .memory_time = {},
          .observed_time = {}};
}

// The first unknown dimension of an owner; absent where all are known.
std::optional<std::string> unknown_in(const Labels& owner,
                                      const std::set<std::string, std::less<>>& known) {
  for (const auto& [dimension, value] : owner.entries()) {
    if (!known.contains(dimension)) return dimension;
  }
  return std::nullopt;
}

class Corrector {
 public:
  Corrector(const DistributionInput& input, Distribution& out, std::map<WorkloadId, Labels>& named)
      : input_(input), out_(out), named_(named), known_(known_dimensions(input)) {}

  void add(const Correction& correction) {
    std::vector<PartOfDay> parts = parts_by_day(correction, input_);
    Money elsewhere = Money::zero(correction.amount.currency());
    for (const PartOfDay& part : parts) {
      if (!part.in_month) elsewhere += part.amount;
    }
    std::erase_if(parts, [](const PartOfDay& part) { return !part.in_month; });
    if (parts.empty()) return;  // posted in its own month
    if (!can_be_made(correction)) return;
    if (!elsewhere.is_zero()) {
      note(correction, fmt::format("{} of its {} are booked on days of other months",
                                   text_of(elsewhere), text_of(correction.amount)));
    }
    const FactId id = transfer_id(input_.cluster, input_.month, "correction " + correction.name);
    for (const PartOfDay& part : parts) {
      if (part.amount.is_zero()) continue;
      post(id, part, correction.from, -part.amount);
      post(id, part, correction.to, part.amount);
    }
  }

 private:
  bool can_be_made(const Correction& correction) {
    auto unknown = unknown_in(correction.from, known_);
    if (!unknown) unknown = unknown_in(correction.to, known_);
    if (unknown) {
      note(correction,
           fmt::format("not made: no rule and no workload has the dimension '{}'; name one that "
                       "the policy has, or add it there",
                       *unknown));
      return false;
    }
    if (correction.from == correction.to) {
      note(correction, "not made: it moves money from an owner to itself");
      return false;
    }
    return true;
  }

  void post(const FactId& id, const PartOfDay& part, const Labels& owner, Money amount) {
    out_.transfers.push_back(posting_of(id, part, owner, amount));
    if (!owner.empty()) named_.try_emplace(out_.transfers.back().workload, owner);
  }

  void note(const Correction& correction, const std::string& text) {
    out_.notes.push_back(fmt::format("correction '{}': {}", correction.name, text));
  }

  const DistributionInput& input_;
  Distribution& out_;
  std::map<WorkloadId, Labels>& named_;
  std::set<std::string, std::less<>> known_;
};

}  // namespace

void add_corrections(const DistributionInput& input, Distribution& out,
                     std::map<WorkloadId, Labels>& named) {
  if (input.corrections.empty()) return;
  Corrector corrector(input, out, named);
  for (const Correction& correction : input.corrections) {
    if (correction.cluster == input.cluster) corrector.add(correction);
  }
}

}  // namespace pennyweight
