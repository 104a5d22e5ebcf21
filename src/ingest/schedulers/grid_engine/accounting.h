// AccountingReader: the accounting file of Grid Engine, which qacct reads too, as holdings.
//
//   gpu.q:n1:staff:ann:train:4711:sge:0:1770861600:1770865200:1770868800:0:0:3600:…:1:0:…:-l
//   gpu=2:…
//
// $SGE_ROOT/$SGE_CELL/common/accounting, one line a record, its fields separated by colons in the
// order of sge_accounting(5), which Sun's, Univa's and Open Grid Engine share. Times are seconds
// since 1970, or milliseconds as Univa writes them. Slots are taken for CPUs.
//
//   GPUs        a request `-l gpu=2` (or gpus, ngpus, num_gpus) in the field `category`. Whether it
//               is of the job or of each slot is configured elsewhere (the complex's `consumable`),
//               so a job of several slots with GPUs is rejected, and so is a resource whose name
//               says gpu and whose meaning is not known
//   pe_taskid   a task of a parallel job is counted and holds nothing: the job's own record has all
//               its slots. It names one host, and so does the holding
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

namespace pennyweight::grid_engine {

struct AccountingOptions {
  std::string file;  // for messages
  ClusterId cluster;
  Instant read_at;  // nothing in the file may be after that
};

// Every record is exactly one of runs, others and rejected.
struct AccountingCounts {
  std::uint64_t runs = 0;           // records of jobs that can be read
  std::uint64_t holdings = 0;       // of these
  std::uint64_t never_started = 0;  // of these: without a start
  std::uint64_t zero_length = 0;    // of these: ended in the second in which they began
  std::uint64_t others = 0;         // records of tasks of parallel jobs
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

// Whether a text begins with a record of the accounting file, comments before it passed over.
bool is_accounting_file(std::string_view beginning);

}  // namespace pennyweight::grid_engine
