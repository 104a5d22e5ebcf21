#include "ingest/schedulers/kubernetes/api_resource_watch.h"

#include <fmt/format.h>

#include <utility>

namespace pennyweight::kubernetes {
namespace {

constexpr Milliseconds kListTimeout{60'000};  // the longest that an API server takes for one
// Bookmarks come about once a minute; if no byte comes for longer, the connection may be dead.
constexpr Milliseconds kWatchSilence{150'000};

http::Settings with_timeout(http::Settings settings, Milliseconds timeout) {
  settings.timeout = timeout;
  return settings;
}

std::string without_slash(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

Milliseconds since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration_cast<Milliseconds>(std::chrono::steady_clock::now() - begin);
}

http::Request get(const std::string& url, const Step& step) {
  return {.url = url + step.target, .headers = {{"Accept", "application/json"}}};
}

}  // namespace

ResourceWatch::ResourceWatch(const ApiServer& server, ResourceType type, std::uint64_t seed,
                             WatchListener& listener, Clock& clock, Wait wait)
    : url_(without_slash(server.url)),
      machine_(std::move(type), seed),
      lists_(with_timeout(server.http, kListTimeout)),
      watches_(with_timeout(server.http, kWatchSilence)),
      listener_(listener),
      clock_(clock),
      wait_(std::move(wait)) {}

void ResourceWatch::run() {
  while (!stopped_) {
    const Step step = machine_.next();
    switch (step.action) {
      case Step::Action::kWait:
        if (!wait_(step.wait)) return;
        machine_.waited();
        break;
      case Step::Action::kList:
        list(step);
        break;
      case Step::Action::kWatch:
        watch(step);
        break;
    }
  }
}

void ResourceWatch::stop() {
  stopped_ = true;
  lists_.stop();
  watches_.stop();
}

void ResourceWatch::list(const Step& step) {
  const auto response = lists_.send(get(url_, step));
  if (stopped_) return;
  if (!response) {
    failed(step, response.error(), Milliseconds(0));
    return;
  }
  if (response->status != 200) {
    refused(step, response->status, response->retry_after, status_message(response->body));
    return;
  }
  const auto page = read_page(parser_, response->body);
  if (!page) {
    lost(step, page.error());
    return;
  }
  const Instant at = clock_.now();
  if (step.is_first_page) listener_.list_begins(type(), at);
  const std::string api_version = type().api_version(step.path);
  for (const simdjson::dom::element item : page->items) {
    listener_.listed(type(), api_version, item, at);
  }
  counts_.objects_listed += page->items.size();
  ++counts_.pages;
  machine_.page(page->resource_version, page->continue_token);
  if (!machine_.is_watching()) return;
  ++counts_.lists;
  heard();
  counts_.is_watching = true;
  reported_trouble_.clear();
  listener_.list_ends(type(), at);
}

void ResourceWatch::watch(const Step& step) {
  EventSplitter splitter;
  std::optional<WatchEvent> error;
  std::optional<Error> unusable;
  const std::string api_version = type().api_version(step.path);
  const auto on_line = [&](std::string_view line) {
    auto event = read_event(parser_, line);
    if (!event) {
      unusable = event.error();
      return false;
    }
    if (event->type == EventType::kError) {
      error = std::move(*event);
      return false;
    }
    if (event->type == EventType::kBookmark) {
      ++counts_.bookmarks;
    } else {
      ++counts_.events;
      listener_.event(type(), api_version, event->type, event->object, clock_.now());
    }
    machine_.event(event->resource_version);
    reported_trouble_.clear();
    return true;
  };
  const auto begin = std::chrono::steady_clock::now();
  bool accepted = false;
  const auto response = watches_.stream(get(url_, step), [&](std::string_view bytes) {
    if (!std::exchange(accepted, true)) {
      ++counts_.watches;
      counts_.is_watching = true;
    }
    heard();
    return splitter.feed(bytes, on_line);
  });
  if (stopped_) return;
  if (error) {
    refused(step, error->error_code, error->retry_after, error->message);
  } else if (splitter.is_over_limit()) {
    lost(step, Error{ErrorCode::kLimit,
                     fmt::format("an event of the watch has more than {} bytes", kEventBytesMax)});
  } else if (unusable) {
    lost(step, *unusable);
  } else if (!response) {
    failed(step, response.error(), since(begin));
  } else if (response->status != 200) {
    refused(step, response->status, response->retry_after, status_message(response->body));
  } else {
    // The next watch repeats an event that was cut off.
    machine_.watch_ended(since(begin));
  }
}

void ResourceWatch::refused(const Step& step, int status, std::optional<Milliseconds> retry_after,
                            std::string_view words) {
  if (status == 410) {
    ++counts_.expired;
  } else {
    ++counts_.refusals;
    const std::string path = step.target.substr(0, step.target.find('?'));
    if (status == 403) {
      trouble(
          fmt::format("{} may not be listed and watched (403: {}); give our service account the "
                      "verbs list and watch for it",
                      path, words));
    } else if (status == 401) {
      trouble(
          fmt::format("{}: the API server does not know us (401: {}); check the token or "
                      "certificate",
                      path, words));
    } else if (status != 404 || path.starts_with("/api/")) {
      // Any other API may be absent; it is tried again later.
      trouble(fmt::format("{}: the API server answers {}: {}", path, status, words));
    }
  }
  counts_.is_watching = false;
  machine_.refused(status, retry_after);
  // Only once the older versions of the API were tried too.
  const bool is_settled = machine_.next().action == Step::Action::kWait;
  if ((status == 404 || status == 403) && is_settled && counts_.lists == 0) {
    listener_.unavailable(type(), status, clock_.now());
  }
}

void ResourceWatch::lost(const Step& step, const Error& why) {
  ++counts_.lost;
  counts_.is_watching = false;
  trouble(step.target.substr(0, step.target.find('?')) + ": " + why.message);
  machine_.lost();
}

void ResourceWatch::failed(const Step& step, const Error& why, Milliseconds lasted) {
  ++counts_.failures;
  counts_.is_watching = false;
  // Networks cut long connections; the watch resumes.
  if (step.action == Step::Action::kList || lasted < kGoodWatch) trouble(why.message);
  machine_.failed(lasted);
}

void ResourceWatch::trouble(const std::string& words) {
  if (std::exchange(reported_trouble_, words) != words) listener_.trouble(type(), words);
}

}  // namespace pennyweight::kubernetes
