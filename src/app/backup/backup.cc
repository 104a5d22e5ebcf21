#include "app/backup/backup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "app/audit_events/audit_events.h"
#include "app/backup/backup_manifest.h"
#include "app/context/paths.h"
#include "app/context/version.h"
#include "core/crypto/age.h"
#include "core/crypto/secret.h"
#include "core/crypto/signature.h"
#include "core/duckdb/database.h"
#include "core/duckdb/rows.h"
#include "core/files/disk.h"
#include "core/files/file.h"
#include "core/try.h"
#include "server/access/accounts.h"
#include "server/audit_log/audit_log.h"

namespace pennyweight {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

// A busy `serve` writes for some seconds at a time.
constexpr milliseconds kPatience{60'000};
constexpr milliseconds kBetweenTries{100};
constexpr int kListingsMax = 50;
constexpr std::size_t kManifestBytesMax = 16u << 20;
constexpr std::size_t kKeyFileBytesMax = 64u << 10;

struct OpenLedger {
  duckdb::Database database;
  duckdb::Connection connection;
};

// Locks the ledger against all other programs while it exists.
Result<OpenLedger> hold_ledger(const Config& config) {
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (true) {
    auto database = duckdb::Database::open({.path = config.store_path,
                                            .memory_bytes_max = config.store_memory_bytes,
                                            .threads = config.threads,
                                            .survives_kill = true});
    if (database) {
      auto connection = TRY(database->connect());
      return OpenLedger{*std::move(database), std::move(connection)};
    }
    if (!duckdb::is_locked_by_another(database.error()) ||
        std::chrono::steady_clock::now() > give_up) {
      return std::unexpected(database.error());
    }
    std::this_thread::sleep_for(kBetweenTries);
  }
}

Result<void> copy_ledger(OpenLedger& ledger, const std::string& to) {
  std::string name;
  {
    auto rows = TRY(ledger.connection.query("SELECT current_database()"));
    std::ignore = TRY(rows.next());
    name = rows.column(0).text(0);
  }
  return ledger.connection.execute("ATTACH " + duckdb::quote_text(to) + " AS backup_copy; " +
                                   "COPY FROM DATABASE " + duckdb::quote_identifier(name) +
                                   " TO backup_copy; CHECKPOINT backup_copy; DETACH backup_copy");
}

// A one-time password of an admin is of no use to anybody who may not use it.
constexpr const char* kFirstPasswordFile = "first-admin-password";

// Skips derived files, files that are copied in another way, and anything that is not a regular
// file.
bool is_left_out(const std::string& name) {
  return name == "lock" || name == kFirstPasswordFile || name.starts_with("accounts.sqlite") ||
         name.starts_with("rollup.") || name.ends_with(".new") || name.ends_with(".part");
}

struct ListedFile {
  std::uint64_t bytes = 0;
  std::int64_t changed_ns = 0;
  bool operator==(const ListedFile&) const = default;
};
using Listing = std::map<std::string, ListedFile>;

Result<Listing> list_live(const std::string& folder) {
  Listing listing;
  std::error_code error;
  if (!fs::exists(folder, error)) return listing;
  for (auto entry = fs::directory_iterator(folder, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    struct stat about = {};
    if (is_left_out(name) || ::stat(entry->path().c_str(), &about) != 0 ||
        !S_ISREG(about.st_mode)) {
      continue;
    }
    listing[name] = {.bytes = static_cast<std::uint64_t>(about.st_size),
                     .changed_ns = about.st_mtim.tv_sec * 1'000'000'000 + about.st_mtim.tv_nsec};
  }
  if (error) return fail(ErrorCode::kIo, "cannot list " + folder + ": " + error.message());
  return listing;
}

// Copies the files of one point in time. While the ledger is locked the journal only grows, but
// other files may change; the copy is repeated until only the growth of a segment lies between the
// first and the last look.
bool is_same_moment(const Listing& before, const Listing& after) {
  return std::ranges::equal(before, after, [](const auto& one, const auto& other) {
    return one.first == other.first &&
           (one.second == other.second ||
            (one.first.starts_with("segment-") && one.second.bytes <= other.second.bytes));
  });
}

Result<std::vector<std::string>> copy_live(const std::string& from, const std::string& to) {
  for (int listings = 0; listings < kListingsMax; ++listings) {
    const auto before = TRY(list_live(from));
    std::error_code error;
    fs::remove_all(to, error);
    fs::create_directories(to, error);
    fs::permissions(to, fs::perms::owner_all, error);
    if (error) return fail(ErrorCode::kIo, "cannot create " + to + ": " + error.message());
    bool all_there = true;
    std::vector<std::string> names;
    for (const auto& [name, about] : before) {
      const std::string source = (fs::path(from) / name).string();
      const auto copied = copy_file(source, (fs::path(to) / name).string(), about.bytes);
      if (!copied && fs::exists(source, error)) return std::unexpected(copied.error());
      all_there = all_there && copied.has_value();
      names.push_back(name);
    }
    const auto after = TRY(list_live(from));
    if (all_there && is_same_moment(before, after)) return names;
    std::this_thread::sleep_for(kBetweenTries);
  }
  return fail(ErrorCode::kConflict, from + " keeps changing; try again");
}

// Copies up to the end of a line: another program may be writing the next one.
Result<void> copy_trail(const std::string& from, const std::string& to, const Console& console) {
  const auto before = audit_log::verify(from);
  if (!before) return std::unexpected(before.error());
  if (!before->whole) {
    console.warn(fmt::format("the audit log {} is damaged: line {}: {}; it is copied as it is",
                             from, before->bad_line, before->reason));
  }
  std::error_code error;
  const auto size = fs::file_size(from, error);
  if (error) return fail(ErrorCode::kIo, "cannot read " + from + ": " + error.message());
  TRY(copy_file(from, to, size));
  if (!before->whole) return {};
  const auto after = TRY(audit_log::verify(to));
  if (after.whole) return {};
  return fail(ErrorCode::kConflict, from + " was being written; try again");
}

bool is_empty_or_missing(const std::string& folder) {
  std::error_code error;
  return !fs::exists(folder, error) ||
         (fs::is_directory(folder, error) && fs::is_empty(folder, error) && !error);
}

// The path to restore a file to; empty for an unknown file.
std::string restore_path(const std::string& name, const Config& config) {
  if (name == kLedgerFile) return config.store_path;
  if (name == kAuditLogFile) return audit_log_path(config);
  if (name == kAccountsFile) return accounts_path(config);
  if (name == std::string(kAccountsFile) + ".key") return accounts_path(config) + ".key";
  const std::string live = kLiveFolder;
  if (!name.starts_with(live) || name.find('/', live.size()) != std::string::npos) return {};
  return (fs::path(live_folder(config)) / name.substr(live.size())).string();
}

// Existing files that would be replaced, or mistaken for a part of the restored ledger.
Result<std::vector<std::string>> in_the_way(const Config& config) {
  std::vector<std::string> found;
  std::error_code error;
  const std::string accounts = accounts_path(config);
  for (const std::string& path : {config.store_path, config.store_path + ".wal",
                                  config.store_path + ".rescue", audit_log_path(config), accounts,
                                  accounts + ".key", accounts + "-wal", accounts + "-shm"}) {
    if (fs::exists(path, error)) found.push_back(path);
  }
  const auto live = TRY(list_live(live_folder(config)));
  for (const auto& [name, about] : live) {
    found.push_back((fs::path(live_folder(config)) / name).string());
  }
  // It is derived from the ledger, and would be out of date.
  for (const char* name : {"rollup.duckdb", "rollup.duckdb.wal"}) {
    const std::string path = (fs::path(live_folder(config)) / name).string();
    if (fs::exists(path, error)) found.push_back(path);
  }
  return found;
}

// Takes the lock that a running `serve` holds.
class NoServe {
 public:
  static Result<NoServe> take(const Config& config) {
    std::error_code error;
    fs::create_directories(live_folder(config), error);
    const std::string path = (fs::path(live_folder(config)) / "lock").string();
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (file < 0) return fail(ErrorCode::kIo, "cannot open " + path);
    NoServe lock(file);
    if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
      return fail(ErrorCode::kConflict,
                  "'pennyweight serve' runs on this ledger; stop it before restoring");
    }
    return lock;
  }
  ~NoServe() {
    if (file_ >= 0) ::close(file_);
  }
  NoServe(NoServe&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  NoServe& operator=(NoServe&&) = delete;

 private:
  explicit NoServe(int file) : file_(file) {}
  int file_;
};

}  // namespace

namespace {

// What is encrypted is first copied to a folder of its own beside the ledger, whose readers may
// read the ledger too, and not to where the backup goes.
class Stage {
 public:
  static Result<Stage> create(const std::string& beside) {
    std::string path = beside + ".backup-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) {
      return fail(ErrorCode::kIo, "cannot make a folder beside " + beside);
    }
    return Stage(std::move(path));
  }
  Stage(Stage&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  Stage& operator=(Stage&&) = delete;
  ~Stage() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  explicit Stage(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

struct WritingKeys {
  std::vector<age::Recipient> recipients;
  std::string signing_key;  // PEM; "": none

  WritingKeys() = default;
  WritingKeys(WritingKeys&&) = default;
  WritingKeys& operator=(WritingKeys&&) = default;
  ~WritingKeys() { wipe(signing_key); }
};

// An Error before anything is copied.
Result<WritingKeys> read_keys(const BackupKeys& keys) {
  WritingKeys read;
  for (const std::string& text : keys.recipients) {
    auto recipient = TRY(age::parse_recipient(text));
    read.recipients.push_back(std::move(recipient));
  }
  if (keys.signing_key_file.empty()) return read;
  read.signing_key = TRY(read_file(keys.signing_key_file, kKeyFileBytesMax));
  if (const auto tried = sign("", read.signing_key); !tried) {
    return std::unexpected(tried.error().during(keys.signing_key_file));
  }
  return read;
}

Result<std::vector<age::Identity>> read_identities(const BackupReader& reader) {
  if (reader.identity_file.empty()) return std::vector<age::Identity>();
  std::string text = TRY(read_file(reader.identity_file, kKeyFileBytesMax));
  auto identities = age::parse_identities(text);
  wipe(text);
  if (!identities) return std::unexpected(identities.error().during(reader.identity_file));
  return identities;
}

bool is_encrypted(const BackupFile& file) { return file.name.ends_with(kEncryptedEnding); }

// The name of a file as it is without encryption.
std::string plain_name(const BackupFile& file) {
  return is_encrypted(file) ? file.name.substr(0, file.name.size() - kEncryptedEnding.size())
                            : file.name;
}

Result<void> check_signature(const std::string& folder, std::string_view manifest,
                             const std::string& public_key_file) {
  const std::string path = (fs::path(folder) / kSignatureFile).string();
  // As the bytes lie there: a signature may begin as compressed files do.
  const auto signature = read_raw_file(path, kKeyFileBytesMax);
  if (!signature) return std::unexpected(signature.error().during("the backup is not signed"));
  const auto key = TRY(read_file(public_key_file, kKeyFileBytesMax));
  const auto is_right = is_signed(manifest, *signature, key);
  if (!is_right) return std::unexpected(is_right.error().during(public_key_file));
  if (*is_right) return {};
  return fail(ErrorCode::kBadFile,
              fmt::format("the holder of {} has not signed the backup {}, or it was changed since",
                          public_key_file, folder));
}

}  // namespace

Result<Manifest> make_backup(const std::string& folder, Context& context, const BackupKeys& keys) {
  const Config& config = context.config;
  std::error_code error;
  if (is_on_clickhouse(config)) {
    return fail(
        ErrorCode::kUnsupported,
        "the ledger is on ClickHouse, and only a file can be backed up: copy it to a file with "
        "'pennyweight move', and back that up (docs/guide/cluster.md)");
  }
  if (!is_empty_or_missing(folder)) {
    return fail(ErrorCode::kConflict, folder + " is not empty; name a new folder");
  }
  if (!fs::exists(config.store_path, error)) {
    return fail(ErrorCode::kNotFound, "there is no ledger " + config.store_path + " yet");
  }
  const auto writing = TRY(read_keys(keys));
  fs::create_directories(folder, error);
  fs::permissions(folder, fs::perms::owner_all, error);
  if (error) return fail(ErrorCode::kIo, "cannot create " + folder + ": " + error.message());
  const bool encrypts = !writing.recipients.empty();
  std::optional<Stage> stage;
  if (encrypts) {
    auto made = TRY(Stage::create(config.store_path));
    stage.emplace(std::move(made));
  }
  const fs::path copies = stage ? stage->path() : folder;
  const auto inside = [&](const std::string& name) { return (copies / name).string(); };
  const auto in_backup = [&](const std::string& name) {
    return (fs::path(folder) / name).string();
  };
  std::vector<std::string> names = {kLedgerFile};
  Manifest manifest{
      .at = to_text(context.clock.now()), .program_version = kProgramVersion, .files = {}};
  {
    auto ledger = hold_ledger(config);
    if (!ledger) return std::unexpected(ledger.error());
    if (auto copied = copy_ledger(*ledger, inside(kLedgerFile)); !copied) {
      return std::unexpected(copied.error().during("cannot copy the ledger"));
    }
    const auto live = TRY(copy_live(live_folder(config), inside(kLiveFolder)));
    for (const std::string& name : live) names.push_back(kLiveFolder + name);
  }
  if (fs::exists(accounts_path(config), error)) {
    const auto accounts =
        TRY(access::Accounts::open({.path = accounts_path(config)}, context.clock));
    TRY(accounts->copy_to(inside(kAccountsFile)));
    names.emplace_back(kAccountsFile);
    names.push_back(std::string(kAccountsFile) + ".key");
  }
  if (fs::exists(audit_log_path(config), error)) {
    TRY(copy_trail(audit_log_path(config), inside(kAuditLogFile), context.console));
    names.emplace_back(kAuditLogFile);
  }
  for (const std::string& name : names) {
    fs::permissions(inside(name), fs::perms::owner_read | fs::perms::owner_write, error);
    std::string kept = name;
    if (encrypts) {
      kept += kEncryptedEnding;
      fs::create_directories(fs::path(in_backup(kept)).parent_path(), error);
      TRY(encrypt_file(inside(name), in_backup(kept), writing.recipients));
      fs::remove(inside(name), error);
    }
    auto facts = TRY(describe_file(in_backup(kept), kept));
    manifest.files.push_back(std::move(facts));
  }
  const std::string text = write_manifest(manifest);
  if (!writing.signing_key.empty()) {
    const auto signature = TRY(sign(text, writing.signing_key));
    TRY(write_private_file(in_backup(kSignatureFile), signature));
  }
  auto file = TRY(OutputFile::create(in_backup(kManifestFile)));
  TRY(file.write(text));
  TRY(file.commit());
  fs::permissions(in_backup(kManifestFile), fs::perms::owner_read | fs::perms::owner_write, error);
  if (error) return fail(ErrorCode::kIo, "cannot lock the ledger: " + error.message());
  return manifest;
}

Result<Manifest> check_backup(const std::string& folder, const BackupReader& reader) {
  const std::string path = (fs::path(folder) / kManifestFile).string();
  const auto text = read_raw_file(path, kManifestBytesMax);
  if (!text) return std::unexpected(text.error().during("this is not a complete backup"));
  if (!reader.signed_by_file.empty()) TRY(check_signature(folder, *text, reader.signed_by_file));
  const auto identities = TRY(read_identities(reader));
  auto manifest = read_manifest(*text);
  if (!manifest) return std::unexpected(manifest.error().during(path));
  for (const BackupFile& file : manifest->files) {
    if (!identities.empty() && !is_encrypted(file)) {
      return fail(ErrorCode::kBadFile,
                  fmt::format("{} of the backup {} is not encrypted, and --identity was given; "
                              "without it a backup in the clear is read",
                              file.name, folder));
    }
    const std::string copy = (fs::path(folder) / file.name).string();
    const auto facts = TRY(describe_file(copy, file.name));
    if (facts.bytes != file.bytes || facts.sha256 != file.sha256) {
      return fail(ErrorCode::kBadFile,
                  fmt::format("{} is not as it was backed up: {} bytes, SHA-256 {}; the manifest "
                              "says {} bytes, {}",
                              copy, facts.bytes, facts.sha256, file.bytes, file.sha256));
    }
    if (!identities.empty() && is_encrypted(file)) TRY(decrypt_file(copy, "", identities));
  }
  return manifest;
}

namespace {

// The restored log ends earlier than the one that was kept: its head is kept from here on, and the
// entry says which one it takes the place of.
Result<void> record_restore(const std::string& folder, const Manifest& manifest, Context& context) {
  audit_log::Entry entry{.actor = cli_author().actor,
                         .action = "restore",
                         .subject = "backup of " + manifest.at,
                         .after = JsonObjectBuilder()
                                      .text("folder", folder)
                                      .count("files", manifest.files.size())
                                      .text("program_version", manifest.program_version)
                                      .json()};
  const auto head =
      audit_log::accept(audit_log_files(context.config), std::move(entry), context.clock);
  if (!head) {
    return std::unexpected(
        head.error().during("everything is restored, but the audit log could not record it"));
  }
  std::error_code ignored;
  if (!fs::exists(accounts_path(context.config), ignored)) return {};
  const auto accounts =
      TRY(access::Accounts::open({.path = accounts_path(context.config)}, context.clock));
  return accounts->put(access::kAuditHeadText, audit_log::write_head(*head));
}

}  // namespace

Result<Manifest> restore_backup(const std::string& folder, bool force, Context& context,
                                const BackupReader& reader) {
  const Config& config = context.config;
  auto manifest = check_backup(folder, reader);
  if (!manifest) return manifest;
  const auto identities = TRY(read_identities(reader));
  std::error_code error;
  if (reader.signed_by_file.empty() && fs::exists(fs::path(folder) / kSignatureFile, error)) {
    context.console.warn(
        fmt::format("the backup {} is signed, and nobody has checked by whom; "
                    "name the public key with --signed-by",
                    folder));
  }
  for (const BackupFile& file : manifest->files) {
    if (restore_path(plain_name(file), config).empty()) {
      return fail(ErrorCode::kUnsupported,
                  "the backup holds " + file.name + ", which this version does not know");
    }
    if (is_encrypted(file) && identities.empty()) {
      return fail(ErrorCode::kBadValue,
                  "the backup is encrypted; name the file of an identity that it is for with "
                  "--identity");
    }
  }
  if (is_on_clickhouse(config)) {
    return fail(ErrorCode::kUnsupported,
                "a backup of a file can't replace a ledger on ClickHouse; name a file "
                "with --store");
  }
  const auto old = in_the_way(config);
  if (!old) return std::unexpected(old.error());
  if (!old->empty() && !force) {
    return fail(ErrorCode::kConflict,
                fmt::format("{} exists already; --force replaces it", old->front()));
  }
  const auto no_serve = TRY(NoServe::take(config));
  // First copies everything next to the existing files, which takes long; then renames.
  const std::string part = ".restoring.part";
  for (const BackupFile& file : manifest->files) {
    const std::string target = restore_path(plain_name(file), config);
    const std::string copy = (fs::path(folder) / file.name).string();
    fs::create_directories(fs::absolute(target).parent_path(), error);
    TRY(is_encrypted(file) ? decrypt_file(copy, target + part, identities)
                           : copy_file(copy, target + part));
  }
  for (const std::string& path : *old) fs::remove(path, error);
  for (const BackupFile& file : manifest->files) {
    const std::string target = restore_path(plain_name(file), config);
    fs::rename(target + part, target, error);
    if (error) {
      return fail(ErrorCode::kIo, fmt::format("cannot restore {}: {}; restore again with --force",
                                              target, error.message()));
    }
  }
  TRY(record_restore(folder, *manifest, context));
  return manifest;
}

}  // namespace pennyweight
