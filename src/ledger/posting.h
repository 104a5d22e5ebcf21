// Posting: the part of a charge that one owner, or one bucket, pays.
//
// The postings of a charge add up to it exactly, in each of its four costs. A run writes them for
// one scope; they never change.
//
// A transfer moves cost from a bucket (idle, overhead, shared cost) to owners, or applies a
// correction. In place of a charge its postings have an id of their own. They keep the kind and
// component of the cost that they move, and add up to zero: the bucket's posting is negative, and
// each owner's has the workload "(team=nlp,user=ann)", whose dimensions the run states.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/id.h"
#include "core/instant.h"
#include "core/quantity.h"
#include "core/split.h"
#include "ledger/charge.h"

namespace pennyweight {

enum class PostingKind {
  kUsed,         // held and, as far as is known, used
  kHeldIdle,     // held and not used
  kUnallocated,  // held by no workload
  kStranded,     // capacity that nothing can use, beside a MIG layout
  kOverhead,     // system pods, control plane
  kUnavailable,  // drained, faulted
  kShared,       // not of a node: support, network, storage, tax, purchases
};

// The component of a node's price.
enum class Component { kGpu, kCpu, kMemory, kWhole };

struct Posting {
  FactId charge;  // or the id of a transfer, see above
  PostingKind kind;
  Component component;
  Interval interval;              // within the charge's period and within one local day
  std::chrono::sys_days day;      // that day, as a calendar date of the run's time zone
  NodeId node;                    // the node; empty: the charge names none
  GpuId gpu;                      // the GPU, where the holding named one; else empty
  WorkloadId workload;            // the holder; empty: a bucket (unallocated, shared, …)
  std::optional<FactId> holding;  // the fact that says so; nothing for a bucket
  Weight weight;                  // among the weights of this charge and component
  Costs costs;
  GpuTime gpu_time;        // as held; may exceed the GPU's time where it was oversubscribed
  MemoryTime memory_time;  // of GPU memory
  GpuTime observed_time;   // the part of gpu_time for which there is telemetry

  bool operator==(const Posting&) const = default;
};

std::string_view to_text(PostingKind kind);  // "used", "held_idle", …
std::string_view to_text(Component component);
std::optional<PostingKind> parse_posting_kind(std::string_view text);
std::optional<Component> parse_component(std::string_view text);

}  // namespace pennyweight
