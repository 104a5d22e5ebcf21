#include "telemetry/collect/scrape.h"

#include <fmt/format.h>

namespace pennyweight::collect {

ScrapedBody scrape(http::Client& client, const Target& target, Clock& clock) {
  constexpr int kOk = 200;
  ScrapedBody scraped{.at = clock.now()};
  const auto begin = std::chrono::steady_clock::now();
  auto response = client.send(
      {.url = target.url, .headers = {{"Accept", std::string(prometheus::kExpositionAccept)}}});
  scraped.duration = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - begin);
  if (!response) {
    scraped.error = response.error().message;
    return scraped;
  }
  scraped.retry_after = response->retry_after;
  if (response->status != kOk) {
    scraped.error = fmt::format("it answered with status {}", response->status);
    return scraped;
  }
  if (auto format = prometheus::parse_exposition_format(response->content_type); !format) {
    scraped.error = format.error().message;
    return scraped;
  }
  scraped.up = true;
  scraped.content_type = std::move(response->content_type);
  scraped.body = std::move(response->body);
  return scraped;
}

}  // namespace pennyweight::collect
