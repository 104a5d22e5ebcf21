// The contents of the memory store. Everything is sorted in the order of scans, or by id.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ledger/store.h"
#include "ledger/work.h"

namespace pennyweight {

struct StoredRun : RunRecord {
  std::vector<Posting> postings;  // sorted
  std::map<WorkloadId, Labels> dimensions;
};

struct StoredRejectedRow {
  std::uint64_t import = 0;
  RejectedRow row;
};

// Records that a delivery took a line back.
struct Retirement {
  std::uint64_t import = 0;
  std::optional<FactId> reversal;  // the line that reverses it; absent if it left the accounts
};

struct MemoryLedger {
  // Every line ever imported, and the reversals.
  std::map<FactId, Charge> charges;
  // in order of arrival; without reversals
  std::map<Hash128, std::vector<FactId>> charges_by_content;
  std::map<Hash128, std::set<FactId>> charges_by_key;  // by natural key; likewise
  std::map<FactId, Retirement> retired;
  std::map<std::string, Closing> closings;        // by month
  std::map<std::string, IssuedInvoice> invoices;  // by number
  std::map<FactId, Holding> holdings;
  std::map<FactId, Node> nodes;
  std::map<FactId, Gpu> gpus;
  std::map<FactId, Usage> usages;
  std::map<FactId, Outage> outages;
  std::map<FactId, Correction> corrections;
  std::map<FactId, Outcome> outcomes;
  std::map<Hash128, StoredRejectedRow> rejected;  // by numbered content
  std::vector<ImportRecord> imports;
  std::vector<StoredRun> runs;
  std::vector<std::pair<std::uint64_t, std::vector<Invalidation>>> invalidated;  // by import
  std::uint64_t claims_made = 0;
  std::map<Scope, ClaimState> claims;     // the newest
  std::map<Scope, WorkCompletion> done;   // the newest
  std::map<std::string, WorkPlan> plans;  // by month, the newest
  bool session_open = false;

  bool is_closed(const std::string& month) const { return closings.contains(month); }
  // Whether a line is in the accounts of its month.
  bool is_booked(const FactId& line) const {
    const auto found = retired.find(line);
    return found == retired.end() || found->second.reversal.has_value();
  }
};

// Moves the staged facts of one import into the ledger, and conflicts into the rejected rows.
struct StagedImport {
  ImportSource source;
  std::vector<Charge> charges;
  std::vector<Holding> holdings;
  std::vector<Node> nodes;
  std::vector<Gpu> gpus;
  std::vector<Usage> usages;
  std::vector<Outage> outages;
  std::vector<Correction> corrections;
  std::vector<Outcome> outcomes;
  std::vector<RejectedRow> rejected;  // the first kRejectedRowsKeptMax
  std::uint64_t rejected_count = 0;   // all of them
  InvalidationCollector invalidations;
};
// Returns an error if a replacement is not complete; the ledger is then unchanged.
Result<ImportOutcome> commit_import(MemoryLedger& ledger, StagedImport staged,
                                    const CommitTerms& terms);

// The current run of a scope; absent if there is none.
StoredRun* current_run(MemoryLedger& ledger, const Scope& scope);

}  // namespace pennyweight
