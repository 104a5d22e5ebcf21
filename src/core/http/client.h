// Client: sends HTTP requests with libcurl, with TLS, tokens, time-outs and limits.
//
// One thread at a time uses a Client. It keeps its connections between requests.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"

namespace pennyweight::http {

struct Settings {
  std::string bearer_token = {};       // as it is
  std::string bearer_token_file = {};  // read for each request: Kubernetes rotates it
  std::string basic_user = {};
  std::string basic_password_file = {};
  std::string ca_file = {};    // empty: the system's
  std::string cert_file = {};  // of the client
  std::string key_file = {};
  std::string ca_pem = {};  // the same three as text, instead of files
  std::string cert_pem = {};
  std::string key_pem = {};
  std::string server_name = {};       // the name in the certificate, where the address differs
  bool insecure_skip_verify = false;  // every start warns of it
  std::chrono::milliseconds connect_timeout{5'000};
  std::chrono::milliseconds timeout{10'000};  // of the whole request; of a stream: between bytes
  std::size_t body_bytes_max = 256u << 20;    // after decoding
  // Connects to no private, loopback or other special address (public_address.h), whatever a name
  // resolves to at that moment.
  bool public_addresses_only = false;
};

struct Request {
  std::string method = "GET";
  std::string url = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
  // The body comes as it is stored: a file that is stored compressed is not unpacked.
  bool keeps_encoding = false;
};

struct Response {
  int status = 0;
  std::string content_type = {};
  std::optional<std::chrono::milliseconds> retry_after = {};      // in seconds or as a date
  std::string body = {};                                          // decoded (gzip, zstd, deflate)
  std::vector<std::pair<std::string, std::string>> headers = {};  // names in lower case

  // The first header of that name, which is in lower case; "" where there is none.
  std::string header(std::string_view name) const;
};

class Client {
 public:
  explicit Client(Settings settings);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Returns a Response for any status; an Error where there is no answer, it is over the limit, or
  // time runs out. The Error names the address and never a secret.
  Result<Response> send(const Request& request);
  // Passes the body to the sink as it comes, for as long as the sink returns true. Response::body
  // stays empty, except for an answer other than 2xx.
  Result<Response> stream(const Request& request,
                          const std::function<bool(std::string_view)>& sink);
  // Whether the last request failed before any of it was sent: the host's name was not resolved, or
  // no connection was made.
  bool nothing_sent() const;
  // Callable from any thread: ends the running request, and every later one, with an Error.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pennyweight::http
