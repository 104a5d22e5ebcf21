// BillReader: what each provider's format must do: a row of texts → lines of a bill in FOCUS terms.
//
// Files, compression, CSV, Parquet, batches, counting and rejected rows are the same for all of
// them and stand in this room (csv_import.h, parquet_import.h); a format is only its header and its
// rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "ingest/bill/import.h"
#include "ingest/csv/header.h"
#include "ledger/charge.h"

namespace pennyweight::bill {

struct Fault {
  std::string column;
  std::string reason;  // what is wrong and what to do
};

// A row of texts. What is null: an empty text. `quoted[i]` tells whether the field stood in quotes;
// texts of Parquet count as quoted.
struct TextRow {
  std::span<const std::string_view> fields;  // as many as the header has columns
  std::span<const std::uint8_t> quoted;
};

// The charges that rows become. They keep their memory from batch to batch.
class Lines {
 public:
  // A charge to be filled whose fields hold what a former row left in them: for readers that set
  // every field.
  Charge& add_used();
  // A charge to be filled in which nothing is set: every text empty, every optional nothing, costs
  // zero USD, both periods the first millisecond of 1970. The reference lives until the next add.
  Charge& add();
  std::size_t size() const { return size_; }
  std::span<Charge> all() { return std::span<Charge>(charges_).first(size_); }
  // Forgets those from `size` on. REQUIRES: size <= size().
  void cut(std::size_t size);

 private:
  std::vector<Charge> charges_;
  std::size_t size_ = 0;
};

class BillReader {
 public:
  virtual ~BillReader() = default;

  // Once, before any row. An Error lists the columns that are missing without which no line can be
  // taken.
  virtual Result<void> header(const csv::Header& header) = 0;

  // One row → no line, one or several (a GCP row with credits). A Fault: the row is kept aside, and
  // what was added to `lines` for it is forgotten. A row that is rightly no line of its own (AWS's
  // split rows repeat the cost of an instance) is passed over: return PassedOver, which is counted
  // by reason and shown. Nobody drops a row without one of the three.
  struct PassedOver {
    std::string_view reason;  // a text that lives for ever: "repeats the cost of its instance"
  };
  struct Outcome {
    std::optional<Fault> fault = {};
    std::optional<PassedOver> passed_over = {};
  };
  virtual Outcome read(const TextRow& row, Lines& lines) = 0;

  // Once, after the last row: what the reader counted (version, rounded_numbers, warnings, …).
  virtual void describe(ImportSummary& summary) const = 0;
};

}  // namespace pennyweight::bill
