#include "reporting/export/share.h"

#include <algorithm>
#include <utility>

#include "core/try.h"

namespace pennyweight {
namespace {

constexpr PostingKind kKinds[] = {PostingKind::kUsed,        PostingKind::kHeldIdle,
                                  PostingKind::kUnallocated, PostingKind::kStranded,
                                  PostingKind::kOverhead,    PostingKind::kUnavailable,
                                  PostingKind::kShared};

ChargeShare empty_share(const Posting& posting, std::uint32_t scope, ShareOwner owner) {
  const Money none = Money::zero(posting.costs.currency());
  return {.charge = posting.charge,
          .scope = scope,
          .owner = std::move(owner),
          .kinds = 0,
          .costs = Costs::zero(posting.costs.currency()),
          .held_idle_billed = none,
          .held_idle_effective = none,
          .gpu_time = {},
          .weight = 0,
          .interval = posting.interval};
}

// GPU time is counted once: on the component that stands for the GPU.
bool tells_gpu_time(Component component) {
  return component == Component::kGpu || component == Component::kWhole;
}

}  // namespace

std::string kinds_text(std::uint32_t kinds) {
  std::string text;
  for (const PostingKind kind : kKinds) {
    if ((kinds & kind_bit(kind)) == 0) continue;
    if (!text.empty()) text += '+';
    text += to_text(kind);
  }
  return text;
}

Result<void> ShareCollector::add(const Posting& posting) {
  if (charge_ != posting.charge) {
    TRY(finish());
    charge_ = posting.charge;
  }
  ShareOwner owner = posting.workload.empty() ? ShareOwner{} : find_owner_(posting.workload);
  auto at = shares_.find(owner.id);
  if (at == shares_.end()) {
    std::string id = owner.id;
    OwnerShare part{empty_share(posting, scope_, std::move(owner)), {}};
    at = shares_.emplace(std::move(id), std::move(part)).first;
  }
  ChargeShare& share = at->second.share;
  share.kinds |= kind_bit(posting.kind);
  share.costs += posting.costs;
  if (posting.kind == PostingKind::kHeldIdle) {
    share.held_idle_billed += posting.costs.billed;
    share.held_idle_effective += posting.costs.effective;
  }
  if (tells_gpu_time(posting.component)) share.gpu_time += posting.gpu_time;
  share.interval = Interval(std::min(share.interval.begin(), posting.interval.begin()),
                            std::max(share.interval.end(), posting.interval.end()));
  at->second.weights[posting.component] += posting.weight;
  return {};
}

Result<void> ShareCollector::finish() {
  std::optional<Component> first;  // only weights of the same component are comparable
  for (const auto& [id, part] : shares_) {
    const Component component = part.weights.begin()->first;
    first = first ? std::min(*first, component) : component;
  }
  for (auto& [id, part] : shares_) {
    const auto weight = part.weights.find(*first);
    part.share.weight = weight == part.weights.end() ? 0 : weight->second;
    TRY(sink_(part.share));
  }
  shares_.clear();
  charge_.reset();
  return {};
}

}  // namespace pennyweight
