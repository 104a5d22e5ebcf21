#include "allocation/policy/in_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "allocation/policy/yaml_text.h"

namespace pennyweight {
namespace {

std::string join(const std::vector<std::string>& texts, std::string_view last) {
  std::string joined;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) joined += i + 1 == texts.size() ? fmt::format(" {} ", last) : ", ";
    joined += texts[i];
  }
  return joined;
}

std::string quoted(const std::string& text) { return fmt::format("'{}'", text); }

// "'p5.48xlarge'", "anything that begins with 'p5.'".
std::string in_words(const std::string& pattern) {
  if (!pattern.ends_with('*')) return quoted(pattern);
  if (pattern.size() == 1) return "anything";
  return fmt::format("anything that begins with '{}'", pattern.substr(0, pattern.size() - 1));
}

std::string in_words(const std::vector<std::string>& patterns) {
  std::vector<std::string> each;
  for (const std::string& pattern : patterns) each.push_back(in_words(pattern));
  return join(each, "or");
}

std::string key_in_words(const std::string& key) {
  constexpr std::string_view kDimension = "dimension:";
  if (key.starts_with(kDimension)) return key.substr(kDimension.size());
  if (key == "workload" || key == "cluster") return key;
  return "label " + key;
}

std::string in_words(const LabelMatch& match) {
  const std::string key = key_in_words(match.key);
  switch (match.op) {
    case LabelMatch::Op::kExists:
      return fmt::format("with a {}", key);
    case LabelMatch::Op::kAbsent:
      return fmt::format("without a {}", key);
    case LabelMatch::Op::kIn:
      return fmt::format("whose {} is {}", key, in_words(match.values));
    case LabelMatch::Op::kNotIn:
      return fmt::format("that have a {} other than {}", key, in_words(match.values));
  }
  return "";
}

std::string workloads(const std::vector<LabelMatch>& matches) {
  if (matches.empty()) return "all workloads";
  std::vector<std::string> each;
  for (const LabelMatch& match : matches) each.push_back(in_words(match));
  return "workloads " + join(each, "and");
}

std::string in_words(const Basis& basis) {
  switch (basis.kind) {
    case Basis::Kind::kRequest:
      return "its request, whether it uses it or not";
    case Basis::Kind::kUsage:
      return "its observed usage";
    case Basis::Kind::kMax:
      return "the larger of its request and its observed usage";
    case Basis::Kind::kBlend:
      return fmt::format("{} × its request + {} × its observed usage",
                         permille_text(basis.request_permille),
                         permille_text(1000 - basis.request_permille));
  }
  return "";
}

bool looks_at_usage(const Policy& policy) {
  return policy.basis.kind != Basis::Kind::kRequest ||
         std::any_of(policy.sharing.begin(), policy.sharing.end(), [](const SharingRule& rule) {
           return rule.basis && rule.basis->kind != Basis::Kind::kRequest;
         });
}

// Quarters of a whole number, in decimals.
std::string quarters(std::uint64_t count) {
  return to_text(Decimal::from_ticks(Int128{count} * (Decimal::kTicksPerUnit / 4)));
}

std::string in_words(const ShareWeights& weights) {
  return fmt::format("{} × its share of the GPU's compute + {} × its share of the GPU's memory",
                     weights.compute, weights.memory);
}

// The scope of a rule, as the beginning of a sentence.
std::string for_whom(const SharingRule& rule) {
  std::string whom = "For " + workloads(rule.workload);
  if (!rule.gpu_model.empty()) whom += fmt::format(" on GPUs of the model {}", rule.gpu_model);
  if (!rule.cluster.empty()) whom += fmt::format(" in the cluster {}", in_words(rule.cluster));
  return whom;
}

PolicySection basis_section(const Policy& policy) {
  PolicySection section{"What a holder is charged by", {}};
  section.sentences.push_back(
      fmt::format("At every moment, for a GPU's compute and for its memory, a holder is "
                  "charged by {}.",
                  in_words(policy.basis)));
  for (const SharingRule& rule : policy.sharing) {
    if (!rule.basis) continue;
    section.sentences.push_back(fmt::format("{} it is {}.", for_whom(rule), in_words(*rule.basis)));
  }
  if (looks_at_usage(policy)) {
    section.sentences.push_back("Unobserved time counts by request.");
  }
  section.sentences.push_back(
      "Where holders together exceed the GPU, each is scaled down by the same factor.");
  return section;
}

PolicySection weights_section(const Policy& policy) {
  const ShareWeights& weights = policy.weights;
  const std::uint64_t whole = std::uint64_t{weights.compute} + weights.memory;
  PolicySection section{"What a share of a GPU costs", {}};
  section.sentences.push_back(
      fmt::format("A holder's weight is {}; a whole GPU weighs {}.", in_words(weights), whole));
  section.sentences.push_back(fmt::format(
      "It pays the GPU's cost × its weight ÷ {}. Half of the compute and a quarter of the memory "
      "weigh {} × 1/2 + {} × 1/4 = {}, so they cost {}/{} of the GPU.",
      whole, weights.compute, weights.memory,
      quarters(std::uint64_t{2} * weights.compute + weights.memory),
      quarters(std::uint64_t{2} * weights.compute + weights.memory), whole));
  for (const SharingRule& rule : policy.sharing) {
    if (!rule.weights) continue;
    section.sentences.push_back(
        fmt::format("{} the weight is {}, of {}.", for_whom(rule), in_words(*rule.weights),
                    std::uint64_t{rule.weights->compute} + rule.weights->memory));
  }
  return section;
}

std::string in_words(const NodeSplitRule& rule) {
  switch (rule.how) {
    case NodeSplit::kResidual:
      return "CPU and memory are taken at market rates a vCPU-hour and a GiB-hour; the GPUs cost "
             "the rest of the node's price, and at least half of it";
    case NodeSplit::kWholeNode:
      return "the GPUs cost all of the node's price; its CPU and memory cost nothing";
    case NodeSplit::kRatio:
      return fmt::format(
          "GPU : CPU : memory = {} × GPUs : {} × vCPUs : {} × GiB, and the node's price is split "
          "by that",
          to_text(rule.gpu), to_text(rule.cpu), to_text(rule.memory));
    case NodeSplit::kExplicit:
      return fmt::format("the GPUs cost {} × the node's price, its CPU {} and its memory {}",
                         to_text(rule.gpu), to_text(rule.cpu), to_text(rule.memory));
  }
  return "";
}

PolicySection split_section(const Policy& policy) {
  PolicySection section{"How a node's price becomes the price of its GPUs", {}};
  for (const NodeSplitRule& rule : policy.node_splits) {
    section.sentences.push_back(
        rule.instance_type.empty()
            ? fmt::format("For every other instance type, {}.", in_words(rule))
            : fmt::format("For nodes whose instance type is {}, {}.", in_words(rule.instance_type),
                          in_words(rule)));
  }
  const NodeSplitRule otherwise{"", policy.node_split, {}, {}, {}};
  const bool has_rest =
      std::none_of(policy.node_splits.begin(), policy.node_splits.end(),
                   [](const NodeSplitRule& rule) { return rule.instance_type.empty(); });
  if (has_rest) {
    section.sentences.push_back(fmt::format(
        "For {}, {}.", policy.node_splits.empty() ? "every node" : "every other instance type",
        in_words(otherwise)));
  }
  return section;
}

std::string in_words(UsageRules::Activity activity) {
  switch (activity) {
    case UsageRules::Activity::kEngineActive:
      return "how long the compute engine was active";
    case UsageRules::Activity::kSmActive:
      return "how busy the multiprocessors were";
    case UsageRules::Activity::kGpuUtil:
      return "how long any kernel ran (GPU_UTIL)";
  }
  return "";
}

PolicySection usage_section(const Policy& policy) {
  const UsageRules& usage = policy.usage;
  PolicySection section{"How telemetry is read", {}};
  if (!looks_at_usage(policy)) {
    section.sentences.push_back(
        "Charges do not depend on telemetry; it only tells observed from unobserved time.");
  }
  std::vector<std::string> order;
  for (const UsageRules::Activity each : usage.activity) order.push_back(in_words(each));
  section.sentences.push_back(
      order.empty() ? "Usage of compute is not read from telemetry; usage of memory is."
                    : fmt::format("Usage of compute is {}.", join(order, "or else")));
  section.sentences.push_back(fmt::format(
      "A device is expected to report every {}; a sample holds until the next one, for {} "
      "intervals ({}) at most. Time after that is unobserved.",
      duration_text(static_cast<std::int64_t>(usage.interval_ms)),
      permille_text(usage.hold_permille),
      duration_text(static_cast<std::int64_t>(usage.hold_ms()))));
  if (usage.shift_ms != 0) {
    section.sentences.push_back(
        fmt::format("The times of telemetry are moved by {}, since its "
                    "clock was off.",
                    duration_text(usage.shift_ms)));
  }
  return section;
}

PolicySection overhead_section(const Policy& policy) {
  PolicySection section{"What is overhead", {}};
  for (const LabelMatch& match : policy.overhead) {
    section.sentences.push_back(
        fmt::format("Workloads {} serve everybody; their cost is overhead.", in_words(match)));
  }
  if (policy.overhead.empty()) section.sentences.push_back("No workload is overhead.");
  return section;
}

std::string in_words(PostingKind kind) {
  switch (kind) {
    case PostingKind::kUsed:
      return "What was used";
    case PostingKind::kHeldIdle:
      return "What was held, not used and charged to no holder (held_idle)";
    case PostingKind::kUnallocated:
      return "Capacity that nobody held (unallocated)";
    case PostingKind::kStranded:
      return "Capacity that a MIG layout leaves unusable (stranded)";
    case PostingKind::kOverhead:
      return "What serves everybody (overhead)";
    case PostingKind::kUnavailable:
      return "Capacity that was drained or broken (unavailable)";
    case PostingKind::kShared:
      return "Cost that is for no node (shared)";
  }
  return "";
}

std::string in_words(SpreadMeasure measure, const std::string& named) {
  switch (measure) {
    case SpreadMeasure::kGpuCost:
      return "what they pay for GPUs";
    case SpreadMeasure::kCost:
      return "all that they pay";
    case SpreadMeasure::kGpuTime:
      return "the GPU time that they held";
    case SpreadMeasure::kMemoryTime:
      return "the GPU memory that they held, over time";
    case SpreadMeasure::kCpuCost:
      return "what they pay for CPU";
    case SpreadMeasure::kComponentCost:
      return "what they pay for the same part of the machine";
    case SpreadMeasure::kNamed:
      return quoted(named);
  }
  return "";
}

std::string in_words(SpreadWithin within) {
  switch (within) {
    case SpreadWithin::kNode:
      return "on the same node";
    case SpreadWithin::kPool:
      return "in the same pool";
    case SpreadWithin::kCluster:
      return "in the same cluster";
  }
  return "";
}

std::string parts_in_words(const std::vector<FixedPart>& parts) {
  constexpr std::size_t kShown = 12;
  std::vector<std::string> each;
  for (const FixedPart& part : parts) {
    if (each.size() == kShown) break;
    each.push_back(fmt::format("{} {}", part.value, to_text(part.part)));
  }
  if (parts.size() > kShown) each.push_back(fmt::format("{} more", parts.size() - kShown));
  return join(each, "and");
}

// "lines of the category 'Tax'", where a rule is for some shared lines only.
std::string lines_in_words(const SpreadRule& rule) {
  std::string lines;
  const auto add = [&](std::string_view what, const std::string& pattern) {
    if (pattern.empty()) return;
    lines +=
        fmt::format("{} {} {}", lines.empty() ? ", of the" : " and the", what, in_words(pattern));
  };
  add("service category", rule.service_category);
  add("service", rule.service_name);
  add("charge category", rule.charge_category);
  return lines.empty() ? "" : lines + ",";
}

std::string in_words(const SpreadRule& rule) {
  const std::string what = in_words(rule.kind) + lines_in_words(rule);
  const std::string among =
      fmt::format("the holders of the same {} {}", rule.over == SpreadOver::kDay ? "day" : "month",
                  in_words(rule.within));
  const std::string by = in_words(rule.measure, rule.named);
  switch (rule.how) {
    case Spread::kKeep:
      return what + " stays where it is.";
    case Spread::kProportional:
      if (rule.measure == SpreadMeasure::kNamed) {
        return fmt::format("{} is spread over each {} by the measure {}: {}.", what, rule.dimension,
                           by, parts_in_words(rule.parts));
      }
      return fmt::format("{} is spread over {}, by {}.", what, among, by);
    case Spread::kEven:
      return fmt::format("{} is spread over {}: the same to each {}, and within it by {}.", what,
                         among, rule.dimension, by);
    case Spread::kFixed:
      return fmt::format("{} goes to each {} in fixed parts: {}.", what, rule.dimension,
                         parts_in_words(rule.parts));
  }
  return "";
}

PolicySection spread_section(const Policy& policy) {
  PolicySection section{"How idle, overhead and shared cost is spread", {}};
  for (const SpreadRule& rule : policy.spread) section.sentences.push_back(in_words(rule));
  section.sentences.push_back(policy.spread.empty()
                                  ? "All of it stays where it is, in rows of its own."
                                  : "All other cost stays where it is, in rows of its own.");
  return section;
}

PolicySection owners_section(const Policy& policy) {
  PolicySection section{"Who owns a workload", {}};
  std::vector<const OwnerRule*> rules;
  for (const OwnerRule& rule : policy.owners) rules.push_back(&rule);
  std::stable_sort(rules.begin(), rules.end(), [](const OwnerRule* a, const OwnerRule* b) {
    return a->priority > b->priority;
  });
  for (const OwnerRule* rule : rules) {
    std::vector<std::string> set;
    for (const auto& [dimension, value] : rule->set) {
      set.push_back(fmt::format("the {} {}", dimension, quoted(value)));
    }
    std::string who = workloads(rule->when);
    who[0] = static_cast<char>(who[0] - 'a' + 'A');
    section.sentences.push_back(
        fmt::format("{} have {} (priority {}).", who, join(set, "and"), rule->priority));
  }
  std::vector<DimensionRule> dimensions = policy.dimensions;
  std::sort(
      dimensions.begin(), dimensions.end(),
      [](const DimensionRule& a, const DimensionRule& b) { return a.dimension < b.dimension; });
  for (const DimensionRule& rule : dimensions) {
    std::string derived;
    for (const DeriveRule& each : rule.derive) {
      derived += fmt::format(", or else {} where the label {} matches {}", quoted(each.value),
                             each.label, quoted(each.pattern.text()));
    }
    section.sentences.push_back(fmt::format(
        "{} {} is the label {}{}; {}.", policy.owners.empty() ? "The" : "Else the", rule.dimension,
        join(rule.labels, "or else"), derived,
        rule.fallback.empty() ? "a workload without has none"
                              : fmt::format("a workload without has {}", quoted(rule.fallback))));
  }
  return section;
}

}  // namespace

std::vector<PolicySection> policy_in_words(const Policy& policy) {
  return {{"Name", {policy.name.empty() ? "The policy has no name." : policy.name}},
          basis_section(policy),
          weights_section(policy),
          split_section(policy),
          usage_section(policy),
          overhead_section(policy),
          spread_section(policy),
          owners_section(policy),
          {"Time zone",
           {fmt::format("Days and months begin at midnight in {}.", policy.time_zone.name())}}};
}

}  // namespace pennyweight
