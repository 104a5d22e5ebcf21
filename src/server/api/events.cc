// GET /api/v1/events: what changes, as server-sent events.
// https://html.spec.whatwg.org/multipage/server-sent-events.html
//
// Sends `live` after each live update, `rollup` when costs have changed, and a comment after a long
// silence, so that a broken connection is noticed. A stream ends after some minutes, and browsers
// open the next one by themselves. It ends within a second once the user loses access: the session
// is over, the token revoked, or the user changed.
#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "server/api/answers.h"
#include "server/api/endpoints.h"
#include "server/api/guard.h"
#include "server/api/live_now.h"
#include "server/api/scoped_queries.h"

namespace pennyweight::api {
namespace {

using server::Request;
using server::Response;
using server::Sink;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kPollEvery{250};
// The access of the user is checked again after this many polls.
constexpr int kPollsPerAccessCheck = 2;
constexpr seconds kSilenceMax{15};
constexpr seconds kLasts{300};

class Stream {
 public:
  Stream(const Services& services, const access::Principal& who,
         const SessionRevalidator& revalidator, const Sink& sink)
      : services_(services),
        queries_(services, who),
        revalidator_(revalidator),
        sink_(sink),
        sent_at_(services.clock.now()) {}

  // Runs until the stream has lasted long enough, the user loses access, or the client is gone.
  bool run() {
    const auto end = services_.clock.now() + kLasts;
    if (!send("retry: 2000\n\n")) return true;
    for (int polls = 0; services_.clock.now() < end; ++polls) {
      if (polls > 0 && polls % kPollsPerAccessCheck == 0 && !revalidator_.is_still_valid())
        return true;
      if (!send_live() || !send_rollup() || !keep_alive()) return true;
      std::this_thread::sleep_for(kPollEvery);
      if (!sink_("")) return true;
    }
    return true;
  }

 private:
  bool send(const std::string& text) {
    sent_at_ = services_.clock.now();
    return sink_(text);
  }
  bool send_live() {
    const auto view = services_.live ? services_.live() : nullptr;
    if (view == nullptr || view == sent_view_) return true;
    sent_view_ = view;
    const auto own = queries_.live();
    return send(
        fmt::format("event: live\ndata: {}\n\n", live_now_json(own.get(), queries_.is_scoped())));
  }
  bool send_rollup() {
    const auto version = services_.rollup.version();
    if (!version || version_ == version) return true;
    version_ = version;
    return send(fmt::format("event: rollup\ndata: {{\"version\":{}}}\n\n", *version));
  }
  bool keep_alive() {
    return services_.clock.now() - sent_at_ < kSilenceMax || send(": still here\n\n");
  }

  const Services& services_;
  const ScopedQueries queries_;
  const SessionRevalidator& revalidator_;
  const Sink& sink_;
  std::shared_ptr<const LiveView> sent_view_;
  std::optional<std::uint64_t> version_;
  Instant sent_at_;
};

}  // namespace

Response get_events(const Services& services, const Request& request) {
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  Response response{.content_type = "text/event-stream"};
  response.headers = {{"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}};
  const auto who = std::any_cast<const access::Principal&>(request.principal);
  const SessionRevalidator revalidator(services, request, access::Permission::kReadLive);
  response.stream = [&services, who, revalidator](const Sink& sink) {
    return Stream(services, who, revalidator, sink).run();
  };
  return response;
}

}  // namespace pennyweight::api
