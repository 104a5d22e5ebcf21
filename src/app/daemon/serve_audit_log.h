// ServeAuditLog: records in the audit log, as "serve", what `serve` changes by itself.
//
// Runs and priced months are recorded at once, as the verbs do it. Live data is imported every
// minute or more often: those imports are summed up and recorded once an hour and when `serve`
// stops. If an earlier `serve` was killed first, its imports are found in the ledger, since the log
// says up to which import it is complete.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "app/audit_events/audit_events.h"
#include "core/error.h"
#include "core/instant.h"
#include "ledger/store.h"
#include "server/audit_log/audit_log.h"

namespace pennyweight {

// The format of imports of live data.
inline constexpr std::string_view kLiveFormat = "live";

class ServeAuditLog {
 public:
  // Appends one entry and stores the log's head. REQUIRES: after an Error, it is not appended.
  using Append = std::function<Result<void>(audit_log::Entry)>;
  explicit ServeAuditLog(Append append) : append_(std::move(append)) {}

  static constexpr std::chrono::milliseconds kRecordEvery{3'600'000};
  // Events that wait while the log can't be written; further ones are only counted.
  static constexpr std::size_t kWaitingMax = 1'000;

  // Adds the live imports that the log lacks. REQUIRES: nothing was added before.
  Result<void> find_unrecorded_imports(Store& store, audit_log::AuditLog& audit_log);

  void add_import(const ImportOutcome& outcome, Instant at);
  void add_event(AuditEvent change);

  // What else has entries that become due, such as sums of refused sign-ins.
  using RecordDue = std::function<Result<void>(Instant now, bool all)>;
  void also_record(RecordDue due) { also_due_ = std::move(due); }

  // Appends what is due, or everything. After an Error nothing is lost: the next call tries again.
  Result<void> record_due(Instant now, bool all);

 private:
  struct ImportSums {
    std::uint64_t imports = 0, first = 0, last = 0;
    Instant from, to;
    std::uint64_t holdings = 0, nodes = 0, gpus = 0, usages = 0, outages = 0, outcomes = 0;
    std::uint64_t rejected = 0;
  };
  void add(const ImportRecord& record);
  Result<void> append(const AuditEvent& change);

  Append append_;
  RecordDue also_due_;
  std::optional<ImportSums> sums_;   // of the imports not yet recorded; nothing if there are none
  std::vector<AuditEvent> waiting_;  // in the order of the changes
  std::uint64_t dropped_changes_ = 0;
};

// 77 for "imports 17 to 77" and for "import 77"; nothing for other subjects.
std::optional<std::uint64_t> last_import_of(std::string_view subject);

}  // namespace pennyweight
