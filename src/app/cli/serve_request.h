// Asks a running `serve`: where it is, with which token, and what it answers.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "config/config.h"
#include "core/error.h"
#include "core/http/client.h"

namespace pennyweight {

// As options say it; what is empty the configuration says.
struct ServeAddress {
  std::string server = {};  // "http://127.0.0.1:9595"
  std::string token_file = {};
  std::string ca_file = {};
};

// --server, --token-file and --ca-file. `address` outlives the command.
void add_serve_options(CLI::App& command, ServeAddress& address);

std::string server_url(const ServeAddress& address, const Config& config);
// The token of this machine goes to no other one.
Result<http::Settings> http_settings(const ServeAddress& address, const Config& config);
// The body of a 200; an Error of kConfig where it answers 422, of kNotFound for others.
Result<std::string> ask_serve(http::Client& client, const std::string& address);

}  // namespace pennyweight
