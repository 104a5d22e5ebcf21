#include "ingest/schedulers/kubernetes/list_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/ascii.h"
#include "core/check.h"
#include "core/percent.h"

namespace pennyweight::kubernetes {

std::string ResourceType::api_version(std::size_t path) const {
  // "/api/v1/pods" or "/apis/batch/v1/jobs"
  std::string_view text = paths.at(path);
  text = text.substr(0, text.rfind('/'));
  const std::string_view prefix = text.starts_with("/apis/") ? "/apis/" : "/api/";
  return std::string(text.substr(std::min(prefix.size(), text.size())));
}

ListWatch::ListWatch(ResourceType type, std::uint64_t seed)
    : type_(std::move(type)), random_(seed) {
  CHECK(!type_.paths.empty(), "a resource is somewhere");
}

Step ListWatch::next() {
  if (wait_) return {.action = Step::Action::kWait, .wait = *wait_, .path = path_};
  const std::string& path = type_.paths[path_];
  if (listing_) {
    std::string target = path;
    if (!whole_) target += fmt::format("?limit={}", kPageItems);
    if (!continue_.empty())
      target += (whole_ ? "?" : "&") + ("continue=" + percent_encoded(continue_));
    return {.action = Step::Action::kList,
            .target = std::move(target),
            .is_first_page = continue_.empty(),
            .path = path_};
  }
  if (watch_seconds_ == 0) {
    // Watches end at different times, not all in the same second.
    watch_seconds_ = kWatchSecondsMin + static_cast<int>(random_() % kWatchSecondsMin);
  }
  return {.action = Step::Action::kWatch,
          .target = fmt::format("{}?watch=true&allowWatchBookmarks=true&resourceVersion={}"
                                "&timeoutSeconds={}",
                                path, percent_encoded(resource_version_), watch_seconds_),
          .path = path_};
}

void ListWatch::waited() { wait_.reset(); }

void ListWatch::wait_for(Milliseconds wait) {
  if (wait.count() > 0) wait_ = wait;
}

void ListWatch::back_off(Milliseconds at_least) {
  ++failures_;
  const int doublings = std::min(failures_ - 1, 10);
  const auto most =
      std::min<std::int64_t>(kBackOffMax.count(), (2 * kBackOffMin.count()) << doublings);
  const auto part = static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most / 2 + 1));
  wait_for(std::max(at_least, Milliseconds(most / 2 + part)));
}

void ListWatch::list_anew() {
  listing_ = true;
  continue_.clear();
  resource_version_.clear();
  watch_refusals_ = 0;
}

void ListWatch::page(std::string_view resource_version, std::string_view continue_token) {
  absent_ = 0;
  if (resource_version.empty()) {
    lost();
    return;
  }
  if (!continue_token.empty()) {
    continue_ = continue_token;
    return;
  }
  resource_version_ = resource_version;
  continue_.clear();
  listing_ = false;
  whole_ = false;
  watch_seconds_ = 0;
}

void ListWatch::event(std::string_view resource_version) {
  resource_version_ = resource_version;
  watch_refusals_ = 0;
}

void ListWatch::watch_ended(Milliseconds lasted) {
  watch_seconds_ = 0;
  if (lasted >= kGoodWatch) {
    failures_ = 0;
    watch_refusals_ = 0;
    return;
  }
  // If the server ends each watch at once, wait between them.
  back_off();
}

void ListWatch::expired() {
  // Pages expired while they were read: ask for all at once, which takes the server less time.
  if (listing_ && !continue_.empty()) whole_ = true;
  const bool first = failures_ == 0;
  list_anew();
  if (first) {
    ++failures_;
  } else {
    back_off();
  }
}

void ListWatch::refused(int status, std::optional<Milliseconds> retry_after) {
  watch_seconds_ = 0;
  switch (status) {
    case 404:
      // It does not exist in this version: perhaps in an older one.
      list_anew();
      path_ = (path_ + 1) % type_.paths.size();
      if (++absent_ % type_.paths.size() == 0) wait_for(kAbsentWait);
      return;
    case 410:
      expired();
      return;
    case 403:
      wait_for(std::max(kForbiddenWait, retry_after.value_or(Milliseconds(0))));
      return;
    default:
      // 401 too: the client reads its token anew for each request.
      if (!listing_ && ++watch_refusals_ >= kRefusalsBeforeList) list_anew();
      back_off(retry_after.value_or(Milliseconds(0)));
  }
}

void ListWatch::failed(Milliseconds lasted) {
  watch_seconds_ = 0;
  whole_ = false;
  if (!listing_ && lasted >= kGoodWatch) failures_ = 0;
  back_off();
}

void ListWatch::lost() {
  whole_ = false;
  list_anew();
  back_off();
}

}  // namespace pennyweight::kubernetes
