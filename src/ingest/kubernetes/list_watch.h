// ListWatch: what to ask the API server next about one type of resource, so that nothing is missed
// for good. The protocol alone: it knows no sockets, clocks or JSON, and the same answers give the
// same questions (api_resource_watch.h is who asks).
//
// List, in pages, then watch from the resourceVersion of the list. A watch that ends is taken up
// where it stopped. What the server no longer remembers (410 Gone) is listed anew. Lists name no
// resourceVersion, so that they are of now and never of a server that lags behind.
//
// Source: kubernetes.io/docs/reference/using-api/api-concepts (efficient detection of changes,
// watch bookmarks, retrieving large results sets in chunks); back-off as client-go's reflector.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace pennyweight::kubernetes {

using Milliseconds = std::chrono::milliseconds;

inline constexpr int kPageItems = 500;
inline constexpr Milliseconds kBackOffMin{800};
inline constexpr Milliseconds kBackOffMax{30'000};
inline constexpr Milliseconds kForbiddenWait{60'000};  // until somebody gives us the right
inline constexpr Milliseconds kAbsentWait{300'000};    // until somebody installs the API
// A watch that lasted this long was a good one: the next trouble counts from one again.
inline constexpr Milliseconds kGoodWatch{5'000};
inline constexpr int kWatchSecondsMin = 300;  // the server ends a watch after that to twice that
// So many refusals of a watch one after the other: its resourceVersion may be from a future that
// this server has not (an etcd that was restored), so list anew.
inline constexpr int kRefusalsBeforeList = 5;

// One type of resource, in all namespaces.
struct ResourceType {
  std::string kind;  // "Pod"
  // "/api/v1/pods"; further ones are older versions of the API, for servers without the first.
  std::vector<std::string> paths;
  std::string api_version(std::size_t path) const;  // "v1", "batch/v1"
  bool operator==(const ResourceType&) const = default;
};

struct Step {
  enum class Do { kWait, kList, kWatch };
  Do what = Do::kList;
  Milliseconds wait{0};
  std::string target = {};  // path and query
  bool is_first_page = false;
  std::size_t path = 0;  // of ResourceType::paths
};

class ListWatch {
 public:
  // REQUIRES: at least one path.
  ListWatch(ResourceType type, std::uint64_t seed);

  // What to do now; the same until one of the answers below.
  Step next();

  // After kWait.
  void waited();
  // After kList: a page. Without a token it was the last.
  void page(std::string_view resource_version, std::string_view continue_token);
  // During kWatch: an ADDED, MODIFIED, DELETED or BOOKMARK of this version was handed on.
  void event(std::string_view resource_version);
  // After kWatch: the server ended it as agreed.
  void watch_ended(Milliseconds lasted);
  // After either: a status other than 2xx, or an ERROR event with that code.
  void refused(int status, std::optional<Milliseconds> retry_after);
  // After either: no answer, or one that was cut off.
  void failed(Milliseconds lasted);
  // After either: an answer that can't be used (no JSON, no version, an event past the limit). What
  // it said is only known from a new list.
  void lost();

  const ResourceType& type() const { return type_; }
  // Whether a list was completed, and no reason for a new one came since.
  bool is_watching() const { return !listing_; }
  std::string_view resource_version() const { return resource_version_; }

 private:
  void wait_for(Milliseconds wait);
  void back_off(Milliseconds at_least = Milliseconds(0));
  void expired();
  void list_anew();

  ResourceType type_;
  std::mt19937_64 random_;
  std::size_t path_ = 0;
  std::size_t absent_ = 0;  // paths in a row that are not there
  bool listing_ = true;
  bool whole_ = false;  // the next list without pages: they expired
  std::string continue_ = {};
  std::string resource_version_ = {};
  std::optional<Milliseconds> wait_ = {};
  int watch_seconds_ = 0;
  int failures_ = 0;        // since the last good watch
  int watch_refusals_ = 0;  // since the last watch that told anything
};

// For a query: everything but letters, digits and "-._~" as %XX.
std::string percent_encoded(std::string_view text);

}  // namespace pennyweight::kubernetes
