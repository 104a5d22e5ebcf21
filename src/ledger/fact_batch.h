// FactBatch: how a parser hands on what it reads: facts of one kind, a batch at a time.
//
// A parser knows no store; it is given a sink for each kind of fact and for rejected rows. What the
// sink answers ends the reading, so a full disk stops an import at once.
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
  // Hands on what is left. Call it at the end.
  Result<void> flush() {
    if (batch_.empty()) return {};
    auto handed_on = sink_(batch_);
    batch_.clear();
    return handed_on;
  }
  std::uint64_t count() const { return count_; }  // of all that were added

 private:
  FactSink<Fact> sink_;
  std::vector<Fact> batch_;
  std::uint64_t count_ = 0;
};

}  // namespace pennyweight
