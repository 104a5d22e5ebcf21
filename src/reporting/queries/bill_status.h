// Queries what imports of bills left open: rows that were set aside and nobody decided about, parts
// of a delivery that are missing, and the provider's totals beside what the ledger has.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/instant.h"
#include "ledger/bill_statement.h"
#include "ledger/store.h"
#include "reporting/table.h"

namespace pennyweight {

// The statement of one import, without its rows.
struct StatedImport {
  std::uint64_t number = 0;
  Instant at;
  std::string name;    // of its file
  std::string format;  // ImportSource::format
  BillStatement statement;
  std::vector<std::string> months() const;  // of its delivered charges, sorted
};

struct OpenAsideRow {
  std::uint64_t import = 0;
  AsideRow row;
  std::vector<std::string> months;  // that it may belong to; empty: it may be of any
  std::string id() const;           // "4.2"
};

struct MissingParts {
  std::string delivery;
  std::vector<std::uint64_t> missing;  // of `parts`
  std::uint64_t parts = 0;
  std::vector<std::string> months;
  MoneyOfRows there;  // of the parts that came
  std::string fault;  // of a delivery with a manifest, which was refused: "m-2.csv is missing"
  // "part 2 of 3 of the delivery march is missing"
  std::string text() const;
};

struct CheckedTotal {
  ControlTotal total;
  Money found;  // in the ledger
  bool equal() const { return total.billed == found; }
};

struct BillStatus {
  std::vector<StatedImport> imports;  // with a statement, of the month; by number
  std::vector<OpenAsideRow> aside;    // by import, then row
  MoneyOfRows aside_money;            // of them
  std::vector<MissingParts> missing;
  std::vector<CheckedTotal> totals;  // the newest of each month, provider, account and service

  bool totals_equal() const;
  // "checked against USD 1,234.56 of --expect-total", "not checked against any total of the
  // provider"
  std::string checked_against() const;
};

// `month`: empty for all.
Result<BillStatus> query_bill_status(Store& store, const std::string& month);

// A row of a table for each open row, total or import.
Table aside_table(const BillStatus& status);
Table totals_table(const BillStatus& status);

// What is billed in the ledger under a total: the lines of its month that count, whichever month
// they are booked in.
Result<std::vector<CheckedTotal>> check_totals(Store& store,
                                               const std::vector<ControlTotal>& totals);
// Whether a charge is one of those that a total is about.
bool is_of_total(const Charge& charge, const ControlTotal& total);

}  // namespace pennyweight
