// A file whose checkpoint was killed within a write is whole when it is next opened.
#include "core/duckdb/checkpoint_rescue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "core/duckdb/database.h"

namespace pennyweight::duckdb {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr std::uint64_t kFirstBlock = 12288;
constexpr std::uint64_t kBlockBytes = 262144;

class CheckpointRescueTest : public ::testing::Test {
 protected:
  CheckpointRescueTest()
      : folder_(fs::temp_directory_path() / ("pennyweight_rescue_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~CheckpointRescueTest() override { fs::remove_all(folder_); }
  std::string path(const std::string& ending = "") const {
    return (folder_ / "a.duckdb").string() + ending;
  }

  static Result<Database> open(const std::string& path, bool survives_kill = true) {
    return Database::open({.path = path, .threads = 1, .survives_kill = survives_kill});
  }
  static void execute(Database& database, const std::string& sql) {
    auto connection = database.connect();
    ASSERT_TRUE(connection);
    const auto done = connection->execute(sql);
    ASSERT_TRUE(done) << done.error().message;
  }
  static std::vector<std::uint64_t> numbers(Database& database, const std::string& sql) {
    std::vector<std::uint64_t> found;
    auto connection = database.connect();
    auto rows = connection->query(sql);
    while (rows && *rows->next()) {
      for (std::uint64_t row = 0; row < rows->size(); ++row) {
        found.push_back(rows->column(0).uint64(row));
      }
    }
    return found;
  }
  static std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // A file of two rows, one of them only in its log, as it is when a program is killed that has
  // saved its blocks of metadata and written half of each again.
  void make_killed() {
    std::vector<std::uint64_t> blocks;
    {
      auto database = open(path("-alive"));
      ASSERT_TRUE(database) << database.error().message;
      execute(*database, "CREATE TABLE t (a UBIGINT); INSERT INTO t VALUES (1)");
      ASSERT_TRUE(database->checkpoint());
      execute(*database, "INSERT INTO t VALUES (2)");
      blocks = numbers(*database, "SELECT block_id::UBIGINT FROM pragma_metadata_info()");
      fs::copy_file(path("-alive"), path());
      fs::copy_file(path("-alive.wal"), path(".wal"));
    }
    ASSERT_FALSE(blocks.empty());
    auto rescue = CheckpointRescue::open(path());
    ASSERT_TRUE(rescue);
    const auto saved = rescue->save(blocks, kBlockBytes);
    ASSERT_TRUE(saved) << saved.error().message;
    std::fstream file(path(), std::ios::binary | std::ios::in | std::ios::out);
    for (const std::uint64_t block : blocks) {
      file.seekp(static_cast<std::streamoff>(kFirstBlock + block * kBlockBytes));
      file << std::string(kBlockBytes / 2, 'x');
    }
  }

  fs::path folder_;
};

TEST_F(CheckpointRescueTest, PutsBackWhatAKilledCheckpointHadHalfWritten) {
  make_killed();
  const std::string killed = content(path());
  const auto without = open(path(), false);
  ASSERT_FALSE(without);
  EXPECT_THAT(without.error().message, HasSubstr("Corrupt database file"));
  EXPECT_EQ(content(path()), killed) << "a file that can't be opened is left as it is";
  {
    auto database = open(path());
    ASSERT_TRUE(database) << database.error().message;
    EXPECT_FALSE(fs::exists(path(".rescue")));
    EXPECT_THAT(numbers(*database, "SELECT a FROM t ORDER BY a"), testing::ElementsAre(1, 2));
  }
  EXPECT_FALSE(fs::exists(path(".wal"))) << "closing ends with a checkpoint";
}

TEST_F(CheckpointRescueTest, PutsNothingBackAfterACheckpointThatEnded) {
  {
    auto database = open(path());
    ASSERT_TRUE(database);
    execute(*database, "CREATE TABLE t (a UBIGINT); INSERT INTO t VALUES (1)");
    ASSERT_TRUE(database->checkpoint());
    auto rescue = CheckpointRescue::open(path());
    ASSERT_TRUE(rescue);
    const auto blocks = numbers(*database, "SELECT block_id::UBIGINT FROM pragma_metadata_info()");
    ASSERT_TRUE(rescue->save(blocks, kBlockBytes));
    fs::rename(path(".rescue"), path(".old"));
    execute(*database, "INSERT INTO t VALUES (2)");
  }
  fs::rename(path(".old"), path(".rescue"));
  const std::string before = content(path());
  ASSERT_TRUE(CheckpointRescue::recover(path()));
  EXPECT_EQ(content(path()), before);
  EXPECT_FALSE(fs::exists(path(".rescue")));
}

// Files of the same history have the same headers, whatever is in them.
TEST_F(CheckpointRescueTest, AnotherFilesCopyChangesNothing) {
  for (const char* which : {"-one", "-two"}) {
    auto database = open(path(which));
    ASSERT_TRUE(database);
    execute(*database, std::string("CREATE TABLE t (a VARCHAR); INSERT INTO t VALUES ('") + which +
                           "'); CREATE TABLE u" + which[1] + " (b UBIGINT)");
    ASSERT_TRUE(database->checkpoint());
    auto rescue = CheckpointRescue::open(path(which));
    ASSERT_TRUE(rescue);
    const auto blocks = numbers(*database, "SELECT block_id::UBIGINT FROM pragma_metadata_info()");
    ASSERT_TRUE(rescue->save(blocks, kBlockBytes));
    fs::copy_file(path(which) + ".rescue", path(which) + ".kept");
  }
  const std::string two = content(path("-two"));
  ASSERT_EQ(content(path("-one")).substr(0, kFirstBlock), two.substr(0, kFirstBlock));
  fs::copy_file(path("-one.kept"), path("-two.rescue"), fs::copy_options::overwrite_existing);
  ASSERT_TRUE(CheckpointRescue::recover(path("-two")));
  EXPECT_EQ(content(path("-two")), two);
  EXPECT_FALSE(fs::exists(path("-two.rescue")));
}

// As DuckDB leaves them: what is whole is never taken for torn.
TEST_F(CheckpointRescueTest, WholeBlocksStay) {
  make_killed();
  const std::string killed = content(path());
  fs::copy_file(path("-alive"), path(), fs::copy_options::overwrite_existing);
  const std::string whole = content(path());
  ASSERT_NE(whole, killed);
  ASSERT_TRUE(CheckpointRescue::recover(path()));
  EXPECT_EQ(content(path()), whole);
}

TEST_F(CheckpointRescueTest, ADamagedCopyIsNotUsed) {
  make_killed();
  const std::string killed = content(path());
  for (const std::uint64_t cut : {std::uint64_t{0}, std::uint64_t{100}, kBlockBytes}) {
    fs::resize_file(path(".rescue"), cut);
    const auto done = CheckpointRescue::recover(path());
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::kBadFile);
    EXPECT_THAT(done.error().message, HasSubstr(".rescue is damaged"));
    EXPECT_EQ(content(path()), killed);
  }
}

TEST_F(CheckpointRescueTest, WaitsForNobodyAndNeedsNoFile) {
  EXPECT_TRUE(CheckpointRescue::recover(path()));
  std::ofstream(path(".rescue")) << "left by a ledger that was removed";
  EXPECT_TRUE(CheckpointRescue::recover(path()));
}

// A log is written into the file once it is long, not only at the end.
TEST_F(CheckpointRescueTest, ACheckpointIsDueOnceTheLogIsLong) {
  auto database = open(path());
  ASSERT_TRUE(database);
  execute(*database, "CREATE TABLE t (a UBIGINT, b VARCHAR); INSERT INTO t VALUES (1, '')");
  database->checkpoint_if_due();
  EXPECT_GT(fs::file_size(path(".wal")), 0u);
  execute(*database,
          "INSERT INTO t SELECT i, repeat(i::VARCHAR, 60) FROM range(2, 100000) AS r(i)");
  ASSERT_GT(fs::file_size(path(".wal")), 16u << 20);
  database->checkpoint_if_due();
  EXPECT_FALSE(fs::exists(path(".wal")) && fs::file_size(path(".wal")) > 0);
  EXPECT_FALSE(fs::exists(path(".rescue")));
  EXPECT_EQ(numbers(*database, "SELECT count(*)::UBIGINT FROM t").at(0), 99'999u);
}

}  // namespace
}  // namespace pennyweight::duckdb
