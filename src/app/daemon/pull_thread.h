// PullThread: pulls each source of the configuration that has an `every`, when it is due.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "app/audit_events/audit_events.h"
#include "app/context/log.h"
#include "app/daemon/shared_ledger.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/interruption.h"

namespace pennyweight {

class PullThread {
 public:
  // Appends to the audit log as "serve"; from this thread.
  using Record = std::function<Result<void>(const AuditEvent&)>;

  // Starts at once, if there is anything to pull. All of these outlive it.
  PullThread(const Config& config, SharedLedger& ledger, Clock& clock, Log& log, Record record,
             Interruption& interruption);
  // Ends a fetch that is under way, which goes on the next time; waits for an import, which
  // `interruption` ends sooner, with nothing of it in the ledger.
  ~PullThread();
  PullThread(const PullThread&) = delete;
  PullThread& operator=(const PullThread&) = delete;

 private:
  void run();
  void pull_source(const PullConfig& source);
  // Between two entries of the audit log: what is about to come in, and what came of it.
  Result<FileImport> import_delivery(const std::vector<std::string>& files,
                                     const ImportOptions& how);
  Result<FileImport> import_unrecorded(const std::vector<std::string>& files,
                                       const ImportOptions& how);
  bool is_stopping();

  const Config& config_;
  SharedLedger& ledger_;
  Clock& clock_;
  Log& log_;
  Record record_;
  std::mutex mutex_;  // guards stopping_
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses the others from its first moment
};

}  // namespace pennyweight
