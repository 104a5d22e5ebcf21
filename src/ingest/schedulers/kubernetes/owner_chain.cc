#include "ingest/schedulers/kubernetes/owner_chain.h"

#include <algorithm>
#include <set>

namespace pennyweight::kubernetes {

std::vector<Owner> owner_chain(std::span<const OwnerReference> owners, const FindOwner& find) {
  std::vector<Owner> chain;
  std::set<std::string_view> met;
  while (!owners.empty() && chain.size() < kChainMax) {
    const auto controller = std::ranges::find_if(owners, &OwnerReference::is_controller);
    const OwnerReference& next = controller == owners.end() ? owners.front() : *controller;
    if (!met.insert(next.uid).second) break;
    const OwnerRecord* known = next.uid.empty() ? nullptr : find(next.uid);
    chain.push_back(
        {.api_version = next.api_version, .kind = next.kind, .name = next.name, .known = known});
    if (known == nullptr) break;
    owners = known->owners;
  }
  return chain;
}

}  // namespace pennyweight::kubernetes
