#include "allocation/device_share.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/gpu/card_fraction.h"
#include "core/gpu/gpu_model.h"
#include "core/overloaded.h"
#include "core/try.h"

namespace pennyweight {
namespace {

Result<CardFraction> mig_share(const MigSlice& slice, const CardAt& at) {
  const GpuModel* model = find_gpu_model(at.gpu_model);
  if (model == nullptr) {
    return fail(ErrorCode::kNotFound,
                fmt::format("MIG profile {} on GPU model '{}', which no table has", slice.profile,
                            at.gpu_model));
  }
  const auto share = TRY(find_mig_share(*model, slice.profile));
  return CardFraction{share.compute, share.memory};
}

// One of `count` units over all GPUs of the node.
Result<CardFraction> part_of_node(const char* what, std::uint32_t Node::* count, const CardAt& at) {
  if (at.node == nullptr || at.node->*count == 0 || at.node->gpu_count == 0) {
    return fail(ErrorCode::kNotFound,
                fmt::format("{} on {}, whose inventory does not say how many it has", what,
                            at.node == nullptr ? std::string("a pool of nodes")
                                               : "node " + at.node->name.text()));
  }
  const auto share = CardShare::nearest_below(at.node->gpu_count, at.node->*count);
  return CardFraction{share, share};
}

Result<CardFraction> replica_share(const CardAt& at) {
  if (at.node == nullptr || at.node->gpu_replicas == 0) {
    return fail(ErrorCode::kNotFound,
                fmt::format("replicas on {}, whose inventory does not say how many a GPU has",
                            at.node == nullptr ? std::string("a pool of nodes")
                                               : "node " + at.node->name.text()));
  }
  const auto share = CardShare::nearest_below(1, at.node->gpu_replicas);
  return CardFraction{share, share};
}

// Memory as stated, of what is reported of the GPU, else of what its model has; else all of it;
// cores as stated, else (no limit) the same part as of memory.
Result<CardFraction> virtual_share(const VirtualGpu& part, const CardAt& at) {
  CardFraction share{CardShare::whole(), CardShare::whole()};
  if (part.memory_percent) share.memory = CardShare::nearest_below(*part.memory_percent, 100);
  if (part.memory_bytes && at.memory_bytes > 0) {
    // More than is reported is no more than the GPU.
    share.memory =
        CardShare::nearest_below(std::min(*part.memory_bytes, at.memory_bytes), at.memory_bytes);
  } else if (part.memory_bytes) {
    const auto sold = find_sold_card(at.gpu_model);
    if (!sold || sold->model->memory_bytes == 0) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("a vGPU with {} bytes on GPU model '{}', whose memory no table has",
                              *part.memory_bytes, at.gpu_model));
    }
    share.memory = CardShare::nearest_below(*part.memory_bytes, sold->model->memory_bytes);
  }
  share.compute =
      part.cores_percent ? CardShare::nearest_below(*part.cores_percent, 100) : share.memory;
  return share;
}

}  // namespace

Result<CardFraction> device_share(const Device& device, const CardAt& at) {
  return std::visit(
      Overloaded{[](WholeGpu) -> Result<CardFraction> {
                   return CardFraction{CardShare::whole(), CardShare::whole()};
                 },
                 [](const CardFraction& part) -> Result<CardFraction> { return part; },
                 [&](const MigSlice& slice) { return mig_share(slice, at); },
                 [&](Shard) { return part_of_node("shards", &Node::shard_count, at); },
                 [&](MpsUnit) { return part_of_node("MPS units", &Node::mps_count, at); },
                 [&](Replica) { return replica_share(at); },
                 [&](const VirtualGpu& part) { return virtual_share(part, at); }},
      device);
}

}  // namespace pennyweight
