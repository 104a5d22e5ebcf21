// Rows: what a flush hands to the ledger, frozen as bytes.
//
// Once a snapshot holds rows they never change: after a crash they are imported again, and only the
// same facts are harmless. So they are kept as they were, texts and all, and not by reference to
// devices that live on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/error.h"
#include "ledger/fact_batch.h"
#include "ledger/node.h"
#include "ledger/outcome.h"
#include "ledger/usage.h"
#include "live/codec.h"

namespace pennyweight::live {

void save_usage(Writer& writer, const Usage& usage);
void save_gpu(Writer& writer, const Gpu& gpu);
void save_outcome(Writer& writer, const Outcome& outcome);
// Nothing where the bytes are none of ours.
std::optional<Usage> load_usage(Reader& reader);
std::optional<Outcome> load_outcome(Reader& reader);

struct RowSinks {
  FactSink<Usage> usages;
  FactSink<Gpu> gpus;
  FactSink<Outcome> outcomes;
};

// The rows of one flush.
struct Rows {
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
  // In batches of at most limits::kBatchRows. kBadFile where the bytes are none of ours; a sink's
  // Error ends it.
  Result<void> read(const RowSinks& sinks) const;

  void save(Writer& writer) const;
  bool load(Reader& reader);
};

}  // namespace pennyweight::live
