// FocusTable: charges as rows of the FOCUS dataset Cost and Usage: all columns of a version in
// alphabetical order, then custom columns in alphabetical order. To the letter, BillingAccountType
// and SubAccountType are left out of a bill that has none: they are optional, and may not be null.
//
// Usage: note() every charge, so that the custom columns are known; settle(); then fill() a row for
// each charge. The table holds the columns, and never the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "duckdb/table_writer.h"
#include "export/focus_column.h"
#include "ledger/charge.h"

namespace pennyweight {

// monostate is null; Decimal, Instant or text otherwise, by the column's type.
using FocusCell = duckdb::Cell;
using FocusRow = std::vector<FocusCell>;

enum class Fidelity {
  // Import of what is written gives the same charges: columns that are not of the version keep the
  // names that they came with, and what no rule of ours reads stays the text that it was.
  kWordForWord,
  // As the specification wants it: columns that are not of the version become custom columns (x_),
  // and every number is one.
  kToTheLetter,
};

class FocusTable {
 public:
  // `own`: the custom columns that the writer fills itself; of these the table fills
  // kOriginChargeId. A column of the bill that has such a name is written as x_Origin…, and so are
  // the bill's own Allocated columns of the lines that we allocate. Only a line that was exported
  // whole by a ledger keeps the kOriginChargeId that it came with.
  FocusTable(FocusVersion version, Fidelity fidelity, std::vector<FocusColumn> own = {});

  // An Error when other_columns is not a JSON object of texts.
  Result<void> note(std::span<const Charge> charges);
  // After it, nothing more can be noted.
  void settle();

  FocusVersion version() const { return version_; }
  // REQUIRES of these and the following: settle() was called.
  const std::vector<FocusColumn>& columns() const { return columns_; }
  // REQUIRES: there is such a column.
  std::size_t place(std::string_view name) const;
  bool has(std::string_view name) const { return places_.contains(name); }

  // What the charge says, the writer's own columns null but for kOriginChargeId. REQUIRES: the
  // charge was noted.
  Result<void> fill(const Charge& charge, FocusRow& row);

  // Texts in number columns that are no numbers, or have digits beyond 10^-18, by column: the first
  // are written as null, the others rounded half to even. Only kToTheLetter reads them.
  const std::map<std::string, std::uint64_t>& unreadable() const { return unreadable_; }
  const std::map<std::string, std::uint64_t>& rounded() const { return rounded_; }

 private:
  void note_booking(const Charge& charge);
  void fill_own(const Charge& charge, const std::string& origin, FocusRow& row) const;
  bool fills(std::string_view own) const;
  void note_name(std::string_view source) { noted_.emplace(source); }
  std::string column_name_of(std::string_view source) const;
  void set_other(std::string_view source, std::string_view text, FocusRow& row);

  FocusVersion version_;
  Fidelity fidelity_;
  std::vector<FocusColumn> own_;
  std::set<std::string, std::less<>> noted_;          // names as the bill has them
  std::set<std::string, std::less<>> account_types_;  // columns of account types that there are
  std::vector<FocusColumn> columns_;
  std::map<std::string, std::size_t, std::less<>> places_;   // column's name → index
  std::map<std::string, std::size_t, std::less<>> sources_;  // the bill's name → index
  std::map<std::string, std::uint64_t> unreadable_;
  std::map<std::string, std::uint64_t> rounded_;
};

inline constexpr std::string_view kOriginChargeId = "x_OriginChargeId";
inline constexpr std::string_view kBookedMonth = "x_BookedMonth";
inline constexpr std::string_view kTakesBack = "x_TakesBackChargeId";

// The five columns of a split that the data generator computed, since 1.3.
inline constexpr std::string_view kAllocatedColumns[] = {"AllocatedMethodDetails",
                                                         "AllocatedMethodId", "AllocatedResourceId",
                                                         "AllocatedResourceName", "AllocatedTags"};

}  // namespace pennyweight
