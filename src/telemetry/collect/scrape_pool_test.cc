// The pool against a server on loopback.
#include "telemetry/collect/scrape_pool.h"

#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>
#include <set>

namespace pennyweight::collect {
namespace {

using std::chrono::milliseconds;

// A clock for tests that wait: many threads read it, and it advances.
class RunningClock final : public Clock {
 public:
  Instant now() override {
    return from_unix_seconds(1'700'000'000) +
           std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin_);
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

class PoolServer {
 public:
  PoolServer() {
    server.Get("/metrics", [this](const httplib::Request& request, httplib::Response& response) {
      ++asked;
      accept_has_text = request.get_header_value("Accept").starts_with("text/plain");
      response.set_content("m{gpu=\"0\"} 1\n", "text/plain; version=0.0.4");
    });
    server.Get("/busy", [this](const httplib::Request&, httplib::Response& response) {
      ++asked;
      response.status = 503;
      response.set_header("Retry-After", "3600");
    });
    server.Get("/page", [](const httplib::Request&, httplib::Response& response) {
      response.set_content("<html>", "text/html");
    });
    server.Get("/slow", [this](const httplib::Request&, httplib::Response& response) {
      for (int i = 0; i < 500 && !leave; ++i) std::this_thread::sleep_for(milliseconds(10));
      response.set_content("m 1\n", "text/plain");
    });
    port_ = server.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server.listen_after_bind(); });
    while (!server.is_running()) std::this_thread::sleep_for(milliseconds(1));
  }
  ~PoolServer() {
    leave = true;
    server.stop();
    thread_.join();
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  httplib::Server server;
  std::atomic<int> asked = 0;
  std::atomic<bool> accept_has_text = false;
  std::atomic<bool> leave = false;

 private:
  int port_ = 0;
  std::thread thread_;
};

// Collects what was delivered, and waits for it.
class Delivered {
 public:
  ScrapePool::DeliverScrape sink() {
    return [this](const Target& target, ScrapedBody body) {
      const std::scoped_lock lock(mutex_);
      all_.emplace_back(target, std::move(body));
      came_.notify_all();
    };
  }
  bool wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    return came_.wait_for(lock, std::chrono::seconds(20), [&] { return all_.size() >= count; });
  }
  std::vector<std::pair<Target, ScrapedBody>> all() {
    const std::scoped_lock lock(mutex_);
    return all_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<std::pair<Target, ScrapedBody>> all_;
};

// Targets that a test changes.
class ChangingTargets final : public TargetSource {
 public:
  struct State {
    std::mutex mutex;
    std::vector<std::string> addresses;
    bool fails = false;
  };
  explicit ChangingTargets(State& state) : state_(state) {}
  Result<std::vector<TargetGroup>> groups() override {
    const std::scoped_lock lock(state_.mutex);
    if (state_.fails) return fail(ErrorCode::kIo, "nobody answers");
    return std::vector<TargetGroup>{{.addresses = state_.addresses}};
  }

 private:
  State& state_;
};

std::vector<PoolJob> one_job(ScrapeJob job, std::unique_ptr<TargetSource> source) {
  std::vector<PoolJob> jobs;
  jobs.push_back({.job = std::move(job), .source = std::move(source)});
  return jobs;
}
std::unique_ptr<TargetSource> fixed(const std::string& address) {
  return std::make_unique<StaticTargets>(std::vector<TargetGroup>{{.addresses = {address}}});
}

TEST(Scrape, TheAnswerAsItIs) {
  PoolServer server;
  RunningClock clock;
  http::Client client({});
  const auto scraped = [&](const std::string& path) {
    const ScrapeJob job = {.name = "j", .metrics_path = path};
    return scrape(client, *make_target(job, server.address(), {}), clock);
  };
  const ScrapedBody good = scraped("/metrics");
  EXPECT_TRUE(good.up) << good.error;
  EXPECT_EQ(good.body, "m{gpu=\"0\"} 1\n");
  EXPECT_EQ(good.content_type, "text/plain; version=0.0.4");
  EXPECT_TRUE(server.accept_has_text);
  const ScrapedBody busy = scraped("/busy");
  EXPECT_FALSE(busy.up);
  EXPECT_NE(busy.error.find("503"), std::string::npos);
  EXPECT_EQ(busy.retry_after, milliseconds(3'600'000));
  const ScrapedBody page = scraped("/page");
  EXPECT_FALSE(page.up);
  EXPECT_NE(page.error.find("text/html"), std::string::npos);
  EXPECT_FALSE(scraped("/nowhere").up);
}

TEST(ScrapePool, AsksAtTheInterval) {
  PoolServer server;
  RunningClock clock;
  Delivered delivered;
  ScrapePool pool(one_job({.name = "j", .interval = milliseconds(40)}, fixed(server.address())),
                  clock, delivered.sink(), {.threads = 3});
  ASSERT_TRUE(delivered.wait_for(5));
  pool.stop();
  const auto all = delivered.all();
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_TRUE(all[i].second.up) << all[i].second.error;
    EXPECT_EQ(all[i].first.job, "j");
    if (i > 0) {
      EXPECT_LT(all[i - 1].second.at, all[i].second.at);
    }
  }
  EXPECT_EQ(pool.counts().scrapes_failed, 0u);
  EXPECT_GE(pool.counts().scrapes, all.size());
  EXPECT_EQ(pool.counts().targets, 1u);
}

TEST(ScrapePool, RetryAfterIsHonoured) {
  PoolServer server;
  RunningClock clock;
  Delivered delivered;
  ScrapePool pool(one_job({.name = "j", .metrics_path = "/busy", .interval = milliseconds(10)},
                          fixed(server.address())),
                  clock, delivered.sink());
  ASSERT_TRUE(delivered.wait_for(1));
  std::this_thread::sleep_for(milliseconds(200));
  EXPECT_EQ(server.asked, 1);
  EXPECT_EQ(pool.counts().scrapes_failed, 1u);
  EXPECT_GE(pool.counts().scrapes_missed, 300'000u);
}

TEST(ScrapePool, TargetsComeAndGo) {
  PoolServer server;
  RunningClock clock;
  Delivered delivered;
  ChangingTargets::State state;
  state.addresses = {server.address(), "not an address"};
  ScrapePool pool(one_job({.name = "j", .interval = milliseconds(20)},
                          std::make_unique<ChangingTargets>(state)),
                  clock, delivered.sink(), {.threads = 2, .refresh = milliseconds(20)});
  ASSERT_TRUE(delivered.wait_for(2));
  EXPECT_EQ(pool.counts().targets_refused, 1u);
  EXPECT_EQ(pool.problems().size(), 1u);
  {
    // A source that fails removes no targets.
    const std::scoped_lock lock(state.mutex);
    state.fails = true;
  }
  ASSERT_TRUE(delivered.wait_for(delivered.all().size() + 5));
  EXPECT_EQ(pool.counts().targets, 1u);
  {
    const std::scoped_lock lock(state.mutex);
    state.fails = false;
    state.addresses.clear();
  }
  for (int i = 0; i < 2'000 && pool.counts().targets > 0; ++i) {
    std::this_thread::sleep_for(milliseconds(5));
  }
  std::this_thread::sleep_for(milliseconds(100));
  const auto all = delivered.all();
  ASSERT_FALSE(all.empty());
  EXPECT_FALSE(all.back().second.up);
  EXPECT_NE(all.back().second.error.find("no longer"), std::string::npos);
  std::size_t ends = 0;
  for (const auto& [target, body] : all) ends += body.up ? 0 : 1;
  EXPECT_EQ(ends, 1u) << "once, and nothing after it";
}

TEST(ScrapePool, StopEndsWhatIsUnderWay) {
  PoolServer server;
  RunningClock clock;
  Delivered delivered;
  ScrapePool pool(one_job({.name = "j", .metrics_path = "/slow", .interval = milliseconds(1)},
                          fixed(server.address())),
                  clock, delivered.sink());
  std::this_thread::sleep_for(milliseconds(100));
  const auto begin = std::chrono::steady_clock::now();
  pool.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
  EXPECT_TRUE(delivered.all().empty()) << "an answer that was cut off is no news of the target";
}

TEST(ScrapePool, TheNumberOfTargetsHasALimit) {
  PoolServer server;
  RunningClock clock;
  Delivered delivered;
  TargetGroup group;
  for (int i = 0; i < 5; ++i) {
    group.addresses.push_back("127.0.0." + std::to_string(i + 1) + ":1");
  }
  ScrapePool pool(one_job({.name = "j", .interval = std::chrono::hours(1)},
                          std::make_unique<StaticTargets>(std::vector<TargetGroup>{group})),
                  clock, delivered.sink(), {.targets_max = 3});
  for (int i = 0; i < 2'000 && pool.counts().targets == 0; ++i) {
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_EQ(pool.counts().targets, 3u);
  EXPECT_EQ(pool.counts().targets_refused, 2u);
  EXPECT_EQ(pool.problems().size(), 1u);
}

}  // namespace
}  // namespace pennyweight::collect
