// Values that go through the C API come back unchanged, and failures come back as messages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "core/duckdb/appender.h"
#include "core/duckdb/database.h"
#include "core/duckdb/table_writer.h"
#include "core/interruption.h"
#include "core/try.h"
#include "core/utf8.h"

namespace pennyweight::duckdb {
namespace {

using ::testing::HasSubstr;

constexpr Int128 kLargest = Decimal::kTicksMax;

class DuckdbTest : public ::testing::Test {
 protected:
  DuckdbTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("pennyweight_duckdb_test_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~DuckdbTest() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  static Connection connect(Database& database) {
    Result<Connection> connection = database.connect();
    EXPECT_TRUE(connection.has_value());
    return std::move(*connection);
  }
  static Database in_memory() {
    Result<Database> database = Database::open({.path = ""});
    EXPECT_TRUE(database.has_value()) << database.error().message;
    return std::move(*database);
  }
  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(file(name)).rdbuf();
    return text.str();
  }

  std::filesystem::path folder_;
};

// The first value of a query, as text.
std::string answer(Connection& connection, const std::string& sql) {
  Result<Rows> rows = connection.query("SELECT CAST((" + sql + ") AS VARCHAR)");
  if (!rows) return rows.error().message;
  const Result<bool> more = rows->next();
  if (!more) return more.error().message;
  return rows->column(0).is_null(0) ? "null" : std::string(rows->column(0).text(0));
}

TEST_F(DuckdbTest, EveryTypeComesBack) {
  Database database = in_memory();
  Connection connection = connect(database);
  ASSERT_TRUE(connection
                  .execute("CREATE TABLE t (a VARCHAR, b BIGINT, c UBIGINT, d HUGEINT, "
                           "e DECIMAL(38,18), f TIMESTAMP_MS, g BOOLEAN, h DATE, i UUID, "
                           "j MAP(VARCHAR, VARCHAR), k STRUCT(id VARCHAR, profile VARCHAR)[])")
                  .has_value());
  const std::string long_text(5000, 'x');
  const Hash128 hash{.high = 0x8123456789abcdef, .low = 0xfedcba9876543210};
  const std::uint64_t rows = 3000;  // more than one chunk
  Result<Appender> appender = Appender::open(connection, "", "t");
  ASSERT_TRUE(appender.has_value());
  for (std::uint64_t begin = 0; begin < rows; begin += Appender::kChunkRows) {
    const std::uint64_t count = std::min(Appender::kChunkRows, rows - begin);
    for (std::uint64_t row = 0; row < count; ++row) {
      const bool odd = (begin + row) % 2 == 1;
      appender->column(0).set_text(row, odd ? long_text : "Zürich");
      appender->column(1).set_int64(row, std::numeric_limits<std::int64_t>::min());
      appender->column(2).set_uint64(row, odd ? std::nullopt : std::optional(~std::uint64_t{0}));
      appender->column(3).set_hugeint(row, kInt128Max);
      appender->column(4).set_decimal(row, odd ? -kLargest : kLargest);
      appender->column(5).set_timestamp_ms(row, from_unix_ms(1'234'567'890'123));
      appender->column(6).set_bool(row, odd);
      appender->column(7).set_date(row, std::chrono::sys_days(std::chrono::days(-1)));
      appender->column(8).set_uuid(row, hash);
      if (odd) {
        appender->column(9).set_pairs(row, {});
      } else {
        appender->column(9).set_pairs(row, {{"a", ""}, {"team", long_text}});
      }
      appender->column(10).set_pairs(row, {{"MIG-1", "3g.20gb"}});
    }
    ASSERT_TRUE(appender->append(count).has_value());
  }
  ASSERT_TRUE(appender->close().has_value());

  Result<Rows> result = connection.query("SELECT * FROM t");
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(result->column_count(), 11u);
  EXPECT_EQ(result->column_name(4), "e");
  EXPECT_EQ(result->column_type(4), DUCKDB_TYPE_DECIMAL);
  std::uint64_t seen = 0;
  while (true) {
    const Result<bool> more = result->next();
    ASSERT_TRUE(more.has_value());
    if (!*more) break;
    for (std::uint64_t row = 0; row < result->size(); ++row, ++seen) {
      const bool odd = seen % 2 == 1;
      ASSERT_EQ(result->column(0).text(row), odd ? long_text : "Zürich");
      ASSERT_EQ(result->column(1).int64(row), std::numeric_limits<std::int64_t>::min());
      ASSERT_EQ(result->column(2).is_null(row), odd);
      if (!odd) {
        ASSERT_EQ(result->column(2).uint64(row), ~std::uint64_t{0});
      }
      ASSERT_EQ(result->column(3).hugeint(row), kInt128Max);
      ASSERT_EQ(result->column(4).unscaled(row), odd ? -kLargest : kLargest);
      ASSERT_EQ(result->column(5).timestamp_ms(row), from_unix_ms(1'234'567'890'123));
      ASSERT_EQ(result->column(6).boolean(row), odd);
      ASSERT_EQ(result->column(7).date(row).time_since_epoch().count(), -1);
      ASSERT_EQ(result->column(8).uuid(row), hash);
      std::vector<std::pair<std::string, std::string>> pairs;
      result->column(9).visit_pairs(
          row, [&](std::string_view a, std::string_view b) { pairs.emplace_back(a, b); });
      ASSERT_EQ(pairs.size(), odd ? 0u : 2u);
      if (!odd) {
        ASSERT_EQ(pairs[1].second, long_text);
      }
      result->column(10).visit_pairs(row, [](std::string_view id, std::string_view profile) {
        ASSERT_EQ(id, "MIG-1");
        ASSERT_EQ(profile, "3g.20gb");
      });
    }
  }
  EXPECT_EQ(seen, rows);
  EXPECT_EQ(answer(connection, "SELECT max(e) FROM t"), "99999999999999999999.999999999999999999");
  EXPECT_EQ(answer(connection, "SELECT replace(CAST(max(i) AS VARCHAR), '-', '') FROM t"),
            to_text(hash));
  EXPECT_EQ(answer(connection, "SELECT count(*) FROM t WHERE j['team'] IS NOT NULL"), "1500");
}

TEST_F(DuckdbTest, BindsEveryType) {
  Database database = in_memory();
  Connection connection = connect(database);
  const Hash128 hash{.high = 1, .low = 2};
  Result<Statement> statement = connection.prepare(
      "SELECT $1::VARCHAR, $2::BIGINT, $3::UBIGINT, $4::HUGEINT, $5::DECIMAL(38,18), "
      "$6::BOOLEAN, $7::TIMESTAMP_MS, $8::DATE, $9::UUID, $10::VARCHAR");
  ASSERT_TRUE(statement.has_value()) << statement.error().message;
  const std::string hostile = "'; DROP TABLE t; --";
  statement->bind_text(1, hostile).bind_int64(2, -5).bind_uint64(3, ~std::uint64_t{0});
  statement->bind_hugeint(4, -kInt128Max).bind_decimal(5, -kLargest).bind_bool(6, true);
  statement->bind_timestamp_ms(7, from_unix_ms(-1)).bind_uuid(9, hash).bind_null(10);
  statement->bind_date(8, std::chrono::sys_days(std::chrono::days(20'000)));
  for (int twice = 0; twice < 2; ++twice) {
    Result<Rows> rows = statement->query();
    ASSERT_TRUE(rows.has_value()) << rows.error().message;
    ASSERT_TRUE(*rows->next());
    EXPECT_EQ(rows->column(0).text(0), hostile);
    EXPECT_EQ(rows->column(1).int64(0), -5);
    EXPECT_EQ(rows->column(2).uint64(0), ~std::uint64_t{0});
    EXPECT_EQ(rows->column(3).hugeint(0), -kInt128Max);
    EXPECT_EQ(rows->column(4).unscaled(0), -kLargest);
    EXPECT_TRUE(rows->column(5).boolean(0));
    EXPECT_EQ(rows->column(6).timestamp_ms(0), from_unix_ms(-1));
    EXPECT_EQ(rows->column(7).date(0).time_since_epoch().count(), 20'000);
    EXPECT_EQ(rows->column(8).uuid(0), hash);
    EXPECT_TRUE(rows->column(9).is_null(0));
    EXPECT_FALSE(*rows->next());
  }
}

// The sums that stores rely on are exact integers.
TEST_F(DuckdbTest, SumsAreExact) {
  Database database = in_memory();
  Connection connection = connect(database);
  EXPECT_EQ(answer(connection,
                   "SELECT sum(x) FROM (VALUES (99999999999999999999.999999999999999999"
                   "::DECIMAL(38,18)), (-99999999999999999999.999999999999999998), "
                   "(0.000000000000000001)) t(x)"),
            "0.000000000000000002");
  EXPECT_EQ(answer(connection,
                   "SELECT sum(x) FROM (VALUES (170141183460469231731687303715884105720"
                   "::HUGEINT), (7)) t(x)"),
            "170141183460469231731687303715884105727");
  EXPECT_EQ(answer(connection, "SELECT typeof(sum(x)) FROM (VALUES (1::DECIMAL(38,18))) t(x)"),
            "DECIMAL(38,18)");
}

TEST_F(DuckdbTest, QuotesStayOneToken) {
  Database database = in_memory();
  Connection connection = connect(database);
  const std::string name = "a\"b'c; --";
  EXPECT_EQ(quote_identifier(name), "\"a\"\"b'c; --\"");
  EXPECT_EQ(quote_text(name), "'a\"b''c; --'");
  EXPECT_EQ(answer(connection, "SELECT " + quote_text(name)), name);
  ASSERT_TRUE(connection.execute("CREATE TABLE " + quote_identifier(name) + " (x BIGINT)"));
  EXPECT_EQ(answer(connection, "SELECT count(*) FROM " + quote_identifier(name)), "0");
}

TEST_F(DuckdbTest, TextMustBeUtf8) {
  for (const std::string_view good : {"", "plain ascii, long enough", "é", "€", "𝄞", "x\u00e9y"}) {
    EXPECT_TRUE(is_utf8(good)) << good;
  }
  for (const std::string_view bad :
       {"\x80", "\xff", "\xc0\xaf", "\xc3", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xe2\x82",
        "\xf0\x82\x82\xac", "\xe0\x80\xaf", "long enough for words \xfe"}) {
    EXPECT_FALSE(is_utf8(bad)) << bad;
  }
  Database database = in_memory();
  Connection connection = connect(database);
  ASSERT_TRUE(connection.execute("CREATE TABLE t (a VARCHAR)"));
  Result<Appender> appender = Appender::open(connection, "", "t");
  ASSERT_TRUE(appender.has_value());
  appender->column(0).set_text(0, "\xff\xfe");
  const Result<void> appended = appender->append(1);
  ASSERT_FALSE(appended.has_value());
  EXPECT_EQ(appended.error().code, ErrorCode::kBadValue);
  appender->column(0).set_text(0, "good");
  EXPECT_TRUE(appender->append(1).has_value());
  EXPECT_TRUE(appender->close().has_value());
  EXPECT_EQ(answer(connection, "SELECT string_agg(a) FROM t"), "good");
}

TEST_F(DuckdbTest, FailuresSayWhy) {
  Database database = in_memory();
  Connection connection = connect(database);
  EXPECT_THAT(connection.execute("SELECT * FROM nothing").error().message, HasSubstr("nothing"));
  EXPECT_THAT(connection.prepare("SELEC 1").error().message, HasSubstr("syntax error"));
  EXPECT_EQ(answer(connection, "SELECT 1"), "1");
  Result<Rows> rows = connection.query("SELECT CAST(x AS INTEGER) FROM (VALUES ('1'), ('x')) t(x)");
  EXPECT_FALSE(rows.has_value() && rows->next().has_value());
  EXPECT_FALSE(Appender::open(connection, "", "nothing").has_value());

  std::ofstream(file("text.duckdb")) << std::string(20'000, 'x');
  const Result<Database> text = Database::open({.path = file("text.duckdb")});
  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().code, ErrorCode::kBadFile) << text.error().message;
  EXPECT_FALSE(Database::open({.path = file("no/such/folder/x.duckdb")}).has_value());
  EXPECT_FALSE(Database::open({.path = folder_.string()}).has_value());
  EXPECT_FALSE(Database::open({.path = file("absent.duckdb"), .read_only = true}).has_value());
}

// More chunks than the queue holds, so that each thread waits for the other in turn.
constexpr std::uint64_t kChunksOfTest = 3 * Appender::kChunksBehind;

Result<void> append_numbers(Appender& appender, std::uint64_t chunks) {
  for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
    ColumnWriter number = appender.column(0);
    ColumnWriter text = appender.column(1);
    for (std::uint64_t row = 0; row < Appender::kChunkRows; ++row) {
      const std::uint64_t value = chunk * Appender::kChunkRows + row;
      number.set_uint64(row, value);
      text.set_text(row, "a text that is longer than twelve " + std::to_string(value));
    }
    TRY(appender.append(Appender::kChunkRows));
  }
  return appender.close();
}

TEST_F(DuckdbTest, RowsOfTheWriterThreadKeepTheirOrder) {
  Database database = in_memory();
  Connection connection = connect(database);
  ASSERT_TRUE(connection.execute("CREATE TABLE rows (number UBIGINT, words VARCHAR)"));
  auto appender = Appender::open_behind(connection, "", "rows", 10'000);
  ASSERT_TRUE(appender) << appender.error().message;
  const auto done = append_numbers(*appender, kChunksOfTest);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(answer(connection, "SELECT count(*) FROM rows"),
            std::to_string(kChunksOfTest * Appender::kChunkRows));
  EXPECT_EQ(answer(connection, "SELECT count(*) FROM rows WHERE number <> rowid"), "0");
  EXPECT_EQ(answer(connection,
                   "SELECT count(*) FROM rows WHERE "
                   "words <> 'a text that is longer than twelve ' || number"),
            "0");
}

TEST_F(DuckdbTest, ErrorsOfTheWriterThreadAreReported) {
  Database database = in_memory();
  Connection connection = connect(database);
  ASSERT_TRUE(connection.execute(
      "CREATE TABLE rows (number UBIGINT CHECK (number < 50000), words VARCHAR)"));
  auto appender = Appender::open_behind(connection, "", "rows", 4 * Appender::kChunkRows);
  ASSERT_TRUE(appender) << appender.error().message;
  const auto done = append_numbers(*appender, kChunksOfTest);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("cannot append to the table rows"));
}

TEST_F(DuckdbTest, TransactionsHoldAcrossConnections) {
  Result<Database> database = Database::open({.path = file("a.duckdb"), .threads = 2});
  ASSERT_TRUE(database.has_value()) << database.error().message;
  Connection writer = connect(*database);
  Connection reader = connect(*database);
  ASSERT_TRUE(writer.execute("CREATE TABLE t (a BIGINT); BEGIN"));
  EXPECT_EQ(*writer.change("INSERT INTO t SELECT range FROM range(1000)"), 1000u);
  EXPECT_EQ(answer(reader, "SELECT count(*) FROM t"), "0");
  ASSERT_TRUE(writer.execute("COMMIT"));
  EXPECT_EQ(answer(reader, "SELECT count(*) FROM t"), "1000");
}

class TableWriterTest : public DuckdbTest {
 protected:
  TableWriter sample() {
    Result<TableWriter> writer = TableWriter::create({{"name, \"quoted\"", ColumnType::kText},
                                                      {"BilledCost", ColumnType::kDecimal},
                                                      {"lines", ColumnType::kInteger},
                                                      {"seen", ColumnType::kTimestamp}},
                                                     file("temp"));
    EXPECT_TRUE(writer.has_value()) << writer.error().message;
    const std::vector<Cell> rows[] = {
        {std::string("a,b\n\"c\""), Decimal::from_ticks(-kLargest), std::int64_t{-7},
         from_unix_ms(1'234'567'890'123)},
        {std::string("Zürich"), Decimal::from_units(100), std::int64_t{0}, from_unix_seconds(0)},
        {std::monostate(), std::monostate(), std::monostate(), std::monostate()},
    };
    for (const std::vector<Cell>& row : rows) EXPECT_TRUE(writer->append(row).has_value());
    return std::move(*writer);
  }
};

TEST_F(TableWriterTest, WritesCsv) {
  const Result<void> written = sample().write(file("t.csv"), FileFormat::kCsv);
  ASSERT_TRUE(written.has_value()) << written.error().message;
  EXPECT_EQ(read("t.csv"),
            "\"name, \"\"quoted\"\"\",BilledCost,lines,seen\n"
            "\"a,b\n\"\"c\"\"\",-99999999999999999999.999999999999999999,-7,"
            "2009-02-13T23:31:30.123Z\n"
            "Zürich,100,0,1970-01-01T00:00:00Z\n"
            ",,,\n");
  EXPECT_FALSE(std::filesystem::exists(file("t.csv.partial")));
}

TEST_F(TableWriterTest, WritesParquet) {
  const std::string path = file("it's.parquet");
  ASSERT_TRUE(sample().write(path, FileFormat::kParquet).has_value());
  Database database = in_memory();
  Connection connection = connect(database);
  const std::string source = "read_parquet(" + quote_text(path) + ")";
  EXPECT_EQ(answer(connection, "SELECT min(BilledCost) FROM " + source),
            "-99999999999999999999.999999999999999999");
  EXPECT_EQ(answer(connection, "SELECT count(*) FROM " + source), "3");
  EXPECT_EQ(answer(connection, "SELECT epoch_ms(max(seen)) FROM " + source), "1234567890123");
  EXPECT_EQ(answer(connection, "SELECT typeof(max(seen)) FROM " + source),
            "TIMESTAMP WITH TIME ZONE");
}

TEST_F(TableWriterTest, SaysWhereItCannotWrite) {
  const Result<void> written = sample().write(file("no/folder/t.csv"), FileFormat::kCsv);
  ASSERT_FALSE(written.has_value());
  EXPECT_THAT(written.error().message, HasSubstr("cannot write"));
}

TEST_F(TableWriterTest, KeepsTheOrderOfManyRows) {
  Result<TableWriter> writer = TableWriter::create({{"n", ColumnType::kInteger}}, file("temp"));
  ASSERT_TRUE(writer.has_value());
  std::string want = "n\n";
  for (std::int64_t n = 0; n < 10'000; ++n) {
    const std::vector<Cell> row = {n * 7919 % 10'007};
    ASSERT_TRUE(writer->append(row).has_value());
    want += std::to_string(n * 7919 % 10'007) + "\n";
  }
  ASSERT_TRUE(writer->write(file("n.csv"), FileFormat::kCsv).has_value());
  EXPECT_EQ(read("n.csv"), want);
}

// Takes minutes, unless it is ended.
constexpr const char* kEndless =
    "SELECT count(*) FROM range(10000000) a, range(1000000) b WHERE hash(a.range, b.range) = 7";

TEST_F(DuckdbTest, InterruptsAQueryThatRuns) {
  Database database = in_memory();
  Connection connection = connect(database);
  Interruption interruption;
  const Interruption::Scope scope(interruption);
  EXPECT_EQ(answer(connection, "41 + 1"), "42");
  const auto begun = std::chrono::steady_clock::now();
  interruption.interrupt(std::chrono::milliseconds(200));
  const Result<void> done = connection.execute(kEndless);
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().code, ErrorCode::kIo);
  EXPECT_THAT(done.error().message, HasSubstr("the program is stopping"));
  EXPECT_GE(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(200));
  // What comes after does not begin.
  EXPECT_TRUE(Interruption::is_here());
  EXPECT_THAT(answer(connection, "41 + 1"), HasSubstr("the program is stopping"));
}

TEST_F(DuckdbTest, InterruptsWhatIsReadPieceByPiece) {
  Database database = in_memory();
  Connection connection = connect(database);
  Interruption interruption;
  const Interruption::Scope scope(interruption);
  Result<Rows> rows = connection.query("SELECT range FROM range(1000000000000)");
  ASSERT_TRUE(rows.has_value());
  ASSERT_TRUE(rows->next().value_or(false));
  interruption.interrupt();
  Result<bool> more = true;
  while (more && *more) more = rows->next();
  ASSERT_FALSE(more.has_value());
  EXPECT_THAT(more.error().message, HasSubstr("the program is stopping"));
}

TEST_F(DuckdbTest, InterruptsNobodyElse) {
  Database database = in_memory();
  Connection ours = connect(database), others = connect(database);
  Interruption outer, inner;
  const Interruption::Scope outer_scope(outer);
  {
    const Interruption::Scope scope(inner);
    inner.interrupt();
    EXPECT_THAT(answer(ours, "1"), HasSubstr("the program is stopping"));
    std::string elsewhere;
    std::thread([&] { elsewhere = answer(others, "2"); }).join();
    EXPECT_EQ(elsewhere, "2");
  }
  EXPECT_FALSE(Interruption::is_here());
  EXPECT_EQ(answer(ours, "1"), "1");
}

TEST_F(DuckdbTest, LeavesNothingOfAnInterruptedTransaction) {
  const std::string path = file("interrupted.duckdb");
  {
    Result<Database> database = Database::open({.path = path});
    ASSERT_TRUE(database.has_value());
    Connection connection = connect(*database);
    ASSERT_TRUE(connection.execute("CREATE TABLE t (a BIGINT); INSERT INTO t VALUES (1)"));
    Interruption interruption;
    const Interruption::Scope scope(interruption);
    ASSERT_TRUE(connection.execute("BEGIN TRANSACTION; INSERT INTO t VALUES (2)"));
    interruption.interrupt(std::chrono::milliseconds(50));
    EXPECT_FALSE(connection.execute(kEndless).has_value());
    EXPECT_FALSE(connection.execute("COMMIT").has_value());
  }
  Result<Database> database = Database::open({.path = path});
  ASSERT_TRUE(database.has_value());
  Connection connection = connect(*database);
  EXPECT_EQ(answer(connection, "SELECT sum(a) FROM t"), "1");
}

}  // namespace
}  // namespace pennyweight::duckdb
