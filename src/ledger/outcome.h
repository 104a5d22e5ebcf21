// Outcome: a count of a workload's results: requests answered, tokens read and written, samples
// trained on. The workload's cost divided by it is a unit cost.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/id.h"
#include "core/instant.h"
#include "core/label.h"
#include "ledger/fact_id.h"

namespace pennyweight {

// The measures, by the names that reports use; the configuration can add others.
inline constexpr std::string_view kRequests = "requests";
inline constexpr std::string_view kPromptTokens = "prompt_tokens";
inline constexpr std::string_view kOutputTokens = "output_tokens";

struct Outcome {
  ClusterId cluster;
  WorkloadId workload;  // "namespace/pod", or a job; whose cost it divides
  std::string measure;  // "requests", …
  // The counter's labels: model, user, client. They tell the counters of one workload apart.
  Labels labels;
  Interval during;         // over which it was counted
  std::uint64_t count;     // the increase, corrected for resets of the counter
  std::uint64_t part = 0;  // as Usage::part: the number of the flush that wrote it

  FactId id = {};  // set by the store
  SourceLine source = {};

  Outcome(ClusterId in, WorkloadId by, std::string of, Interval over, std::uint64_t counted)
      : cluster(std::move(in)),
        workload(std::move(by)),
        measure(std::move(of)),
        during(over),
        count(counted) {}
  bool operator==(const Outcome&) const = default;
};

Hash128 natural_key(const Outcome& outcome);  // all but the count
Hash128 content_hash(const Outcome& outcome);
std::string difference(const Outcome& there, const Outcome& here);

}  // namespace pennyweight
