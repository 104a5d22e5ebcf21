#include "allocation/explain_transfer.h"

#include <fmt/format.h>

#include <algorithm>

#include "allocation/distribute.h"
#include "allocation/explain_text.h"
#include "core/check.h"

namespace pennyweight {
namespace {

constexpr std::size_t kOwnersShown = 20;

std::string_view how_text(Spread how) {
  switch (how) {
    case Spread::kKeep:
      return "keep: it stays";
    case Spread::kProportional:
      return "proportional: by what each owner weighs";
    case Spread::kEven:
      return "even: the same to each value of a dimension, within it by weight";
    case Spread::kFixed:
      return "fixed: by stated parts, within each by weight";
  }
  return "";
}

std::string_view measure_text(SpreadMeasure measure) {
  switch (measure) {
    case SpreadMeasure::kGpuCost:
      return "effective cost of GPUs";
    case SpreadMeasure::kCost:
      return "effective cost of everything";
    case SpreadMeasure::kGpuTime:
      return "GPU time";
    case SpreadMeasure::kMemoryTime:
      return "GPU memory time";
    case SpreadMeasure::kCpuCost:
      return "effective cost of CPUs";
    case SpreadMeasure::kComponentCost:
      return "effective cost of the same component";
    case SpreadMeasure::kNamed:
      return "a named measure of the policy";
  }
  return "";
}

class TransferExplainer {
 public:
  explicit TransferExplainer(const TransferInput& input)
      : in_(input), posting_(input.postings[input.chosen]) {}

  Explanation run() {
    if (const Correction* correction = the_correction()) {
      tell(*correction);
    } else {
      tell_bucket();
      tell_rules();
    }
    tell_owners();
    tell_whole();
    return std::move(out_);
  }

 private:
  using Facts = std::vector<std::pair<std::string, std::string>>;

  Facts& step(std::string title) {
    return out_.steps.emplace_back(ExplanationStep{std::move(title), {}}).facts;
  }

  const Correction* the_correction() const {
    for (const Correction& correction : in_.corrections) {
      const auto& scope = in_.run.scope;
      if (transfer_id(scope.cluster, scope.month, "correction " + correction.name) ==
          posting_.charge) {
        return &correction;
      }
    }
    return nullptr;
  }

  void tell(const Correction& correction) {
    Facts& facts = step("The correction");
    facts.emplace_back("name", correction.name);
    facts.emplace_back("amount", money(correction.amount));
    facts.emplace_back(
        "from", correction.from.empty() ? "(unallocated)" : owner_workload(correction.from).text());
    facts.emplace_back(
        "to", correction.to.empty() ? "(unallocated)" : owner_workload(correction.to).text());
    facts.emplace_back("booked on", to_text(correction.during));
    facts.emplace_back("reason", correction.reason);
    facts.emplace_back("author", correction.author);
  }

  void tell_bucket() {
    Facts& facts = step("What is spread");
    facts.emplace_back("kind", std::string(to_text(posting_.kind)));
    facts.emplace_back("component", std::string(to_text(posting_.component)));
    facts.emplace_back("interval", to_text(posting_.interval));
    if (!posting_.node.empty()) facts.emplace_back("node", posting_.node.text());
    for (const Posting& other : in_.postings) {
      if (!other.workload.empty()) continue;
      facts.emplace_back("the bucket's effective cost", money(-other.costs.effective));
    }
  }

  void tell_rules() {
    Facts& facts = step("The rule");
    for (std::size_t i = 0; i < in_.policy.spread.size(); ++i) {
      const SpreadRule& rule = in_.policy.spread[i];
      if (rule.kind != posting_.kind) continue;
      facts.emplace_back(
          fmt::format("spread rule {}", i + 1),
          fmt::format("{}{}", how_text(rule.how),
                      rule.dimension.empty() ? "" : ", dimension " + rule.dimension));
      facts.emplace_back("weighed by", std::string(measure_text(rule.measure)));
    }
    facts.emplace_back("policy version", to_text(in_.run.policy_version));
  }

  void tell_owners() {
    Facts& facts = step("Who bears it");
    Weight all = 0;
    for (const Posting& other : in_.postings) all += other.weight;
    std::size_t shown = 0;
    for (const Posting& other : in_.postings) {
      const bool mine = &other == &posting_;
      if (!mine && shown >= kOwnersShown) continue;
      ++shown;
      const std::string name = other.workload.empty() ? fmt::format("({})", to_text(other.kind))
                                                      : owner_text(other.workload);
      facts.emplace_back(
          name + (mine ? " (this one)" : ""),
          fmt::format("weight {}: {}", to_text(other.weight), money(other.costs.effective)));
    }
    if (in_.postings.size() > shown) {
      facts.emplace_back("and others", std::to_string(in_.postings.size() - shown));
    }
    facts.emplace_back("all weights", to_text(all));
  }

  void tell_whole() {
    Facts& facts = step("The whole transfer");
    Costs sum = Costs::zero(posting_.costs.currency());
    for (const Posting& other : in_.postings) sum += other.costs;
    out_.exact = sum == Costs::zero(sum.currency());
    facts.emplace_back("postings", std::to_string(in_.postings.size()));
    facts.emplace_back("their sum", money(sum.effective));
    facts.emplace_back("run", fmt::format("{} of {} {}", in_.run.number,
                                          in_.run.scope.cluster.text(), in_.run.scope.month));
  }

  const TransferInput& in_;
  const Posting& posting_;
  Explanation out_;
};

}  // namespace

Explanation explain_transfer(const TransferInput& input) {
  CHECK(input.chosen < input.postings.size(), "one of the transfer's postings is explained");
  return TransferExplainer(input).run();
}

}  // namespace pennyweight
