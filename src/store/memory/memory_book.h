// What the memory keeper holds. Everything is sorted by what scans are ordered by, or by id.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "ledger/store.h"

namespace pennyweight {

struct KeptRun {
  Run run;
  Hash128 dimensions_digest;
  std::vector<Posting> postings;  // sorted
  std::map<WorkloadId, Labels> dimensions;
};

struct KeptRejectedRow {
  std::uint64_t import = 0;
  RejectedRow row;
};

struct MemoryBook {
  std::map<FactId, Charge> charges;
  std::map<Hash128, std::set<FactId>> charges_by_key;  // natural key to ids
  std::map<FactId, Holding> holdings;
  std::map<FactId, Node> nodes;
  std::map<FactId, Gpu> gpus;
  std::map<FactId, Usage> usages;
  std::map<FactId, Outage> outages;
  std::map<FactId, Correction> corrections;
  std::map<Hash128, KeptRejectedRow> rejected;  // by numbered content
  std::vector<ImportRecord> imports;
  std::vector<KeptRun> runs;
  bool session_open = false;
};

// Moves the staged facts of one import into the book, and what conflicts into rejected rows.
struct StagedImport {
  ImportSource source;
  std::vector<Charge> charges;
  std::vector<Holding> holdings;
  std::vector<Node> nodes;
  std::vector<Gpu> gpus;
  std::vector<Usage> usages;
  std::vector<Outage> outages;
  std::vector<Correction> corrections;
  std::vector<RejectedRow> rejected;  // the first kRejectedRowsKeptMax
  std::uint64_t rejected_count = 0;   // all of them
};
ImportOutcome settle(MemoryBook& book, StagedImport staged);

// The current run of a scope, or nothing.
KeptRun* current_run(MemoryBook& book, const Scope& scope);

}  // namespace pennyweight
