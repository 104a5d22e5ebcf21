// FocusTable: turns charges into rows of the FOCUS dataset Cost and Usage: all columns of a version
// in alphabetical order, then custom columns in alphabetical order.
//
// Usage: note() every charge, which determines the custom columns; fix_columns(); then fill() a row
// for each charge. The table holds the columns, never the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/duckdb/table_writer.h"
#include "core/error.h"
#include "ledger/charge.h"
#include "reporting/export/focus_column.h"
#include "reporting/export/unit_prices.h"

namespace pennyweight {

// monostate is null; Decimal, Instant or text otherwise, by the column's type.
using FocusCell = duckdb::Cell;
using FocusRow = std::vector<FocusCell>;
// The columns of a bill line that no field of Charge holds, by name.
using OtherTexts = std::vector<std::pair<std::string, std::string>>;

enum class Fidelity {
  // Importing the result gives the same charges: columns that the version lacks keep their original
  // names, and values that no rule reads stay as they were.
  kLossless,
  // As the specification requires: columns that the version lacks become custom columns (x_), and
  // number columns hold only numbers.
  kConformant,
};

// What the rules of prices ask of a row.
struct RowKind {
  bool is_usage = false;
  bool is_purchase = false;
  bool is_unused = false;       // the unused part of a commitment
  bool must_be_priced = false;  // usage or purchase, and no correction
};

class FocusTable {
 public:
  // `own`: the custom columns that the caller fills, except for kOriginChargeId, which the table
  // fills. A column of the bill with such a name becomes x_Origin…, and so do the bill's Allocated
  // columns of charges that we allocate. A charge that another ledger exported whole keeps its
  // kOriginChargeId.
  FocusTable(FocusVersion version, Fidelity fidelity, std::vector<FocusColumn> own = {});

  // An Error when other_columns is not a JSON object of texts.
  Result<void> note(std::span<const Charge> charges);
  // REQUIRES: no note() call follows.
  void fix_columns();

  FocusVersion version() const { return version_; }
  // The following REQUIRE: fix_columns() was called.
  const std::vector<FocusColumn>& columns() const { return columns_; }
  // REQUIRES: there is such a column.
  std::size_t column_index(std::string_view name) const;
  bool has(std::string_view name) const { return column_indexes_.contains(name); }

  // Null too where the table has no such column.
  bool is_null(const FocusRow& row, std::string_view column) const;
  // Empty for null, and for what is no text.
  std::string_view text(const FocusRow& row, std::string_view column) const;
  RowKind kind_of(const FocusRow& row) const;

  // Writes the charge's values; the caller's own columns are null, except kOriginChargeId.
  // In a kConformant table prices times quantities give the costs (unit_prices.h), and a value that
  // gave way to another is in kReplacedValues. An Error names a line of which no price does.
  // REQUIRES: the charge was noted.
  Result<void> fill(const Charge& charge, FocusRow& row);

  // For the two rows of a line whose effective cost was parted from it (effective_rest.h): the rest
  // names the line's origin, and an effective cost in another pricing currency is on one of them.
  void link_rest(FocusRow& line, FocusRow& rest, const Charge& parted) const;

  // Counts by column, for kConformant: texts in number columns that are no numbers, written as
  // null; and numbers with digits beyond 10^-18, rounded half to even.
  const std::map<std::string, std::uint64_t>& unreadable() const { return unreadable_; }
  const std::map<std::string, std::uint64_t>& rounded() const { return rounded_; }
  // Charges by column, for kConformant: stated values that gave way, see kReplacedValues.
  const std::map<std::string, std::uint64_t>& replaced() const { return replaced_; }

 private:
  void note_booking(const Charge& charge);
  void note_replaced(const Charge& charge, const OtherTexts& others);
  void replace_category(const Charge& charge, Replaced& replaced, FocusRow& row) const;
  Result<void> replace(const Charge& charge, const OtherTexts& others, FocusRow& row);
  void fill_own(const Charge& charge, const std::string& origin, FocusRow& row) const;
  bool fills(std::string_view own) const;
  void note_name(std::string_view source) { noted_.emplace(source); }
  std::string column_name(std::string_view source) const;
  void set_other(std::string_view source, std::string_view text, FocusRow& row);

  FocusVersion version_;
  Fidelity fidelity_;
  std::vector<FocusColumn> own_;
  std::set<std::string, std::less<>> noted_;  // column names of the bill
  std::vector<FocusColumn> columns_;
  std::map<std::string, std::size_t, std::less<>> column_indexes_;  // column's name → index
  std::map<std::string, std::size_t, std::less<>> source_indexes_;  // the bill's name → index
  std::map<std::string, std::uint64_t> unreadable_;
  std::map<std::string, std::uint64_t> rounded_;
  std::map<std::string, std::uint64_t> replaced_;
  // Lines of each category, by service: where a bill files one service under several.
  std::map<std::string, std::map<std::string, std::uint64_t>, std::less<>> categories_;
};

inline constexpr std::string_view kOriginChargeId = "x_OriginChargeId";
// A JSON object: the values that the bill states in columns where FOCUS allows them not.
inline constexpr std::string_view kReplacedValues = "x_ReplacedValues";
// Of a row that carries the effective cost of another (effective_rest.h): the other's origin.
inline constexpr std::string_view kEffectiveCostOf = "x_EffectiveCostOfChargeId";
inline constexpr std::string_view kBookedMonth = "x_BookedMonth";
inline constexpr std::string_view kTakesBack = "x_TakesBackChargeId";

// The five columns of a data generator-calculated split; FOCUS 1.3 added them.
inline constexpr std::string_view kAllocatedColumns[] = {"AllocatedMethodDetails",
                                                         "AllocatedMethodId", "AllocatedResourceId",
                                                         "AllocatedResourceName", "AllocatedTags"};

}  // namespace pennyweight
