// RowMoney: what a row costs that did not become a charge, so that no money of a file goes missing
// unsaid.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/bills/charge_buffer.h"
#include "ingest/bills/row_reader.h"
#include "ingest/csv/header.h"
#include "ledger/charge.h"

namespace pennyweight::bill {

struct MeasuredRow {
  std::optional<Costs> costs;  // nothing: not readable
  std::string month;           // of the billing period; empty: not readable
};

class RowMoney {
 public:
  RowMoney(const csv::Header& header, RowReaderFactory open_reader)
      : header_(header), open_reader_(std::move(open_reader)) {}

  // A good row of the file: its texts stand in for faulty ones. Only the first is kept.
  void remember_good_row(const TextRow& row);
  bool knows_good_row() const { return !good_fields_.empty(); }

  // What a faulty row costs: it is read once more with the faulty texts replaced by those of a good
  // row. Costs are not readable where the fault is in an amount, in a currency, or in what decides
  // how an amount is read.
  MeasuredRow measure(const TextRow& row, const RowFault& fault);
  // What the cost column of a row says, as all four costs.
  std::optional<Costs> own_cost(const TextRow& row) const;

 private:
  std::optional<std::size_t> position_of(std::string_view column) const;

  const csv::Header& header_;
  RowReaderFactory open_reader_;
  std::unique_ptr<RowReader> reader_;  // a second one, so that nothing is counted twice
  ChargeBuffer charges_;
  std::vector<std::string> good_fields_;
  std::vector<std::uint8_t> good_quoted_;
};

// Whether an amount depends on the column: its name says cost, amount, quantity, currency, …
bool decides_amounts(std::string_view column);
// Whether a column says whose line it is, for which month, and which line (ledger/delivery.h), by
// the words of its name.
bool decides_identity(std::string_view column);

}  // namespace pennyweight::bill
