// ChargeBuffer: the charges that the rows of a batch become. They keep their memory from batch to
// batch, which is what makes ten million rows affordable.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ledger/charge.h"

namespace pennyweight::bill {

class ChargeBuffer {
 public:
  // A charge to fill in which nothing is set: every text empty, every optional nothing, costs zero
  // USD, both periods the first millisecond of 1970. The reference lives until the next add.
  Charge& add();
  // The same, but its fields hold what an earlier row left in them: for readers that set every
  // field.
  Charge& add_recycled();
  std::size_t size() const { return size_; }
  std::span<Charge> all() { return std::span<Charge>(charges_).first(size_); }
  // Removes the charges from `size` on. REQUIRES: size <= size().
  void truncate(std::size_t size);

 private:
  std::vector<Charge> charges_;
  std::size_t size_ = 0;
};

}  // namespace pennyweight::bill
