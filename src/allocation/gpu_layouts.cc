#include "allocation/gpu_layouts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace pennyweight {
namespace {

// The end of what is still there; no bill reaches that far.
const Instant kNoEnd = from_unix_seconds(253'402'300'799);  // 9999-12-31

bool is_numbered(const Gpu& gpu, const MigInstance& instance) {
  return instance.id.text().starts_with(gpu.uuid.text() + "/gi");
}

bool has_layout(const Gpu& gpu) { return !gpu.mig_instances.empty(); }

// Whether the instances are only numbered, as a scrape sees them.
bool is_only_numbered(const Gpu& gpu) {
  return has_layout(gpu) && std::ranges::all_of(gpu.mig_instances, [&](const MigInstance& each) {
           return is_numbered(gpu, each);
         });
}

// Numbers in their order: gi2 before gi10.
bool by_number(const GpuId& a, const GpuId& b) {
  return std::tuple(a.text().size(), a.text()) < std::tuple(b.text().size(), b.text());
}

class InForce {
 public:
  explicit InForce(const std::function<bool(const NodeId&)>& is_known) : is_known_(is_known) {}

  // REQUIRES: facts arrive by UUID, then begin.
  void add(const Gpu& gpu) {
    GpuInForce* const before =
        !out_.empty() && out_.back().gpu->uuid == gpu.uuid ? &out_.back() : nullptr;
    if (before != nullptr && continues(*before->gpu, gpu)) {
      if (!is_only_numbered(*before->gpu)) name_again(*before, gpu);
      return;
    }
    if (before != nullptr) end(*before, gpu.from);
    out_.push_back({.gpu = &gpu, .during = Interval::of(gpu.from, gpu.to.value_or(kNoEnd))});
  }

  std::vector<GpuInForce> take() && {
    for (GpuInForce& each : out_) {
      std::ranges::sort(each.unknown_profiles);
      const auto repeated = std::ranges::unique(each.unknown_profiles);
      each.unknown_profiles.erase(repeated.begin(), repeated.end());
    }
    return std::move(out_);
  }

 private:
  // Whether `later` states a GPU that is still as the fact `in_force` has it.
  bool continues(const Gpu& in_force, const Gpu& later) const {
    if (in_force.to && *in_force.to <= later.from) return false;
    if (is_known_ && later.node != in_force.node) {
      return is_known_(in_force.node) && !is_known_(later.node);
    }
    if (!has_layout(in_force)) return false;
    return !has_layout(later) || (is_only_numbered(later) && !is_only_numbered(in_force));
  }

  static void end(GpuInForce& before, Instant at) {
    if (!before.during || before.during->end() <= at) return;
    before.during = Interval::of(before.during->begin(), at);
  }

  // The n-th numbered instance of a profile is taken for the n-th of the layout.
  static void name_again(GpuInForce& before, const Gpu& later) {
    std::map<std::string, std::vector<GpuId>> numbered;
    for (const MigInstance& each : later.mig_instances) {
      if (is_numbered(later, each)) numbered[each.profile].push_back(each.id);
    }
    for (auto& [profile, ids] : numbered) {
      std::ranges::sort(ids, by_number);
      std::size_t next = 0;
      for (const MigInstance& each : before.gpu->mig_instances) {
        if (each.profile != profile || next == ids.size()) continue;
        const std::pair alias(ids[next++], each.id);
        if (std::ranges::find(before.aliases, alias.first, &std::pair<GpuId, GpuId>::first) ==
            before.aliases.end()) {
          before.aliases.push_back(alias);
        }
      }
      if (next < ids.size()) before.unknown_profiles.push_back(profile);
    }
  }

  const std::function<bool(const NodeId&)>& is_known_;
  std::vector<GpuInForce> out_;
};

}  // namespace

std::vector<GpuInForce> layouts_in_force(std::span<const Gpu> gpus,
                                         const std::function<bool(const NodeId&)>& is_known) {
  std::vector<const Gpu*> order;
  order.reserve(gpus.size());
  for (const Gpu& gpu : gpus) order.push_back(&gpu);
  std::ranges::sort(order, [](const Gpu* a, const Gpu* b) {
    const auto by_key = std::tie(a->uuid, a->from) <=> std::tie(b->uuid, b->from);
    if (by_key != 0) return by_key < 0;
    return content_hash(*a) < content_hash(*b);
  });
  InForce in_force(is_known);
  for (const Gpu* gpu : order) in_force.add(*gpu);
  return std::move(in_force).take();
}

}  // namespace pennyweight
