// PeriodCells: what charges cost net, by what they are for and by the billing period that they
// stand under, in bounded memory: the same charges are kept of each billing period.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "app/import/sampled_cells.h"
#include "core/money.h"
#include "ledger/charge.h"

namespace pennyweight {

class PeriodCells {
 public:
  using Month = int;                                 // 12 × year + month, from 0
  using Account = std::pair<std::string, Currency>;  // "account 12"

  struct Key {
    std::uint64_t charge = 0;  // a hash of account, resource, time and SKU
    Month billed_in = 0;
    bool operator==(const Key&) const = default;
  };
  // The lines of a key: a price, its discounts, and what corrects them.
  struct Cell {
    std::uint32_t account = 0;  // in accounts()
    std::int32_t day = 0;       // on which it begins, since 1970
    Month begins = 0, ends = 0;
    bool is_usage = false;  // some of it: of a named resource, within a day
    Int128 billed = 0, effective = 0;
    Int128 size() const { return std::max(CellSum::size_of(billed), CellSum::size_of(effective)); }
    bool costs_as(const Cell& other) const {
      return billed == other.billed && effective == other.effective;
    }
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      return key.charge + static_cast<std::size_t>(key.billed_in) * 0x9e3779b97f4a7c15u;
    }
  };
  using Cells = std::unordered_map<Key, Cell, KeyHash>;

  explicit PeriodCells(std::size_t cells_max = 500'000) : cells_max_(cells_max) {}

  void add(const Charge& charge);
  const Cells& cells() const { return cells_; }
  const Account& account(const Cell& cell) const { return accounts_[cell.account]; }
  // One in so many charges is kept.
  std::uint64_t sampled() const { return mask_ + 1; }
  bool keeps(std::uint64_t charge) const { return (charge & mask_) == 0; }

 private:
  std::uint32_t number_of(const Charge& charge);

  std::size_t cells_max_;
  std::uint64_t mask_ = 0;
  Cells cells_;
  std::vector<Account> accounts_;
  std::map<Account, std::uint32_t> numbers_;
  // Of the previous charge, which the next one usually resembles.
  std::string last_account_, last_issuer_;
  Currency last_currency_ = kUsd;
  std::uint32_t last_number_ = 0;
};

}  // namespace pennyweight
