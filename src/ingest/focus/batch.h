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
#include "ingest/csv/header.h"
#include "ingest/focus/charge_reader.h"
#include "ingest/focus/import.h"

namespace pennyweight::focus {

class Batch {
 public:
  Batch(std::string file, ImportSink& sink) : file_(std::move(file)), sink_(sink) {}

  // Once, before any row.
  Result<void> header(const csv::Header& header);
  // `text` is the row as the file has it, for those who must look at it when it is rejected.
  Result<void> row(std::uint64_t line, std::span<const std::string_view> fields,
                   std::span<const std::uint8_t> quoted, std::string_view text);
  Result<void> reject(std::uint64_t line, std::string column, std::string reason,
                      std::string_view text);
  // Hands over the rest.
  Result<ImportSummary> finish();

 private:
  Result<void> flush_charges();
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
