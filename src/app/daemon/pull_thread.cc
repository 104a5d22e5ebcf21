#include "app/daemon/pull_thread.h"

#include <algorithm>
#include <utility>

#include "app/context/console.h"
#include "app/import/pull.h"
#include "core/try.h"
#include "server/api/recorded_change.h"

namespace pennyweight {
namespace {

bool is_scheduled(const PullConfig& source) { return source.every.count() > 0; }

}  // namespace

PullThread::PullThread(const Config& config, SharedLedger& ledger, Clock& clock, Log& log,
                       Record record, Interruption& interruption)
    : config_(config), ledger_(ledger), clock_(clock), log_(log), record_(std::move(record)) {
  if (std::ranges::any_of(config.pulls, is_scheduled)) {
    thread_ = std::thread([this, &interruption] {
      const Interruption::Scope scope(interruption);
      run();
    });
  }
}

PullThread::~PullThread() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool PullThread::is_stopping() {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

void PullThread::run() {
  using Time = std::chrono::steady_clock::time_point;
  std::map<std::string, Time> due;
  for (;;) {
    const Time now = std::chrono::steady_clock::now();
    Time next = now + std::chrono::hours(1);
    for (const PullConfig& source : config_.pulls) {
      if (!is_scheduled(source)) continue;
      Time& at = due.try_emplace(source.name, now).first->second;
      if (at <= now) {
        if (is_stopping()) return;
        pull_source(source);
        at = std::chrono::steady_clock::now() + source.every;
      }
      next = std::min(next, at);
    }
    std::unique_lock lock(mutex_);
    if (changed_.wait_until(lock, next, [this] { return stopping_; })) return;
  }
}

Result<FileImport> PullThread::import_unrecorded(const std::vector<std::string>& files,
                                                 const ImportOptions& how) {
  const Console console = Console::detect(ColourMode::kNever, true);
  Result<FileImport> imported = fail(ErrorCode::kIo, "the ledger was not open");
  TRY(ledger_.with([&](Store& store) -> Result<void> {
    imported = import_files(store, files, how, config_, console, clock_);
    return {};
  }));
  return imported;
}

Result<FileImport> PullThread::import_delivery(const std::vector<std::string>& files,
                                               const ImportOptions& how) {
  const std::string subject = files_subject(files);
  if (const auto announced =
          record_({.action = "import" + std::string(api::kIntentSuffix),
                   .subject = subject,
                   .before = "",
                   .after = JsonObjectBuilder().text("name", names_for_audit(files)).json()});
      !announced) {
    return std::unexpected(api::not_recorded_error(announced.error()));
  }
  auto imported = import_unrecorded(files, how);
  AuditEvent came{.action = "import.unchanged", .subject = subject, .before = "", .after = ""};
  if (!imported) {
    came.action = "import.failed";
    came.after = JsonObjectBuilder().text("reason", imported.error().message).json();
  } else if (const auto change = import_event(files, *imported)) {
    came = *change;
  }
  if (const auto recorded = record_(came); !recorded) {
    log_.error("audit", {{"why", recorded.error().message}});
  }
  return imported;
}

void PullThread::pull_source(const PullConfig& source) {
  const auto store = open_source(source, clock_);
  const auto outcome =
      store ? pull(
                  source, **store, config_,
                  [this](const std::vector<std::string>& files, const ImportOptions& how) {
                    return import_delivery(files, how);
                  },
                  [this] { return is_stopping(); })
            : Result<PullOutcome>(std::unexpected(store.error()));
  if (!outcome) {
    log_.error("pull", {{"source", source.name}, {"why", outcome.error().message}});
    return;
  }
  for (const Error& error : outcome->refused) {
    log_.error("pull", {{"source", source.name}, {"why", error.message}});
  }
  for (const PulledImport& one : outcome->imports) {
    log_.info("pulled", {{"source", source.name},
                         {"delivery", one.delivery},
                         {"lines", one.imported.outcome.charges.created},
                         {"aside", one.imported.outcome.rejected}});
  }
}

}  // namespace pennyweight
