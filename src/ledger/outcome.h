// Outcome: what a workload did for somebody, counted: requests answered, tokens read and written,
// samples trained on. Divided into its cost, it makes a unit cost.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/id.h"
#include "core/instant.h"
#include "core/label.h"
#include "ledger/fact_id.h"

namespace pennyweight {

// What it counts, in the words of reports; configuration may add further ones.
inline constexpr std::string_view kRequests = "requests";
inline constexpr std::string_view kPromptTokens = "prompt_tokens";
inline constexpr std::string_view kOutputTokens = "output_tokens";

struct Outcome {
  ClusterId cluster;
  WorkloadId workload;  // "namespace/pod", a job; whose cost it is divided into
  std::string measure;  // "requests", …
  // What the counter says beside: model, user, client. Tells counters of one workload apart.
  Labels labels;
  Interval during;         // over which it was counted
  std::uint64_t count;     // the increase, a reset of the counter taken care of
  std::uint64_t part = 0;  // as of Usage: the number of the flush that wrote it

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
