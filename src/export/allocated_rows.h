// AllocatedRows: one line of the bill → its rows as allocated: one for each owner, and one for what
// nobody held.
//
// FOCUS, attribute Data Generator-Calculated Split Cost Allocation Handling: dimensions and unit
// prices are those of the origin charge, every summable column adds up to it, and the ratios of one
// origin add up to 1. The four costs are the sums of the ledger's postings; quantities are split by
// the same weights, by largest remainder at 10^-18.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "export/focus_table.h"
#include "export/null_rules.h"
#include "export/share.h"
#include "ledger/charge.h"

namespace pennyweight {

// What is said about the run that made a share.
struct RunFacts {
  std::string method_id;       // AllocatedMethodId: one for each policy
  std::string cluster;         // its scope
  std::string basis;           // "request", "usage", "max", "blend"
  std::string policy_version;  // 32 hexadecimal digits
  std::uint64_t number = 0;
};

// The custom columns that these rows have, to give to the FocusTable. In 1.2 also the Allocated
// columns, which it lacks.
std::vector<FocusColumn> allocation_columns(FocusVersion version, bool with_transfers);

// The ratios of weights: counts of 10^-15, which a JSON reader with doubles still reads exactly.
// They add up to 10^15. REQUIRES: at least one weight; where all are zero the first has all.
std::vector<UInt128> ratios_of(std::vector<Weight> weights);
inline constexpr std::uint64_t kRatioParts = 1'000'000'000'000'000;

class AllocatedRows {
 public:
  using Sink = std::function<Result<void>(const FocusRow&)>;

  // REQUIRES: the table is settled, and has allocation_columns().
  AllocatedRows(FocusTable& table, std::vector<RunFacts> runs)
      : table_(table), rules_(table), runs_(std::move(runs)) {}

  // The rows of a line. Without shares, and where all of it is `shared` cost that no rule divides,
  // it is written as it stands, with Allocated columns null. An Error where the shares do not add
  // up to the line.
  Result<void> write(const Charge& charge, std::span<const ChargeShare> shares, const Sink& sink);

  // Rows of a transfer (ledger/posting.h), which add up to zero: what was spread or corrected.
  Result<void> write_transfer(std::span<const ChargeShare> shares, const Interval& billing_period,
                              const Sink& sink) const;

  const NullRules& rules() const { return rules_; }

 private:
  void split_quantities(const FocusRow& origin, const std::vector<Weight>& weights,
                        std::vector<FocusRow>& rows) const;
  void set(FocusRow& row, std::string_view column, FocusCell cell) const;
  void set_allocated(FocusRow& row, std::string_view column, FocusCell cell) const;
  void keep_origins_allocation(FocusRow& row) const;
  std::string details(const ChargeShare& share, UInt128 ratio, bool tells_time) const;

  FocusTable& table_;
  NullRules rules_;
  std::vector<RunFacts> runs_;
};

// Transfers add up to zero; what does not is a line that is gone since it was allocated.
bool is_transfer(std::span<const ChargeShare> shares);

}  // namespace pennyweight
