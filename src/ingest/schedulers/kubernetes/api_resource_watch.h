// ResourceWatch: lists and watches one type of resource of one API server over HTTP, for as long as
// it is wanted. ListWatch decides what to ask.
#pragma once

#include <simdjson.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "core/clock.h"
#include "core/http/client.h"
#include "ingest/schedulers/kubernetes/list_watch.h"
#include "ingest/schedulers/kubernetes/list_watch_event.h"

namespace pennyweight::kubernetes {

// The address of the API, and our credentials.
struct ApiServer {
  std::string url = {};  // "https://10.96.0.1:443", without a path
  http::Settings http = {};
};

// Receives what a watch reads. Objects live as long as the call; a call may take its time, and the
// server waits.
class WatchListener {
 public:
  virtual ~WatchListener() = default;
  // All current objects follow, as listed(), and then list_ends(): what was not among them is gone.
  // A list that expires halfway begins again.
  virtual void list_begins(const ResourceType& type, Instant at) = 0;
  virtual void listed(const ResourceType& type, std::string_view api_version,
                      simdjson::dom::element object, Instant at) = 0;
  virtual void list_ends(const ResourceType& type, Instant at) = 0;
  // Never kBookmark or kError. For kDeleted, the object as it last was.
  virtual void event(const ResourceType& type, std::string_view api_version, EventType event,
                     simdjson::dom::element object, Instant at) = 0;
  // The resource can't be read, and never could: the API is not installed (404), or we may not read
  // it (403). It is tried again.
  virtual void unavailable(const ResourceType& type, int status, Instant at) = 0;
  // A problem that a person should know of, once until it is over: "cannot list …: 403 …".
  virtual void trouble(const ResourceType& type, const std::string& words) = 0;
};

// Counted since the watch began; may be read from any thread.
struct WatchCounts {
  std::atomic<std::uint64_t> lists = 0;  // that were completed
  std::atomic<std::uint64_t> pages = 0;
  std::atomic<std::uint64_t> objects_listed = 0;
  std::atomic<std::uint64_t> watches = 0;  // that the server accepted
  std::atomic<std::uint64_t> events = 0;   // added, modified, deleted
  std::atomic<std::uint64_t> bookmarks = 0;
  std::atomic<std::uint64_t> expired = 0;   // 410, as a status or as an event
  std::atomic<std::uint64_t> refusals = 0;  // any other status that is no 2xx
  std::atomic<std::uint64_t> failures = 0;  // no answer, or one that was cut off
  std::atomic<std::uint64_t> lost = 0;      // an answer that could not be used
  std::atomic<std::int64_t> heard_ms = 0;   // when the server was last heard; 0: never
  std::atomic<bool> is_watching = false;    // listed, and connected as far as we know
};

// Waits for a time; returns false at once when it is time to stop.
using Wait = std::function<bool(Milliseconds)>;

class ResourceWatch {
 public:
  // The listener, the clock and what `wait` needs outlive this.
  ResourceWatch(const ApiServer& server, ResourceType type, std::uint64_t seed,
                WatchListener& listener, Clock& clock, Wait wait);
  // Runs until stop(), or until `wait` returns false. Call it once.
  void run();
  // From any thread. REQUIRES: `wait` returns soon too.
  void stop();

  const ResourceType& type() const { return machine_.type(); }
  const WatchCounts& counts() const { return counts_; }

 private:
  void list(const Step& step);
  void watch(const Step& step);
  void refused(const Step& step, int status, std::optional<Milliseconds> retry_after,
               std::string_view words);
  void lost(const Step& step, const Error& why);
  void failed(const Step& step, const Error& why, Milliseconds lasted);
  void trouble(const std::string& words);
  void heard() { counts_.heard_ms = unix_ms(clock_.now()); }

  std::string url_;
  ListWatch machine_;
  http::Client lists_;
  http::Client watches_;
  WatchListener& listener_;
  Clock& clock_;
  Wait wait_;
  std::atomic<bool> stopped_ = false;
  simdjson::dom::parser parser_;
  WatchCounts counts_;
  std::string reported_trouble_ = {};  // the trouble that was last given to the listener
};

}  // namespace pennyweight::kubernetes
