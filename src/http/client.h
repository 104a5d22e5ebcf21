// Client: HTTP requests that we send, over libcurl: TLS, tokens, time-outs, limits.
//
// One Client is used by one thread at a time; it keeps its connections between requests.
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
  std::string server_name = {};       // to check the certificate for, where the address differs
  bool insecure_skip_verify = false;  // said aloud at every start
  std::chrono::milliseconds connect_timeout{5'000};
  std::chrono::milliseconds timeout{10'000};  // of the whole request; of a stream: between bytes
  std::size_t body_bytes_max = 256u << 20;    // after decoding
};

struct Request {
  std::string method = "GET";
  std::string url = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
};

struct Response {
  int status = 0;
  std::string content_type = {};
  std::optional<std::chrono::milliseconds> retry_after = {};  // in seconds or as a date
  std::string body = {};                                      // decoded (gzip, zstd, deflate)
};

class Client {
 public:
  explicit Client(Settings settings);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Any status is a Response; an Error is no answer at all, an answer over the limit, or a
  // time-out, in words that name the address and never a secret.
  Result<Response> send(const Request& request);
  // Hands on the body as it comes, for as long as the sink answers true; Response::body is empty
  // but for an answer that is no 2xx.
  Result<Response> stream(const Request& request,
                          const std::function<bool(std::string_view)>& sink);
  // From any thread: ends the request that is under way, and every later one, with an Error.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pennyweight::http
