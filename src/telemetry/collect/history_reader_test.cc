// HistoryReader against a server on loopback that behaves as Prometheus or VictoriaMetrics, or
// badly.
#include "telemetry/collect/history_reader.h"

#include <gtest/gtest.h>
#include <httplib.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "telemetry/prometheus/encoding.h"
#include "telemetry/prometheus/remote_write.h"

namespace pennyweight::collect {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t kHour = 3'600'000;

Interval hours(std::int64_t from, std::int64_t to) {
  return Interval(from_unix_ms(from * kHour), from_unix_ms(to * kHour));
}

TEST(PlanPieces, AreTheWindowAtWholeSteps) {
  const Interval window(from_unix_ms(kHour + 1), from_unix_ms(6 * kHour));
  const auto pieces = plan_pieces(window, milliseconds(2 * kHour));
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(pieces[0], Interval(window.begin(), from_unix_ms(2 * kHour)));
  EXPECT_EQ(pieces[1], hours(2, 4));
  EXPECT_EQ(pieces[2], hours(4, 6));
  EXPECT_EQ(plan_pieces(hours(0, 1), milliseconds(2 * kHour)), std::vector{hours(0, 1)});
}

TEST(HistoryRequest, AsksForRawSamples) {
  const Interval piece(from_unix_ms(7'200'000), from_unix_ms(14'400'000));
  const auto prometheus = history_request(HistoryApi::kPrometheus, "http://p:9090/prom/", "up",
                                          "cluster=\"a b\"", piece);
  EXPECT_EQ(prometheus.url, "http://p:9090/prom/api/v1/query");
  EXPECT_EQ(prometheus.body,
            "query=%7B__name__%3D%22up%22%2Ccluster%3D%22a%20b%22%7D%5B7200000ms%5D"
            "&time=14399.999");
  const auto victoria =
      history_request(HistoryApi::kVictoriaMetrics, "http://v:8428", "up", "", piece);
  EXPECT_EQ(victoria.url, "http://v:8428/api/v1/export");
  EXPECT_EQ(victoria.body, "match[]=%7B__name__%3D%22up%22%7D&start=7200.000&end=14399.999");
}

// Has a sample of each metric every minute; the range of a query comes from the request.
class Server {
 public:
  Server() {
    server.Post("/api/v1/query", [this](const auto& request, auto& response) {
      if (is_refused(response)) return;
      const std::string query = request.get_param_value("query");
      const std::int64_t to = ms_of(request.get_param_value("time")) + 1;
      const std::int64_t length = std::stoll(query.substr(query.find('[') + 1));
      if (length > longest_ms) {
        response.status = 422;
        response.set_content("query processing would load too many samples into memory",
                             "text/plain");
        return;
      }
      std::string values;
      for_minutes(to - length, to, [&](std::int64_t at) {
        values += (values.empty() ? "[" : ",[") + seconds(at) + ",\"1\"]";
      });
      response.set_content(
          R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":")" +
              metric_of(query) + R"("},"values":[)" + values + "]}]}}",
          "application/json");
    });
    server.Get("/api/v1/label/__name__/values", [](const auto&, auto& response) {
      response.set_content(R"({"status":"success","data":["a","z"]})", "application/json");
    });
    port_ = server.bind_to_any_port("127.0.0.1");
  }
  void with_export() {
    server.Post("/api/v1/export", [this](const auto& request, auto& response) {
      if (is_refused(response)) return;
      std::string values;
      std::string times;
      for_minutes(ms_of(request.get_param_value("start")),
                  ms_of(request.get_param_value("end")) + 1, [&](std::int64_t at) {
                    values += values.empty() ? "1" : ",1";
                    times += (times.empty() ? "" : ",") + std::to_string(at);
                  });
      response.set_content(R"({"metric":{"__name__":")" +
                               metric_of(request.get_param_value("match[]")) + R"("},"values":[)" +
                               values + R"(],"timestamps":[)" + times + "]}\n",
                           "application/stream+json");
    });
  }
  void start() {
    thread_ = std::thread([this] { server.listen_after_bind(); });
    while (!server.is_running()) std::this_thread::sleep_for(milliseconds(1));
  }
  ~Server() {
    server.stop();
    if (thread_.joinable()) thread_.join();
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  httplib::Server server;
  std::atomic<int> refusals = 0;  // that many answers first
  std::atomic<int> refusal_status = 503;
  std::atomic<std::int64_t> longest_ms = 100 * kHour;

 private:
  static std::int64_t ms_of(const std::string& text) {
    return std::llround(std::stod(text) * 1000);
  }
  static std::string seconds(std::int64_t ms) {
    return std::to_string(ms / 1000) + "." + std::to_string(1000 + ms % 1000).substr(1);
  }
  static std::string metric_of(const std::string& selector) {
    const std::size_t begin = selector.find('"') + 1;
    return selector.substr(begin, selector.find('"', begin) - begin);
  }
  template <class Give>
  static void for_minutes(std::int64_t from, std::int64_t to, const Give& give) {
    for (std::int64_t at = (from + 59'999) / 60'000 * 60'000; at < to; at += 60'000) give(at);
  }
  bool is_refused(httplib::Response& response) {
    if (refusals.fetch_sub(1) <= 0) {
      refusals = 0;
      return false;
    }
    response.status = refusal_status;
    response.set_header("Retry-After", "7");
    response.set_content("not now", "text/plain");
    return true;
  }

  int port_ = 0;
  std::thread thread_;
};

struct Asker {
  explicit Asker(const Server& server, std::vector<std::string> metrics = {"a", "b"},
                 SeriesBuffer::Limits limits = {})
      : history(
            client,
            {.url = server.url(), .matchers = "", .metrics = std::move(metrics), .limits = limits},
            [this](milliseconds pause) { pauses.push_back(pause); },
            [this](const std::string& why) { messages.push_back(why); }) {}

  Result<void> read(HistoryApi api, const Interval& piece) {
    return history.read(api, piece, [this](const Interval& part, SeriesBuffer& buffer) {
      parts.push_back(part);
      samples += buffer.samples();
      return Result<void>{};
    });
  }

  http::Client client{http::Settings{}};
  std::vector<milliseconds> pauses;
  std::vector<std::string> messages;
  std::vector<Interval> parts;
  std::size_t samples = 0;
  HistoryReader history;
};

TEST(HistoryReader, ReadsFromBothApis) {
  Server server;
  server.with_export();
  server.start();
  Asker asker(server);
  EXPECT_EQ(asker.history.detect(), HistoryApi::kVictoriaMetrics);
  for (const HistoryApi api : {HistoryApi::kPrometheus, HistoryApi::kVictoriaMetrics}) {
    asker.samples = 0;
    asker.parts.clear();
    ASSERT_TRUE(asker.read(api, hours(1, 3)));
    EXPECT_EQ(asker.samples, 240u) << to_text(api);
    EXPECT_EQ(asker.parts, std::vector{hours(1, 3)});
  }
}

TEST(HistoryReader, KnowsPrometheusByWhatItHasNot) {
  Server server;
  server.start();
  Asker asker(server);
  EXPECT_EQ(asker.history.detect(), HistoryApi::kPrometheus);
}

TEST(HistoryReader, AsksOnlyForWhatIsKnown) {
  Server server;
  server.start();
  Asker asker(server, {"a", "b"});
  EXPECT_EQ(asker.history.keep_available_metrics(hours(1, 2)), std::vector<std::string>{"a"});
  ASSERT_TRUE(asker.read(HistoryApi::kPrometheus, hours(1, 2)));
  EXPECT_EQ(asker.samples, 60u);
}

TEST(HistoryReader, WaitsAndAsksAgain) {
  for (const int status : {429, 500, 503}) {
    Server server;
    server.refusals = 3;
    server.refusal_status = status;
    server.start();
    Asker asker(server, {"a"});
    ASSERT_TRUE(asker.read(HistoryApi::kPrometheus, hours(1, 2))) << status;
    EXPECT_EQ(asker.samples, 60u);
    EXPECT_EQ(asker.history.counts().retries, 3u);
    ASSERT_EQ(asker.pauses.size(), 3u);
    EXPECT_EQ(asker.pauses[0], milliseconds(7'000)) << "what Retry-After says";
    EXPECT_NE(asker.messages.at(0).find("not now"), std::string::npos);
  }
}

TEST(HistoryReader, GivesUpInTheEnd) {
  Server server;
  server.refusals = 1000;
  server.start();
  Asker asker(server, {"a"});
  const auto read = asker.read(HistoryApi::kPrometheus, hours(1, 2));
  ASSERT_FALSE(read);
  EXPECT_EQ(asker.history.counts().requests, static_cast<std::uint64_t>(kHistoryTries));
  EXPECT_NE(read.error().message.find("503"), std::string::npos) << read.error().message;
  EXPECT_TRUE(asker.parts.empty());
  EXPECT_LE(std::ranges::max(asker.pauses), kHistoryWaitMax);
}

TEST(HistoryReader, GivesUpSoonerWhereNobodyWasYet) {
  Server server;
  server.with_export();
  server.refusals = 1000;
  server.start();
  Asker asker(server);
  EXPECT_FALSE(asker.history.detect());
  EXPECT_EQ(asker.history.counts().requests, static_cast<std::uint64_t>(kHistoryTriesFirst));
}

TEST(HistoryReader, SaysWhatWillNotChange) {
  Server server;
  server.refusals = 1000;
  server.refusal_status = 400;
  server.start();
  Asker asker(server, {"a"});
  const auto read = asker.read(HistoryApi::kPrometheus, hours(1, 2));
  ASSERT_FALSE(read);
  EXPECT_EQ(asker.history.counts().requests, 1u);
  EXPECT_NE(read.error().message.find("answered 400: not now"), std::string::npos);
}

TEST(HistoryReader, HalvesWhatIsTooMuch) {
  Server server;
  server.longest_ms = kHour;
  server.start();
  Asker refused(server);
  ASSERT_TRUE(refused.read(HistoryApi::kPrometheus, hours(0, 4)));
  EXPECT_EQ(refused.samples, 480u);
  EXPECT_EQ(refused.parts, (std::vector{hours(0, 1), hours(1, 2), hours(2, 3), hours(3, 4)}));

  server.longest_ms = 100 * kHour;
  Asker small(server, {"a", "b"}, {.series = 10, .samples = 130});
  ASSERT_TRUE(small.read(HistoryApi::kPrometheus, hours(0, 4)));
  EXPECT_EQ(small.samples, 480u);
  EXPECT_EQ(small.history.counts().halvings, 3u);

  Asker hopeless(server, {"a", "b"}, {.series = 1, .samples = 130});
  const auto read = hopeless.read(HistoryApi::kPrometheus, hours(0, 4));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kLimit);
}

TEST(WriteBodies, AreInTheOrderOfTimeOverAllSeries) {
  // One measurement, reported by one pod's series and then by another's, within a minute; the later
  // one comes first in the answer.
  SeriesBuffer buffer(0, 1'000'000);
  ASSERT_TRUE(buffer.add_line(
      R"({"metric":{"pod":"b"},"values":[2,2,2],"timestamps":[90000,105000,125000]})"));
  ASSERT_TRUE(buffer.add_line(
      R"({"metric":{"pod":"a"},"values":[1,1,1],"timestamps":[30000,61000,75000]})"));
  buffer.sort();

  struct Sink : prometheus::SeriesSink {
    void series(const Hash128&, const prometheus::EncodedLabels& labels,
                std::span<const prometheus::Sample> samples) override {
      std::vector<prometheus::Label> decoded;
      ASSERT_TRUE(labels.decode(decoded));
      for (const auto& sample : samples) {
        seen += decoded.at(0).value + std::to_string(sample.at_ms / 1000) + " ";
      }
    }
    std::string seen;
  } sink;
  prometheus::BodyDecoder decoder;
  prometheus::WriteRequestReader reader;
  ASSERT_TRUE(write_bodies(buffer, [&](const std::string& body) -> Result<void> {
    const auto decoded = decoder.decode("snappy", body, 1u << 20);
    EXPECT_TRUE(decoded);
    EXPECT_TRUE(reader.read(prometheus::WriteProtocol::kV1, *decoded));
    reader.emit(sink);
    return {};
  }));
  EXPECT_EQ(sink.seen, "a30 a61 a75 b90 b105 b125 ");
}

}  // namespace
}  // namespace pennyweight::collect
