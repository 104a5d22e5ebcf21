#include "telemetry/collect/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/ascii.h"
#include "core/percent.h"
#include "core/plain_text.h"

namespace pennyweight::collect {
namespace {

constexpr std::string_view kParam = "__param_";
constexpr std::size_t kShownBytes = 200;

}  // namespace

Result<Target> make_target(const ScrapeJob& job, std::string_view address,
                           const TargetGroup& group) {
  std::map<std::string, std::string> labels;
  for (const prometheus::Label& label : job.labels) labels[label.name] = label.value;
  labels["job"] = job.name;
  labels["__address__"] = address;
  labels["__scheme__"] = job.scheme;
  labels["__metrics_path__"] = job.metrics_path;
  for (const auto& [name, value] : job.params) labels[std::string(kParam) + name] = value;
  for (const prometheus::Label& label : group.labels) labels[label.name] = label.value;

  const std::string where = labels["__address__"];
  const auto is_unfit = [](char c) {
    return (c >= 0 && c <= ' ') || c == '/' || c == '?' || c == '#' || c == '@' || c == 127;
  };
  if (where.empty() || std::ranges::any_of(where, is_unfit)) {
    return fail(ErrorCode::kConfig,
                fmt::format("job {}: \"{}\" is not an address; write host:port, and the path as "
                            "__metrics_path__",
                            job.name, printable_text(where, kShownBytes)));
  }
  const std::string scheme = labels["__scheme__"];
  if (scheme != "http" && scheme != "https") {
    return fail(ErrorCode::kConfig, fmt::format("job {}: {} has the scheme \"{}\"; it is http or "
                                                "https",
                                                job.name, printable_text(where, kShownBytes),
                                                printable_text(scheme, kShownBytes)));
  }
  const std::string path = labels["__metrics_path__"];
  std::string url = scheme + "://" + where + (path.starts_with('/') ? "" : "/") + path;
  char joint = url.find('?') == std::string::npos ? '?' : '&';
  for (const auto& [name, value] : labels) {
    if (!name.starts_with(kParam)) continue;
    url += joint + percent_encoded(name.substr(kParam.size())) + '=' + percent_encoded(value);
    joint = '&';
  }
  labels.try_emplace("instance", where);
  Target target{.id = {},
                .job = job.name,
                .url = url,
                .labels = {.labels = {}, .honor_labels = job.honor_labels},
                .honor_timestamps = job.honor_timestamps,
                .interval = job.interval};
  target.id = job.name + '\n' + url;
  for (const auto& [name, value] : labels) {
    if (name.starts_with("__") || value.empty()) continue;
    target.id += '\n' + name + '=' + value;
    target.labels.labels.push_back({name, value});
  }
  return target;
}

}  // namespace pennyweight::collect
