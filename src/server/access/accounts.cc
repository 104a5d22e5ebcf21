#include "server/access/accounts.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <tuple>

#include "core/ascii.h"
#include "core/base_encoding.h"
#include "core/crypto/secret.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "server/access/accounts_file.h"
#include "server/access/password.h"
#include "server/access/private_file.h"
#include "server/access/schema.h"

namespace pennyweight::access {
namespace {

constexpr std::string_view kSettledText = "trail.settled";
constexpr std::size_t kDummyBytes = 32;
constexpr std::size_t kPartNameBytes = 8;

// Switching a new file to WAL needs it exclusively. If two processes open it at the same time,
// SQLite fails at once instead of waiting, to avoid a deadlock. So the switch is retried for a
// while.
constexpr std::chrono::milliseconds kForTheFile{5'000}, kBetweenTries{10};

Result<void> log_writes_ahead(SqlDatabase& database) {
  using Steady = std::chrono::steady_clock;
  std::string mode;
  const auto ask = [&] {
    return database.query("PRAGMA journal_mode = WAL", {},
                          [&](const SqlRow& row) { mode = row.text(0); });
  };
  auto set = ask();
  for (const auto until = Steady::now() + kForTheFile; !set && Steady::now() < until; set = ask()) {
    if (!set.error().message.ends_with("database is locked")) break;
    std::this_thread::sleep_for(kBetweenTries);
  }
  if (!set) return std::unexpected(set.error());
  if (mode != "wal") {
    return fail(ErrorCode::kIo, database.path() +
                                    ": its file system has no shared memory; put it on "
                                    "a local disk");
  }
  return {};
}

// Accounts that are gone must not be begun anew, with a new first admin, as if there had been none.
Result<void> check_not_lost(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path + ".key", error)) return {};
  const auto size = std::filesystem::file_size(path, error);
  if (!error && size > 0) return {};
  return fail(ErrorCode::kBadFile,
              fmt::format("{} is {}, but its key {}.key is there: the accounts were lost. Restore "
                          "them from a backup, or move the key away to begin without any users",
                          path, error ? "missing" : "empty", path));
}

}  // namespace

Result<void> check_line(std::string_view text, std::string_view what, std::size_t bytes_max) {
  if (text.size() > bytes_max) {
    return fail(ErrorCode::kBadValue, fmt::format("{} has at most {} bytes", what, bytes_max));
  }
  const bool is_line = is_plain_text(text) && std::ranges::none_of(text, [](char c) {
                         return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
                       });
  if (!is_line) return fail(ErrorCode::kBadValue, fmt::format("{} must be one line of text", what));
  return {};
}

Result<std::unique_ptr<Accounts>> Accounts::open(const AccountsOptions& options, Clock& clock) {
  const auto doing = "cannot open the accounts";
  if (auto there = check_not_lost(options.path); !there) {
    return std::unexpected(there.error().during(doing));
  }
  if (auto made = ensure_private_file(options.path); !made) {
    return std::unexpected(made.error().during(doing));
  }
  auto database = SqlDatabase::open(options.path);
  if (!database) return std::unexpected(database.error().during(doing));
  // Check that the file is ours before changing it.
  if (auto done = migrate_schema(*database); !done) {
    return std::unexpected(done.error().during(doing));
  }
  if (auto done = log_writes_ahead(*database); !done) {
    return std::unexpected(done.error().during(doing));
  }
  // The key comes last: where it is, there were accounts.
  auto key = SealingKey::open(options.path + ".key");
  if (!key) return std::unexpected(key.error().during(doing));
  const auto nobody = random_bytes(kDummyBytes);
  if (!nobody) return std::unexpected(nobody.error().during(doing));
  auto dummy = hash_password(*nobody, {.kib = options.argon2_kib, .rounds = options.argon2_rounds});
  if (!dummy) return std::unexpected(dummy.error().during(doing));
  return std::make_unique<AccountsFile>(options, clock, *std::move(database), *std::move(key),
                                        *std::move(dummy));
}

AccountsFile::AccountsFile(const AccountsOptions& options, Clock& clock, SqlDatabase database,
                           SealingKey key, std::string dummy_hash)
    : options_(options),
      clock_(clock),
      key_(std::move(key)),
      attempts_key_(key_.derive("attempts")),
      dummy_hash_(std::move(dummy_hash)),
      database_(std::move(database)) {}

Result<std::string> AccountsFile::hash(std::string_view password) {
  return with_hashing_slot([&] {
    return hash_password(password, {.kib = options_.argon2_kib, .rounds = options_.argon2_rounds});
  });
}

Result<bool> AccountsFile::verify(std::string_view password, const std::string& hash) {
  return with_hashing_slot([&] { return verify_password(password, hash); });
}

Result<void> AccountsFile::put(std::string_view name, std::string_view value) {
  TRY(check_line(name, "a name", kNameBytesMax));
  if (value.size() > kTextBytesMax || !is_plain_text(value)) {
    return fail(
        ErrorCode::kBadValue,
        fmt::format("the value of {} must be text of at most {} bytes", name, kTextBytesMax));
  }
  const std::lock_guard lock(mutex_);
  std::ignore =
      TRY(database_.change("INSERT INTO texts (name, value) VALUES (?1, ?2) "
                           "ON CONFLICT (name) DO UPDATE SET value = ?2",
                           {name, value}));
  return {};
}

Result<void> AccountsFile::commit_recorded_locked(SqlTransaction& transaction,
                                                  const Recorder& record, const Change& change) {
  if (!record) return transaction.commit();
  const auto line = TRY(record(change));
  std::ignore = TRY(database_.change("INSERT INTO audit_lines (number) VALUES (?)",
                                     {static_cast<std::int64_t>(line.number)}));
  std::ignore =
      TRY(database_.change("INSERT INTO texts (name, value) VALUES (?1, ?2) "
                           "ON CONFLICT (name) DO UPDATE SET value = ?2",
                           {kAuditHeadText, std::string_view(line.head)}));
  return transaction.commit();
}

Result<void> AccountsFile::settle_lines(const Settle& settle) {
  const std::lock_guard lock(mutex_);
  auto transaction = TRY(SqlTransaction::begin(database_));
  std::optional<std::uint64_t> settled;
  TRY(database_.query(
      "SELECT CAST(value AS INTEGER) FROM texts WHERE name = ?", {kSettledText},
      [&](const SqlRow& row) { settled = static_cast<std::uint64_t>(row.integer(0)); }));
  std::set<std::uint64_t> committed;
  TRY(database_.query("SELECT number FROM audit_lines", {}, [&](const SqlRow& row) {
    committed.insert(static_cast<std::uint64_t>(row.integer(0)));
  }));
  const std::uint64_t now_settled = TRY(settle(settled, committed));
  const std::string text = std::to_string(now_settled);
  std::ignore =
      TRY(database_.change("INSERT INTO texts (name, value) VALUES (?1, ?2) "
                           "ON CONFLICT (name) DO UPDATE SET value = ?2",
                           {kSettledText, std::string_view(text)}));
  std::ignore = TRY(database_.change("DELETE FROM audit_lines WHERE number <= ?",
                                     {static_cast<std::int64_t>(now_settled)}));
  return transaction.commit();
}

Result<std::optional<std::string>> AccountsFile::get(std::string_view name) {
  const std::lock_guard lock(mutex_);
  std::optional<std::string> value;
  TRY(database_.query("SELECT value FROM texts WHERE name = ?", {name},
                      [&](const SqlRow& row) { value = row.text(0); }));
  return value;
}

Result<void> AccountsFile::copy_to(const std::string& path) {
  const auto random = TRY(random_bytes(kPartNameBytes));
  const std::string part = fmt::format("{}.{}.part", path, to_hex(random));
  std::ignore =
      TRY(create_private_file(part, ""));  // A connection of its own: others go on meanwhile.
                                           // SQLite takes an empty file for a new one.
  auto source = TRY(SqlDatabase::open(options_.path));
  const auto copied = source.change("VACUUM INTO ?", {std::string_view(part)});
  if (!copied) {
    static_cast<void>(remove_file(part));  // the copy's Error says more than this one's
    return std::unexpected(copied.error().during("cannot copy the accounts"));
  }
  const auto named = name_private_file(part, path);
  if (!named) return std::unexpected(named.error());
  if (!*named) return fail(ErrorCode::kConflict, path + " exists already");
  return key_.copy_to(path + ".key");
}

}  // namespace pennyweight::access
