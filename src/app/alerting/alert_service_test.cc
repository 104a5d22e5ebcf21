#include "app/alerting/alert_service.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/alerting/alert_state.h"
#include "app/alerting/device_usage_testing.h"
#include "app/alerting/limit_conditions.h"
#include "app/context/log.h"
#include "config/config.h"
#include "config/guardrail_config.h"
#include "core/clock.h"
#include "core/date.h"
#include "core/instant.h"
#include "core/money.h"

namespace pennyweight {
namespace {

// A GPU that is hot or not, on a Saturday, and receivers that hear of it later.
class PutOffAlerts : public testing::Test {
 protected:
  PutOffAlerts()
      : folder_(std::filesystem::path(testing::TempDir()) /
                ("put_off_alerts_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
    ClusterConfig cluster{.name = ClusterId("lab"), .origin = {}};
    config_.clusters.push_back(cluster);
    // Nothing is sent: these addresses are not allowed.
    ReceiverConfig desk;
    desk.name = "desk";
    desk.url = "http://127.0.0.1:1/";
    desk.is_in_hours = true;
    ReceiverConfig lead;
    lead.name = "lead";
    lead.url = desk.url;
    lead.after_ms = 3'600'000;
    config_.alerts.receivers = {desk, lead};
  }
  ~PutOffAlerts() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<AlertService> make_service(const std::string& file = "alerts.json") {
    return std::make_unique<AlertService>(
        config_,
        AlertSources{.summarise = [](const SummaryQuery&) -> Result<std::vector<SummaryRow>> {
                       return std::vector<SummaryRow>();
                     },
                     .live = {},
                     .usage = [](const Interval&, const auto&) { return Result<void>{}; },
                     .live_usage = [this](Instant) { return readings(); },
                     .limit_stops = [this] { return stops_; }},
        clock_, log_, (folder_ / file).string());
  }
  std::vector<Usage> readings() {
    Usage usage = usage_of_gpu("g1", clock_.now());
    usage.temperature_celsius = is_hot_ ? celsius_ : 60;
    return {usage};
  }
  static std::string waits(const AlertService& service) {
    std::string text;
    for (const OutboxEntry& entry : service.state().outbox) {
      text += fmt::format("{} {} {} {}; ", entry.receiver,
                          entry.notification.is_firing ? "firing" : "resolved", to_text(entry.next),
                          entry.attempts);
    }
    return text;
  }

  const std::filesystem::path folder_;
  Config config_;
  SimulatedClock clock_{*parse_instant("2026-03-07T10:00:00Z")};
  Log log_{clock_};
  bool is_hot_ = true;
  std::uint64_t celsius_ = 96;
  guardrails::StopState stops_;
};

TEST_F(PutOffAlerts, WaitForTheirHoursAndForWhatGoesOn) {
  const auto service = make_service();
  service->run_once();
  EXPECT_EQ(waits(*service),
            "desk firing 2026-03-09T08:00:00Z 0; lead firing 2026-03-07T11:00:00Z 0; ");
  clock_.advance(std::chrono::minutes(59));
  service->run_once();
  EXPECT_EQ(waits(*service),
            "desk firing 2026-03-09T08:00:00Z 0; lead firing 2026-03-07T11:00:00Z 0; ");
  clock_.advance(std::chrono::minutes(1));
  service->run_once();
  EXPECT_THAT(waits(*service), testing::HasSubstr(" 1; "));
  // Of what ends before they were to hear of it they hear nothing.
  is_hot_ = false;
  clock_.advance(std::chrono::minutes(10));
  service->run_once();
  EXPECT_THAT(waits(*service), testing::Not(testing::HasSubstr("desk")));
  EXPECT_THAT(waits(*service), testing::HasSubstr("lead resolved"));
}

TEST_F(PutOffAlerts, AreSilentDuringMaintenance) {
  MaintenanceConfig window;
  window.scope = "lab";
  window.from = clock_.now();
  window.to = clock_.now() + std::chrono::minutes(30);
  window.reason = "a fan";
  config_.alerts.maintenance = {window};
  const auto service = make_service();
  service->run_once();
  EXPECT_EQ(waits(*service), "");
  EXPECT_TRUE(service->now().alerts.at(0).is_silent);
  clock_.advance(std::chrono::minutes(30));
  service->run_once();
  EXPECT_THAT(waits(*service), testing::HasSubstr("lead firing"));
}

TEST_F(PutOffAlerts, MayHaveRulesOfTheirOwn) {
  config_.alerts.rules = {
      {.rule = "gpu_hot", .for_ms = 120'000, .keep_ms = 1'000, .is_critical = false}};
  const auto service = make_service();
  service->run_once();
  EXPECT_EQ(service->now().alerts.at(0).condition.severity, AlertSeverity::kWarning);
  EXPECT_EQ(waits(*service), "");
  clock_.advance(std::chrono::minutes(2));
  service->run_once();
  EXPECT_THAT(waits(*service), testing::HasSubstr("lead firing 2026-03-07T11:02:00Z"));
  is_hot_ = false;
  clock_.advance(std::chrono::seconds(1));
  service->run_once();
  EXPECT_TRUE(service->now().alerts.empty());
}

// A receiver that has heard of a beginning in its hours hears of the end when they begin again.
TEST_F(PutOffAlerts, HearTheEndOfWhatTheyHeardTheBeginningOf) {
  clock_.advance(std::chrono::hours(46));  // Monday, 08:00
  const auto service = make_service();
  service->run_once();
  EXPECT_THAT(waits(*service), testing::HasSubstr("desk firing 2026-03-09T08:00:02Z 1; "));
  // As if it had arrived: only what has not been sent yet is taken back.
  clock_.advance(std::chrono::hours(11));
  is_hot_ = false;
  service->run_once();
  clock_.advance(std::chrono::minutes(10));
  service->run_once();
  EXPECT_THAT(waits(*service), testing::HasSubstr("desk resolved 2026-03-10T08:00:00Z 0; "));
}

// As after a kill: nothing that a receiver could hear of is in memory only.
TEST_F(PutOffAlerts, AreNotSentBeforeTheyAreOnDisk) {
  const auto service = make_service("later/alerts.json");
  service->run_once();
  EXPECT_EQ(waits(*service), "");
  EXPECT_TRUE(service->now().alerts.empty());
  std::filesystem::create_directories(folder_ / "later");
  service->run_once();
  EXPECT_THAT(waits(*service), testing::HasSubstr("lead firing"));
  // Its end can't be kept: it goes on until it can.
  is_hot_ = false;
  clock_.advance(std::chrono::minutes(10));
  std::filesystem::rename(folder_ / "later", folder_ / "elsewhere");
  service->run_once();
  EXPECT_EQ(service->now().alerts.size(), 1u);
  EXPECT_TRUE(service->now().ended.empty());
  std::filesystem::rename(folder_ / "elsewhere", folder_ / "later");
  service->run_once();
  EXPECT_TRUE(service->now().alerts.empty());
  EXPECT_EQ(service->now().ended.size(), 1u);
}

TEST_F(PutOffAlerts, AreWrittenAgainOnlyWhenSomethingOfThemChanges) {
  const auto service = make_service();
  service->run_once();
  std::filesystem::remove(folder_ / "alerts.json");
  clock_.advance(std::chrono::minutes(1));
  service->run_once();
  EXPECT_FALSE(std::filesystem::exists(folder_ / "alerts.json"));
  celsius_ = 97;
  service->run_once();
  EXPECT_TRUE(std::filesystem::exists(folder_ / "alerts.json"));
  EXPECT_THAT(service->now().alerts.at(0).condition.summary, testing::HasSubstr("97"));
}

// While the disk is full nothing is tried, so that no attempt counts, and the pause stays short.
TEST_F(PutOffAlerts, AFullDiskTakesNoAttempts) {
  config_.alerts.receivers[0].is_in_hours = false;
  config_.alerts.receivers.resize(1);
  std::filesystem::create_directories(folder_ / "disk");
  const auto service = make_service("disk/alerts.json");
  service->run_once();
  ASSERT_EQ(service->state().outbox.size(), 1u);
  EXPECT_EQ(service->state().outbox.front().attempts, 1u);
  std::filesystem::rename(folder_ / "disk", folder_ / "full");
  for (int i = 0; i < 50; ++i) {
    clock_.advance(std::chrono::minutes(1));
    service->run_once();
  }
  EXPECT_EQ(service->state().outbox.front().attempts, 1u);
  std::filesystem::rename(folder_ / "full", folder_ / "disk");
  clock_.advance(std::chrono::minutes(1));
  service->run_once();
  ASSERT_EQ(service->state().outbox.size(), 1u);
  EXPECT_EQ(service->state().outbox.front().attempts, 2u);
  EXPECT_TRUE(service->state().dead.empty());
}

// The clock goes back by a day while an alert goes on: it is the same alert, and is told of once.
TEST_F(PutOffAlerts, AreTheSameWhenTheClockGoesBack) {
  config_.alerts.receivers[0].is_in_hours = false;
  config_.alerts.receivers.resize(1);
  const auto service = make_service();
  service->run_once();
  ASSERT_EQ(service->state().outbox.size(), 1u);
  const std::string id = service->state().outbox.front().notification.id;
  clock_.advance(-std::chrono::hours(24));
  for (int i = 0; i < 3; ++i) {
    service->run_once();
    clock_.advance(std::chrono::minutes(1));
  }
  ASSERT_EQ(service->now().alerts.size(), 1u);
  EXPECT_EQ(service->now().alerts[0].id() + "/firing", id);
  EXPECT_EQ(service->state().outbox.size(), 1u);
  EXPECT_GT(service->state().outbox.front().attempts, 1u) << "delivery does not wait for the day";
  is_hot_ = false;
  clock_.advance(std::chrono::minutes(10));
  service->run_once();
  EXPECT_TRUE(service->now().alerts.empty());
}

// A webhook on loopback that answers as it is told, once it may.
class Hook {
 public:
  explicit Hook(int status) : status_(status) {
    socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(socket_, any, size), 0);
    EXPECT_EQ(::listen(socket_, 16), 0);
    EXPECT_EQ(::getsockname(socket_, any, &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread([this] { serve(); });
  }
  ~Hook() {
    answer(200);
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    ::close(socket_);
  }
  std::string url() const { return fmt::format("http://127.0.0.1:{}/", port_); }
  // Whether so many requests have come, which is waited for.
  bool has_heard(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30),
                             [&] { return bodies_.size() >= count; });
  }
  std::vector<std::string> bodies() {
    const std::lock_guard lock(mutex_);
    return bodies_;
  }
  // From now on; 0: not before it is told again.
  void answer(int status) {
    const std::lock_guard lock(mutex_);
    status_ = status;
    changed_.notify_all();
  }

 private:
  void serve() {
    for (;;) {
      const int connection = ::accept(socket_, nullptr, nullptr);
      if (connection < 0) return;
      std::string text;
      std::size_t whole = std::string::npos;
      char buffer[4096];
      while (text.size() < whole) {
        const auto count = ::recv(connection, buffer, sizeof buffer, 0);
        if (count <= 0) break;
        text.append(buffer, static_cast<std::size_t>(count));
        const std::size_t head = text.find("\r\n\r\n");
        const std::size_t length = text.find("Content-Length: ");
        if (head != std::string::npos && length < head) {
          whole = head + 4 + std::stoul(text.substr(length + 16));
        }
      }
      std::unique_lock lock(mutex_);
      if (!text.empty()) bodies_.push_back(text);
      changed_.notify_all();
      changed_.wait(lock, [&] { return status_ != 0; });
      const std::string answer =
          fmt::format("HTTP/1.1 {} -\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", status_);
      ::send(connection, answer.data(), answer.size(), MSG_NOSIGNAL);
      ::close(connection);
    }
  }

  int socket_ = -1;
  int port_ = 0;
  std::mutex mutex_;  // guards what follows up to the thread
  std::condition_variable changed_;
  int status_;
  std::vector<std::string> bodies_;
  std::jthread thread_;
};

class HeardAlerts : public PutOffAlerts {
 protected:
  void hears(const std::string& name, const Hook& hook) {
    ReceiverConfig receiver;
    receiver.name = name;
    receiver.url = hook.url();
    if (config_.alerts.allow_private.empty()) config_.alerts.receivers.clear();
    config_.alerts.allow_private = {"127.0.0.1"};
    config_.alerts.receivers.push_back(receiver);
  }
  // A limit that is used up, and stops what runs.
  void stops_work() {
    is_hot_ = false;
    const Instant now = clock_.now();
    stops_.notices = {{"nlp",
                       {.limit = "nlp",
                        .because = "all is spent",
                        .month = now,
                        .month_end = now + std::chrono::days(20),
                        .since = now,
                        .seen = now}}};
    GuardrailConfig guardrails;
    guardrails.limits = {
        guardrails::UsageLimit{.name = "nlp", .stop_running = guardrails::StopTerms{}}};
    config_.guardrails = std::make_shared<const GuardrailConfig>(std::move(guardrails));
  }
  std::map<std::string, Instant> told(const AlertService& service) const {
    return told_stop_notices(service.now(), config_.alerts);
  }
};

// "slow" comes before the others by its name, and does not answer while they hear of the alert.
TEST_F(HeardAlerts, AQuickReceiverDoesNotWaitForASlowOne) {
  Hook slow(0);
  Hook quick(200);
  Hook other(200);
  hears("a slow one", slow);
  hears("quick", quick);
  hears("the other", other);
  const auto service = make_service();
  std::jthread round([&] { service->run_once(); });
  EXPECT_TRUE(slow.has_heard(1));
  EXPECT_TRUE(quick.has_heard(1));
  EXPECT_TRUE(other.has_heard(1));
  slow.answer(200);
  round.join();
  EXPECT_EQ(waits(*service), "");
  EXPECT_EQ(quick.bodies().size(), 1u);
  EXPECT_EQ(slow.bodies().size(), 1u);
}

TEST_F(HeardAlerts, ARefusalIsTriedAgainLaterEachTime) {
  Hook hook(400);
  hears("picky", hook);
  const auto service = make_service();
  std::size_t requests = 0;
  for (const int wait : {2, 4, 8, 16, 32}) {
    service->run_once();
    EXPECT_EQ(hook.bodies().size(), ++requests) << "before " << wait << " s";
    ASSERT_EQ(service->state().outbox.size(), 1u);
    EXPECT_EQ(service->state().outbox.front().next - clock_.now(), std::chrono::seconds(wait));
    clock_.advance(std::chrono::seconds(wait) - std::chrono::milliseconds(1));
    service->run_once();
    EXPECT_EQ(hook.bodies().size(), requests) << "within " << wait << " s";
    clock_.advance(std::chrono::milliseconds(1));
  }
  hook.answer(200);
  service->run_once();
  EXPECT_EQ(waits(*service), "");
  const auto bodies = hook.bodies();
  ASSERT_EQ(bodies.size(), requests + 1);
  EXPECT_THAT(bodies.front(), testing::HasSubstr("\"is_retry\": false"));
  EXPECT_THAT(bodies.back(), testing::HasSubstr("\"is_retry\": true"));
  EXPECT_THAT(bodies.back(), testing::HasSubstr("X-Pennyweight-Retry: true"));
  EXPECT_TRUE(service->state().dead.empty());
}

TEST_F(HeardAlerts, OfALimitThatStopsWorkSomebodyIsToldOnDelivery) {
  Hook hook(500);
  hears("leads", hook);
  stops_work();
  const auto service = make_service();
  for (int i = 0; i < 3; ++i) {
    service->run_once();
    ASSERT_EQ(service->now().alerts.size(), 1u);
    EXPECT_TRUE(service->now().alerts[0].notified);
    EXPECT_TRUE(told(*service).empty());
    clock_.advance(std::chrono::hours(2));
  }
  hook.answer(200);
  service->run_once();
  EXPECT_EQ(service->state().outbox.size(), 0u);
  const Instant delivered = clock_.now();
  const std::map<std::string, Instant> expected{{stops_.notices.at("nlp").scope(), delivered}};
  EXPECT_EQ(told(*service), expected);
  clock_.advance(std::chrono::hours(2));
  service->run_once();
  EXPECT_EQ(told(*service), expected);
  const auto kept = load_alert_state((folder_ / "alerts.json").string());
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(kept->book.begin()->second.delivered.at("leads"), delivered);
}

TEST_F(HeardAlerts, OfALimitThatStopsWorkNobodyIsToldByWhatWasGivenUp) {
  Hook hook(500);
  hears("leads", hook);
  stops_work();
  const auto service = make_service();
  for (int i = 0; i < 60 && service->state().dead.empty(); ++i) {
    service->run_once();
    clock_.advance(std::chrono::hours(2));
  }
  ASSERT_EQ(service->state().dead.size(), 1u);
  EXPECT_TRUE(service->state().outbox.empty());
  EXPECT_TRUE(told(*service).empty());
  hook.answer(200);
  service->run_once();
  EXPECT_EQ(service->now().alerts.size(), 1u);
  EXPECT_TRUE(told(*service).empty());
}

// Nobody hears of alerts at first: the state says that nothing is known, not that nothing is wrong.
TEST(AlertService, SaysWhetherItEvaluatesAnything) {
  const Config config;
  SimulatedClock clock(*parse_instant("2026-03-04T10:00:00Z"));
  Log log(clock);
  std::vector<Budget> budgets;
  const auto folder = std::filesystem::path(testing::TempDir()) /
                      ("alert_service_test_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  AlertService service(config,
                       {.summarise = [](const SummaryQuery&) -> Result<std::vector<SummaryRow>> {
                          return std::vector<SummaryRow>();
                        },
                        .live = {},
                        .budgets = [&]() -> Result<std::vector<Budget>> { return budgets; }},
                       clock, log, (folder / "alerts.json").string());
  EXPECT_FALSE(service.now().is_evaluated);
  service.run_once();
  EXPECT_FALSE(service.now().is_evaluated);
  budgets = {{.name = "run", .amounts = {{*parse_date("2026-03-01"), Money::from_units(5, kUsd)}}}};
  service.run_once();
  EXPECT_TRUE(service.now().is_evaluated);
  budgets.clear();
  service.run_once();
  EXPECT_FALSE(service.now().is_evaluated);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace pennyweight
