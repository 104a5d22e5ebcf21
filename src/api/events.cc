// GET /api/v1/events: what changes, as server-sent events.
// https://html.spec.whatwg.org/multipage/server-sent-events.html
//
// `live` with each look at what runs, `rollup` when costs changed, and a comment where it was
// silent for long, so that a broken line is noticed. A stream ends after minutes, and a browser
// opens the next by itself; it ends within a second where who asks may not any more: his session is
// over, his token revoked, or he another than he was.
#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "api/answers.h"
#include "api/data_routes.h"
#include "api/desk.h"
#include "api/guard.h"
#include "api/live_now.h"

namespace pennyweight::api {
namespace {

using server::Request;
using server::Response;
using server::Sink;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kBetweenLooks{250};
// How many looks are taken before the accounts are asked again.
constexpr int kLooksAtOnce = 2;
constexpr seconds kSilenceMax{15};
constexpr seconds kLasts{300};

class Stream {
 public:
  Stream(const Parts& parts, const access::Principal& who, const StillIn& still_in,
         const Sink& sink)
      : parts_(parts),
        desk_(parts, who),
        still_in_(still_in),
        sink_(sink),
        told_at_(parts.clock.now()) {}

  // Until it has lasted long enough, who asks may not any more, or nobody reads.
  bool run() {
    const auto end = parts_.clock.now() + kLasts;
    if (!tell("retry: 2000\n\n")) return true;
    for (int looks = 0; parts_.clock.now() < end; ++looks) {
      if (looks > 0 && looks % kLooksAtOnce == 0 && !still_in_.ask()) return true;
      if (!tell_live() || !tell_costs() || !keep_alive()) return true;
      std::this_thread::sleep_for(kBetweenLooks);
      if (!sink_("")) return true;
    }
    return true;
  }

 private:
  bool tell(const std::string& text) {
    told_at_ = parts_.clock.now();
    return sink_(text);
  }
  bool tell_live() {
    const auto view = parts_.live ? parts_.live() : nullptr;
    if (view == nullptr || view == looked_) return true;
    looked_ = view;
    const auto own = desk_.live();
    return tell(
        fmt::format("event: live\ndata: {}\n\n", live_now_json(own.get(), desk_.is_scoped())));
  }
  bool tell_costs() {
    const std::uint64_t version = parts_.rollup.version();
    if (version_ == version) return true;
    version_ = version;
    return tell(fmt::format("event: rollup\ndata: {{\"version\":{}}}\n\n", version));
  }
  bool keep_alive() {
    return parts_.clock.now() - told_at_ < kSilenceMax || tell(": still here\n\n");
  }

  const Parts& parts_;
  const Desk desk_;
  const StillIn& still_in_;
  const Sink& sink_;
  std::shared_ptr<const LiveView> looked_;
  std::optional<std::uint64_t> version_;
  Instant told_at_;
};

Response events(const Parts& parts, const Request& request) {
  Asked asked(request);
  if (auto no = asked.refused()) return *std::move(no);
  Response response{.content_type = "text/event-stream"};
  response.headers = {{"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}};
  const auto who = std::any_cast<const access::Principal&>(request.who);
  const StillIn still_in(parts, request, access::Permission::kReadLive);
  response.stream = [&parts, who, still_in](const Sink& sink) {
    return Stream(parts, who, still_in, sink).run();
  };
  return response;
}

}  // namespace

std::vector<server::Route> event_routes(const Parts& parts) {
  return {{.method = "GET",
           .path = "/api/v1/events",
           .handler = [&parts](const Request& request) { return events(parts, request); },
           .needs = "read_live",
           .is_stream = true}};
}

}  // namespace pennyweight::api
