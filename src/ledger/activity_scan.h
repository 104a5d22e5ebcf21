// scan_activity(): what the samples of a cluster say of activity and memory, in small rows, for
// readers that go through hundreds of millions of them.
//
// Store::scan_usage() sorts, and hands over whole rows with their texts; that is most of the time
// of a reader that only adds up. Here the rows come as the store has them, and name their series by
// number.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>

#include "core/error.h"
#include "core/id.h"
#include "core/instant.h"
#include "ledger/usage.h"

namespace pennyweight {

class Store;

// What the samples of a series have in common.
struct ActivitySeries {
  GpuId gpu;
  std::string mig_instance;  // empty for the whole card
  WorkloadId workload;
  NodeId node;
  bool of_workload = false;
  bool operator==(const ActivitySeries&) const = default;
};

struct ActivitySample {
  static constexpr std::uint32_t kAbsent = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint64_t kNoMemory = std::numeric_limits<std::uint64_t>::max();

  Instant at{};
  std::uint64_t part = 0;
  std::uint64_t memory_bytes = kNoMemory;  // used: the larger of mean and maximum
  std::uint32_t series = 0;                // of the scan, from 0
  std::uint32_t span_ms : 30 = 0;
  std::uint32_t has_power : 1 = 0;
  std::uint32_t is_impossible : 1 = 0;  // is_beyond_scale()
  std::uint32_t sm_ppm = kAbsent;       // these are 0 where the sample is impossible
  std::uint32_t engine_ppm = kAbsent;
  std::uint32_t util_ppm = kAbsent;
  std::uint32_t dram_ppm = kAbsent;
};
static_assert(kUsageSpanMaxMs < 1u << 30, "a span fits its bits");

// Whether a sample says more than 100 %, or more memory used than there is.
bool is_beyond_scale(const Usage& usage);
ActivitySample to_activity_sample(const Usage& usage, std::uint32_t series);

// The series so far, of which a sample's number is a place, and some samples. Returns false to
// stop.
using ActivitySink =
    std::function<bool(std::span<const ActivitySeries>, std::span<const ActivitySample>)>;

// What a store that can do it faster than scan_usage() has in addition.
class ActivityScanner {
 public:
  virtual ~ActivityScanner() = default;
  virtual Result<void> scan_activity(const ClusterId& cluster, const Interval& during,
                                     const ActivitySink& sink) = 0;
  // Whether an import after this one brought a sample of the interval.
  virtual Result<bool> has_usage_after(const ClusterId& cluster, const Interval& during,
                                       std::uint64_t import) = 0;
};

// The samples of scan_usage(), in no particular order.
Result<void> scan_activity(Store& store, const ClusterId& cluster, const Interval& during,
                           const ActivitySink& sink);

// Whether an import after this one may have brought a sample of the interval; it errs on the side
// of yes.
Result<bool> has_usage_after(Store& store, const ClusterId& cluster, const Interval& during,
                             std::uint64_t import);

}  // namespace pennyweight
