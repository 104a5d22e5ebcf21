#include "ingest/bills/charge_buffer.h"

#include "core/check.h"

namespace pennyweight::bill {
namespace {

const Charge& blank_charge() {
  static const Charge charge = [] {
    const Interval any(Instant{}, Instant{std::chrono::milliseconds{1}});
    return Charge(any, any, Costs::zero(kUsd));
  }();
  return charge;
}

}  // namespace

Charge& ChargeBuffer::add_recycled() {
  if (size_ == charges_.size()) charges_.push_back(blank_charge());
  return charges_[size_++];
}

Charge& ChargeBuffer::add() {
  Charge& charge = add_recycled();
  charge = blank_charge();
  return charge;
}

void ChargeBuffer::truncate(std::size_t size) {
  CHECK(size <= size_, "charges are removed, not made");
  size_ = size;
}

}  // namespace pennyweight::bill
