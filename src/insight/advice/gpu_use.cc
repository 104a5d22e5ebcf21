#include "insight/advice/gpu_use.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <tuple>

#include "ledger/activity_scan.h"

namespace pennyweight::advising {
namespace {

struct TypeWord {
  std::string_view word;
  std::string_view type;
};
// The first that the name has counts.
constexpr std::array<TypeWord, 15> kTypeWords = {{{"notebook", "interactive"},
                                                  {"jupyter", "interactive"},
                                                  {"vscode", "interactive"},
                                                  {"interactive", "interactive"},
                                                  {"infer", "inference"},
                                                  {"serv", "inference"},
                                                  {"vllm", "inference"},
                                                  {"triton", "inference"},
                                                  {"embed", "inference"},
                                                  {"pretrain", "training"},
                                                  {"train", "training"},
                                                  {"finetun", "training"},
                                                  {"fine-tun", "training"},
                                                  {"sft", "training"},
                                                  {"rlhf", "training"}}};

}  // namespace

std::string_view type_of_work(std::string_view work) {
  std::string lower(work);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  for (const TypeWord& each : kTypeWords) {
    if (lower.find(each.word) != std::string::npos) return each.type;
  }
  return {};
}

std::string GpuUse::main_work() const {
  const auto longest = std::ranges::max_element(
      held_by, [](const auto& a, const auto& b) { return a.second < b.second; });
  return longest == held_by.end() ? std::string() : longest->first;
}

GpuUses::GpuUses(const ClusterMonth& month, const FleetView& fleet, const UsageRules& rules,
                 const Interval& period)
    : month_(month), fleet_(fleet), rules_(rules), period_(period) {
  for (std::uint32_t i = 0; i < month.holdings.size(); ++i) {
    const Holding& holding = month.holdings[i];
    const auto held = holding.held.overlap(period);
    if (!held) continue;
    if (const auto* on_gpus = std::get_if<OnGpus>(&holding.placement)) {
      for (const GpuId& gpu : on_gpus->gpus) of_gpu_[gpu].push_back({*held, i});
    } else if (const auto* on_nodes = std::get_if<OnNodes>(&holding.placement)) {
      for (const OnNodes::NodeDevices& part : on_nodes->parts) {
        const auto node = fleet.node_of(part.node);
        if (node && part.devices > 0) of_node_[*node].push_back({*held, i});
      }
    }
  }
}

std::string GpuUses::work_at(const Usage& usage, std::uint32_t node) const {
  const HoldingPeriod* only = nullptr;
  const auto find = [&](const std::vector<HoldingPeriod>& periods) {
    for (const HoldingPeriod& each : periods) {
      if (!each.held.contains(usage.at)) continue;
      if (!usage.workload.empty() && month_.holdings[each.holding].workload != usage.workload) {
        continue;
      }
      if (only != nullptr) return false;
      only = &each;
    }
    return true;
  };
  const auto named = of_gpu_.find(usage.gpu);
  if (named != of_gpu_.end() && !find(named->second)) return {};
  if (only == nullptr) {
    const auto there = of_node_.find(node);
    if (there != of_node_.end() && !find(there->second)) return {};
  }
  return only == nullptr ? std::string() : work_of(month_.holdings[only->holding]);
}

void GpuUses::add(std::span<const Usage> usages) {
  std::map<std::pair<std::string, std::string>, std::vector<const Usage*>> devices;
  for (const Usage& usage : usages) {
    if (usage.of_workload) continue;
    if (is_beyond_scale(usage)) {
      ++impossible_;
      continue;
    }
    devices[{usage.gpu.text(), usage.mig_instance}].push_back(&usage);
  }
  for (auto& [device, rows] : devices) {
    std::ranges::stable_sort(rows, [](const Usage* a, const Usage* b) { return a->at < b->at; });
    add_device(rows);
  }
}

void GpuUses::add_device(std::span<const Usage* const> rows) {
  const Usage& first = *rows.front();
  auto node = fleet_.node_of_gpu(first.gpu);
  if (!node) node = fleet_.node_of(first.node);
  if (!node) return;
  GpuUse& use = uses_[{*node, first.gpu.text(), first.mig_instance}];
  use.node = *node;
  use.gpu = first.gpu.text();
  use.mig_instance = first.mig_instance;
  use.mig_profile = first.mig_profile;
  Instant covered_until = period_.begin();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Usage& usage = *rows[i];
    Instant end =
        usage.at + std::chrono::milliseconds(usage.span_ms > 0 ? usage.span_ms : rules_.hold_ms());
    if (usage.span_ms == 0) {
      if (i > 0 && rows[i - 1]->span_ms == 0 && rows[i - 1]->at == usage.at) continue;  // a copy
      std::size_t next = i + 1;
      while (next < rows.size() && rows[next]->at == usage.at) ++next;
      if (next < rows.size()) end = std::min(end, rows[next]->at);
    }
    const auto during =
        Interval::of(std::max(usage.at, period_.begin()), std::min(end, period_.end()));
    if (!during) continue;
    const std::uint64_t ms = during->length_ms();
    const std::array shares = {usage.sm_active_ppm, usage.engine_active_ppm, usage.gpu_util_ppm};
    bool is_active = false;
    for (std::size_t metric = 0; metric < shares.size(); ++metric) {
      if (!shares[metric]) continue;
      use.seen.activity[metric].add(*shares[metric], ms);
      is_active = true;
    }
    if (usage.memory_used_bytes) {
      use.seen.memory.add(
          std::max(*usage.memory_used_bytes, usage.memory_used_max_bytes.value_or(0)), ms);
    }
    if (usage.memory_total_bytes) {
      use.memory_bytes = std::max(use.memory_bytes, *usage.memory_total_bytes);
    }
    if (!is_active) continue;
    if (const auto fresh = Interval::of(std::max(during->begin(), covered_until), during->end())) {
      use.seen.observed_ms += fresh->length_ms();
      use.held_by[work_at(usage, *node)] += fresh->length_ms();
      covered_until = during->end();
    }
  }
}

std::vector<GpuUse> GpuUses::uses() const {
  std::vector<GpuUse> all;
  std::map<std::uint32_t, std::set<std::string>> seen;
  // Of a card that is cut into instances, the instances say how it was used.
  std::set<std::string> cut;
  for (const auto& [key, use] : uses_) {
    if (!use.mig_instance.empty()) cut.insert(use.gpu);
  }
  for (const auto& [key, use] : uses_) {
    seen[use.node].insert(use.gpu);
    if (use.mig_instance.empty() && cut.contains(use.gpu)) continue;
    all.push_back(use);
  }
  for (std::uint32_t node = 0; node < fleet_.nodes().size(); ++node) {
    const std::uint64_t there = fleet_.nodes()[node].capacity.gpus;
    const std::uint64_t known = seen[node].size();
    if (there <= known) continue;
    GpuUse unseen;
    unseen.node = node;
    unseen.more = there - known - 1;
    all.push_back(unseen);
  }
  std::ranges::stable_sort(all, {}, &GpuUse::node);
  return all;
}

}  // namespace pennyweight::advising
