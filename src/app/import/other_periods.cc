#include "app/import/other_periods.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>

#include "core/decimal.h"
#include "ledger/delivery.h"
#include "ledger/store_rules.h"
#include "reporting/money_text.h"

namespace pennyweight {
namespace {

using Month = PeriodCells::Month;
using Cell = PeriodCells::Cell;

// An account under two billing periods, of the delivery first.
using Pair = std::tuple<PeriodCells::Account, Month, Month>;

struct InCommon {
  std::uint64_t usages = 0;     // resources at a time, which cost the same under both
  Int128 size = 0;              // of these, and of whatever else costs the same under both
  Int128 mine = 0, theirs = 0;  // of all that begins on the days of these
};

// What an account costs by day under each billing period.
class DaySizes {
 public:
  // `mask_of`: whose sample is counted, beside the own one.
  DaySizes(const PeriodCells& cells, const PeriodCells& mask_of) {
    for (const auto& [key, cell] : cells.cells()) {
      if (!mask_of.keeps(key.charge)) continue;
      sizes_[{cells.account(cell), key.billed_in}][cell.day] += cell.size();
    }
  }
  Int128 of(const PeriodCells::Account& account, Month month,
            const std::set<std::int32_t>& days) const {
    const auto found = sizes_.find({account, month});
    if (found == sizes_.end()) return 0;
    Int128 sum = 0;
    for (const auto& [day, size] : found->second) {
      if (days.contains(day)) sum += size;
    }
    return sum;
  }
  // The days that both have.
  std::set<std::int32_t> days_in_common(const DaySizes& other, const Pair& pair) const {
    const auto& [account, month, other_month] = pair;
    std::set<std::int32_t> days;
    const auto mine = sizes_.find({account, month});
    const auto theirs = other.sizes_.find({account, other_month});
    if (mine == sizes_.end() || theirs == other.sizes_.end()) return days;
    for (const auto& [day, size] : mine->second) {
      if (theirs->second.contains(day)) days.insert(day);
    }
    return days;
  }

 private:
  std::map<std::pair<PeriodCells::Account, Month>, std::map<std::int32_t, Int128>> sizes_;
};

std::set<Month> months_of(const PeriodCells& cells) {
  std::set<Month> months;
  for (const auto& [key, cell] : cells.cells()) months.insert(key.billed_in);
  return months;
}

// A plan that is paid each month, from whichever day it began, costs the same under each. Only what
// a later bill states anew of the month before could be the same charge.
bool may_recur(const Cell& cell, Month first, Month second) {
  if (cell.is_usage) return false;
  const auto [earlier, later] = std::minmax(first, second);
  const bool begins_there = cell.begins == earlier || cell.begins == later;
  return !begins_there || cell.ends >= later || later - earlier > 1;
}

// `ordered`: both are the same cells, and each pair of months is looked at once.
std::map<Pair, InCommon> common_of(const PeriodCells& mine, const PeriodCells& theirs,
                                   bool ordered) {
  std::map<Pair, InCommon> pairs;
  const std::set<Month> months = months_of(theirs);
  for (const auto& [key, cell] : mine.cells()) {
    if (cell.size() == 0) continue;
    for (const Month month : months) {
      if (month == key.billed_in || (ordered && month < key.billed_in)) continue;
      const auto found = theirs.cells().find({key.charge, month});
      if (found == theirs.cells().end() || !cell.costs_as(found->second)) continue;
      if (may_recur(cell, key.billed_in, month)) continue;
      InCommon& common = pairs[{mine.account(cell), key.billed_in, month}];
      common.size += cell.size();
      if (cell.is_usage && found->second.is_usage) ++common.usages;
    }
  }
  if (pairs.empty()) return pairs;
  const DaySizes my_days(mine, theirs), their_days(theirs, mine);
  for (auto& [pair, common] : pairs) {
    const auto& [account, my_month, their_month] = pair;
    const auto days = my_days.days_in_common(their_days, pair);
    common.mine = my_days.of(account, my_month, days);
    common.theirs = their_days.of(account, their_month, days);
  }
  return pairs;
}

// One resource at one time may cost the same twice by chance, such as one GPU of a node that was
// billed late. Several that make up most of what both have of these days do not.
bool is_double(const InCommon& common) {
  constexpr std::uint64_t kUsagesMin = 3;
  return common.usages >= kUsagesMin && common.size >= common.mine / 2 &&
         common.size >= common.theirs / 2;
}

std::string text_of(Month month) { return fmt::format("{}-{:02}", month / 12, month % 12 + 1); }

// "1,541.25 USD of account 12"
std::string text_of(const Pair& pair, const InCommon& common, std::uint64_t sampled) {
  const auto& [name, currency] = std::get<0>(pair);
  const Decimal size = Decimal::from_ticks(common.size * static_cast<std::int64_t>(sampled));
  return fmt::format("{}{} of {}", sampled > 1 ? "about " : "",
                     exact_money(Money::from_decimal(size, currency)), name);
}

void add_findings(const PeriodCells& mine, const PeriodCells& theirs, bool is_within,
                  DoubleFindings& findings) {
  constexpr std::size_t kSaidMax = 5;
  const std::uint64_t sampled = std::max(mine.sampled(), theirs.sampled());
  std::size_t said = 0, similar = 0;
  for (const auto& [pair, common] : common_of(mine, theirs, is_within)) {
    const auto& [account, first, second] = pair;
    const std::string where =
        is_within ? fmt::format("in it under the billing periods {} and {}", text_of(first),
                                text_of(second))
                  : fmt::format(
                        "in it under the billing period {} and in the ledger under another "
                        "billing period, {}",
                        text_of(first), text_of(second));
    if (is_double(common)) {
      if (said++ >= kSaidMax) continue;
      findings.doubles.push_back(
          fmt::format("{} stand {}, charge for charge, and would count twice",
                      text_of(pair, common, sampled), where));
    } else if (similar++ < kSaidMax) {
      findings.similar.push_back(fmt::format(
          "{} stand {}, the same to the last digit; if they are the same charges, they are now "
          "counted twice",
          text_of(pair, common, sampled), where));
    }
  }
}

}  // namespace

std::set<std::chrono::sys_days> days_of(const DeliveredLines& delivered) {
  std::set<std::chrono::sys_days> days;
  for (const auto& [key, group] : delivered.groups()) {
    for (const auto& [day, sum] : group.days) days.insert(day);
  }
  return days;
}

std::set<std::string> other_periods_of(const DeliveredLines& delivered) {
  std::set<std::string> others;
  for (const auto day : days_of(delivered)) others.insert(month_of(day));
  const std::set<std::string> months = delivered.months();
  for (const std::string& month : months) others.insert(month_after(month));
  for (const std::string& month : months) others.erase(month);
  return others;
}

void find_in_other_periods(const PeriodCells& delivered, const PeriodCells& elsewhere,
                           DoubleFindings& findings) {
  add_findings(delivered, delivered, true, findings);
  add_findings(delivered, elsewhere, false, findings);
}

}  // namespace pennyweight
