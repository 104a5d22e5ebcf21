// top: shows what runs now and what it costs, as a running `serve` reports it.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "app/cli/verb.h"
#include "app/context/paths.h"
#include "core/ascii.h"
#include "core/files/file.h"
#include "core/http/client.h"
#include "core/percent.h"
#include "core/try.h"
#include "reporting/live/live_table.h"
#include "reporting/table.h"

namespace pennyweight {
namespace {

constexpr std::size_t kTokenBytesMax = 1u << 16;

struct TopOptions {
  std::string server;
  std::string token_file;
  std::string ca_file;
  std::string sort = "cost";
  std::string by;
  std::vector<std::string> filters;
  std::uint32_t limit = 20;
  std::string format = "text";
  bool ended = false;
  bool watch = false;
  std::uint32_t every = 5;
};

std::string server_url(const TopOptions& options, const Config& config) {
  if (!options.server.empty()) return options.server;
  const ServeConfig& serve = config.live.serve;
  const std::string host = serve.host == "0.0.0.0" ? "127.0.0.1" : serve.host;
  return fmt::format("{}://{}:{}", serve.tls_cert_file.empty() ? "http" : "https", host,
                     serve.port);
}

std::string request_url(const TopOptions& options, const Context& context) {
  std::string address =
      server_url(options, context.config) + "/api/v1/top?sort=" + percent_encoded(options.sort) +
      "&limit=" + std::to_string(options.limit) + "&format=" + percent_encoded(options.format);
  if (!options.by.empty()) address += "&by=" + percent_encoded(options.by);
  for (const std::string& filter : options.filters) address += "&filter=" + percent_encoded(filter);
  if (options.ended) address += "&ended=true";
  if (options.format == "text") {
    const TextStyle style = context.console.style(std::nullopt);
    if (style.width) address += "&width=" + std::to_string(*style.width);
    if (style.colour) address += "&colour=true";
    if (!style.unicode) address += "&plain=true";
  }
  return address;
}

// Whether a server's URL leads to this machine; "": the one that is configured here.
bool is_on_this_machine(std::string_view server) {
  const std::size_t scheme = server.find("://");
  if (scheme == std::string_view::npos) return server.empty();
  const std::string_view rest = server.substr(scheme + 3);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  if (authority.contains('@')) return false;
  const std::string_view host = authority.starts_with('[')
                                    ? authority.substr(0, authority.find(']') + 1)
                                    : authority.substr(0, authority.find(':'));
  return host == "localhost" || host == "[::1]" || host == "127.0.0.1";
}

Result<http::Settings> http_settings(const TopOptions& options, const Config& config) {
  http::Settings settings;
  std::string file = options.token_file.empty() ? config.live.serve.token_file : options.token_file;
  // The token of this machine goes to no other one.
  if (file.empty() && is_on_this_machine(options.server) &&
      ::access(machine_token_path(config).c_str(), R_OK) == 0) {
    file = machine_token_path(config);
  }
  if (!file.empty()) {
    const auto text = read_file(file, kTokenBytesMax);
    if (!text) return std::unexpected(text.error().during("the token"));
    settings.bearer_token = text->substr(0, text->find_first_of("\r\n"));
  }
  settings.ca_file = options.ca_file;
  return settings;
}

Result<std::string> ask(http::Client& client, const std::string& address) {
  const auto response = client.send({.url = address});
  if (!response) {
    return std::unexpected(
        Error{response.error().code,
              response.error().message + "; is 'pennyweight serve' running there? (--server)"});
  }
  if (response->status == 200) return response->body;
  return fail(response->status == 422 ? ErrorCode::kConfig : ErrorCode::kNotFound,
              fmt::format("{} answered {}: {}", address.substr(0, address.find('?')),
                          response->status, response->body.substr(0, 1000)));
}

Result<ExitCode> run(const TopOptions& options, Context& context) {
  const auto settings = TRY(http_settings(options, context.config));
  http::Client client(settings);
  bool is_first = true;
  while (true) {
    const auto text = ask(client, request_url(options, context));
    if (!text && (!options.watch || is_first)) return std::unexpected(text.error());
    is_first = false;
    // Moves the cursor home, clears below, and prints: no flicker. Waits for a restarting `serve`.
    const std::string shown = text ? *text : text.error().message + "\n";
    context.console.print(options.watch ? "\x1b[H\x1b[J" + shown : shown);
    std::fflush(stdout);
    if (!options.watch) return ExitCode::kDone;
    std::this_thread::sleep_for(std::chrono::seconds(options.every));
  }
}

}  // namespace

Verb declare_top(CLI::App& app) {
  const auto options = std::make_shared<TopOptions>();
  CLI::App* command = app.add_subcommand("top", "Show what runs now, for whom, and what it costs");
  command->add_option(
      "--server", options->server,
      "The URL of pennyweight serve, such as http://127.0.0.1:9595; default: serve.listen");
  command->add_option("--token-file", options->token_file,
                      "A file with an access token; default: serve.token_file");
  command->add_option("--ca-file", options->ca_file,
                      "The authorities for its certificate; default: the system's");
  command->add_option("--sort", options->sort, "The order, largest first")
      ->check(CLI::IsMember(kLiveOrders))
      ->capture_default_str();
  command->add_option("--by", options->by, "Dimensions to show as columns: team,user");
  command->add_option("--filter", options->filters, "DIMENSION=VALUE; also cluster, workload");
  command->add_option("--limit", options->limit, "At most this many rows; 0: all")
      ->capture_default_str();
  command->add_flag("--ended", options->ended, "Include what ran today and has ended");
  command->add_flag("--watch", options->watch, "Refresh continuously");
  command->add_option("--every", options->every, "Seconds, of --watch")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  command->add_option("--format", options->format, "text, csv or json")
      ->check(CLI::IsMember({"text", "csv", "json"}))
      ->capture_default_str();
  command->footer(examples_footer("top"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
