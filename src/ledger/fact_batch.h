// FactBatch: collects facts of one kind and passes them on in batches.
//
// A parser does not know the store: it gets a sink for each kind of fact and one for rejected rows.
// An Error from a sink ends the reading, so a full disk stops an import at once.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/limits.h"

namespace pennyweight {

// The batch lives until the sink returns.
template <class Fact>
using FactSink = std::function<Result<void>(std::span<const Fact>)>;

template <class Fact>
class FactBatch {
 public:
  explicit FactBatch(FactSink<Fact> sink) : sink_(std::move(sink)) {}

  Result<void> add(Fact fact) {
    batch_.push_back(std::move(fact));
    ++count_;
    return batch_.size() < limits::kBatchRows ? Result<void>{} : flush();
  }
  // Passes on the last facts. Call it at the end.
  Result<void> flush() {
    if (batch_.empty()) return {};
    auto handed_on = sink_(batch_);
    batch_.clear();
    return handed_on;
  }
  std::uint64_t count() const { return count_; }  // facts added so far

 private:
  FactSink<Fact> sink_;
  std::vector<Fact> batch_;
  std::uint64_t count_ = 0;
};

}  // namespace pennyweight
