#include "server/server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <httplib.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <set>
#include <utility>

#include "core/ascii.h"
#include "core/json_text.h"
#include "core/try.h"
#include "server/connection.h"
#include "server/connection_loop.h"
#include "server/forwarded.h"
#include "server/http_engine.h"
#include "server/request_text.h"
#include "server/tls.h"

namespace pennyweight::server {
namespace {

using Phase = Connection::Phase;

constexpr std::size_t kKeepAliveRequestsMax = 1'000'000;
constexpr int kBacklog = 512;
constexpr std::chrono::seconds kRetryWhenBusy{5};
// For a year after each answer, browsers contact this host over TLS only (RFC 6797).
constexpr const char* kStrictTransportSecurity = "max-age=31536000";
// The library matches paths by regular expressions. The server matches them by itself, so every
// path is replaced by this one, the only one the library knows.
constexpr const char* kAnyPath = "/";

bool is_decoded(const std::string& encoding) {
  return encoding == "gzip" || encoding == "deflate" || encoding == "br";
}

// Methods whose body the library reads.
bool may_have_body(const std::string& method) {
  return method == "POST" || method == "PUT" || method == "PATCH" || method == "DELETE";
}

bool is_number(const std::string& text) { return text.size() < 19 && ascii::is_all_digits(text); }

// The end of the body must be unambiguous: otherwise a proxy in front of the server and the server
// disagree about where the next request starts (RFC 9112, section 6.3; request smuggling).
bool is_framed(const httplib::Request& request) {
  const std::size_t lengths = request.get_header_value_count("Content-Length");
  const std::size_t codings = request.get_header_value_count("Transfer-Encoding");
  if (lengths + codings > 1) return false;
  if (lengths == 1) {
    const std::string length = request.get_header_value("Content-Length");
    return is_number(length) && (length == "0" || may_have_body(request.method));
  }
  return codings == 0 ||
         (may_have_body(request.method) &&
          ascii::lower_case(request.get_header_value("Transfer-Encoding")) == "chunked");
}

bool accepts_gzip(const std::string& accept_encoding) {
  const std::string small = ascii::lower_case(accept_encoding);
  return small.contains("gzip") && !small.contains("gzip;q=0");
}

std::string with_quotes(const std::string& etag) {
  return etag.starts_with('"') || etag.starts_with("W/\"") ? etag : fmt::format("\"{}\"", etag);
}

// Whether the host name stands for this server alone: it was asked at the default port. At another
// port, other services of the same host may have no TLS, and must stay reachable.
bool is_on_default_port(const httplib::Request& request) {
  const std::string host = request.get_header_value("Host");
  const std::string_view after_address = std::string_view(host).substr(host.rfind(']') + 1);
  return !host.empty() && (!after_address.contains(':') || after_address.ends_with(":443"));
}

}  // namespace

// What a server is made of has names of its module, not of this file: Server::State holds it.

struct RegisteredRoute {
  Route route;
  RoutePattern pattern;
  std::size_t counts_index;  // into State::counts
};

// A bounded number of permits to answer at the same time.
class Permits {
 public:
  explicit Permits(std::uint32_t free) : free_(free) {}
  // Waits for one.
  void acquire() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return free_ > 0; });
    --free_;
  }
  bool try_acquire() {
    const std::lock_guard lock(mutex_);
    if (free_ == 0) return false;
    --free_;
    return true;
  }
  void release() {
    {
      const std::lock_guard lock(mutex_);
      ++free_;
    }
    changed_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint32_t free_;
};

struct PermitRelease {
  void operator()(Permits* permits) const { permits->release(); }
};
using Permit = std::unique_ptr<Permits, PermitRelease>;

// One request while it is being answered.
struct Exchange {
  Connection& connection;
  Target target = {};
  Origin origin = {};
  std::string accept_encoding = {};  // as sent: handlers may have compressed bodies of their own
  const RegisteredRoute* route = nullptr;  // null: no route matches
  std::map<std::string, std::string> params = {};
  std::optional<Response> rejection = {};  // decided before any handler runs
  bool is_unreadable = false;              // the bytes that follow can't be trusted to be a request
  Permit permit = {};
};

struct Server::State {
  Settings settings;
  TlsContext tls;
  HttpEngine http;
  std::vector<RegisteredRoute> routes;  // does not change once the server listens
  std::uint16_t port = 0;
  Permits requests;
  Permits streams;

  mutable std::mutex mutex;  // guards the next two
  std::vector<RouteCounts> counts;
  std::map<const httplib::Request*, Exchange*> active;

  std::atomic<bool> is_stopping = false;
  std::unique_ptr<ConnectionLoop> loop;  // last, since its threads use all other members

  explicit State(const Settings& s)
      : settings(s), requests(std::max(s.requests_max, 1U)), streams(s.streams_max) {}

  void add(Route route) {
    auto same = std::ranges::find(counts, route.path, &RouteCounts::path);
    if (same == counts.end()) {
      same = counts.insert(counts.end(), RouteCounts{.path = route.path, .answers = {}});
    }
    const auto index = static_cast<std::size_t>(same - counts.begin());
    RoutePattern pattern(route.path);
    routes.push_back({std::move(route), std::move(pattern), index});
  }

  // ---- Before the handler

  // Serves one request. Returns whether the connection can take another one.
  bool serve(Connection& connection) {
    Exchange exchange{.connection = connection};
    const httplib::Request* known = nullptr;
    bool goes_on = false;
    connection.begin_head();
    try {
      goes_on = http.process(connection, [&](httplib::Request& request) {
        connection.end_head();
        connection.enter(Phase::kBody);
        prepare(exchange, request);
        const std::lock_guard lock(mutex);
        active[&request] = &exchange;
        known = &request;
      });
    } catch (const std::exception& error) {
      report_failure(exchange, error.what());
    }
    const std::lock_guard lock(mutex);
    if (known != nullptr) active.erase(known);
    // After a head that could not be read, nothing is known about the bytes behind it.
    return goes_on && known != nullptr && !exchange.is_unreadable && !is_stopping;
  }

  Exchange& find_exchange(const httplib::Request& request) {
    const std::lock_guard lock(mutex);
    return *active.at(&request);
  }

  void report_failure(const Exchange& exchange, std::string_view what) const {
    if (settings.failed) {
      settings.failed(exchange.route == nullptr ? "" : exchange.route->route.path, what);
    }
  }

  void prepare(Exchange& exchange, httplib::Request& request) {
    request.path = std::string(kAnyPath);
    exchange.origin = resolve_peer(exchange.connection, request);
    // Ranges of an answer are not offered.
    request.ranges.clear();
    request.headers.erase("Range");
    // Only gzip is used of the library's encodings: its brotli takes a second per megabyte.
    exchange.accept_encoding = request.get_header_value("Accept-Encoding");
    const bool compresses = accepts_gzip(exchange.accept_encoding);
    request.headers.erase("Accept-Encoding");
    if (compresses) request.set_header("Accept-Encoding", "gzip");
    if (!is_framed(request)) {
      exchange.is_unreadable = true;
      exchange.rejection = problem(400, "Bad request",
                                   "The length of the body is missing, ambiguous, or given for a "
                                   "method that has no body.");
    } else if (may_have_body(request.method) && !request.has_header("Content-Length") &&
               !request.has_header("Transfer-Encoding")) {
      // Without a length the library would read until the connection ends.
      request.set_header("Content-Length", "0");
    }
    // No route takes multipart bodies, and the library would look for a handler of the parts.
    if (ascii::lower_case(request.get_header_value("Content-Type")).starts_with("multipart/")) {
      exchange.is_unreadable = true;
      exchange.rejection =
          problem(415, "Unsupported media type", "Multipart bodies are not accepted here.");
    }
    if (!exchange.rejection) match_route(exchange, request);
    if (exchange.is_unreadable) {
      request.headers.erase("Connection");
      request.set_header("Connection", "close");
    }
    if (exchange.route != nullptr && exchange.route->route.is_stream) {
      if (streams.try_acquire()) {
        exchange.permit = Permit(&streams);
      } else if (!exchange.rejection) {
        exchange.rejection =
            problem(503, "Service unavailable", "Too many event streams are open.");
        exchange.rejection->retry_after = kRetryWhenBusy;
      }
    } else {
      requests.acquire();
      exchange.permit = Permit(&requests);
    }
  }

  Origin resolve_peer(const Connection& connection, const httplib::Request& request) const {
    Headers forwarding;
    for (const char* const name : {"x-forwarded-for", "x-forwarded-proto", "forwarded"}) {
      const auto [begin, end] = request.headers.equal_range(name);
      for (auto line = begin; line != end; ++line) forwarding.emplace(name, line->second);
    }
    Origin origin = resolve_origin(request.remote_addr, forwarding, settings.trusted_proxies);
    origin.secure = origin.secure || connection.is_secure();
    return origin;
  }

  void match_route(Exchange& exchange, const httplib::Request& request) const {
    auto target = read_target(request.target);
    if (!target) {
      exchange.rejection = problem(400, "Bad request", "The address is malformed.");
      return;
    }
    exchange.target = *std::move(target);
    const std::string method = request.method == "HEAD" ? "GET" : request.method;
    std::set<std::string> others;
    for (const RegisteredRoute& route : routes) {
      auto params = route.pattern.match(exchange.target);
      if (!params) continue;
      if (route.route.method != method) {
        others.insert(route.route.method);
        continue;
      }
      if (exchange.route != nullptr &&
          !route.pattern.is_more_specific_than(exchange.route->pattern)) {
        continue;
      }
      exchange.route = &route;
      exchange.params = *std::move(params);
    }
    if (exchange.route != nullptr) return;
    if (others.empty()) {
      exchange.rejection =
          problem(404, "Not found", fmt::format("Nothing is at {}.", exchange.target.path));
      return;
    }
    if (others.contains("GET")) others.insert("HEAD");
    exchange.rejection =
        problem(405, "Method not allowed",
                fmt::format("{} accepts {}.", exchange.target.path, fmt::join(others, ", ")));
    exchange.rejection->headers = {{"Allow", fmt::format("{}", fmt::join(others, ", "))}};
  }

  // The request as a handler gets it, without the body.
  static Request to_request(const Exchange& exchange, const httplib::Request& from) {
    Request request;
    request.method = from.method == "HEAD" ? "GET" : from.method;
    request.path = exchange.target.path;
    request.params = exchange.params;
    request.query = exchange.target.query;
    request.content_type = from.get_header_value("Content-Type");
    request.content_encoding = from.get_header_value("Content-Encoding");
    if (is_decoded(request.content_encoding)) request.content_encoding.clear();
    request.accept = from.get_header_value("Accept");
    request.peer = exchange.origin.peer;
    request.secure = exchange.origin.secure;
    // The library adds these; no client sent them.
    static const std::set<std::string> kAddedByLibrary = {"remote_addr", "remote_port",
                                                          "local_addr", "local_port"};
    std::string cookies;
    for (const auto& [name, value] : from.headers) {
      std::string small = ascii::lower_case(name);
      if (kAddedByLibrary.contains(small)) continue;
      if (small == "cookie") cookies.append(value).append(";");
      if (small == "accept-encoding") continue;
      request.headers.emplace(std::move(small), value);
    }
    if (!exchange.accept_encoding.empty()) {
      request.headers.emplace("accept-encoding", exchange.accept_encoding);
    }
    request.cookies = read_cookies(cookies);
    return request;
  }

  std::optional<Response> refusal(Exchange& exchange, Request& request) const {
    if (exchange.rejection) return std::move(exchange.rejection);
    if (!settings.guard) return std::nullopt;
    try {
      return settings.guard(exchange.route->route, request);
    } catch (const std::exception& error) {
      report_failure(exchange, error.what());
      return internal_error();
    }
  }

  // ---- The handler

  static Response internal_error() {
    return problem(500, "Internal server error",
                   "This is a fault of the server; its log has the details.");
  }

  Response too_large() const {
    return problem(413, "Content too large",
                   fmt::format("The decompressed body exceeds {} bytes; send smaller ones, or "
                               "raise serve.limits.body.",
                               settings.body_bytes_max));
  }

  void answer_without_body(const httplib::Request& from, httplib::Response& to) {
    Exchange& exchange = find_exchange(from);
    Request request = to_request(exchange, from);
    auto refused = refusal(exchange, request);
    answer(exchange, from, request, std::move(refused), to);
  }

  void answer_with_body(const httplib::Request& from, httplib::Response& to,
                        const httplib::ContentReader& content) {
    Exchange& exchange = find_exchange(from);
    Request request = to_request(exchange, from);
    auto refused = refusal(exchange, request);
    // A refused request's body is read as well and discarded, so that the connection can go on.
    const bool keeps_body = !refused;
    std::string& body = request.body;
    if (keeps_body) {
      body.reserve(std::min(from.get_header_value<std::uint64_t>("Content-Length"),
                            settings.body_bytes_max));
    }
    std::uint64_t bytes = 0;
    const bool whole = content([&](const char* data, std::size_t size) {
      bytes += size;
      if (bytes > settings.body_bytes_max) {
        refused = too_large();
        return false;
      }
      if (keeps_body) body.append(data, size);
      return true;
    });
    if (!whole) {
      if (!refused) {
        refused =
            to.status == 413 ? too_large() : problem(400, "Bad request", "The body is incomplete.");
      }
      // The rest of it must not be read as the next request.
      exchange.is_unreadable = true;
    }
    if (refused) body.clear();
    answer(exchange, from, request, std::move(refused), to);
  }

  Response handle(const Exchange& exchange, const Request& request) const {
    try {
      return exchange.route->route.handler(request);
    } catch (const std::bad_alloc&) {
      return problem(503, "Out of memory",
                     "The server has no memory left for this request; send less at once.");
    } catch (const std::exception& error) {
      report_failure(exchange, error.what());
      return internal_error();
    }
  }

  void answer(Exchange& exchange, const httplib::Request& from, const Request& request,
              std::optional<Response> refused, httplib::Response& to) {
    const auto begun = std::chrono::steady_clock::now();
    exchange.connection.enter(Phase::kHandler);
    Response response = refused ? *std::move(refused) : handle(exchange, request);
    exchange.connection.enter(Phase::kAnswer);
    if (response.status == 200 && !response.etag.empty()) {
      response.etag = with_quotes(response.etag);
      if (request.method == "GET" &&
          matches_etag(from.get_header_value("If-None-Match"), response.etag)) {
        response.status = 304;
        response.body.clear();
        response.stream = nullptr;
      }
    }
    count(exchange, response.status, request.body.size(), std::chrono::steady_clock::now() - begun);
    put(exchange, from, std::move(response), to);
  }

  void count(const Exchange& exchange, int status, std::uint64_t body_bytes,
             std::chrono::steady_clock::duration took) {
    if (exchange.route == nullptr) return;
    const std::lock_guard lock(mutex);
    RouteCounts& counted = counts[exchange.route->counts_index];
    ++counted.answers[status];
    counted.body_bytes += body_bytes;
    counted.milliseconds += static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(took).count());
  }

  // ---- The answer

  void put_headers(const Response& response, httplib::Response& to) const {
    const auto put = [&](const std::string& name, const std::string& value) {
      if (!to.has_header(name)) to.set_header(name, value);
    };
    // Several cookies may be set; any other header of the handler overrides the server's.
    for (const auto& [name, value] : response.headers) to.set_header(name, value);
    for (const auto& [name, value] : settings.headers) put(name, value);
    if (!response.etag.empty()) put("ETag", response.etag);
    put("Cache-Control", response.etag.empty() ? "no-store" : "private, no-cache");
    put("X-Content-Type-Options", "nosniff");
    if (response.retry_after) put("Retry-After", std::to_string(response.retry_after->count()));
    if (response.status == 401) put("WWW-Authenticate", "Bearer");
  }

  void put(Exchange& exchange, const httplib::Request& from, Response response,
           httplib::Response& to) {
    to.status = response.status;
    put_headers(response, to);
    if (exchange.origin.secure && is_on_default_port(from)) {
      to.set_header("Strict-Transport-Security", kStrictTransportSecurity);
    }
    if (response.stream) {
      auto provider = [this, &exchange, stream = std::move(response.stream)](
                          std::size_t, httplib::DataSink& sink) {
        return run(exchange, stream, sink);
      };
      if (from.version == "HTTP/1.0") {
        // HTTP/1.0 has no chunks: the end of the connection ends the answer.
        exchange.is_unreadable = true;
        to.set_content_provider(response.content_type, std::move(provider));
      } else {
        to.set_chunked_content_provider(response.content_type, std::move(provider));
      }
    } else if (to.has_header("Content-Encoding") && !response.body.empty()) {
      // The library does not compress what comes from a provider: this body is compressed already.
      const std::size_t size = response.body.size();
      to.set_content_provider(size, response.content_type,
                              [body = std::move(response.body)](
                                  std::size_t offset, std::size_t length, httplib::DataSink& sink) {
                                return sink.write(body.data() + offset, length);
                              });
    } else if (!response.body.empty()) {
      to.set_content(response.body, response.content_type);
    }
  }

  bool run(Exchange& exchange, const std::function<bool(const Sink&)>& stream,
           httplib::DataSink& to) const {
    Connection& connection = exchange.connection;
    connection.enter(Phase::kStream);
    bool is_read = true;
    const Sink sink = [&](std::string_view piece) {
      if (is_stopping || (piece.empty() && connection.is_closed_by_peer())) is_read = false;
      if (is_read && !piece.empty()) is_read = to.write(piece.data(), piece.size());
      return is_read;
    };
    bool is_whole = false;
    try {
      is_whole = stream(sink);
    } catch (const std::exception& error) {
      report_failure(exchange, error.what());
    }
    if (!is_whole || !is_read) return false;
    connection.enter(Phase::kAnswer);
    to.done();
    return true;
  }

  void put_exception(const httplib::Request& from, httplib::Response& to,
                     const std::exception_ptr& thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& error) {
      report_failure(find_exchange(from), error.what());
    } catch (...) {
      report_failure(find_exchange(from), "an unknown exception");
    }
    const Response response = internal_error();
    to.status = response.status;
    put_headers(response, to);
    to.set_content(response.body, response.content_type);
  }

  // Gives a body to what the library refuses by itself.
  void put_library_refusal(const httplib::Request& from, httplib::Response& to) const {
    if (!to.body.empty() || to.status < 400) return;
    Response refused = problem(to.status, to.status == 414 ? "Address too long" : "Request refused",
                               "The request is malformed HTTP/1.1, or too long.");
    put_headers(refused, to);
    if (from.method != "HEAD") to.set_content(refused.body, refused.content_type);
  }
};

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}

Server::~Server() { stop(); }

Result<std::unique_ptr<Server>> Server::start(const Settings& settings, std::vector<Route> routes) {
  auto owner = std::make_unique<State>(settings);
  State& state = *owner;
  if (!settings.cert_file.empty()) {
    auto tls = TRY(open_tls(settings.cert_file, settings.key_file));
    state.tls = std::move(tls);
  }
  for (Route& route : routes) state.add(std::move(route));

  HttpEngine& http = state.http;
  http.set_payload_max_length(settings.body_bytes_max);
  http.set_keep_alive_max_count(kKeepAliveRequestsMax);
  http.set_keep_alive_timeout(
      std::chrono::ceil<std::chrono::seconds>(settings.idle_timeout).count());
  http.set_pre_routing_handler([&state](const httplib::Request& from, httplib::Response& to) {
    if (may_have_body(from.method) && !state.find_exchange(from).is_unreadable) {
      return httplib::Server::HandlerResponse::Unhandled;
    }
    state.answer_without_body(from, to);
    return httplib::Server::HandlerResponse::Handled;
  });
  const auto with_body = [&state](const httplib::Request& from, httplib::Response& to,
                                  const httplib::ContentReader& content) {
    state.answer_with_body(from, to, content);
  };
  http.Post(kAnyPath, with_body);
  http.Put(kAnyPath, with_body);
  http.Patch(kAnyPath, with_body);
  http.Delete(kAnyPath, with_body);
  http.set_error_handler([&state](const httplib::Request& from, httplib::Response& to) {
    state.put_library_refusal(from, to);
  });
  http.set_exception_handler(
      [&state](const httplib::Request& from, httplib::Response& to,
               const std::exception_ptr& thrown) { state.put_exception(from, to, thrown); });
  // No SO_REUSEPORT: of two processes that share a port, each would get only some of the samples.
  http.set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  const int bound = settings.port == 0
                        ? http.bind_to_any_port(settings.host)
                        : (http.bind_to_port(settings.host, settings.port) ? settings.port : -1);
  if (bound < 0) {
    return fail(ErrorCode::kIo,
                fmt::format("cannot listen on {}:{}: check that the address belongs to this "
                            "machine and that no other process uses the port",
                            settings.host, settings.port));
  }
  state.port = static_cast<std::uint16_t>(bound);
  ::listen(http.listening_socket(), kBacklog);
  ::fcntl(http.listening_socket(), F_SETFL, O_NONBLOCK);
  state.loop = std::make_unique<ConnectionLoop>(
      ConnectionLoopOptions{.listening = http.listening_socket(),
                            .tls = state.tls.get(),
                            .threads = std::max(settings.requests_max, 1U) + settings.streams_max,
                            .idle_timeout = settings.idle_timeout},
      [&state](Connection& connection) { return state.serve(connection); });
  return std::make_unique<Server>(std::move(owner));
}

std::uint16_t Server::port() const { return state_->port; }

std::vector<RouteCounts> Server::counts() const {
  const std::lock_guard lock(state_->mutex);
  return state_->counts;
}

void Server::stop() {
  if (!state_ || !state_->loop) return;
  state_->is_stopping = true;
  state_->loop->stop();
}

std::string Request::parameter(const std::string& name) const {
  const auto found = query.find(name);
  return found == query.end() ? "" : found->second;
}

std::string Request::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

std::string Request::param(const std::string& name) const {
  const auto found = params.find(name);
  return found == params.end() ? "" : found->second;
}

Response problem(int status, std::string_view title, std::string_view detail) {
  std::string body = R"({"type": "about:blank", "title": )";
  append_json_string(body, title);
  body += fmt::format(", \"status\": {}, \"detail\": ", status);
  append_json_string(body, detail);
  body += "}\n";
  return {.status = status, .content_type = "application/problem+json", .body = std::move(body)};
}

}  // namespace pennyweight::server
