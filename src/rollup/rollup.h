// Rollup: sums of the ledger's postings, kept ready for those who look.
//
// The embedded ledger is one file that one process has at a time, and a year of a large cluster is
// tens of millions of postings. So `serve` keeps the sums by day in a file of its own, brings them
// up to the ledger after each change, and answers from them without touching the ledger. A sum of
// sums is exact: every answer is, with ==, what Store::summarise() gives. It can be deleted at any
// time and is made again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "ledger/store.h"
#include "ledger/summary.h"
#include "rollup/first_rows.h"

namespace pennyweight::rollup {

struct Options {
  std::string path;  // of its file
  std::uint64_t memory_bytes_max = std::uint64_t{1} << 30;
  unsigned threads = 2;
};

class Rollup {
 public:
  // One that was written by another version, or is damaged, is begun anew.
  static Result<std::unique_ptr<Rollup>> open(const Options& options);
  virtual ~Rollup() = default;

  // Copies what changed in the ledger since: scopes whose current run is another one. True where
  // anything did. Queries go on meanwhile, and see either all of a scope's change or nothing.
  virtual Result<bool> refresh(Store& store) = 0;

  // As Store::summarise(), from any thread. Nothing where the rollup does not keep what is asked
  // (an earlier instant, single bill lines): ask the ledger.
  virtual Result<std::optional<std::vector<SummaryRow>>> summarise(const SummaryQuery& query) = 0;

  // As summarise() of a query grouped by "kind" last, and what a report shows of it where it shows
  // only the first owners. Nothing where summarise() says nothing.
  virtual Result<std::optional<Owners>> owners(const SummaryQuery& query, const OwnersAsked& asked);
  // A page of what summarise() would give. REQUIRES: a dimension to group by, and no buckets unless
  // it is all or none, by key.
  virtual Result<std::optional<PageOfRows>> page(const SummaryQuery& query, const PageAsked& asked);

  // Values that a dimension has, with their effective cost, the costliest first; those with a
  // prefix. For choosers.
  struct Value {
    std::string value;
    Money effective;
  };
  virtual Result<std::vector<Value>> values_of(const SummaryQuery& query,
                                               const std::string& dimension,
                                               const std::string& prefix, std::size_t at_most) = 0;

  // Changes whenever an answer may: for conditional requests.
  virtual std::uint64_t version() const = 0;
};

}  // namespace pennyweight::rollup
