#include "ledger/store/move/move_lock.h"

#include <fmt/format.h>

#include <chrono>

#include "core/try.h"
#include "ledger/store/move/progress.h"

namespace pennyweight::move {
namespace {

using clickhouse::Client;
using std::chrono::milliseconds;

// The number of heartbeats during takeover_wait.
constexpr int kSignsMin = 4;

std::unexpected<Error> move_in_progress_error() {
  return fail(ErrorCode::kConflict,
              "another move into this place is under way; let it finish, or end it");
}

}  // namespace

MoveLock::MoveLock(const PendingLedger& pending, std::uint64_t writer)
    : pending_(pending), writer_(writer) {}

MoveLock::~MoveLock() { end(); }

Result<std::uint64_t> MoveLock::last_claim(Client& client) const {
  return pending_.count(
      client, "SELECT max(number) FROM " + pending_.all(kMovingTable) + " WHERE what = 'claim'");
}

// Fails if the holder of a claim is still alive.
Result<void> MoveLock::watch(Client& client, std::uint64_t number) const {
  const auto signs = [&] {
    return pending_.count(client, fmt::format("SELECT toUInt64(count()) FROM {} WHERE what = "
                                              "'alive' AND number = {}",
                                              pending_.all(kMovingTable), number));
  };
  const auto released =
      TRY(pending_.count(client, fmt::format("SELECT toUInt64(count()) FROM {} WHERE what = "
                                             "'released' AND number = {}",
                                             pending_.all(kMovingTable), number)));
  if (released > 0) return {};
  const auto before = TRY(signs());
  std::this_thread::sleep_for(pending_.place().takeover_wait);
  const auto after = TRY(signs());
  if (after != before) return move_in_progress_error();
  return {};
}

Result<void> MoveLock::write(Client& client, const char* what, std::uint64_t count) const {
  const ProgressRow row = {
      .what = what, .piece = count, .number = number_, .hash = {.high = 0, .low = writer_}};
  return pending_.add_progress(client, {&row, 1});
}

Result<std::unique_ptr<MoveLock>> MoveLock::take(const PendingLedger& pending,
                                                 std::uint64_t writer) {
  auto claim = std::make_unique<MoveLock>(pending, writer);
  Client client(pending.address());
  const auto last = TRY(claim->last_claim(client));
  if (last > 0) {
    TRY(claim->watch(client, last));
  }
  claim->number_ = last + 1;
  TRY(claim->write(client, "claim", writer));
  // Of two that claim the same number, at least one sees the other. If both do, neither gets it.
  const auto others = TRY(pending.count(
      client, fmt::format("SELECT toUInt64(count()) FROM {} WHERE what = 'claim' AND number >= {} "
                          "AND piece != {}",
                          pending.all(kMovingTable), claim->number_, writer)));
  if (others > 0) return move_in_progress_error();
  claim->living_ = std::thread([&living = *claim] { living.live(); });
  return claim;
}

void MoveLock::live() {
  Client client(pending_.address());
  std::uint64_t signs = 0;
  int unheard = 0;
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, pending_.place().takeover_wait / kSignsMin, [&] { return ends_; })) {
    lock.unlock();
    const auto last = last_claim(client);
    const bool said = last && write(client, "alive", ++signs);
    unheard = said ? 0 : unheard + 1;
    if (unheard >= kSignsMin || (last && *last != number_)) lost_ = true;
    lock.lock();
  }
}

Result<void> MoveLock::holds() const {
  if (!lost_) return {};
  return fail(ErrorCode::kStore,
              "no heartbeat could be sent for too long, or another program has taken over; run the "
              "same command again, and it goes on from here");
}

void MoveLock::end() {
  {
    const std::lock_guard lock(mutex_);
    if (ends_) return;
    ends_ = true;
  }
  wake_.notify_all();
  if (living_.joinable()) living_.join();
  if (number_ == 0) return;
  // A failed release does no harm: the next move waits for takeover_wait.
  Client client(pending_.address());
  static_cast<void>(write(client, "released", 0));
}

}  // namespace pennyweight::move
