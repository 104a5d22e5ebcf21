#include "app/cli/serve_check.h"

#include <fmt/format.h>

#include <sstream>
#include <string>

#include "app/context/paths.h"
#include "core/files/file.h"
#include "core/http/client.h"

namespace pennyweight {
namespace {

constexpr std::chrono::milliseconds kAnswerWithin{1'000};
constexpr std::size_t kServeTokenBytesMax = 1u << 16;

bool is_serve_configured(const Config& config) {
  return !config.live.kubernetes.empty() || !config.live.slurm.empty() ||
         !config.live.scrape.empty();
}

http::Client client_of(const Config& config) {
  const ServeConfig& serve = config.live.serve;
  http::Settings settings{.connect_timeout = kAnswerWithin, .timeout = kAnswerWithin};
  // The certificate names a host, and not the address that it listens on. What can't be verified
  // gets no token: then only its readiness is known.
  settings.insecure_skip_verify = !serve.tls_cert_file.empty();
  if (!settings.insecure_skip_verify) {
    const std::string tokens =
        serve.token_file.empty() ? machine_token_path(config) : serve.token_file;
    if (const auto text = read_file(tokens, kServeTokenBytesMax)) {
      settings.bearer_token = text->substr(0, text->find_first_of("\r\n"));
    }
  }
  return http::Client(settings);
}

// The lines of /metrics that say how old something is, or how much has no price.
std::vector<Finding> findings_of(const std::string& metrics) {
  std::vector<Finding> findings;
  std::istringstream lines(metrics);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t space = line.rfind(' ');
    if (line.starts_with('#') || space == std::string::npos) continue;
    const std::string value = line.substr(space + 1);
    const auto label = [&](std::string_view name) -> std::string {
      const std::string begin = fmt::format("{}=\"", name);
      const std::size_t at = line.find(begin);
      if (at == std::string::npos) return "";
      const std::size_t from = at + begin.size();
      return line.substr(from, line.find('"', from) - from);
    };
    if (line.starts_with("pennyweight_view_age_seconds ")) {
      findings.push_back({FindingLevel::kOk, "serve", "the live view is " + value + " s old", ""});
    } else if (line.starts_with("pennyweight_source_age_seconds{")) {
      findings.push_back(
          {FindingLevel::kOk, "serve",
           fmt::format("{} {} was heard {} s ago", label("kind"), label("cluster"), value), ""});
    } else if (line.starts_with("pennyweight_nodes_unpriced{") && value != "0") {
      findings.push_back({FindingLevel::kNote, "serve",
                          fmt::format("cluster {}: {} no price", label("cluster"),
                                      value == "1" ? "1 node has" : value + " nodes have"),
                          "'pennyweight top' names them; add their prices to prices.rate_card"});
    }
  }
  return findings;
}

}  // namespace

std::vector<Finding> check_serve(const Config& config) {
  const ServeConfig& serve = config.live.serve;
  const std::string host = serve.host == "0.0.0.0" ? "127.0.0.1" : serve.host;
  const std::string address =
      fmt::format("{}://{}:{}", serve.tls_cert_file.empty() ? "http" : "https", host, serve.port);
  http::Client client = client_of(config);
  const auto ready = client.send({.url = address + "/readyz"});
  if (!ready || (ready->status != 200 && ready->status != 503)) {
    if (!is_serve_configured(config)) return {};
    return {{FindingLevel::kNote, "serve", "nothing answers at " + address,
             "'pennyweight serve' collects what the configuration names"}};
  }
  std::vector<Finding> findings;
  if (ready->status == 200) {
    findings.push_back({FindingLevel::kOk, "serve", "runs at " + address + " and is ready", ""});
  }
  std::istringstream lines(ready->body);
  for (std::string line; std::getline(lines, line);) {
    if (line == "ready") continue;
    findings.push_back({FindingLevel::kProblem, "serve", line, "see its log"});
  }
  const auto metrics = client.send({.url = address + "/metrics"});
  if (metrics && metrics->status == 200) {
    for (Finding& finding : findings_of(metrics->body)) findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace pennyweight
