// Owner chain: from a pod to the Deployment, PyTorchJob, InferenceService … on whose behalf it
// runs.
//
// Each object names its owners; the controller among them is followed, else the first. The chain
// ends at an owner that is not known, of which the reference still says kind and name, after
// kChainMax steps, or where it comes back to itself.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/kubernetes/object.h"
#include "ingest/kubernetes/packed_texts.h"

namespace pennyweight::kubernetes {

inline constexpr std::size_t kChainMax = 8;

// An object that may own others, as far as it is kept.
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
  const OwnerRecord* known = nullptr;  // lives as long as what `find` gave
};

// By uid; nullptr where it is not known.
using FindOwner = std::function<const OwnerRecord*(std::string_view uid)>;

// The nearest first; empty for a pod that nobody owns.
std::vector<Owner> owner_chain(std::span<const OwnerReference> owners, const FindOwner& find);

}  // namespace pennyweight::kubernetes
