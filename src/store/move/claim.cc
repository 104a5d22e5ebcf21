#include "store/move/claim.h"

#include <fmt/format.h>

#include <chrono>

#include "store/move/notes.h"

namespace pennyweight::move {
namespace {

using clickhouse::Client;
using std::chrono::milliseconds;

// So many signs of life in the time for which somebody is watched.
constexpr int kSignsMin = 4;

std::unexpected<Error> somebody_else() {
  return fail(ErrorCode::kConflict,
              "another move into this place is under way; let it finish, or end it");
}

}  // namespace

Claim::Claim(const Servers& servers, std::uint64_t writer) : servers_(servers), writer_(writer) {}

Claim::~Claim() { end(); }

Result<std::uint64_t> Claim::last_claim(Client& client) const {
  return servers_.count(
      client, "SELECT max(number) FROM " + servers_.all(kMovingTable) + " WHERE what = 'claim'");
}

// Whether nothing is heard of a claim any more.
Result<void> Claim::watch(Client& client, std::uint64_t number) const {
  const auto signs = [&] {
    return servers_.count(client, fmt::format("SELECT toUInt64(count()) FROM {} WHERE what = "
                                              "'alive' AND number = {}",
                                              servers_.all(kMovingTable), number));
  };
  const auto released =
      servers_.count(client, fmt::format("SELECT toUInt64(count()) FROM {} WHERE what = "
                                         "'released' AND number = {}",
                                         servers_.all(kMovingTable), number));
  if (!released) return std::unexpected(released.error());
  if (*released > 0) return {};
  const auto before = signs();
  if (!before) return std::unexpected(before.error());
  std::this_thread::sleep_for(servers_.place().watched);
  const auto after = signs();
  if (!after) return std::unexpected(after.error());
  if (*after != *before) return somebody_else();
  return {};
}

Result<void> Claim::write(Client& client, const char* what, std::uint64_t count) const {
  clickhouse::BlockWriter block(servers_.moving().columns);
  block.column(0).add_text(what);
  block.column(1).add_uint64(0);
  block.column(2).add_text("");
  block.column(3).add_uint64(count);
  block.column(4).add_text("");
  block.column(5).add_uint64(number_);
  block.column(6).add_hash({.high = 0, .low = writer_});
  // Written twice it does no harm.
  clickhouse::Call call = servers_.writing(servers_.moving());
  call.repeatable = true;
  return client.insert(servers_.all(kMovingTable), column_names(servers_.moving()), block.take(),
                       call);
}

Result<std::unique_ptr<Claim>> Claim::take(const Servers& servers, std::uint64_t writer) {
  auto claim = std::make_unique<Claim>(servers, writer);
  Client client(servers.address());
  const auto last = claim->last_claim(client);
  if (!last) return std::unexpected(last.error());
  if (*last > 0) {
    if (auto silent = claim->watch(client, *last); !silent) return std::unexpected(silent.error());
  }
  claim->number_ = *last + 1;
  if (auto done = claim->write(client, "claim", writer); !done) {
    return std::unexpected(done.error());
  }
  // Of two that claim the same at least one sees the other; both may, and then nobody has it.
  const auto others = servers.count(
      client, fmt::format("SELECT toUInt64(count()) FROM {} WHERE what = 'claim' AND number >= {} "
                          "AND piece != {}",
                          servers.all(kMovingTable), claim->number_, writer));
  if (!others) return std::unexpected(others.error());
  if (*others > 0) return somebody_else();
  claim->living_ = std::thread([&living = *claim] { living.live(); });
  return claim;
}

void Claim::live() {
  Client client(servers_.address());
  std::uint64_t signs = 0;
  int unheard = 0;
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, servers_.place().watched / kSignsMin, [&] { return ends_; })) {
    lock.unlock();
    const auto last = last_claim(client);
    const bool said = last && write(client, "alive", ++signs);
    unheard = said ? 0 : unheard + 1;
    if (unheard >= kSignsMin || (last && *last != number_)) lost_ = true;
    lock.lock();
  }
}

Result<void> Claim::holds() const {
  if (!lost_) return {};
  return fail(ErrorCode::kStore,
              "no sign of life could be given for too long, or somebody else has taken over; run "
              "the same command again, and it goes on from here");
}

void Claim::end() {
  {
    const std::lock_guard lock(mutex_);
    if (ends_) return;
    ends_ = true;
  }
  wake_.notify_all();
  if (living_.joinable()) living_.join();
  if (number_ == 0) return;
  // That it could not be given back is no harm: whoever comes next watches for a moment.
  Client client(servers_.address());
  static_cast<void>(write(client, "released", 0));
}

}  // namespace pennyweight::move
