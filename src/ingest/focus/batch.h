// Batch: rows of texts in, full batches of charges and rejected rows out, counted. What every
// format of FOCUS file has in common.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/limits.h"
#include "ingest/csv/header.h"
#include "ingest/focus/charge_reader.h"
#include "ingest/focus/import.h"

namespace pennyweight::focus {

class Batch {
 public:
  Batch(std::string file, ImportSink& sink) : file_(std::move(file)), sink_(sink) {}

  // Once, before any row.
  Result<void> header(const csv::Header& header);
  // One row. What is returned, if anything, is to be given to reject().
  std::optional<Fault> take(std::uint64_t line, std::span<const std::string_view> fields,
                            std::span<const std::uint8_t> quoted);
  // `text` is the row as the file has it, for those who must look at it; stores want it printable,
  // and so it becomes.
  Result<void> reject(std::uint64_t line, std::string column, const std::string& reason,
                      std::string_view text);
  // REQUIRES of the caller: flush() when is_full(), before the next row.
  bool is_full() const { return filled_ == limits::kBatchRows; }
  Result<void> flush();
  // Hands over the rest.
  Result<ImportSummary> finish();

 private:
  Result<void> flush_rejected();

  std::string file_;
  ImportSink& sink_;
  std::optional<ChargeReader> reader_;
  ImportSummary summary_;
  std::vector<Charge> charges_;  // the first filled_ are full; the rest keep their memory
  std::size_t filled_ = 0;
  std::vector<RejectedRow> rejected_;
};

}  // namespace pennyweight::focus
