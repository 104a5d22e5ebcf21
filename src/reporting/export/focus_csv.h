// Writes FOCUS tables as CSV.
//
// Formats are those of the specification: plain decimal digits, always with a point, so that no
// reader takes an amount for an integer; times as 2026-03-01T00:00:00Z; JSON as one flat text;
// null as an empty field. A text that readers take for null (NULL, null, \N) is quoted.
#pragma once

#include <span>
#include <string>

#include "core/error.h"
#include "ledger/charge.h"
#include "reporting/export/focus_table.h"

namespace pennyweight {

void append_csv_header(std::string& out, std::span<const FocusColumn> columns);
void append_csv_row(std::string& out, std::span<const FocusCell> row);

// "5.0", "-0.0000001"
std::string focus_number(Decimal value);

// Writes charges without loss: importing the file again gives the same charges, field by field,
// including columns that no rule reads.
//
// Usage: note() every charge, which determines the columns; then header(), then rows().
class FocusCsv {
 public:
  explicit FocusCsv(FocusVersion version) : table_(version, Fidelity::kLossless) {}

  // An Error when other_columns is not a JSON object of texts.
  Result<void> note(std::span<const Charge> charges) { return table_.note(charges); }
  // The header line. REQUIRES: no note() call follows.
  std::string header();
  // Appends a line for each charge. REQUIRES: header() was called, and each charge was noted.
  Result<void> rows(std::span<const Charge> charges, std::string& out);

 private:
  FocusTable table_;
};

// Header and rows of charges in memory.
Result<std::string> focus_csv(FocusVersion version, std::span<const Charge> charges);

}  // namespace pennyweight
