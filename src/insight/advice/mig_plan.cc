#include "insight/advice/mig_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "core/check.h"
#include "core/gpu/mig_layout.h"
#include "core/gpu/mig_profile.h"
#include "core/try.h"

namespace pennyweight::advising {
namespace {

using Instances = std::vector<std::uint64_t>;  // by size
using Layout = std::vector<std::uint32_t>;     // by size

// Layouts to which no instance of a wanted size can be added, without unwanted sizes.
std::vector<Layout> full_layouts(const MigLayouts& all, const Instances& wanted) {
  std::vector<Layout> candidates;
  for (const Layout& layout : all.legal) {
    const bool is_wanted = [&] {
      for (std::size_t i = 0; i < layout.size(); ++i) {
        if (layout[i] > 0 && wanted[i] == 0) return false;
      }
      return true;
    }();
    if (is_wanted) candidates.push_back(layout);
  }
  std::vector<Layout> full;
  for (const Layout& one : candidates) {
    const bool is_within_another = std::ranges::any_of(candidates, [&](const Layout& other) {
      return one != other && std::ranges::equal(other, one, std::ranges::greater_equal());
    });
    if (!is_within_another) full.push_back(one);
  }
  return full;
}

class FewestCards {
 public:
  FewestCards(const GpuModel& model, const MigLayouts& all, const Instances& wanted)
      : model_(model), all_(all), layouts_(full_layouts(all, wanted)) {}

  // By layout, how many cards.
  std::map<Layout, std::uint64_t> run(Instances wanted) {
    std::map<Layout, std::uint64_t> cards;
    while (states_of(wanted) > kMigExactStates) {
      const Layout& best = fullest_within(wanted);
      // Half of what it could take, so that the last cards are left to the exact search.
      std::uint64_t times = std::numeric_limits<std::uint64_t>::max();
      for (std::size_t i = 0; i < best.size(); ++i) {
        if (best[i] > 0) times = std::min(times, wanted[i] / best[i]);
      }
      times = std::max<std::uint64_t>(1, times / 2);
      for (std::size_t i = 0; i < best.size(); ++i) wanted[i] -= times * best[i];
      cards[best] += times;
    }
    fewest(wanted);
    for (Instances left = wanted; !is_empty(left);) {
      const Layout& layout = layouts_[best_.at(left).second];
      Layout used(layout.size());
      for (std::size_t i = 0; i < layout.size(); ++i) {
        used[i] = static_cast<std::uint32_t>(std::min<std::uint64_t>(layout[i], left[i]));
        left[i] -= used[i];
      }
      ++cards[used];
    }
    return cards;
  }

 private:
  static bool is_empty(const Instances& wanted) {
    return std::ranges::all_of(wanted, [](std::uint64_t count) { return count == 0; });
  }
  static std::uint64_t states_of(const Instances& wanted) {
    std::uint64_t states = 1;
    for (const std::uint64_t count : wanted) {
      if (states > kMigExactStates || count > kMigExactStates) return kMigExactStates + 1;
      states *= count + 1;
    }
    return states;
  }

  // Of the layouts that are wanted as a whole, the one that leaves the least of a card.
  const Layout& fullest_within(const Instances& wanted) const {
    const Layout* best = nullptr;
    std::tuple<std::uint32_t, std::uint32_t, std::uint64_t> best_rest{};
    for (const Layout& layout : all_.legal) {
      bool is_within = false;
      std::uint64_t instances = 0;
      std::uint32_t compute = 0;
      std::uint32_t memory = 0;
      for (std::size_t i = 0; i < layout.size(); ++i) {
        if (layout[i] > wanted[i]) {
          is_within = false;
          instances = 0;
          break;
        }
        is_within = is_within || layout[i] > 0;
        instances += layout[i];
        compute += layout[i] * all_.sizes[i].compute_slices;
        memory += layout[i] * all_.sizes[i].memory_slices;
      }
      if (!is_within || instances == 0) continue;
      const std::tuple rest(model_.mig_memory_slices - memory, model_.mig_compute_slices - compute,
                            instances);
      if (best == nullptr || rest < best_rest) {
        best = &layout;
        best_rest = rest;
      }
    }
    CHECK(best != nullptr, "a single instance is a layout");
    return *best;
  }

  // The fewest cards for these, remembered with the layout of the first of them.
  std::uint64_t fewest(const Instances& wanted) {
    if (is_empty(wanted)) return 0;
    if (const auto known = best_.find(wanted); known != best_.end()) return known->second.first;
    // The largest that is wanted has to lie on some card.
    std::size_t largest = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i] > 0) largest = i;
    }
    std::pair<std::uint64_t, std::size_t> best(std::numeric_limits<std::uint64_t>::max(), 0);
    for (std::size_t at = 0; at < layouts_.size(); ++at) {
      if (layouts_[at][largest] == 0) continue;
      Instances left = wanted;
      for (std::size_t i = 0; i < left.size(); ++i) {
        left[i] -= std::min<std::uint64_t>(left[i], layouts_[at][i]);
      }
      const std::uint64_t cards = 1 + fewest(left);
      if (cards < best.first) best = {cards, at};
    }
    CHECK(best.first != std::numeric_limits<std::uint64_t>::max(),
          "every size that is wanted is in a full layout");
    best_.emplace(wanted, best);
    return best.first;
  }

  const GpuModel& model_;
  const MigLayouts& all_;
  std::vector<Layout> layouts_;
  std::map<Instances, std::pair<std::uint64_t, std::size_t>> best_;
};

}  // namespace

Result<MigPlan> plan_mig_layouts(const GpuModel& model,
                                 const std::map<std::string, std::uint64_t>& demand) {
  if (model.mig_geometries.empty()) {
    return fail(ErrorCode::kBadValue, fmt::format("{} has no MIG", model.name));
  }
  const MigLayouts& all = legal_mig_layouts(model);
  Instances wanted(all.sizes.size());
  // The names of each size, the first by name first; as many as are wanted.
  std::vector<std::map<std::string, std::uint64_t>> names(all.sizes.size());
  for (const auto& [text, count] : demand) {
    const auto use = TRY(find_mig_profile(model, text));
    if (use.profile->name.find('+') != std::string::npos) {
      return fail(ErrorCode::kBadValue,
                  fmt::format("{}: a GPU has one instance with media engines, which this plan does "
                              "not place",
                              use.profile->name));
    }
    const MigInstanceSize size{use.profile->compute_slices, use.profile->memory_slices};
    const auto at =
        static_cast<std::size_t>(std::ranges::find(all.sizes, size) - all.sizes.begin());
    wanted[at] += count;
    if (count > 0) names[at][use.profile->name] += count;
  }
  const auto cards = FewestCards(model, all, wanted).run(wanted);
  MigPlan plan;
  for (const auto& [layout, count] : cards) {
    plan.gpus += count;
    // Profiles of one size go to the cards in turn, so a layout may come as several; as many cards
    // at once as get the same names.
    std::map<std::vector<std::string>, std::uint64_t> named;
    for (std::uint64_t left = count; left > 0;) {
      std::uint64_t alike = left;
      for (std::size_t i = 0; i < layout.size(); ++i) {
        if (layout[i] > 0) alike = std::min(alike, names[i].begin()->second / layout[i]);
      }
      alike = std::max<std::uint64_t>(1, alike);
      std::vector<std::string> profiles;
      for (std::size_t i = layout.size(); i-- > 0;) {
        for (std::uint32_t one = 0; one < layout[i]; ++one) {
          const auto name = names[i].begin();
          CHECK(name != names[i].end(), "a card holds nothing that is not wanted");
          profiles.push_back(name->first);
          name->second -= std::min(alike, name->second);
          if (name->second == 0) names[i].erase(name);
        }
      }
      named[profiles] += alike;
      left -= alike;
    }
    std::uint32_t compute = 0;
    std::uint32_t memory = 0;
    for (std::size_t i = 0; i < layout.size(); ++i) {
      compute += layout[i] * all.sizes[i].compute_slices;
      memory += layout[i] * all.sizes[i].memory_slices;
    }
    for (const auto& [profiles, times] : named) {
      plan.layouts.push_back({.profiles = profiles,
                              .count = times,
                              .free_compute_slices = model.mig_compute_slices - compute,
                              .free_memory_slices = model.mig_memory_slices - memory});
    }
  }
  std::ranges::stable_sort(plan.layouts, std::ranges::greater(), &MigCards::count);
  return plan;
}

namespace {

// "0,1,2"; the GPUs of a node that are cut alike.
using NodeCut = std::map<std::vector<std::string>, std::vector<std::uint64_t>>;

std::string cut_text(const NodeCut& cut) {
  std::string text;
  for (const auto& [profiles, devices] : cut) {
    text += fmt::format("    - devices: [{}]\n      mig-enabled: {}\n", fmt::join(devices, ", "),
                        profiles.empty() ? "false" : "true");
    if (profiles.empty()) continue;
    std::map<std::string, std::uint64_t> counts;
    for (const std::string& profile : profiles) ++counts[profile];
    text += "      mig-devices:\n";
    for (const auto& [profile, count] : counts) {
      text += fmt::format("        \"{}\": {}\n", profile, count);
    }
  }
  return text;
}

}  // namespace

MigFile mig_parted_file(const MigPlan& plan, std::uint64_t gpus_per_node) {
  CHECK(gpus_per_node > 0, "a node with GPUs");
  std::map<NodeCut, std::uint64_t> nodes;
  NodeCut cut;
  std::uint64_t device = 0;
  const auto finish_node = [&] {
    while (device < gpus_per_node) cut[{}].push_back(device++);
    ++nodes[cut];
    cut.clear();
    device = 0;
  };
  for (const MigCards& cards : plan.layouts) {
    for (std::uint64_t i = 0; i < cards.count; ++i) {
      cut[cards.profiles].push_back(device++);
      if (device == gpus_per_node) finish_node();
    }
  }
  if (device > 0) finish_node();
  MigFile file{.text = "version: v1\nmig-configs:\n", .nodes = {}};
  for (const auto& [each, count] : nodes) {
    const std::string name = fmt::format("pennyweight-{}", file.nodes.size() + 1);
    file.text += fmt::format("  {}:\n{}", name, cut_text(each));
    file.nodes.emplace_back(name, count);
  }
  return file;
}

}  // namespace pennyweight::advising
