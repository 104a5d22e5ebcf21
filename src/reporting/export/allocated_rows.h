// AllocatedRows: splits a charge into FOCUS rows as allocated: one per owner, and one for what no
// owner held.
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
#include "ledger/charge.h"
#include "reporting/export/focus_defaults.h"
#include "reporting/export/focus_table.h"
#include "reporting/export/null_rules.h"
#include "reporting/export/share.h"

namespace pennyweight {

// Describes the run that made a share.
struct RunDescription {
  std::string method_id;       // AllocatedMethodId: one for each policy
  std::string cluster;         // its scope
  std::string basis;           // "request", "usage", "max", "blend"
  std::string policy_version;  // 32 hexadecimal digits
  std::uint64_t number = 0;
};

// The custom columns of these rows, for the FocusTable; for version 1.2 including the Allocated
// columns, which it lacks.
std::vector<FocusColumn> allocation_columns(FocusVersion version, bool with_transfers);

// The ratios of the weights in units of 10^-15, which a JSON reader with doubles reads exactly.
// They add up to 10^15. If all weights are zero, the first ratio is 1. REQUIRES: at least one
// weight.
std::vector<UInt128> weight_ratios(std::vector<Weight> weights);
inline constexpr std::uint64_t kRatioParts = 1'000'000'000'000'000;

class AllocatedRows {
 public:
  using Sink = std::function<Result<void>(const FocusRow&)>;

  // REQUIRES: the table's columns are fixed and include allocation_columns().
  AllocatedRows(FocusTable& table, std::vector<RunDescription> runs)
      : table_(table), rules_(table), defaults_(table), runs_(std::move(runs)) {}

  // Writes the rows of a charge. Without shares, and where all of it is `shared` cost that no rule
  // divides, it is written whole, with null Allocated columns. An Error where the shares do not add
  // up to the charge.
  Result<void> write(const Charge& charge, std::span<const ChargeShare> shares, const Sink& sink);

  // Writes the rows of a transfer (ledger/posting.h), which add up to zero.
  Result<void> write_transfer(std::span<const ChargeShare> shares, const Interval& billing_period,
                              const Sink& sink) const;

  const NullRules& rules() const { return rules_; }
  const FocusDefaults& defaults() const { return defaults_; }
  // Lines whose effective cost is in a row of its own (effective_rest.h).
  std::uint64_t parted() const { return parted_; }

 private:
  Result<FocusRow> origin_row(const Charge& charge);
  Result<void> write_parts(const Charge& charge, FocusRow origin,
                           std::span<const ChargeShare> shares, const Sink& sink);
  void split_quantities(const FocusRow& origin, const std::vector<Weight>& weights,
                        std::vector<FocusRow>& rows) const;
  void set(FocusRow& row, std::string_view column, FocusCell cell) const;
  void set_allocated(FocusRow& row, std::string_view column, FocusCell cell) const;
  void keep_origins_allocation(FocusRow& row) const;
  std::string details(const ChargeShare& share, UInt128 ratio, bool has_gpu_time) const;

  FocusTable& table_;
  NullRules rules_;
  FocusDefaults defaults_;
  std::uint64_t parted_ = 0;
  std::vector<RunDescription> runs_;
};

// Shares of a transfer add up to zero. Others without a charge belong to one that was retired since
// its allocation.
bool is_transfer(std::span<const ChargeShare> shares);

}  // namespace pennyweight
