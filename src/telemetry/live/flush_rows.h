// FlushRows: the rows of one flush, frozen as bytes on their way to the ledger.
//
// Rows that a snapshot has never change: after a crash they are imported again, which is harmless
// only for identical facts. So they are kept as complete copies, and do not refer to devices that
// change later.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/error.h"
#include "ledger/fact_batch.h"
#include "ledger/node.h"
#include "ledger/outcome.h"
#include "ledger/usage.h"
#include "telemetry/live/codec.h"

namespace pennyweight::live {

void save_usage(ByteWriter& writer, const Usage& usage);
void save_gpu(ByteWriter& writer, const Gpu& gpu);
void save_outcome(ByteWriter& writer, const Outcome& outcome);
// Nothing where the bytes are malformed.
std::optional<Usage> load_usage(ByteReader& reader);
std::optional<Outcome> load_outcome(ByteReader& reader);

struct RowSinks {
  FactSink<Usage> usages;
  FactSink<Gpu> gpus;
  FactSink<Outcome> outcomes;
};

// The rows of one flush.
struct FlushRows {
  std::uint64_t flush = 0;
  std::uint64_t usages = 0;
  std::uint64_t gpus = 0;
  std::uint64_t outcomes = 0;
  std::string usage_bytes;
  std::string gpu_bytes;
  std::string outcome_bytes;

  std::uint64_t bytes() const {
    return usage_bytes.size() + gpu_bytes.size() + outcome_bytes.size();
  }
  bool empty() const { return usages + gpus + outcomes == 0; }
  // In batches of at most limits::kBatchRows. kBadFile: the bytes are malformed. An Error of a sink
  // ends it.
  Result<void> read(const RowSinks& sinks) const;

  void save(ByteWriter& writer) const;
  bool load(ByteReader& reader);
};

}  // namespace pennyweight::live
