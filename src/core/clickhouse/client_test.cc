// The client against loopback servers that answer as ClickHouse does, and worse.
#include "core/clickhouse/client.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "core/check.h"

namespace pennyweight::clickhouse {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using SteadyClock = std::chrono::steady_clock;

struct Asked {
  std::string sql;  // the body; for an insert, the parameter `query`
  std::string body;
  std::multimap<std::string, std::string> parameters = {};
  std::string user = {}, key = {}, authorization = {}, encoding = {};
};

// A server that answers each statement by `answers`, and records the requests.
class Fake {
 public:
  using Answer = std::function<void(const Asked&, httplib::Response&)>;
  explicit Fake(Answer answer, std::string settings = "max_threads\n") {
    server_.Post("/", [this, answer, settings](const httplib::Request& request,
                                               httplib::Response& response) {
      Asked asked{.sql = request.body, .body = request.body};
      asked.parameters.insert(request.params.begin(), request.params.end());
      if (request.has_param("query")) asked.sql = request.get_param_value("query");
      asked.user = request.get_header_value("X-ClickHouse-User");
      asked.key = request.get_header_value("X-ClickHouse-Key");
      asked.authorization = request.get_header_value("Authorization");
      asked.encoding = request.get_header_value("Content-Encoding");
      if (asked.sql.find("system.settings") != std::string::npos) {
        ++asked_for_settings;
        response.set_content(settings, "text/plain");
        return;
      }
      {
        const std::lock_guard lock(mutex_);
        asked_.push_back(asked);
      }
      answer(asked, response);
    });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::sleep_for(milliseconds(1));
  }
  ~Fake() {
    let_go();
    server_.stop();
    thread_.join();
  }
  std::string endpoint() const { return "http://127.0.0.1:" + std::to_string(port_); }
  std::vector<Asked> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  // For answers that never come: waits until the test is over.
  void wait() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return let_go_; });
  }
  void let_go() {
    const std::lock_guard lock(mutex_);
    let_go_ = true;
    changed_.notify_all();
  }
  void until_asked() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_ > 0; });
  }
  std::atomic<int> asked_for_settings = 0;

 private:
  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool let_go_ = false;
  int waiting_ = 0;
  std::vector<Asked> asked_;
};

Fake::Answer says(std::string body, int status = 200) {
  return [body, status](const Asked&, httplib::Response& response) {
    response.status = status;
    response.set_content(body, "application/octet-stream");
  };
}

std::string exception(int code, const std::string& words = "some words") {
  return "Code: " + std::to_string(code) + ", e.displayText() = DB::Exception: " + words +
         ", e.what() = DB::Exception\n";
}

// A chunked answer, which is cut off if it is not complete.
Fake::Answer streams(std::vector<std::string> pieces, bool whole) {
  return [pieces, whole](const Asked&, httplib::Response& response) {
    response.set_chunked_content_provider("application/octet-stream",
                                          [pieces, whole](std::size_t, httplib::DataSink& sink) {
                                            for (const std::string& piece : pieces)
                                              sink.write(piece.data(), piece.size());
                                            if (whole) sink.done();
                                            return whole;
                                          });
  };
}

// A port on which nothing listens.
std::string nobody() {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  CHECK(bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0, "a free port");
  CHECK(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0, "its number");
  close(listener);
  return "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

Address at(std::vector<std::string> endpoints, milliseconds retry = milliseconds(20'000)) {
  return {.endpoints = std::move(endpoints), .database = "db", .retry = retry, .compress = false};
}

std::string numbers(std::uint64_t from, std::uint64_t to, const std::string& name = "n") {
  const ColumnSpec column[] = {{name, "UInt64"}};
  BlockWriter writer(column);
  for (std::uint64_t i = from; i < to; ++i) writer.column(0).add_uint64(i);
  return writer.take();
}

// Collects all rows until the answer ends.
struct Got {
  std::vector<std::uint64_t> rows = {};
  Client::Sink sink() {
    return [this](const Block& block) -> Result<bool> {
      for (std::uint64_t i = 0; i < block.rows; ++i) rows.push_back(block.columns[0].uint64(i));
      return true;
    };
  }
};

std::string words(const Result<void>& result) { return result ? "done" : result.error().message; }

TEST(Client, ExecutesWhatItIsTold) {
  Fake fake(says(""), "max_threads\nasync_insert\nnew_one\n");
  Address address = at({fake.endpoint()});
  address.user = "me & you";
  address.password = "sesame";
  Client client(address);
  const Call call{.settings = {{"max_threads", "3 %"}, {"read_overflow_mode", "break"}},
                  .settings_if_known = {{"new_one", "7"}, {"newer_one", "8"}}};
  const std::string sql = "CREATE TABLE IF NOT EXISTS t (a Int32) ENGINE = Log";
  EXPECT_EQ(words(client.execute(sql, call)), "done");
  EXPECT_EQ(words(client.execute(sql, {.settings = {{"database", "other"}}})), "done");
  EXPECT_EQ(fake.asked_for_settings, 1);
  EXPECT_EQ(client.refusal(), Refusal::kNone);
  const auto asked = fake.asked();
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0].sql, sql);
  EXPECT_EQ(asked[0].user, "me & you");
  EXPECT_EQ(asked[0].key, "sesame");
  auto parameters = asked[0].parameters;
  const auto value = [&](const std::string& name) {
    return parameters.count(name) == 1 ? parameters.find(name)->second : "none, or several";
  };
  EXPECT_EQ(value("database"), "db");
  EXPECT_EQ(value("max_threads"), "3 %");
  EXPECT_EQ(value("read_overflow_mode"), "break");  // the caller's word is the last
  EXPECT_EQ(value("timeout_overflow_mode"), "throw");
  EXPECT_EQ(value("skip_unavailable_shards"), "0");
  EXPECT_EQ(value("wait_end_of_query"), "1");
  EXPECT_EQ(value("async_insert"), "0");
  EXPECT_EQ(value("new_one"), "7");
  EXPECT_FALSE(parameters.contains("newer_one"));
  EXPECT_FALSE(parameters.contains("insert_quorum_parallel"));
  parameters = asked[1].parameters;
  EXPECT_EQ(value("database"), "other");
}

TEST(Client, LongStatementsAreAllowedFor) {
  Fake fake(says(""));
  Client client(at({fake.endpoint()}));
  const std::string sql = "SELECT 1 -- " + std::string(300'000, 'x');
  EXPECT_EQ(words(client.execute(sql)), "done");
  EXPECT_EQ(words(client.query(sql, Got().sink())), "done");
  for (const Asked& asked : fake.asked()) {
    EXPECT_EQ(asked.sql, sql);
    EXPECT_EQ(asked.parameters.find("max_query_size")->second, "300013");
  }
}

TEST(Client, RowsInBlocks) {
  Fake fake(streams({numbers(0, 0), numbers(0, 3).substr(0, 9), numbers(0, 3).substr(9),
                     numbers(3, 5) + numbers(5, 6)},
                    true));
  Client client(at({fake.endpoint()}));
  Got got;
  EXPECT_EQ(words(client.query("SELECT n FROM t", got.sink())), "done");
  EXPECT_THAT(got.rows, ElementsAre(0, 1, 2, 3, 4, 5));
  const auto asked = fake.asked();
  EXPECT_EQ(asked.at(0).sql, "SELECT n FROM t");
  EXPECT_EQ(asked.at(0).parameters.find("default_format")->second, "Native");
}

TEST(Client, NoRowsAreAnAnswer) {
  Fake fake(says(""));
  Client client(at({fake.endpoint()}));
  Got got;
  EXPECT_EQ(words(client.query("SELECT n FROM t", got.sink())), "done");
  EXPECT_THAT(got.rows, ElementsAre());
}

TEST(Client, TheSinkEndsIt) {
  Fake fake(streams({numbers(0, 3), numbers(3, 6)}, true));
  Client client(at({fake.endpoint()}));
  int blocks = 0;
  EXPECT_EQ(words(client.query("SELECT n",
                               [&](const Block&) -> Result<bool> {
                                 ++blocks;
                                 return false;
                               })),
            "done");
  EXPECT_EQ(blocks, 1);
  const auto failed = client.query(
      "SELECT n", [](const Block&) -> Result<bool> { return fail(ErrorCode::kIo, "disk full"); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kIo);
  EXPECT_THAT(words(failed), HasSubstr("disk full"));
  EXPECT_EQ(fake.asked().size(), 2u);
}

std::string inflated(const std::string& bytes) {
  z_stream stream{};
  CHECK(inflateInit2(&stream, MAX_WBITS + 16) == Z_OK, "zlib starts");
  std::string in = bytes;
  std::string out(16u << 20, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  CHECK(inflate(&stream, Z_FINISH) == Z_STREAM_END, "it is whole");
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

TEST(Client, InsertsABlock) {
  Fake fake(says(""));
  const std::string block = numbers(0, 100'000);
  for (const bool compress : {false, true}) {
    Address address = at({fake.endpoint()});
    address.compress = compress;
    Client client(address);
    EXPECT_EQ(words(client.insert("t", "n, m", block)), "done");
  }
  const auto asked = fake.asked();
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0].sql, "INSERT INTO t (n, m) FORMAT Native");
  EXPECT_EQ(asked[0].encoding, "");
  EXPECT_EQ(asked[0].body, block);
  EXPECT_EQ(asked[1].encoding, "gzip");
  EXPECT_LT(asked[1].body.starts_with("\x1f\x8b") ? asked[1].body.size() : 0, block.size());
  EXPECT_EQ(asked[1].body.starts_with("\x1f\x8b") ? inflated(asked[1].body) : asked[1].body, block);
}

TEST(Client, AnotherEndpointIsTried) {
  Fake fake(says(""));
  Fake behind(says(exception(289), 500));
  Client client(at({nobody(), behind.endpoint(), fake.endpoint()}));
  EXPECT_EQ(words(client.execute("x")), "done");
  EXPECT_EQ(behind.asked().size(), 1u);
  EXPECT_EQ(words(client.execute("x")), "done");  // at once at the one that answered
  EXPECT_EQ(behind.asked().size(), 1u);
  EXPECT_EQ(fake.asked().size(), 2u);
  // Also for statements that must not be repeated: no server received it.
  Client careful(at({nobody(), behind.endpoint(), fake.endpoint()}));
  EXPECT_EQ(words(careful.execute("x", {.repeatable = false})), "done");
}

TEST(Client, OneEndpointAlone) {
  Fake fake(says(""));
  Client client(at({nobody(), fake.endpoint()}, milliseconds(100)));
  const auto failed = client.execute("x", {.endpoint = 0});
  ASSERT_FALSE(failed);
  EXPECT_EQ(client.refusal(), Refusal::kUnreachable);
  EXPECT_THAT(words(failed), HasSubstr("given up after"));
  EXPECT_EQ(fake.asked().size(), 0u);
  EXPECT_EQ(words(client.execute("x", {.endpoint = 1})), "done");
  EXPECT_THROW(static_cast<void>(client.execute("x", {.endpoint = 2})), InvariantError);
}

TEST(Client, TemporaryErrorsAreRetried) {
  for (const int code : {202, 210, 242, 252, 279, 285, 286, 289, 319, 999}) {
    std::atomic<int> times = 0;
    Fake fake([&](const Asked& asked, httplib::Response& response) {
      if (++times < 3) return says(exception(code), 500)(asked, response);
      response.set_content("", "text/plain");
    });
    Client client(at({fake.endpoint()}));
    EXPECT_EQ(words(client.insert("t", "n", numbers(0, 2))), "done") << code;
    EXPECT_EQ(times, 3) << code;
    EXPECT_EQ(client.code(), 0);
  }
}

TEST(Client, RefusedStatementsAreNotRetried) {
  Fake fake(says(exception(60, "Table db.t doesn't exist."), 404));
  Client client(at({fake.endpoint(), nobody()}));
  const auto failed = client.query("SELECT n\nFROM t", Got().sink());
  EXPECT_EQ(words(failed), "SELECT n FROM t: " + fake.endpoint() +
                               ": Table db.t doesn't exist. (ClickHouse's code 60)");
  EXPECT_EQ(client.refusal(), Refusal::kRefused);
  EXPECT_EQ(client.code(), 60);
  EXPECT_EQ(fake.asked().size(), 1u);
}

TEST(Client, GivingUpSaysWhatEachSaid) {
  Fake one(says(exception(286, "quorum of before"), 500));
  Fake two(says(exception(242, "table is read only"), 500));
  Client client(at({one.endpoint(), two.endpoint()}, milliseconds(200)));
  const auto failed = client.insert("t", "n", numbers(0, 2));
  EXPECT_EQ(client.refusal(), Refusal::kNotYet);
  EXPECT_THAT(words(failed), HasSubstr("INSERT INTO t (n) FORMAT Native: http://127.0.0.1:"));
  EXPECT_THAT(words(failed), HasSubstr("200 ms after the first failed"));
  EXPECT_THAT(words(failed), HasSubstr("quorum of before (ClickHouse's code 286)"));
  EXPECT_THAT(words(failed), HasSubstr("table is read only (ClickHouse's code 242)"));
}

TEST(Client, WithoutPatienceItIsTriedOnce) {
  Fake fake(says(exception(286), 500));
  Client client(at({fake.endpoint()}, milliseconds(0)));
  EXPECT_FALSE(client.execute("x"));
  EXPECT_EQ(fake.asked().size(), 1u);
}

TEST(Client, AnAnswerThatBreaksOffBeforeRowsIsAskedForAgain) {
  Fake broken(streams({numbers(0, 3).substr(0, 12)}, false));
  Fake fake(says(numbers(0, 3)));
  Client client(at({broken.endpoint(), fake.endpoint()}));
  Got got;
  EXPECT_EQ(words(client.query("SELECT n", got.sink())), "done");
  EXPECT_THAT(got.rows, ElementsAre(0, 1, 2));
  EXPECT_EQ(broken.asked().size(), 1u);
}

TEST(Client, AnAnswerThatBreaksOffBehindRowsIsAnError) {
  Fake broken(streams({numbers(0, 3)}, false));
  Fake fake(says(numbers(0, 4)));
  Client client(at({broken.endpoint(), fake.endpoint()}));
  Got got;
  const auto failed = client.query("SELECT n", got.sink());
  ASSERT_FALSE(failed);
  EXPECT_EQ(client.refusal(), Refusal::kUnreachable);
  EXPECT_EQ(fake.asked().size(), 0u);
}

TEST(Client, AnAnswerIsWholeOrAnError) {
  struct Case {
    std::string what;
    std::string bytes;
    std::string words;
    int code;
  };
  const std::string rows = numbers(0, 3);
  const std::string said = exception(241, "Memory limit exceeded");
  const std::string today =
      "Code: 241. DB::Exception: Memory limit exceeded (MEMORY_LIMIT_EXCEEDED) (version 26.5.3)\n";
  // The error message replaces exactly as many bytes as rows are missing.
  std::string exact = numbers(0, 100);
  exact.replace(exact.size() - said.size(), said.size(), said);
  const Case cases[] = {
      {"behind blocks", rows + rows + said, "Memory limit exceeded", 241},
      {"behind blocks, as today", rows + rows + today, "Memory limit exceeded", 241},
      {"alone", said, "Memory limit exceeded", 241},
      {"within a block", rows + rows.substr(0, 14) + said, "Memory limit exceeded", 241},
      {"in place of values", rows + exact, "Memory limit", 241},
      {"cut at a value", rows + rows.substr(0, rows.size() - 8), "in the middle of its rows", 0},
      {"cut at a byte", rows + rows.substr(0, 1), "in the middle of its rows", 0},
      {"something else", rows + "\1\1\1n\6UInt99" + rows, "type UInt99", 0},
      {"other columns", rows + numbers(3, 4, "m"), "the columns change in the middle", 0},
      {"a proxy's page", "<html>it is broken</html>", "in the middle of its rows", 0},
  };
  for (const Case& one : cases) {
    for (const bool broken_off : {false, true}) {
      Fake fake(streams(
          {one.bytes.substr(0, 20), one.bytes.substr(std::min<std::size_t>(20, one.bytes.size()))},
          !broken_off));
      Client client(at({fake.endpoint()}, milliseconds(0)));
      Got got;
      const auto failed = client.query("SELECT n", got.sink());
      ASSERT_FALSE(failed) << one.what;
      if (!broken_off || one.code != 0) {
        EXPECT_THAT(words(failed), HasSubstr(one.words)) << one.what;
      }
      EXPECT_EQ(client.code(), one.code) << one.what;
      EXPECT_NE(client.refusal(), Refusal::kNone) << one.what;
    }
  }
}

TEST(Client, AStatementThatFailsLateIsAnError) {
  Fake fake(streams({exception(36, "late")}, true));
  Client client(at({fake.endpoint()}));
  EXPECT_THAT(words(client.execute("x")), HasSubstr("late (ClickHouse's code 36)"));
  EXPECT_EQ(client.refusal(), Refusal::kRefused);
}

TEST(Client, AStatementThatMayHaveRunIsUncertain) {
  Fake broken(streams({}, false));
  Client client(at({broken.endpoint()}, milliseconds(0)));
  EXPECT_FALSE(client.insert("t", "n", numbers(0, 1)));
  EXPECT_EQ(client.refusal(), Refusal::kUncertain);
  EXPECT_FALSE(client.query("SELECT n", Got().sink()));
  EXPECT_EQ(client.refusal(), Refusal::kUnreachable);

  // It stays uncertain, whatever other endpoints answer.
  Fake refuses(says(exception(60), 404));
  Client sent_on(at({broken.endpoint(), refuses.endpoint()}));
  EXPECT_FALSE(sent_on.insert("t", "n", numbers(0, 1)));
  EXPECT_EQ(sent_on.refusal(), Refusal::kUncertain);
  EXPECT_EQ(sent_on.code(), 60);

  // A statement that must not run twice goes to no other server, and libcurl does not repeat it
  // when a kept connection dies.
  Fake fake(says(""));
  Client careful(at({broken.endpoint(), fake.endpoint()}));
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(careful.execute("INSERT INTO t SELECT 1", {.repeatable = false}));
    EXPECT_EQ(careful.refusal(), Refusal::kUncertain);
  }
  EXPECT_EQ(fake.asked().size(), 0u);
}

TEST(Client, SilenceEnds) {
  Fake fake([&](const Asked&, httplib::Response&) { fake.wait(); });
  Address address = at({fake.endpoint()}, milliseconds(0));
  address.timeout = milliseconds(200);
  Client client(address);
  const auto before = SteadyClock::now();
  EXPECT_THAT(words(client.execute("x")), HasSubstr("no byte for 200 ms"));
  EXPECT_EQ(client.refusal(), Refusal::kUncertain);
  EXPECT_FALSE(client.query("x", Got().sink()));
  EXPECT_EQ(client.refusal(), Refusal::kUnreachable);
  EXPECT_LT(SteadyClock::now() - before, milliseconds(10'000));
}

TEST(Client, ARefusedConnectionReceivedNothing) {
  // A queue that is full: nobody accepts.
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof name;
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&name), size), 0);
  ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&name), &size), 0);
  ASSERT_EQ(listen(listener, 0), 0);
  std::vector<int> filling;
  for (int i = 0; i < 4; ++i) {
    filling.push_back(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
    static_cast<void>(connect(filling.back(), reinterpret_cast<sockaddr*>(&name), size));
  }
  Address address =
      at({"http://127.0.0.1:" + std::to_string(ntohs(name.sin_port))}, milliseconds(0));
  address.connect_timeout = milliseconds(300);
  Client client(address);
  EXPECT_FALSE(client.execute("x", {.repeatable = false}));
  EXPECT_EQ(client.refusal(), Refusal::kUnreachable);
  for (const int one : filling) close(one);
  close(listener);
}

TEST(Client, AProxyIsNotMistakenForClickHouse) {
  const std::pair<int, Refusal> cases[] = {{404, Refusal::kRefused},  {400, Refusal::kRefused},
                                           {301, Refusal::kRefused},  {503, Refusal::kNotYet},
                                           {429, Refusal::kNotYet},   {502, Refusal::kUncertain},
                                           {504, Refusal::kUncertain}};
  for (const auto& [status, refusal] : cases) {
    Fake fake(says("<html>oh</html>", status));
    Client client(at({fake.endpoint()}, milliseconds(0)));
    EXPECT_THAT(words(client.execute("x")),
                HasSubstr("not ClickHouse's, with status " + std::to_string(status) + ": <html>"));
    EXPECT_EQ(client.refusal(), refusal) << status;
  }
}

TEST(Client, NoErrorTellsThePassword) {
  const auto echo = [](const Asked& asked, httplib::Response& response) {
    response.status = 403;
    response.set_content("Code: 193, e.displayText() = DB::Exception: Wrong password " + asked.key +
                             " or " + asked.key,
                         "text/plain");
  };
  Fake fake(echo);
  for (const std::string& endpoint : {fake.endpoint(), nobody()}) {
    Address address = at({endpoint}, milliseconds(0));
    address.password = "sesame";
    Client client(address);
    EXPECT_THAT(words(client.execute("x")), Not(HasSubstr("sesame")));
    EXPECT_THAT(words(client.query("x", Got().sink())), Not(HasSubstr("sesame")));
  }
  EXPECT_EQ(fake.asked().at(0).key, "sesame");
}

TEST(Client, ThePasswordOfAFile) {
  Fake fake(says(""));
  std::string folder = (std::filesystem::temp_directory_path() / "clickhouse_test.XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  Address address = at({fake.endpoint()}, milliseconds(0));
  address.user = "me";
  address.password_file = folder + "/password";
  Client client(address);
  EXPECT_THAT(words(client.execute("x")), HasSubstr("cannot read the password file"));
  std::ofstream(address.password_file) << "sesame\n";
  EXPECT_EQ(words(client.execute("x")), "done");
  std::ofstream(address.password_file) << "sesame2\n";
  EXPECT_EQ(words(client.execute("x")), "done");
  std::filesystem::remove_all(folder);
  const auto asked = fake.asked();
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0].authorization, "Basic bWU6c2VzYW1l");  // me:sesame
  EXPECT_EQ(asked[1].authorization, "Basic bWU6c2VzYW1lMg==");
  EXPECT_EQ(asked[0].user + asked[0].key, "");
}

TEST(Client, StopsFromAnotherThread) {
  Fake fake([&](const Asked&, httplib::Response&) { fake.wait(); });
  for (const bool repeatable : {true, false}) {
    Client client(at({fake.endpoint()}));
    std::thread other([&] {
      fake.until_asked();
      client.stop();
    });
    EXPECT_THAT(words(client.execute("x", {.repeatable = repeatable})), HasSubstr("stopped"));
    other.join();
    EXPECT_THAT(words(client.execute("x")), HasSubstr("stopped"));
  }
}

TEST(Client, StopsWhileItWaitsToTryAgain) {
  std::atomic<int> times = 0;
  Fake fake([&](const Asked& asked, httplib::Response& response) {
    ++times;
    says(exception(286), 500)(asked, response);
  });
  Client client(at({fake.endpoint()}, milliseconds(600'000)));
  std::thread other([&] {
    while (times < 2) std::this_thread::sleep_for(milliseconds(1));
    client.stop();
  });
  EXPECT_FALSE(client.execute("x"));
  other.join();
}

TEST(Client, TextsInStatements) {
  EXPECT_EQ(sql_literal(""), "''");
  EXPECT_EQ(sql_literal("it's \\ \"x\" \xC3\xBC"), "'it\\'s \\\\ \"x\" \xC3\xBC'");
  EXPECT_EQ(sql_literal(std::string_view("\0\n\x1f\x7f", 4)), "'\\x00\\x0A\\x1F\\x7F'");
  EXPECT_EQ(sql_literal(Hash128{.high = 1, .low = 255}),
            "toFixedString(unhex('000000000000000100000000000000ff'), 16)");
}

}  // namespace
}  // namespace pennyweight::clickhouse
