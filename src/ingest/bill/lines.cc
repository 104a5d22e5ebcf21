#include "core/check.h"
#include "ingest/bill/bill_reader.h"

namespace pennyweight::bill {
namespace {

const Charge& blank() {
  static const Charge charge = [] {
    const Interval any(Instant{}, Instant{std::chrono::milliseconds{1}});
    return Charge(any, any, Costs::zero(kUsd));
  }();
  return charge;
}

}  // namespace

Charge& Lines::add_used() {
  if (size_ == charges_.size()) charges_.push_back(blank());
  return charges_[size_++];
}

Charge& Lines::add() {
  Charge& charge = add_used();
  charge = blank();
  return charge;
}

void Lines::cut(std::size_t size) {
  CHECK(size <= size_, "lines are forgotten, not made");
  size_ = size;
}

}  // namespace pennyweight::bill
