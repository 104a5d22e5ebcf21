#include "app/shared_ledger.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "app/verb.h"

namespace pennyweight {
namespace {

using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

// How long it stays open for the next question, and how long in all before others get a turn, who
// try ten times a second.
constexpr milliseconds kLinger{250};
constexpr milliseconds kOpenMax{2'000};
constexpr milliseconds kBreath{150};
// How often we look whether others have written to a ledger that many may write to.
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
  if (store_ && !is_on_clickhouse(config_) && Steady::now() - opened_at_ > kOpenMax) {
    store_.reset();
    std::this_thread::sleep_for(kBreath);
  }
  if (!store_) {
    auto opened = create_ledger(config_);
    if (!opened) return std::unexpected(opened.error());
    store_ = *std::move(opened);
    opened_at_ = Steady::now();
  }
  auto done = ask(*store_);
  used_at_ = Steady::now();
  changed_.notify_all();
  return done;
}

void SharedLedger::let_go() {
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
  // What is written lands in the log beside the file first.
  for (const std::string& path : {config_.store_path, config_.store_path + ".wal"}) {
    struct stat about{};
    if (::stat(path.c_str(), &about) != 0) continue;
    mark += fmt::format("{}.{:09} {} ", about.st_mtim.tv_sec, about.st_mtim.tv_nsec, about.st_size);
  }
  return mark;
}

}  // namespace pennyweight
