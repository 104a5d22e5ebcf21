// Owner chain: leads from a pod to the Deployment, PyTorchJob, InferenceService … that it runs for.
//
// Each object names its owners; the chain follows the controller among them, else the first. It
// ends at an owner that is not known, of which the reference still gives kind and name; after
// kChainMax steps; or where it returns to itself.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/schedulers/kubernetes/object.h"
#include "ingest/schedulers/kubernetes/packed_texts.h"

namespace pennyweight::kubernetes {

inline constexpr std::size_t kChainMax = 8;

// The kept part of an object that may own others.
struct OwnerRecord {
  std::string api_version;
  std::string kind;
  std::string name;
  PackedTexts labels;
  std::vector<OwnerReference> owners;
  bool operator==(const OwnerRecord&) const = default;
};

struct Owner {
  std::string api_version;
  std::string kind;
  std::string name;
  const OwnerRecord* known = nullptr;  // lives as long as what `find` returned
};

// Looks an owner up by uid; nullptr where it is not known.
using FindOwner = std::function<const OwnerRecord*(std::string_view uid)>;

// The nearest owner first; empty for a pod without one.
std::vector<Owner> owner_chain(std::span<const OwnerReference> owners, const FindOwner& find);

}  // namespace pennyweight::kubernetes
