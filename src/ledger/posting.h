// Posting: a part of a charge, and whose it is.
//
// The postings of a charge add up to it exactly, in each of its four costs. A run writes them for
// one scope; nobody changes them.
//
// A transfer moves what a bucket holds (idle, overhead, shared cost) to owners, or corrects: its
// postings have an id of their own for the charge, keep the kind and component of what they move,
// and add up to zero: the bucket's part is negative, and each owner's has the workload
// "(team=nlp,user=ann)", whose dimensions the run states.
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
  kUsed,         // held, and as far as is known used
  kHeldIdle,     // held and not used: the holder's waste
  kUnallocated,  // nobody held it
  kStranded,     // a MIG layout leaves it unusable
  kOverhead,     // system pods, control plane
  kUnavailable,  // drained, faulted
  kShared,       // not of a node: support, network, storage, tax, purchases
};

// Which part of a node's price.
enum class Component { kGpu, kCpu, kMemory, kWhole };

struct Posting {
  FactId charge;  // or of a transfer: see below
  PostingKind kind;
  Component component;
  Interval interval;              // within the charge's period and within one local day
  std::chrono::sys_days day;      // that day, as a calendar date of the run's time zone
  NodeId node;                    // the node; empty: the charge names none
  GpuId gpu;                      // the card, where the holding named one; else empty
  WorkloadId workload;            // the holder; empty: a bucket (unallocated, shared, …)
  std::optional<FactId> holding;  // the fact by which it held; nothing for a bucket
  Weight weight;                  // of all weights of this charge and component
  Costs costs;
  GpuTime gpu_time;        // as held: may exceed the card's time where it was oversubscribed
  MemoryTime memory_time;  // of GPU memory
  GpuTime observed_time;   // of gpu_time, that for which telemetry says what was done

  bool operator==(const Posting&) const = default;
};

std::string_view to_text(PostingKind kind);  // "used", "held_idle", …
std::string_view to_text(Component component);
std::optional<PostingKind> parse_posting_kind(std::string_view text);
std::optional<Component> parse_component(std::string_view text);

}  // namespace pennyweight
