// Rollup: precomputed sums of the ledger's postings, for fast reports.
//
// Only one process at a time can open the embedded ledger, and a year of a large cluster has tens
// of millions of postings. So `serve` keeps daily sums in a file of its own, updates them after
// each change of the ledger, and answers from them without opening the ledger. The sums are exact:
// every answer equals that of Store::summarise(). The file can be deleted at any time; it is
// rebuilt.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "ledger/store.h"
#include "ledger/summary.h"
#include "reporting/rollup/first_rows.h"

namespace pennyweight::rollup {

struct Options {
  std::string path;  // of its file
  std::uint64_t memory_bytes_max = std::uint64_t{1} << 30;
  unsigned threads = 2;
};

class Rollup {
 public:
  // A file that is damaged, or was written by another version, is replaced by a new one.
  static Result<std::unique_ptr<Rollup>> open(const Options& options);
  virtual ~Rollup() = default;

  // Copies the scopes whose current run has changed. True if there were any. Queries may run
  // meanwhile; they see either all of a scope's change or nothing of it.
  virtual Result<bool> refresh(Store& store) = 0;

  // As Store::summarise(), from any thread. Nothing if the rollup can't answer the query (an
  // earlier instant, single bill lines): then ask the ledger.
  virtual Result<std::optional<std::vector<SummaryRow>>> summarise(const SummaryQuery& query) = 0;

  // The first owners of a query that is grouped by "kind" last. Nothing if summarise() would return
  // nothing.
  virtual Result<std::optional<TopOwners>> owners(const SummaryQuery& query,
                                                  const OwnersRequest& asked);
  // A page of the rows of summarise(). REQUIRES: a dimension to group by; and no time buckets,
  // except with all_or_none and Order::kKey.
  virtual Result<std::optional<RowPage>> page(const SummaryQuery& query, const PageRequest& asked);

  // The values of a dimension that start with `prefix`, with their effective costs, the costliest
  // first. For pickers.
  struct Value {
    std::string value;
    Money effective;
  };
  virtual Result<std::vector<Value>> values_of(const SummaryQuery& query,
                                               const std::string& dimension,
                                               const std::string& prefix, std::size_t at_most) = 0;

  // Changes whenever an answer may change: for conditional requests. Nothing while the ledger
  // answers in its place, or may have changed without it: nothing may be taken for unchanged then.
  virtual std::optional<std::uint64_t> version() const = 0;
};

}  // namespace pennyweight::rollup
