// FOCUS tables as CSV.
//
// Formats are those of the specification: plain decimal digits, always with a point, so that no
// reader takes an amount for a whole number; times as 2026-03-01T00:00:00Z; JSON as one flat text;
// null as nothing. A text that is itself a word for null (NULL, null, \N) is put in quotes.
#pragma once

#include <span>
#include <string>

#include "core/error.h"
#include "export/focus_table.h"
#include "ledger/charge.h"

namespace pennyweight {

void append_csv_header(std::string& out, std::span<const FocusColumn> columns);
void append_csv_row(std::string& out, std::span<const FocusCell> row);

// "5.0", "-0.0000001"
std::string focus_number(Decimal value);

// Charges word for word: what was imported and is written says the same when it is imported again,
// field by field, also in the columns that no rule reads.
//
// Usage: note() every charge, so that the columns are known; then header(), then rows().
class FocusCsv {
 public:
  explicit FocusCsv(FocusVersion version) : table_(version, Fidelity::kWordForWord) {}

  // An Error when other_columns is not a JSON object of texts.
  Result<void> note(std::span<const Charge> charges) { return table_.note(charges); }
  // The header's line. After it, nothing more can be noted.
  std::string header();
  // Appends a line for each charge. REQUIRES: header() was called, and each charge was noted.
  Result<void> rows(std::span<const Charge> charges, std::string& out);

 private:
  FocusTable table_;
};

// Charges that are at hand: header and rows at once.
Result<std::string> focus_csv(FocusVersion version, std::span<const Charge> charges);

}  // namespace pennyweight
