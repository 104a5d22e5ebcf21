// AccountingReader: LSF's accounting file lsb.acct, which `bacct` and `bhist` read too, as
// holdings.
//
//   "JOB_FINISH" "10.108" 1649214696 521375 10779 33620486 1 1648726871 0 0 1648726872 "ann" "gpu"
//   …
//
// One line a record; the order of its fields is that of lsb.acct(5), which has been the same up to
// the index of an array's element since LSF 6. Read are: the job's number, its submission and
// start, its user, queue, hosts (each as often as it gave slots, or "16*host"), status, name,
// project, exit status and array index. Slots are taken for CPUs.
//
// GPUs: the job's GPU requirement, a field "num=2:mode=shared:…", as `bsub -gpu` and queues give
// it. Its number is of each host, or with "/task" of each slot. A job that asks for GPUs in another
// way (rusage[ngpus_…]) is rejected: whether that number is of the job, its hosts or its slots is
// configured elsewhere, so nobody can tell from the file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/id.h"
#include "core/instant.h"
#include "ingest/lines/line_feeder.h"
#include "ledger/fact_batch.h"
#include "ledger/holding.h"
#include "ledger/outcome.h"
#include "ledger/rejected_row.h"

namespace pennyweight::lsf {

struct AccountingOptions {
  std::string file;  // for messages
  ClusterId cluster;
  Instant read_at;  // nothing in the file may be after that
};

// Every record is exactly one of runs, others and rejected.
struct AccountingCounts {
  std::uint64_t runs = 0;           // records JOB_FINISH that can be read
  std::uint64_t holdings = 0;       // of these
  std::uint64_t never_started = 0;  // of these: without a start
  std::uint64_t zero_length = 0;    // of these: ended in the second in which they began
  std::uint64_t others = 0;         // records of other types
  std::uint64_t rejected = 0;
  bool operator==(const AccountingCounts&) const = default;
};

class AccountingReader {
 public:
  // `without_time` takes the jobs that held nothing (ledger/job_without_time.h).
  AccountingReader(AccountingOptions options, FactSink<Holding> holdings,
                   FactSink<Outcome> without_time, FactSink<RejectedRow> rejected);

  // Bytes in chunks of any length. An Error is the sink's; a record with a mistake goes to
  // `rejected`. Nothing may be fed after an Error.
  Result<void> feed(std::string_view chunk) { return lines_.feed(chunk); }
  Result<void> finish();
  const AccountingCounts& counts() const { return counts_; }

 private:
  Result<void> read_record(const FedLine& line);

  const AccountingOptions options_;
  FactBatch<Holding> holdings_;
  FactBatch<Outcome> without_time_;
  FactBatch<RejectedRow> rejected_;
  AccountingCounts counts_;
  LineFeeder lines_;
};

// Whether a text begins with a record of lsb.acct, comments before it passed over.
bool is_accounting_file(std::string_view beginning);

}  // namespace pennyweight::lsf
