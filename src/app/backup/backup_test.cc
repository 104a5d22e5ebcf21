#include "app/backup/backup.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "app/audit_events/audit_events.h"
#include "app/backup/backup_manifest.h"
#include "app/context/paths.h"
#include "core/check.h"
#include "core/crypto/signature.h"
#include "ledger/store/duckdb/duckdb_store.h"
#include "server/access/accounts.h"
#include "server/audit_log/audit_log.h"

namespace pennyweight {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

class BackupTest : public testing::Test {
 protected:
  BackupTest() : context_{default_config(), Console::detect(ColourMode::kNever, true), {}} {
    std::string name = (std::filesystem::temp_directory_path() / "backup_test.XXXXXX").string();
    CHECK(mkdtemp(name.data()) != nullptr, "a folder for the test");
    folder_ = name;
    context_.config.store_path = folder_ / "pw.duckdb";
    import(10);
    CHECK(record_audit_event(context_, "import", "import 1", "", "{}").has_value(),
          "it is recorded");
    std::filesystem::create_directories(live_folder(context_.config));
    const auto accounts = access::Accounts::open(
        {.path = accounts_path(context_.config), .argon2_kib = 64, .argon2_rounds = 1},
        context_.clock);
    CHECK(accounts && (*accounts)->put("mark", "before"), "accounts");
    put(live("segment-00000000000000000001.journal"), "acknowledged");
    put(live("slurm-hpc.state"), "state");
    put(live("lock"), "");
    put(live("rollup.duckdb"), "made of the ledger");
  }
  ~BackupTest() override { std::filesystem::remove_all(folder_); }

  std::string backup() const { return folder_ / "backup"; }
  std::string live(const std::string& name) const {
    return (std::filesystem::path(live_folder(context_.config)) / name).string();
  }
  static void put(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  static std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  // Imports this many charges; those that exist already stay.
  void import(int lines) {
    const auto store = open_duckdb_store({.path = context_.config.store_path, .threads = 1});
    CHECK(store.has_value(), "a ledger");
    const auto session = (*store)->begin_import({"focus", "bill.csv", {}, Instant()});
    const Interval march(*parse_instant("2026-03-01"), *parse_instant("2026-04-01"));
    for (int i = 0; i < lines; ++i) {
      Charge line(march, march, Costs::zero(kUsd));
      line.resource_id = "i-" + std::to_string(i);
      CHECK((*session)->append_charges({&line, 1}).has_value(), "a line");
    }
    CHECK((*session)->commit().has_value(), "lines");
  }
  std::uint64_t lines() const {
    const auto store = open_duckdb_store({.path = context_.config.store_path, .threads = 1});
    CHECK(store.has_value(), "a ledger");
    return (*store)->overview()->charges;
  }
  std::string mark() {
    const auto accounts =
        access::Accounts::open({.path = accounts_path(context_.config)}, context_.clock);
    return (*accounts)->get("mark")->value_or("");
  }
  void change_everything() {
    import(20);
    const auto accounts =
        access::Accounts::open({.path = accounts_path(context_.config)}, context_.clock);
    CHECK((*accounts)->put("mark", "after").has_value(), "accounts");
    put(live("slurm-hpc.state"), "other");
    put(live("segment-00000000000000000002.journal"), "later");
    CHECK(record_audit_event(context_, "import", "import 2", "", "{}").has_value(),
          "it is recorded");
  }

  std::filesystem::path folder_;
  Context context_;
};

TEST_F(BackupTest, BringsBackWhatWas) {
  const auto made = make_backup(backup(), context_);
  ASSERT_TRUE(made) << made.error().message;
  std::vector<std::string> names;
  for (const BackupFile& file : made->files) names.push_back(file.name);
  EXPECT_THAT(names, UnorderedElementsAre("ledger.duckdb", "trail.audit", "accounts.sqlite",
                                          "accounts.sqlite.key", "live/slurm-hpc.state",
                                          "live/segment-00000000000000000001.journal"));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(backup())) {
    struct stat about = {};
    ASSERT_EQ(::stat(entry.path().c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 077, 0U) << entry.path();
  }
  change_everything();
  EXPECT_EQ(lines(), 20U);
  const auto refused = restore_backup(backup(), false, context_);
  EXPECT_THAT(refused.error().message, HasSubstr("--force"));
  EXPECT_EQ(lines(), 20U);

  const auto restored = restore_backup(backup(), true, context_);
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_EQ(lines(), 10U);
  EXPECT_EQ(mark(), "before");
  EXPECT_EQ(read(live("slurm-hpc.state")), "state");
  EXPECT_EQ(read(live("segment-00000000000000000001.journal")), "acknowledged");
  EXPECT_FALSE(std::filesystem::exists(live("segment-00000000000000000002.journal")))
      << "what came later would be counted twice";
  EXPECT_FALSE(std::filesystem::exists(live("rollup.duckdb"))) << "it was of another ledger";
  const auto audit_log = audit_log::AuditLog::open(audit_log_path(context_.config), context_.clock);
  EXPECT_EQ((*audit_log)->head()->number, 2U) << "as it was, and that it was restored";
  EXPECT_EQ((*audit_log)->entries(0, 1, {})->front().action, "restore");
  EXPECT_TRUE(audit_log::verify(audit_log_path(context_.config))->whole);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) {
    EXPECT_THAT(entry.path().string(), Not(HasSubstr(".part")));
  }
}

// Keys for tests: of age-keygen and `openssl genpkey -algorithm ed25519`.
constexpr const char* kRecipient = "age1m72gsvqvwpfs2kcwhn9zmjqjyl0f8xrd94sen6edusnrxs7s2grsyh2alc";
constexpr const char* kIdentity =
    "AGE-SECRET-KEY-17W0HZT0676XNA45F7KH584SWHKXWHF4Y59RL24H6HJUDHVLHYDYSVDRVU5\n";
constexpr const char* kSigningKey = R"(-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIB7Rysse62WdNNI5KxAICu75ji+UhanwnULZp02uoFGd
-----END PRIVATE KEY-----
)";
constexpr const char* kPublicKey = R"(-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAE9p+bYve9q46L1ZdIgqhtAPk1NthXz9G8uyJXvhsbr0=
-----END PUBLIC KEY-----
)";

TEST_F(BackupTest, EncryptsForItsRecipientsAndSigns) {
  const auto here = [&](const char* name) { return (folder_ / name).string(); };
  put(here("identity"), kIdentity);
  put(here("sign.pem"), kSigningKey);
  put(here("public.pem"), kPublicKey);
  const BackupKeys keys{.recipients = {kRecipient}, .signing_key_file = here("sign.pem")};
  const BackupReader reader{.identity_file = here("identity"),
                            .signed_by_file = here("public.pem")};
  const auto made = make_backup(backup(), context_, keys);
  ASSERT_TRUE(made) << made.error().message;
  for (const BackupFile& file : made->files) {
    EXPECT_TRUE(file.name.ends_with(".age")) << file.name;
    EXPECT_TRUE(
        read(std::filesystem::path(backup()) / file.name).starts_with("age-encryption.org/v1\n"));
  }
  // Nothing else lies there, nor beside the ledger.
  for (const auto& entry : std::filesystem::recursive_directory_iterator(backup())) {
    const std::string name = entry.path().filename();
    EXPECT_TRUE(entry.is_directory() || name.ends_with(".age") || name.starts_with("manifest."))
        << name;
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr(".backup-")));
  }
  EXPECT_TRUE(check_backup(backup()));
  EXPECT_TRUE(check_backup(backup(), reader));

  change_everything();
  EXPECT_THAT(restore_backup(backup(), true, context_).error().message, HasSubstr("--identity"));
  EXPECT_EQ(lines(), 20u);
  const auto restored = restore_backup(backup(), true, context_, reader);
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_EQ(lines(), 10u);

  // A file for the same recipient in another's place is found by the signature alone.
  const std::filesystem::path manifest = std::filesystem::path(backup()) / "manifest.json";
  std::string text = read(manifest);
  text.replace(text.find("\"at\": \"") + 7, 1, "3");
  put(manifest, text);
  EXPECT_TRUE(check_backup(backup()));
  EXPECT_THAT(check_backup(backup(), reader).error().message, HasSubstr("has not signed"));
  std::filesystem::remove(std::filesystem::path(backup()) / "manifest.sig");
  EXPECT_THAT(check_backup(backup(), reader).error().message, HasSubstr("is not signed"));
  // Keys that are none are refused before anything is copied.
  EXPECT_FALSE(
      make_backup(here("new"), context_, {.recipients = {"age1x"}, .signing_key_file = {}}));
  EXPECT_FALSE(make_backup(here("new"), context_,
                           {.recipients = {}, .signing_key_file = here("public.pem")}));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "new"));
}

TEST_F(BackupTest, ReadsASignatureThatBeginsAsGzipDoes) {
  std::filesystem::create_directories(backup());
  const std::string manifest =
      write_manifest({.at = "2026-03-01T00:00:00Z", .program_version = "240010", .files = {}});
  const auto signature = sign(manifest, kSigningKey);
  ASSERT_TRUE(signature);
  ASSERT_TRUE(signature->starts_with("\x1f\x8b"));
  put(backup() + "/manifest.json", manifest);
  put(backup() + "/manifest.sig", *signature);
  put(folder_ / "public.pem", kPublicKey);
  const auto checked =
      check_backup(backup(), {.identity_file = {}, .signed_by_file = folder_ / "public.pem"});
  EXPECT_TRUE(checked) << checked.error().message;
}

TEST_F(BackupTest, WithAnIdentityTakesNothingInTheClearAndSaysWhatWasNotChecked) {
  put(folder_ / "identity", kIdentity);
  put(folder_ / "sign.pem", kSigningKey);
  put(folder_ / "public.pem", kPublicKey);
  ASSERT_TRUE(make_backup(backup(), context_,
                          {.recipients = {}, .signing_key_file = folder_ / "sign.pem"}));
  const BackupReader reader{.identity_file = folder_ / "identity", .signed_by_file = {}};
  for (const auto& read :
       {check_backup(backup(), reader), restore_backup(backup(), true, context_, reader)}) {
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().message, HasSubstr("is not encrypted"));
  }
  testing::internal::CaptureStderr();
  EXPECT_TRUE(restore_backup(backup(), true, context_));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("--signed-by"));
  testing::internal::CaptureStderr();
  EXPECT_TRUE(restore_backup(backup(), true, context_,
                             {.identity_file = {}, .signed_by_file = folder_ / "public.pem"}));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), Not(HasSubstr("--signed-by")));
}

TEST_F(BackupTest, GoesToAPlaceWhereNothingIs) {
  ASSERT_TRUE(make_backup(backup(), context_));
  context_.config.store_path = folder_ / "elsewhere.duckdb";
  ASSERT_TRUE(restore_backup(backup(), false, context_));
  EXPECT_EQ(lines(), 10U);
  EXPECT_EQ(mark(), "before");
}

TEST_F(BackupTest, FindsAnyFileThatWasChanged) {
  const auto made = make_backup(backup(), context_);
  ASSERT_TRUE(made);
  EXPECT_TRUE(check_backup(backup()));
  change_everything();
  for (const BackupFile& file : made->files) {
    const std::string path = backup() + "/" + file.name;
    const std::string good = read(path);
    std::string bad = good;
    bad[bad.size() / 2] ^= 1;
    put(path, bad);
    const auto refused = restore_backup(backup(), true, context_);
    ASSERT_FALSE(refused) << file.name;
    EXPECT_THAT(refused.error().message, HasSubstr(file.name));
    put(path, good.substr(0, good.size() - 1));
    EXPECT_FALSE(restore_backup(backup(), true, context_)) << file.name;
    std::filesystem::remove(path);
    EXPECT_FALSE(restore_backup(backup(), true, context_)) << file.name;
    put(path, good);
  }
  std::filesystem::remove(backup() + "/manifest.json");
  EXPECT_FALSE(restore_backup(backup(), true, context_));
  EXPECT_EQ(lines(), 20U) << "and nothing was changed";
  EXPECT_EQ(mark(), "after");
}

TEST_F(BackupTest, DoesNothingUnderARunningServe) {
  ASSERT_TRUE(make_backup(backup(), context_));
  change_everything();
  const int file = ::open(live("lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(file, LOCK_EX | LOCK_NB), 0);
  const auto refused = restore_backup(backup(), true, context_);
  EXPECT_THAT(refused.error().message, HasSubstr("runs on this ledger"));
  EXPECT_EQ(lines(), 20U);
  ::close(file);
  EXPECT_TRUE(restore_backup(backup(), true, context_));
}

TEST_F(BackupTest, KeepsItselfToItsFolder) {
  std::filesystem::create_directories(backup());
  put(backup() + "/mine", "x");
  EXPECT_EQ(make_backup(backup(), context_).error().code, ErrorCode::kConflict);
  EXPECT_EQ(read(backup() + "/mine"), "x");
  const Manifest good{.at = "2026-03-01T00:00:00Z",
                      .program_version = "1",
                      .files = {{.name = "live/a \"b\"", .bytes = 7, .sha256 = "ab"}}};
  const auto again = read_manifest(write_manifest(good));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->files.front().name, "live/a \"b\"");
  for (const char* bad : {"../x", "/etc/passwd", "live/../../x", ""}) {
    Manifest manifest = good;
    manifest.files.front().name = bad;
    EXPECT_FALSE(read_manifest(write_manifest(manifest))) << bad;
  }
  for (const char* bad : {"", "[]", "{}", R"({"format": 2, "at": "", "program_version": "",
                                            "files": []})"}) {
    EXPECT_FALSE(read_manifest(bad)) << bad;
  }
}

}  // namespace
}  // namespace pennyweight
