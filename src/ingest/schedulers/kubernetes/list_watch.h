// ListWatch: decides what to ask the API server next about one type of resource, so that nothing is
// missed for good.
//
// It is the protocol alone, without sockets, clocks or JSON: the same answers give the same
// requests (api_resource_watch.h sends them). It lists in pages, then watches from the
// resourceVersion of the list. A watch that ends resumes where it stopped. What the server no
// longer remembers (410 Gone) is listed again. Lists name no resourceVersion, so that they are
// current even where a server lags behind.
//
// Source: kubernetes.io/docs/reference/using-api/api-concepts (efficient detection of changes,
// watch bookmarks, retrieving large results sets in chunks); back-off as in client-go's reflector.
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
inline constexpr Milliseconds kForbiddenWait{60'000};  // until we are given the permission
inline constexpr Milliseconds kAbsentWait{300'000};    // until the API is installed
// A watch that lasted this long was good: failures are counted from one again.
inline constexpr Milliseconds kGoodWatch{5'000};
inline constexpr int kWatchSecondsMin = 300;  // the server ends a watch after once to twice this
// After so many refusals of a watch in a row, list again: its resourceVersion may be newer than
// what this server has (an etcd that was restored).
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
  enum class Action { kWait, kList, kWatch };
  Action action = Action::kList;
  Milliseconds wait{0};
  std::string target = {};  // path and query
  bool is_first_page = false;
  std::size_t path = 0;  // of ResourceType::paths
};

class ListWatch {
 public:
  // REQUIRES: at least one path.
  ListWatch(ResourceType type, std::uint64_t seed);

  // The next step; the same one until one of the answers below.
  Step next();

  // After kWait.
  void waited();
  // After kList: a page. Without a token it is the last.
  void page(std::string_view resource_version, std::string_view continue_token);
  // During kWatch: an ADDED, MODIFIED, DELETED or BOOKMARK of this version was processed.
  void event(std::string_view resource_version);
  // After kWatch: the server ended it as agreed.
  void watch_ended(Milliseconds lasted);
  // After either: a status other than 2xx, or an ERROR event with that code.
  void refused(int status, std::optional<Milliseconds> retry_after);
  // After either: no answer, or one that was cut off.
  void failed(Milliseconds lasted);
  // After either: an answer that can't be used (not JSON, no version, an event past the limit).
  // Only a new list can replace what it said.
  void lost();

  const ResourceType& type() const { return type_; }
  // Whether a list was completed, and no new one is needed since.
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
  std::size_t absent_ = 0;  // paths in a row that do not exist
  bool listing_ = true;
  bool whole_ = false;  // the next list comes without pages: they expired
  std::string continue_ = {};
  std::string resource_version_ = {};
  std::optional<Milliseconds> wait_ = {};
  int watch_seconds_ = 0;
  int failures_ = 0;        // since the last good watch
  int watch_refusals_ = 0;  // since the last watch with an event
};

}  // namespace pennyweight::kubernetes
