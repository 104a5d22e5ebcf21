#include "server/access/schema.h"

#include <fmt/format.h>

#include "core/try.h"

namespace pennyweight::access {
namespace {

constexpr std::int64_t kApplication = 0x70'77'61'63;  // "pwac", as file(1) shows it

// Step n turns version n into version n + 1. A released step never changes; new ones are appended.
constexpr const char* kSteps[] = {
    R"sql(
CREATE TABLE users (
  name TEXT PRIMARY KEY,
  display_name TEXT NOT NULL,
  email TEXT NOT NULL,
  role TEXT NOT NULL,
  scope TEXT NOT NULL,               -- as scope_text.h writes it
  password TEXT,                     -- argon2id; NULL: comes by OpenID Connect
  subject TEXT UNIQUE,
  disabled INTEGER NOT NULL,
  must_change_password INTEGER NOT NULL,
  created_at INTEGER NOT NULL,       -- this and all times: milliseconds since 1970, UTC
  last_sign_in INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE totp (
  user TEXT PRIMARY KEY REFERENCES users (name) ON DELETE CASCADE,
  sealed BLOB NOT NULL,              -- the secret, by the key beside the file
  confirmed INTEGER NOT NULL,
  last_step INTEGER NOT NULL         -- of the code that was used last
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
  hash BLOB PRIMARY KEY,             -- SHA-256 of the cookie's secret
  id TEXT NOT NULL UNIQUE,
  user TEXT NOT NULL REFERENCES users (name) ON DELETE CASCADE,
  signed_in_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_of_user ON sessions (user, created_at);

CREATE TABLE tokens (
  hash BLOB PRIMARY KEY,             -- SHA-256 of the secret
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  user TEXT NOT NULL REFERENCES users (name) ON DELETE CASCADE,
  permissions TEXT NOT NULL,         -- with blanks between; empty: all of the role
  scope TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  last_used INTEGER,
  revoked INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX tokens_of_user ON tokens (user, created_at);

CREATE TABLE failures (
  id INTEGER PRIMARY KEY,
  key BLOB NOT NULL,                 -- a keyed hash of a name or an address
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX failures_of_key ON failures (key);
CREATE INDEX failures_by_time ON failures (at);

CREATE TABLE lock_outs (
  key BLOB PRIMARY KEY,
  until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX lock_outs_by_time ON lock_outs (until);

CREATE TABLE views (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never given twice
  user TEXT NOT NULL REFERENCES users (name) ON DELETE CASCADE,
  name TEXT NOT NULL,
  query TEXT NOT NULL,
  shared INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (user, name)
) STRICT;

CREATE TABLE texts (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
)sql",
    R"sql(
ALTER TABLE users ADD COLUMN vouched_at INTEGER;  -- the last sign-in by OpenID Connect
UPDATE users SET vouched_at = last_sign_in WHERE subject IS NOT NULL;

ALTER TABLE sessions ADD COLUMN proved_at INTEGER;  -- when password and code were last checked
ALTER TABLE sessions ADD COLUMN peer TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN agent TEXT NOT NULL DEFAULT '';

CREATE TABLE recovery_codes (
  user TEXT NOT NULL REFERENCES users (name) ON DELETE CASCADE,
  hash BLOB NOT NULL,                -- SHA-256 of the code
  PRIMARY KEY (user, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE known_devices (
  key BLOB PRIMARY KEY,              -- a keyed hash of a user and an address
  seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX known_devices_by_time ON known_devices (seen_at);

CREATE TABLE audit_lines (           -- of committed changes, since lines were last settled
  number INTEGER PRIMARY KEY
) STRICT;
)sql",
    R"sql(
ALTER TABLE views ADD COLUMN every TEXT NOT NULL DEFAULT '';  -- day, week, month; '': never sent
ALTER TABLE views ADD COLUMN receiver TEXT NOT NULL DEFAULT '';    -- '': the owner's own address
ALTER TABLE views ADD COLUMN sent_until TEXT NOT NULL DEFAULT '';  -- the last day that was sent
ALTER TABLE views ADD COLUMN problem TEXT NOT NULL DEFAULT '';     -- why it could not be sent
)sql",
};
constexpr std::int64_t kVersion = std::size(kSteps);

}  // namespace

Result<void> migrate_schema(SqlDatabase& database) {
  auto transaction = TRY(SqlTransaction::begin(database));
  const auto version = database.integer("PRAGMA user_version", {});
  if (!version) return std::unexpected(version.error());
  const auto application = TRY(database.integer("PRAGMA application_id", {}));
  const auto tables = TRY(database.integer("SELECT count(*) FROM sqlite_schema", {}));
  const bool is_empty = tables.value_or(0) == 0;
  if (!is_empty && application.value_or(0) != kApplication) {
    return fail(ErrorCode::kBadFile, database.path() + " is not a pennyweight accounts file");
  }
  const std::int64_t found = version->value_or(0);
  if (found > kVersion) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{} has version {}; this pennyweight reads versions up to {}: use the "
                            "later program, or an earlier backup",
                            database.path(), found, kVersion));
  }
  if (found == kVersion) return {};
  for (std::int64_t step = found; step < kVersion; ++step) {
    if (auto done = database.run(kSteps[step]); !done) {
      return std::unexpected(
          done.error().during(fmt::format("cannot migrate it to version {}", step + 1)));
    }
  }
  // A PRAGMA takes no values; these are the program's own numbers.
  const std::string marks =
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};", kApplication, kVersion);
  TRY(database.run(marks.c_str()));
  return transaction.commit();
}

}  // namespace pennyweight::access
