#include "app/cli/serve_request.h"

#include <fmt/format.h>
#include <unistd.h>

#include <string_view>

#include "app/context/paths.h"
#include "core/files/file.h"
#include "core/try.h"

namespace pennyweight {
namespace {

constexpr std::size_t kTokenBytesMax = 1u << 16;

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

}  // namespace

void add_serve_options(CLI::App& command, ServeAddress& address) {
  command.add_option(
      "--server", address.server,
      "The URL of pennyweight serve, such as http://127.0.0.1:9595; default: serve.listen");
  command.add_option("--token-file", address.token_file,
                     "A file with an access token; default: serve.token_file");
  command.add_option("--ca-file", address.ca_file,
                     "The authorities for its certificate; default: the system's");
}

std::string server_url(const ServeAddress& address, const Config& config) {
  if (!address.server.empty()) return address.server;
  const ServeConfig& serve = config.live.serve;
  const std::string host = serve.host == "0.0.0.0" ? "127.0.0.1" : serve.host;
  return fmt::format("{}://{}:{}", serve.tls_cert_file.empty() ? "http" : "https", host,
                     serve.port);
}

Result<http::Settings> http_settings(const ServeAddress& address, const Config& config) {
  http::Settings settings;
  std::string file = address.token_file.empty() ? config.live.serve.token_file : address.token_file;
  // The token of this machine goes to no other one.
  if (file.empty() && is_on_this_machine(address.server) &&
      ::access(machine_token_path(config).c_str(), R_OK) == 0) {
    file = machine_token_path(config);
  }
  if (!file.empty()) {
    const auto text = read_file(file, kTokenBytesMax);
    if (!text) return std::unexpected(text.error().during("the token"));
    settings.bearer_token = text->substr(0, text->find_first_of("\r\n"));
  }
  settings.ca_file = address.ca_file;
  return settings;
}

Result<std::string> ask_serve(http::Client& client, const std::string& address) {
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

}  // namespace pennyweight
