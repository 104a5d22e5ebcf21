// FocusCsv: charges as a FOCUS table (focus.finops.org, dataset Cost and Usage) in CSV, version 1.3
// or 1.4: all columns of the version in alphabetical order, then custom columns in alphabetical
// order.
//
// What was imported and is written says the same when it is imported again, field by field, also in
// the columns that no rule reads. Formats are those of the specification: plain decimal digits,
// times as 2026-03-01T00:00:00Z, Tags as one flat JSON object, null as nothing. A text that is
// itself a word for null (NULL, null, \N) is put in quotes.
//
// Two deprecated columns of 1.3, ProviderName and PublisherName, are filled with the service
// provider where the charge says nothing else. Columns of other versions are written among the
// custom ones under the names that they came with.
//
// Usage: note() every charge, so that the columns are known; then header(), then rows().
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "ledger/charge.h"

namespace pennyweight {

enum class FocusVersion { k1_3, k1_4 };

class FocusCsv {
 public:
  explicit FocusCsv(FocusVersion version);

  // An Error when other_columns is not a JSON object of texts.
  Result<void> note(std::span<const Charge> charges);
  // The header's line. After it, nothing more can be noted.
  std::string header();
  // Appends a line for each charge. REQUIRES: header() was called, and each charge was noted.
  Result<void> rows(std::span<const Charge> charges, std::string& out);

 private:
  std::set<std::string, std::less<>> custom_;  // names of the columns after those of FOCUS
  FocusVersion version_;
  std::vector<std::string> columns_;                        // as in the header
  std::map<std::string, std::size_t, std::less<>> places_;  // name → index in columns_
};

// Charges that are at hand: header and rows at once.
Result<std::string> focus_csv(FocusVersion version, std::span<const Charge> charges);

}  // namespace pennyweight
