#include "app/daemon/scrape_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "app/context/context.h"
#include "core/check.h"

namespace pennyweight {
namespace {

// The pods of a watched API whose annotations ask to be scraped.
class KubernetesTargets : public collect::TargetSource {
 public:
  explicit KubernetesTargets(const KubernetesSource& source) : source_(source) {}
  Result<std::vector<collect::TargetGroup>> groups() override {
    std::vector<collect::TargetGroup> groups;
    for (const kubernetes::ScrapeTarget& target : source_.targets()) {
      groups.push_back(make_group(target.address));
      for (const auto& [name, value] : target.labels) {
        groups.back().labels.push_back({name, value});
      }
    }
    return groups;
  }
  // From "host:port", or from a URL, whose scheme and path win over the job's.
  static collect::TargetGroup make_group(const std::string& address) {
    collect::TargetGroup group;
    const std::size_t scheme = address.find("://");
    if (scheme == std::string::npos) {
      group.addresses = {address};
      return group;
    }
    const std::size_t path = address.find('/', scheme + 3);
    group.addresses = {address.substr(scheme + 3, path - scheme - 3)};
    group.labels.push_back({"__scheme__", address.substr(0, scheme)});
    if (path != std::string::npos) {
      group.labels.push_back({"__metrics_path__", address.substr(path)});
    }
    return group;
  }

 private:
  const KubernetesSource& source_;
};

}  // namespace

Result<void> check_scrape_jobs(const LiveConfig& config) {
  for (const ScrapeConfig& scrape : config.scrape) {
    const ClusterId& cluster = scrape.cluster.empty() ? config.serve.cluster : scrape.cluster;
    const bool is_watched = std::ranges::any_of(
        config.kubernetes, [&](const KubernetesConfig& api) { return api.cluster == cluster; });
    if (scrape.kubernetes && !is_watched) {
      return usage_error(
          fmt::format("scrape: the job {} looks for pods of cluster {}, whose API is "
                      "not watched; name it under kubernetes:",
                      scrape.job, cluster.text()));
    }
  }
  return {};
}

std::vector<collect::PoolJob> make_scrape_jobs(
    const LiveConfig& config, const std::map<ClusterId, const KubernetesSource*>& apis) {
  std::vector<collect::PoolJob> jobs;
  for (const ScrapeConfig& scrape : config.scrape) {
    const ClusterId& cluster = scrape.cluster.empty() ? config.serve.cluster : scrape.cluster;
    collect::ScrapeJob job{.name = scrape.job,
                           .scheme = scrape.scheme,
                           .metrics_path = scrape.path,
                           .interval = std::chrono::milliseconds(scrape.interval_ms),
                           .honor_labels = scrape.honor_labels,
                           .http = scrape.http};
    job.http.body_bytes_max = collect::kScrapeBytesMax;
    if (!config.serve.cluster_label.empty()) {
      job.labels.push_back({config.serve.cluster_label, cluster.text()});
    }
    if (!scrape.targets.empty()) {
      std::vector<collect::TargetGroup> groups;
      for (const std::string& target : scrape.targets) {
        groups.push_back(KubernetesTargets::make_group(target));
      }
      jobs.push_back({job, std::make_unique<collect::StaticTargets>(std::move(groups))});
    }
    if (!scrape.targets_file.empty()) {
      jobs.push_back(
          {job, std::make_unique<collect::FileTargets>(std::vector{scrape.targets_file})});
    }
    if (scrape.kubernetes) {
      const auto api = apis.find(cluster);
      CHECK(api != apis.end(), "check_scrape_jobs() refuses other clusters");
      jobs.push_back({job, std::make_unique<KubernetesTargets>(*api->second)});
    }
  }
  return jobs;
}

void ingest_scrape(live::Engine& engine, const collect::Target& target,
                   const collect::ScrapedBody& scraped, Log& log) {
  if (!scraped.up) {
    log.warn_hourly("scrape", target.url + ": " + scraped.error,
                    {{"target", target.url}, {"why", scraped.error}});
  }
  const auto result = engine.ingest({.kind = live::IngestRequest::Kind::kExposition,
                                     .content_type = scraped.content_type,
                                     .content_encoding = "",
                                     .body = scraped.body,
                                     .cluster = ClusterId(""),
                                     .scraped_at = scraped.at,
                                     .target = target.labels,
                                     .honor_timestamps = target.honor_timestamps,
                                     .target_id = target.id,
                                     .answered = scraped.up,
                                     .stream = {}});
  if (!result) {
    log.warn("scrape", {{"target", target.url}, {"why", result.error().message}});
  } else if (!result->first_bad.empty()) {
    log.warn_hourly("scrape", "bad lines of " + target.url,
                    {{"target", target.url},
                     {"bad_lines", result->bad},
                     {"first", fmt::format("line {}: {}", result->first_bad.front().line,
                                           result->first_bad.front().reason)}});
  }
}

}  // namespace pennyweight
