#include "server/api/downloads.h"

#include <string>
#include <thread>
#include <utility>

#include "core/interruption.h"

namespace pennyweight::api {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kAskAgain{20};
constexpr std::chrono::seconds kRetryDownload{10};

// In this order: a permit is given back to those that it is from.
struct HeldTurn {
  std::shared_ptr<server::StreamPermits> permits;
  std::shared_ptr<server::StreamPermit> permit;
};

}  // namespace

Downloads::Downloads(const DownloadLimits& limits)
    : wait_max_(limits.wait_max),
      permits_(std::make_shared<server::StreamPermits>(limits.all_max, limits.user_max)) {}

Downloads::Turn Downloads::take(const server::Request& request) const {
  const std::string& owner = request.principal_key.empty() ? request.peer : request.principal_key;
  const auto deadline = Steady::now() + wait_max_;
  while (!Interruption::is_here()) {
    auto turn = std::make_shared<HeldTurn>(permits_, nullptr);
    if (permits_->acquire(owner, turn->permit) == server::StreamPermits::Outcome::kGranted) {
      return turn;
    }
    if (Steady::now() >= deadline) break;
    std::this_thread::sleep_for(kAskAgain);
  }
  return nullptr;
}

server::Response no_turn() {
  server::Response later =
      server::problem(503, "Service unavailable",
                      "Too many downloads are under way; end one, or try again in a moment.");
  later.retry_after = kRetryDownload;
  return later;
}

server::Response with_turn(server::Response answer, Downloads::Turn turn) {
  if (!turn || !answer.stream) return answer;
  answer.stream = [turn = std::move(turn), stream = std::move(answer.stream)](
                      const server::Sink& sink) { return stream(sink); };
  return answer;
}

}  // namespace pennyweight::api
