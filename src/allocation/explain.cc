#include "allocation/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "allocation/components.h"
#include "allocation/device_share.h"
#include "allocation/explain_sharing.h"
#include "allocation/explain_text.h"
#include "allocation/gpu_memory.h"
#include "core/check.h"
#include "core/split.h"

namespace pennyweight {
namespace {

class Explainer {
 public:
  explicit Explainer(const ExplanationInput& input)
      : in_(input), posting_(input.postings[input.chosen]) {}

  Explanation run() {
    bill_line();
    component();
    time_and_holder();
    sharing();
    weight();
    amount();
    whole_line();
    return std::move(out_);
  }

 private:
  ExplanationStep& step(std::string title) {
    return out_.steps.emplace_back(ExplanationStep{std::move(title), {}});
  }

  void bill_line() {
    const Charge& c = in_.charge;
    auto& facts = step("The bill line").facts;
    facts.emplace_back("charge", to_text(c.id));
    if (c.source.line > 0) facts.emplace_back("line of its file", std::to_string(c.source.line));
    facts.emplace_back("description", c.charge_description);
    facts.emplace_back("category", std::string(to_text(c.charge_category)) +
                                       (c.is_correction ? ", Correction" : ""));
    facts.emplace_back("service", c.service_name);
    facts.emplace_back("resource", c.resource_id);
    facts.emplace_back("charge period", to_text(c.charge_period));
    facts.emplace_back("BilledCost", money(c.costs.billed));
    facts.emplace_back("EffectiveCost", money(c.costs.effective));
    facts.emplace_back("ListCost", money(c.costs.list));
    facts.emplace_back("ContractedCost", money(c.costs.contracted));
    if (c.list_unit_price) {
      facts.emplace_back("ListUnitPrice", to_text(*c.list_unit_price) + " per " + c.pricing_unit);
    }
  }

  const Node* node() const {
    const Node* found = nullptr;
    for (const Node& node : in_.nodes) {
      if (node.name == posting_.node && (found == nullptr || node.from < found->from) &&
          (!node.to || *node.to > posting_.interval.begin())) {
        found = &node;
      }
    }
    return found;
  }

  // How much of the charge this component has, recomputed from the same values.
  void component() {
    auto& facts = step("Which part of the price").facts;
    facts.emplace_back("component", std::string(to_text(posting_.component)));
    if (posting_.component == Component::kWhole) {
      facts.emplace_back("how",
                         "the charge is not for a node's devices and is not split into components");
      part_ = in_.charge.costs;
      return;
    }
    Costs part = Costs::zero(in_.charge.costs.currency());
    for (const Posting& other : in_.postings) {
      if (other.component == posting_.component) part += other.costs;
    }
    part_ = part;
    const Node* machine = node();
    if (machine == nullptr) {
      facts.emplace_back("effective cost of the part", money(part.effective));
      return;
    }
    const ComponentSplit split = compute_component_split(
        in_.charge, find_node_shape(*machine, in_.catalog), in_.policy, in_.catalog);
    facts.emplace_back("how", split.description);
    const std::array<Weight, 3> weights = {split.gpu, split.cpu, split.memory};
    facts.emplace_back("weights", fmt::format("GPU {} : CPU {} : memory {}", to_text(split.gpu),
                                              to_text(split.cpu), to_text(split.memory)));
    const Weight all = split.gpu + split.cpu + split.memory;
    facts.emplace_back("part of the price",
                       percent(component_weight(split, posting_.component), all));
    const auto again = pennyweight::split(in_.charge.costs.effective, weights);
    const Money expected = again[static_cast<std::size_t>(posting_.component)];
    out_.exact &= expected == part.effective;
    facts.emplace_back("effective cost of the part", money(part.effective));
  }

  void time_and_holder() {
    auto& facts = step("Who held it, and when").facts;
    facts.emplace_back("kind", std::string(to_text(posting_.kind)));
    facts.emplace_back("interval", to_text(posting_.interval));
    facts.emplace_back("of the charge period",
                       fmt::format("{} of {} ms", posting_.interval.length_ms(),
                                   in_.charge.charge_period.length_ms()));
    if (!posting_.node.empty()) facts.emplace_back("node", posting_.node.text());
    if (!posting_.gpu.empty()) facts.emplace_back("GPU", posting_.gpu.text());
    if (posting_.workload.empty()) return;
    facts.emplace_back("workload", posting_.workload.text());
    if (in_.holding == nullptr) return;
    const Holding& h = *in_.holding;
    if (h.source.line > 0) facts.emplace_back("line of its file", std::to_string(h.source.line));
    facts.emplace_back("held", to_text(h.held) + (h.ended ? "" : " (still running when read)"));
    if (h.suspended_ms > 0) {
      facts.emplace_back("suspended", fmt::format("{} ms, taken off the end", h.suspended_ms));
    }
    facts.emplace_back("requested", fmt::format("{} x {}, {}", device_count(h), to_text(h.device),
                                                to_text(h.placement)));
    facts.emplace_back("GPU-hours of this posting", gpu_hours(posting_.gpu_time));
    for (const auto& [key, value] : h.labels.entries()) facts.emplace_back("label " + key, value);
  }

  // The other holders and what each interval gave, recomputed from the facts.
  void sharing() {
    if (!in_.facts || posting_.node.empty()) return;
    auto shown = explain_sharing(in_);
    out_.exact &= shown.exact;
    for (ExplanationStep& one : shown.steps) out_.steps.push_back(std::move(one));
  }

  void weight() {
    auto& facts = step("How much it weighs").facts;
    Weight all = 0, held = 0;
    std::size_t parties = 0;
    for (const Posting& other : in_.postings) {
      if (other.component != posting_.component) continue;
      all += other.weight;
      ++parties;
      if (!other.workload.empty()) held += other.weight;
    }
    if (posting_.component == Component::kGpu) {
      facts.emplace_back("unit", fmt::format("1/{} of a GPU x ms x ({} x compute + {} x memory)",
                                             CardShare::kUnitsPerCard, in_.policy.weights.compute,
                                             in_.policy.weights.memory));
      one_device(facts);
    } else if (posting_.component == Component::kCpu) {
      facts.emplace_back("unit", "1/1000 of a CPU x ms");
    } else if (posting_.component == Component::kMemory) {
      facts.emplace_back("unit", "byte of host memory x ms");
    } else {
      facts.emplace_back("unit", "ms");
    }
    facts.emplace_back("weight", to_text(posting_.weight));
    facts.emplace_back("all weights", fmt::format("{} over {} postings", to_text(all), parties));
    facts.emplace_back("share", fmt::format("{} = {}", fraction(posting_.weight, all),
                                            percent(posting_.weight, all)));
    facts.emplace_back("held by workloads", percent(held, all));
  }

  // What part of a GPU one device of the holding is; absent where no table has it.
  std::optional<CardFraction> one_device_share() const {
    const Node* machine = node();
    const std::string model = machine == nullptr ? in_.holding->gpu_model
                                                 : find_node_shape(*machine, in_.catalog).gpu_model;
    std::uint64_t memory_bytes = 0;
    if (machine != nullptr && in_.facts) {
      const GpuMemory memory(in_.facts->gpus);
      const Instant began = in_.holding->held.begin();
      memory_bytes = memory.of_gpu(machine->cluster, posting_.gpu, began);
      if (posting_.gpu.empty())
        memory_bytes = memory.of_node(machine->cluster, machine->name, began);
    }
    const auto share = device_share(
        in_.holding->device, {.gpu_model = model, .node = machine, .memory_bytes = memory_bytes});
    return share ? std::optional(*share) : std::nullopt;
  }

  // What the holding requests over the interval, beside what it was given here.
  void one_device(std::vector<std::pair<std::string, std::string>>& facts) const {
    if (in_.holding == nullptr) return;
    const auto share = one_device_share();
    if (!share) {
      facts.emplace_back("one device", to_text(in_.holding->device));
      return;
    }
    const CardFraction& each = *share;
    facts.emplace_back("one device",
                       fmt::format("{}: {} of the compute, {} of the memory of a GPU",
                                   to_text(in_.holding->device), share_text(each.compute),
                                   share_text(each.memory)));
    const UInt128 per_ms = UInt128{each.compute.units()} * in_.policy.weights.compute +
                           UInt128{each.memory.units()} * in_.policy.weights.memory;
    const UInt128 requested = per_ms * device_count(*in_.holding) * posting_.interval.length_ms();
    facts.emplace_back(
        "requested over the interval",
        fmt::format("{} devices x {} ms x {} = {}", device_count(*in_.holding),
                    posting_.interval.length_ms(), to_text(per_ms), to_text(requested)));
    if (requested == posting_.weight) return;
    if (std::holds_alternative<InPool>(in_.holding->placement)) {
      facts.emplace_back("of which here",
                         percent(posting_.weight, requested) +
                             ": it is somewhere in the pool, so it has a part of every free GPU of "
                             "the pool, laid over machines of one price one after the other");
    } else {
      facts.emplace_back("posted here",
                         percent(posting_.weight, requested) +
                             " of that: by telemetry, by what of several devices is here, and "
                             "scaled where all together are more than there is");
    }
  }

  void amount() {
    auto& facts = step("The amount").facts;
    std::vector<Weight> weights;
    std::size_t position = 0;
    for (std::size_t i = 0; i < in_.postings.size(); ++i) {
      if (in_.postings[i].component != posting_.component) continue;
      if (i == in_.chosen) position = weights.size();
      weights.push_back(in_.postings[i].weight);
    }
    const auto row = [&](const char* name, Money of_part, Money stored) {
      const Money again = pennyweight::split(of_part, weights)[position];
      out_.exact &= again == stored;
      facts.emplace_back(name, fmt::format("{} of {}", money(stored), money(of_part)));
    };
    row("billed", part_->billed, posting_.costs.billed);
    row("effective", part_->effective, posting_.costs.effective);
    row("list", part_->list, posting_.costs.list);
    row("contracted", part_->contracted, posting_.costs.contracted);
  }

  void whole_line() {
    auto& facts = step("The whole line").facts;
    Costs sum = Costs::zero(in_.charge.costs.currency());
    for (const Posting& other : in_.postings) sum += other.costs;
    out_.exact &= sum == in_.charge.costs;
    facts.emplace_back("postings", std::to_string(in_.postings.size()));
    facts.emplace_back("their effective cost", money(sum.effective));
    facts.emplace_back("difference to the charge",
                       money(sum.effective - in_.charge.costs.effective));
    facts.emplace_back("run", fmt::format("{} of {} {}", in_.run.number,
                                          in_.run.scope.cluster.text(), in_.run.scope.month));
    facts.emplace_back("policy version", to_text(in_.run.policy_version));
    facts.emplace_back("price catalog version", to_text(in_.run.catalog_version));
    facts.emplace_back("recomputed", out_.exact ? "every amount is the same, to the last digit"
                                                : "NOT the same: see `pennyweight reconcile`");
  }

  const ExplanationInput& in_;
  const Posting& posting_;
  std::optional<Costs> part_;
  Explanation out_;
};

}  // namespace

Explanation explain(const ExplanationInput& input) {
  CHECK(input.chosen < input.postings.size(), "one of the charge's postings is explained");
  return Explainer(input).run();
}

}  // namespace pennyweight
