#include "app/daemon/shared_ledger.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "app/context/context.h"
#include "core/interruption.h"
#include "core/try.h"

namespace pennyweight {
namespace {

using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

// How long it stays open for the next caller; how long in all, before other programs get a turn;
// and how long that turn is. They try ten times a second.
constexpr milliseconds kLinger{250};
constexpr milliseconds kOpenMax{2'000};
constexpr milliseconds kBreath{150};
// How often a ledger that many programs may write to is checked for their changes.
constexpr std::chrono::seconds kOthersWrite{10};

}  // namespace

SharedLedger::SharedLedger(const Config& config)
    : config_(config), closer_([this] { close_when_idle(); }) {}

SharedLedger::~SharedLedger() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  closer_.join();
}

Result<void> SharedLedger::with(const std::function<Result<void>(Store&)>& ask) {
  const std::lock_guard lock(mutex_);
  if (Interruption::is_here()) return std::unexpected(interrupted_error());
  if (store_ && !is_on_clickhouse(config_) && Steady::now() - opened_at_ > kOpenMax) {
    store_.reset();
    std::this_thread::sleep_for(kBreath);
  }
  if (!store_) {
    auto opened = TRY(create_ledger(config_));
    store_ = std::move(opened);
    opened_at_ = Steady::now();
  }
  auto done = ask(*store_);
  used_at_ = Steady::now();
  // A transaction of it may be left.
  if (Interruption::is_here()) store_.reset();
  changed_.notify_all();
  return done;
}

void SharedLedger::close() {
  const std::lock_guard lock(mutex_);
  store_.reset();
}

void SharedLedger::close_when_idle() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (!store_) {
      changed_.wait(lock, [&] { return stopping_ || store_; });
      continue;
    }
    const auto closes_at = std::min(used_at_ + kLinger, opened_at_ + kOpenMax);
    if (Steady::now() >= closes_at) {
      store_.reset();
    } else {
      changed_.wait_until(lock, closes_at);
    }
  }
  store_.reset();
}

std::string SharedLedger::mark() const {
  if (is_on_clickhouse(config_)) {
    return std::to_string(Steady::now().time_since_epoch() / kOthersWrite);
  }
  std::string mark;
  // Writes go to the log beside the file first.
  for (const std::string& path : {config_.store_path, config_.store_path + ".wal"}) {
    struct stat about{};
    if (::stat(path.c_str(), &about) != 0) continue;
    mark += fmt::format("{}.{:09} {} ", about.st_mtim.tv_sec, about.st_mtim.tv_nsec, about.st_size);
  }
  return mark;
}

}  // namespace pennyweight
