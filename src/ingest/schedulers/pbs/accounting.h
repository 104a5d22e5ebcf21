// AccountingReader: the accounting log of PBS Professional and OpenPBS, as holdings.
//
//   MM/DD/YYYY HH:MM:SS;E;1234.server;user=ann queue=gpu … start=1770865936
//     exec_vnode=(n1:ncpus=8:ngpus=2:mem=10485760kb)+(n2:ncpus=8:ngpus=2) end=1770869536 …
//
// One line a record; the server writes a file a day, PBS_HOME/server_priv/accounting/YYYYMMDD. The
// format is that of the chapter "Accounting" of the Administrator's Guide.
//
//   E, R        a job ended, or a run of it did and it was queued again: the time from start to
//   end,
//               which are seconds since 1970. Runs of one job are told apart by their start
//   exec_vnode  what it had on each vnode: ncpus, ngpus, mem. "n1[0]" is a vnode of the host n1
//   others      Q, S, D, A, L … are counted and hold nothing: what a job had is on its E or R
//
// A job whose Resource_List.ngpus asks for GPUs that no vnode of exec_vnode states is rejected, and
// so is one without exec_vnode (Torque): on which nodes the GPUs were is not known then.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/id.h"
#include "core/instant.h"
#include "ingest/lines/line_feeder.h"
#include "ledger/fact_batch.h"
#include "ledger/holding.h"
#include "ledger/rejected_row.h"

namespace pennyweight::pbs {

struct AccountingOptions {
  std::string file;  // for messages
  ClusterId cluster;
  Instant read_at;  // nothing in the file may be after that
};

// Every record is exactly one of runs, others and rejected.
struct AccountingCounts {
  std::uint64_t runs = 0;           // records of types E and R that can be read
  std::uint64_t holdings = 0;       // of these
  std::uint64_t never_started = 0;  // of these: without a start
  std::uint64_t zero_length = 0;    // of these: ended in the second in which they began
  std::uint64_t others = 0;         // records of other types
  std::uint64_t rejected = 0;
  bool operator==(const AccountingCounts&) const = default;
};

class AccountingReader {
 public:
  AccountingReader(AccountingOptions options, FactSink<Holding> holdings,
                   FactSink<RejectedRow> rejected);

  // Bytes in chunks of any length. An Error is the sink's, or about the file as a whole; a record
  // with a mistake goes to `rejected`. Nothing may be fed after an Error.
  Result<void> feed(std::string_view chunk) { return lines_.feed(chunk); }
  Result<void> finish();
  const AccountingCounts& counts() const { return counts_; }

 private:
  Result<void> read_record(const FedLine& line);

  const AccountingOptions options_;
  FactBatch<Holding> holdings_;
  FactBatch<RejectedRow> rejected_;
  AccountingCounts counts_;
  LineFeeder lines_;
};

// Whether a text begins with a record of the accounting log.
bool is_accounting_record(std::string_view line);

}  // namespace pennyweight::pbs
