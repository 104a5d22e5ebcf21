#include "server/api/what_if_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "core/check.h"
#include "core/crypto/secret.h"
#include "core/try.h"

namespace pennyweight::api {
namespace {

constexpr std::size_t kIdBytes = 6;

Result<std::string> new_run_id() {
  std::string id;
  for (const char byte : TRY(random_bytes(kIdBytes))) {
    id += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  }
  return id;
}

bool has_ended(WhatIfState state) {
  return state != WhatIfState::kQueued && state != WhatIfState::kRunning;
}

bool is_same_question(const WhatIfAsked& a, const WhatIfAsked& b) {
  return a.query.month == b.query.month && a.query.cluster == b.query.cluster &&
         a.scenario == b.scenario && a.calibration == b.calibration && a.query.by == b.query.by &&
         a.query.cost == b.query.cost && a.query.error_percent_max == b.query.error_percent_max &&
         a.query.wait_error_percent_max == b.query.wait_error_percent_max;
}

std::size_t rows_of(const WhatIfTables* tables) {
  if (tables == nullptr) return 0;
  std::size_t rows = 0;
  for (const auto& [name, table] : named_tables(*tables)) rows += table->rows.size();
  for (const Table& table : tables->costs) rows += table.rows.size();
  return rows;
}

}  // namespace

std::string_view to_text(WhatIfState state) {
  switch (state) {
    case WhatIfState::kQueued:
      return "queued";
    case WhatIfState::kRunning:
      return "running";
    case WhatIfState::kDone:
      return "done";
    case WhatIfState::kFailed:
      return "failed";
    case WhatIfState::kCancelled:
      return "cancelled";
  }
  CHECK(false, "every state is listed");
}

WhatIfRuns::WhatIfRuns(Clock& clock, WhatIfAnswerer answerer, Failed failed)
    : clock_(clock),
      answerer_(std::move(answerer)),
      failed_(std::move(failed)),
      thread_([this] { work(); }) {}

WhatIfRuns::~WhatIfRuns() { stop(); }

void WhatIfRuns::interrupt() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (Entry& entry : entries_) {
      entry.is_cancelled = true;
      entry.progress->watch.stop = true;
    }
  }
  reading_.interrupt();
  changed_.notify_all();
}

void WhatIfRuns::stop() {
  interrupt();
  if (thread_.joinable()) thread_.join();
}

namespace {

Result<void> record_caught(const WhatIfRuns::Record& record, const WhatIfRun& run) {
  try {
    return record(run);
  } catch (const std::exception& problem) {
    return fail(ErrorCode::kIo, fmt::format("cannot record the run: {}", problem.what()));
  }
}

}  // namespace

Result<WhatIfRuns::Submitted> WhatIfRuns::submit(WhatIfAsked asked, std::uint64_t last_import,
                                                 const Record& record) {
  std::string id = TRY(new_run_id());
  std::unique_lock lock(mutex_);
  if (stopping_) return std::unexpected(interrupted_error());
  forget_old();
  for (const Entry& entry : entries_) {
    if (entry.is_cancelled || !is_same_question(entry.run.asked, asked)) continue;
    const WhatIfState state = entry.run.state;
    const bool is_answer = state == WhatIfState::kDone && entry.run.last_import == last_import;
    if (has_ended(state) && !is_answer) continue;
    Submitted same{.run = now(entry), .is_new = false};
    lock.unlock();
    if (same.run.asked.user != asked.user) TRY(record_caught(record, same.run));
    return same;
  }
  std::size_t waiting = 0;
  std::size_t of_user = 0;
  for (const Entry& entry : entries_) {
    if (has_ended(entry.run.state)) continue;
    ++waiting;
    if (entry.run.asked.user == asked.user) ++of_user;
  }
  if (of_user >= kWhatIfWaitingPerUser) {
    return fail(ErrorCode::kLimit,
                fmt::format("{} of your scenarios wait or run already; wait for one of them, or "
                            "cancel it",
                            of_user));
  }
  if (waiting >= kWhatIfWaiting) {
    return fail(ErrorCode::kLimit,
                fmt::format("{} scenarios wait already; try again later", waiting));
  }
  Entry& entry = entries_.emplace_front();
  entry.run.id = id;
  entry.run.asked = std::move(asked);
  entry.run.created = clock_.now();
  entry.progress = std::make_unique<what_if::WhatIfProgress>();
  Submitted made{.run = now(entry), .is_new = true};
  // The audit log is a file: nobody waits for it here but who asks.
  lock.unlock();
  auto recorded = record_caught(record, made.run);
  lock.lock();
  const auto found = entry_of(id);  // somebody may have ended it meanwhile
  if (!recorded) {
    if (found != entries_.end()) entries_.erase(found);
    return std::unexpected(std::move(recorded).error());
  }
  if (found != entries_.end()) found->is_recorded = true;
  changed_.notify_all();
  return made;
}

WhatIfRuns::Entries::iterator WhatIfRuns::entry_of(std::string_view id) {
  return std::ranges::find_if(entries_, [&](const Entry& entry) { return entry.run.id == id; });
}

std::vector<WhatIfRun> WhatIfRuns::list() const {
  const std::lock_guard lock(mutex_);
  std::vector<WhatIfRun> runs;
  for (const Entry& entry : entries_) runs.push_back(now(entry));
  return runs;
}

std::optional<WhatIfRun> WhatIfRuns::find(std::string_view id) const {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::ranges::find_if(entries_, [&](const Entry& entry) { return entry.run.id == id; });
  if (found == entries_.end()) return std::nullopt;
  return now(*found);
}

Result<void> WhatIfRuns::end(std::string_view id) {
  const std::lock_guard lock(mutex_);
  const auto found = entry_of(id);
  if (found == entries_.end()) {
    return fail(ErrorCode::kNotFound, "there is no such run");
  }
  if (has_ended(found->run.state)) {
    entries_.erase(found);
    return {};
  }
  found->is_cancelled = true;
  found->progress->watch.stop = true;
  if (found->run.state == WhatIfState::kQueued) {
    found->run.state = WhatIfState::kCancelled;
    found->run.ended = clock_.now();
  }
  return {};
}

WhatIfRun WhatIfRuns::now(const Entry& entry) const {
  WhatIfRun run = entry.run;
  if (run.state != WhatIfState::kRunning) return run;
  if (entry.is_cancelled) run.state = WhatIfState::kCancelled;
  run.stage = what_if::stage_text(entry.progress->stage);
  run.jobs_ended = entry.progress->watch.jobs_ended;
  run.jobs = entry.progress->jobs;
  return run;
}

// The oldest one that waits, of another user than the last one if there is one.
WhatIfRuns::Entry* WhatIfRuns::next_in_turn() {
  Entry* next = nullptr;
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    if (entry->run.state != WhatIfState::kQueued || !entry->is_recorded) continue;
    if (entry->run.asked.user != last_user_) return &*entry;
    if (next == nullptr) next = &*entry;
  }
  return next;
}

void WhatIfRuns::forget_old() {
  const Instant oldest = clock_.now() - kWhatIfKeptFor;
  std::size_t kept = 0;
  std::size_t rows = 0;
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    if (!has_ended(entry->run.state)) {
      ++entry;
      continue;
    }
    rows += rows_of(entry->run.tables.get());
    const bool is_old = entry->run.ended && *entry->run.ended < oldest;
    if (is_old || ++kept > kWhatIfKept || rows > kWhatIfRowsKept) {
      entry = entries_.erase(entry);
    } else {
      ++entry;
    }
  }
}

void WhatIfRuns::work() {
  const Interruption::Scope scope(reading_);
  std::unique_lock lock(mutex_);
  while (true) {
    Entry* entry = nullptr;
    changed_.wait(lock, [&] {
      entry = next_in_turn();
      return stopping_ || entry != nullptr;
    });
    if (stopping_) return;
    last_user_ = entry->run.asked.user;
    entry->run.state = WhatIfState::kRunning;
    const WhatIfRun run = entry->run;
    what_if::WhatIfProgress& progress = *entry->progress;  // as the entry, it stays until it ends
    lock.unlock();
    auto found = answer(run, progress);
    lock.lock();
    entry->run.ended = clock_.now();
    if (entry->is_cancelled) {
      entry->run.state = WhatIfState::kCancelled;
    } else if (found) {
      entry->run.cluster = std::move(found->cluster);
      entry->run.last_import = found->last_import;
      entry->run.tables = std::make_shared<const WhatIfTables>(std::move(found->tables));
      entry->run.state = WhatIfState::kDone;
    } else {
      entry->run.error = found.error().message;
      entry->run.state = WhatIfState::kFailed;
    }
    forget_old();
  }
}

Result<WhatIfAnswer> WhatIfRuns::answer(const WhatIfRun& run,
                                        what_if::WhatIfProgress& progress) const {
  std::string why;
  try {
    return answerer_(run.asked.query, progress);
  } catch (const std::bad_alloc&) {
    why = "the server has too little memory for it";
  } catch (const std::exception& problem) {
    why = problem.what();
  }
  failed_(run, why);
  return fail(ErrorCode::kIo, fmt::format("the replay failed: {}", why));
}

}  // namespace pennyweight::api
