// A stream of events ends at once when its user loses access, and other streams go on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "server/api/people_for_tests.h"
#include "server/api/routes.h"

namespace pennyweight::api {
namespace {

using std::chrono::steady_clock;

class EventsTest : public PeopleTest {
 protected:
  EventsTest() { serve(); }

  // Listens in a thread of its own.
  class Listener {
   public:
    Listener(std::uint16_t port, const Browser& browser) {
      httplib::Headers headers;
      if (!browser.cookie.empty()) headers.emplace("Cookie", browser.cookie);
      if (!browser.bearer.empty()) headers.emplace("Authorization", "Bearer " + browser.bearer);
      thread_ = std::thread([this, port, headers] {
        httplib::Client client("127.0.0.1", port);
        client.Get("/api/v1/events", headers, [this](const char*, std::size_t) {
          is_begun_ = true;
          return !is_leaving_;
        });
        is_over_ = true;
      });
      wait_for(is_begun_);
    }
    ~Listener() {
      is_leaving_ = true;
      thread_.join();
    }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    bool is_begun() const { return is_begun_; }
    bool is_over() const { return is_over_; }
    // Waits ten seconds at most: a stream that goes on lasts for minutes.
    bool ends() { return wait_for(is_over_); }

   private:
    static bool wait_for(const std::atomic<bool>& what) {
      const auto until = steady_clock::now() + std::chrono::seconds(10);
      while (!what && steady_clock::now() < until) std::this_thread::yield();
      return what;
    }
    std::atomic<bool> is_begun_ = false, is_over_ = false, is_leaving_ = false;
    std::thread thread_;
  };
};

TEST_F(EventsTest, EndWhenAccessIsRevoked) {
  access::Token requested;
  requested.name = "wall";
  requested.user = "fin";
  requested.expires_at = clock_.now() + std::chrono::hours(1);
  const auto token = accounts_->add_token(requested);
  ASSERT_TRUE(token) << token.error().message;
  const Browser vic = browser_of("vic");
  Listener stays(server_->port(), browser_of("ada"));
  const auto other = another();
  const std::vector<std::pair<Browser, std::function<bool()>>> ends = {
      {{.bearer = token->secret},
       [&] { return accounts_->revoke_token(token->token.id).has_value(); }},
      {vic, [&] { return ask(vic, "DELETE", "/session").status == 204; }},
      // As another process, such as the command line, does it.
      {browser_of("tea"),
       [&] {
         auto user = other->find_user("tea");
         (*user)->disabled = true;
         return other->change_user(**user).has_value();
       }},
      {browser_of("sam"), [&] {
         auto user = other->find_user("sam");
         (*user)->scope = {{.dimension = "team", .values = {"vision"}}};
         return other->change_user(**user).has_value();
       }}};
  for (const auto& [browser, end] : ends) {
    Listener listener(server_->port(), browser);
    ASSERT_TRUE(listener.is_begun());
    EXPECT_FALSE(listener.is_over());
    const auto begun = steady_clock::now();
    EXPECT_TRUE(end());
    EXPECT_TRUE(listener.ends());
    // Within a second, on an idle machine.
    EXPECT_LT(steady_clock::now() - begun, std::chrono::seconds(5));
  }
  EXPECT_FALSE(stays.is_over());
  server_->stop();
}

}  // namespace
}  // namespace pennyweight::api
