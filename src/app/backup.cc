#include "app/backup.h"

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

#include "access/accounts.h"
#include "app/backup_manifest.h"
#include "app/doors.h"
#include "app/file.h"
#include "app/told_changes.h"
#include "app/version.h"
#include "duckdb/database.h"
#include "duckdb/rows.h"
#include "trail/trail.h"

namespace pennyweight {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

// A `serve` under load writes for some seconds at a time.
constexpr milliseconds kPatience{60'000};
constexpr milliseconds kBetweenTries{100};
constexpr int kListingsMax = 50;
constexpr std::size_t kManifestBytesMax = 16u << 20;

struct OpenLedger {
  duckdb::Database database;
  duckdb::Connection connection;
};

// Nobody else has the ledger for as long as this is held.
Result<OpenLedger> hold_ledger(const Config& config) {
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (true) {
    auto database = duckdb::Database::open({.path = config.store_path,
                                            .memory_bytes_max = config.store_memory_bytes,
                                            .threads = config.threads});
    if (database) {
      auto connection = database->connect();
      if (!connection) return std::unexpected(connection.error());
      return OpenLedger{*std::move(database), *std::move(connection)};
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
    auto rows = ledger.connection.query("SELECT current_database()");
    if (!rows) return std::unexpected(rows.error());
    const auto more = rows->next();
    if (!more) return std::unexpected(more.error());
    name = rows->column(0).text(0);
  }
  return ledger.connection.execute("ATTACH " + duckdb::quote_text(to) + " AS backup_copy; " +
                                   "COPY FROM DATABASE " + duckdb::quote_identifier(name) +
                                   " TO backup_copy; DETACH backup_copy");
}

// What is made anew by itself, what is copied in another way, and what is no file.
bool is_left_out(const std::string& name) {
  return name == "lock" || name.starts_with("accounts.sqlite") || name.starts_with("rollup.") ||
         name.ends_with(".new") || name.ends_with(".part");
}

struct Listed {
  std::uint64_t bytes = 0;
  std::int64_t changed_ns = 0;
  bool operator==(const Listed&) const = default;
};
using Listing = std::map<std::string, Listed>;

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

// The journal only grows while the ledger is held; other files are written now and then. All of
// them of one moment: nothing but a segment's growth lies between the first and the last look.
bool is_same_moment(const Listing& before, const Listing& after) {
  return std::ranges::equal(before, after, [](const auto& one, const auto& other) {
    return one.first == other.first &&
           (one.second == other.second ||
            (one.first.starts_with("segment-") && one.second.bytes <= other.second.bytes));
  });
}

Result<std::vector<std::string>> copy_live(const std::string& from, const std::string& to) {
  for (int listings = 0; listings < kListingsMax; ++listings) {
    const auto before = list_live(from);
    if (!before) return std::unexpected(before.error());
    std::error_code error;
    fs::remove_all(to, error);
    fs::create_directories(to, error);
    fs::permissions(to, fs::perms::owner_all, error);
    if (error) return fail(ErrorCode::kIo, "cannot make " + to + ": " + error.message());
    bool all_there = true;
    std::vector<std::string> names;
    for (const auto& [name, about] : *before) {
      const std::string source = (fs::path(from) / name).string();
      const auto copied = copy_file(source, (fs::path(to) / name).string(), about.bytes);
      if (!copied && fs::exists(source, error)) return std::unexpected(copied.error());
      all_there = all_there && copied.has_value();
      names.push_back(name);
    }
    const auto after = list_live(from);
    if (!after) return std::unexpected(after.error());
    if (all_there && is_same_moment(*before, *after)) return names;
    std::this_thread::sleep_for(kBetweenTries);
  }
  return fail(ErrorCode::kConflict, from + " changes all the time; try again");
}

// Up to the end of a line: another may be at the next one.
Result<void> copy_trail(const std::string& from, const std::string& to, const Console& console) {
  const auto before = trail::verify(from);
  if (!before) return std::unexpected(before.error());
  if (!before->whole) {
    console.warn(fmt::format("the audit log {} is not whole: line {}: {}; it is copied as it is",
                             from, before->bad_line, before->reason));
  }
  std::error_code error;
  const auto size = fs::file_size(from, error);
  if (error) return fail(ErrorCode::kIo, "cannot read " + from + ": " + error.message());
  if (auto copied = copy_file(from, to, size); !copied) return copied;
  if (!before->whole) return {};
  const auto after = trail::verify(to);
  if (!after) return std::unexpected(after.error());
  if (after->whole) return {};
  return fail(ErrorCode::kConflict, from + " was being written; try again");
}

bool is_empty_or_missing(const std::string& folder) {
  std::error_code error;
  return !fs::exists(folder, error) ||
         (fs::is_directory(folder, error) && fs::is_empty(folder, error) && !error);
}

// Where a file of a backup belongs; empty: it is of no kind that we know.
std::string target_of(const std::string& name, const Config& config) {
  if (name == kLedgerFile) return config.store_path;
  if (name == kTrailFile) return trail_path(config);
  if (name == kAccountsFile) return accounts_path(config);
  if (name == std::string(kAccountsFile) + ".key") return accounts_path(config) + ".key";
  const std::string live = kLiveFolder;
  if (!name.starts_with(live) || name.find('/', live.size()) != std::string::npos) return {};
  return (fs::path(live_folder(config)) / name.substr(live.size())).string();
}

// What is there and would be replaced, or would be taken for a part of what is restored.
Result<std::vector<std::string>> in_the_way(const Config& config) {
  std::vector<std::string> found;
  std::error_code error;
  const std::string accounts = accounts_path(config);
  for (const std::string& path :
       {config.store_path, config.store_path + ".wal", trail_path(config), accounts,
        accounts + ".key", accounts + "-wal", accounts + "-shm"}) {
    if (fs::exists(path, error)) found.push_back(path);
  }
  const auto live = list_live(live_folder(config));
  if (!live) return std::unexpected(live.error());
  for (const auto& [name, about] : *live) {
    found.push_back((fs::path(live_folder(config)) / name).string());
  }
  // It is made of the ledger, and would be of another one.
  for (const char* name : {"rollup.duckdb", "rollup.duckdb.wal"}) {
    const std::string path = (fs::path(live_folder(config)) / name).string();
    if (fs::exists(path, error)) found.push_back(path);
  }
  return found;
}

// The lock of a running `serve`, taken by us.
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
                  "'pennyweight serve' runs on this ledger; stop it, and restore then");
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

Result<Manifest> make_backup(const std::string& folder, Context& context) {
  const Config& config = context.config;
  std::error_code error;
  if (is_on_clickhouse(config)) {
    return fail(
        ErrorCode::kUnsupported,
        "the ledger is on ClickHouse, and only one in a file is backed up here: copy it to a "
        "file with 'pennyweight move', and back that up (docs/guide/cluster.md)");
  }
  if (!is_empty_or_missing(folder)) {
    return fail(ErrorCode::kConflict, folder + " holds something already; name a new folder");
  }
  if (!fs::exists(config.store_path, error)) {
    return fail(ErrorCode::kNotFound, "there is no ledger " + config.store_path + " yet");
  }
  fs::create_directories(folder, error);
  fs::permissions(folder, fs::perms::owner_all, error);
  if (error) return fail(ErrorCode::kIo, "cannot make " + folder + ": " + error.message());
  const auto inside = [&](const std::string& name) { return (fs::path(folder) / name).string(); };
  std::vector<std::string> names = {kLedgerFile};
  Manifest manifest{
      .at = to_text(context.clock.now()), .program_version = kProgramVersion, .files = {}};
  {
    auto ledger = hold_ledger(config);
    if (!ledger) return std::unexpected(ledger.error());
    if (auto copied = copy_ledger(*ledger, inside(kLedgerFile)); !copied) {
      return std::unexpected(copied.error().during("cannot copy the ledger"));
    }
    const auto live = copy_live(live_folder(config), inside(kLiveFolder));
    if (!live) return std::unexpected(live.error());
    for (const std::string& name : *live) names.push_back(kLiveFolder + name);
  }
  if (fs::exists(accounts_path(config), error)) {
    const auto accounts = access::Accounts::open({.path = accounts_path(config)}, context.clock);
    if (!accounts) return std::unexpected(accounts.error());
    if (auto copied = (*accounts)->copy_to(inside(kAccountsFile)); !copied) {
      return std::unexpected(copied.error());
    }
    names.emplace_back(kAccountsFile);
    names.push_back(std::string(kAccountsFile) + ".key");
  }
  if (fs::exists(trail_path(config), error)) {
    auto copied = copy_trail(trail_path(config), inside(kTrailFile), context.console);
    if (!copied) return std::unexpected(copied.error());
    names.emplace_back(kTrailFile);
  }
  for (const std::string& name : names) {
    fs::permissions(inside(name), fs::perms::owner_read | fs::perms::owner_write, error);
    auto facts = file_facts(inside(name), name);
    if (!facts) return std::unexpected(facts.error());
    manifest.files.push_back(*std::move(facts));
  }
  auto file = OutputFile::create(inside(kManifestFile));
  if (!file) return std::unexpected(file.error());
  if (auto written = file->write(write_manifest(manifest)); !written) {
    return std::unexpected(written.error());
  }
  if (auto committed = file->commit(); !committed) return std::unexpected(committed.error());
  fs::permissions(inside(kManifestFile), fs::perms::owner_read | fs::perms::owner_write, error);
  if (error) return fail(ErrorCode::kIo, "cannot keep others out: " + error.message());
  return manifest;
}

Result<Manifest> check_backup(const std::string& folder) {
  const std::string path = (fs::path(folder) / kManifestFile).string();
  const auto text = read_file(path, kManifestBytesMax);
  if (!text) return std::unexpected(text.error().during("this is not a whole backup"));
  auto manifest = read_manifest(*text);
  if (!manifest) return std::unexpected(manifest.error().during(path));
  for (const BackupFile& file : manifest->files) {
    const std::string copy = (fs::path(folder) / file.name).string();
    const auto facts = file_facts(copy, file.name);
    if (!facts) return std::unexpected(facts.error());
    if (facts->bytes != file.bytes || facts->sha256 != file.sha256) {
      return fail(ErrorCode::kBadFile,
                  fmt::format("{} is not as it was backed up: {} bytes, SHA-256 {}; the manifest "
                              "says {} bytes, {}",
                              copy, facts->bytes, facts->sha256, file.bytes, file.sha256));
    }
  }
  return manifest;
}

Result<Manifest> restore_backup(const std::string& folder, bool force, Context& context) {
  const Config& config = context.config;
  auto manifest = check_backup(folder);
  if (!manifest) return manifest;
  for (const BackupFile& file : manifest->files) {
    if (target_of(file.name, config).empty()) {
      return fail(ErrorCode::kUnsupported,
                  "the backup holds " + file.name + ", of which this program knows nothing");
    }
  }
  if (is_on_clickhouse(config)) {
    return fail(ErrorCode::kUnsupported,
                "a backup of a file can't take the place of a ledger on ClickHouse; name a file "
                "with --store");
  }
  const auto old = in_the_way(config);
  if (!old) return std::unexpected(old.error());
  if (!old->empty() && !force) {
    return fail(
        ErrorCode::kConflict,
        fmt::format("{} is there already; --force puts the backup in its place", old->front()));
  }
  const auto no_serve = NoServe::take(config);
  if (!no_serve) return std::unexpected(no_serve.error());
  // All that takes long first, beside what is there; then names are changed.
  const std::string part = ".restoring.part";
  std::error_code error;
  for (const BackupFile& file : manifest->files) {
    const std::string target = target_of(file.name, config);
    fs::create_directories(fs::absolute(target).parent_path(), error);
    const auto copied = copy_file((fs::path(folder) / file.name).string(), target + part);
    if (!copied) return std::unexpected(copied.error());
  }
  for (const std::string& path : *old) fs::remove(path, error);
  for (const BackupFile& file : manifest->files) {
    const std::string target = target_of(file.name, config);
    fs::rename(target + part, target, error);
    if (error) {
      return fail(ErrorCode::kIo,
                  fmt::format("cannot put {} in its place: {}; restore again with --force", target,
                              error.message()));
    }
  }
  const auto told = tell_change(context, "restore", "backup of " + manifest->at, "",
                                ToldFacts()
                                    .text("folder", folder)
                                    .count("files", manifest->files.size())
                                    .text("program_version", manifest->program_version)
                                    .json());
  if (!told) return std::unexpected(told.error());
  return manifest;
}

}  // namespace pennyweight
