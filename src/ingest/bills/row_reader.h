// RowReader: turns the rows of one bill into charges in FOCUS terms.
//
// A provider's format is a RowReaderFactory: it looks at the header of a file and returns the
// reader of its rows, or an Error. Files, compression, CSV, Parquet, JSON, batches, counts and
// rejected rows are the same for every format and live in this module (csv_import.h,
// parquet_import.h, json_records.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "ingest/bills/charge_buffer.h"
#include "ingest/bills/import.h"
#include "ingest/csv/header.h"

namespace pennyweight::bill {

// Why a row can't be imported.
struct RowFault {
  std::string column;
  std::string reason;  // what is wrong and what to do
};

// A row of texts. A null is an empty text. `quoted[i]` is 1 where the field stood in quotes; texts
// of Parquet count as quoted.
struct TextRow {
  std::span<const std::string_view> fields;  // as many as the header has columns
  std::span<const std::uint8_t> quoted;
};

// A row that is rightly no charge of its own, such as AWS's split rows, which repeat the cost of
// an instance. Skipped rows are counted by reason and shown.
struct SkippedRow {
  std::string_view reason;  // of static storage: "repeats the cost of its instance"
};

// What became of a row: neither is set, and it became charges; or one of the two is set.
struct RowOutcome {
  std::optional<RowFault> fault = {};
  std::optional<SkippedRow> skipped = {};
};

class RowReader {
 public:
  virtual ~RowReader() = default;

  // Adds the charges of one row to `charges`: one, or several (a GCP row with credits). A row with
  // a fault is set aside; what was added for it, or for a skipped row, is removed again. Every row
  // becomes a charge, is set aside or is skipped.
  // REQUIRES: as many fields as the header has columns.
  virtual RowOutcome read(const TextRow& row, ChargeBuffer& charges) = 0;

  // Once, after the last row: what the reader counted (kind, rounded_numbers, warnings, …).
  virtual void describe(ImportSummary& summary) const = 0;
};

// Opens a reader for the rows under a header. An Error lists the columns without which no charge
// can be read.
using RowReaderFactory = std::function<Result<std::unique_ptr<RowReader>>(const csv::Header&)>;

// What a factory returns, of a reader by value.
template <class Reader>
Result<std::unique_ptr<RowReader>> boxed(Result<Reader> reader) {
  if (!reader) return std::unexpected(std::move(reader).error());
  return std::make_unique<Reader>(*std::move(reader));
}

}  // namespace pennyweight::bill
