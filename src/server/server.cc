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

#include "report/json_text.h"
#include "server/connection.h"
#include "server/door.h"
#include "server/forwarded.h"
#include "server/request_text.h"
#include "server/tls.h"

namespace pennyweight::server {
namespace {

using Phase = Connection::Phase;

constexpr std::size_t kKeepAliveRequestsMax = 1'000'000;
constexpr int kBacklog = 512;
constexpr std::chrono::seconds kRetryWhenBusy{5};
// For how long browsers ask this host over TLS alone, from each answer on (RFC 6797): a year.
constexpr const char* kTlsAlone = "max-age=31536000";
// The library looks up routes by regular expressions over the path. We do it ourselves, and give it
// this one for all.
constexpr const char* kAnyPath = "/";

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(), [](unsigned char c) { return std::tolower(c); });
  return small;
}

bool is_unpacked(const std::string& encoding) {
  return encoding == "gzip" || encoding == "deflate" || encoding == "br";
}

// For which the library reads a body.
bool may_have_body(const std::string& method) {
  return method == "POST" || method == "PUT" || method == "PATCH" || method == "DELETE";
}

bool is_number(const std::string& text) {
  return !text.empty() && text.size() < 19 &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// Where the body ends must be beyond doubt, or one that stands before us and we take different
// bytes for the next request (RFC 9112, section 6.3). REQUIRES: headers of a request.
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
          in_small_letters(request.get_header_value("Transfer-Encoding")) == "chunked");
}

bool accepts_gzip(const std::string& accept_encoding) {
  const std::string small = in_small_letters(accept_encoding);
  return small.contains("gzip") && !small.contains("gzip;q=0");
}

std::string in_quotes(const std::string& etag) {
  return etag.starts_with('"') || etag.starts_with("W/\"") ? etag : fmt::format("\"{}\"", etag);
}

// Whether we are what the name stands for: asked at the port that a name has by itself. At another
// one we are a guest of a host whose other ports may have no TLS.
bool has_host_to_itself(const httplib::Request& request) {
  const std::string host = request.get_header_value("Host");
  const std::string_view after_address = std::string_view(host).substr(host.rfind(']') + 1);
  return !host.empty() && (!after_address.contains(':') || after_address.ends_with(":443"));
}

struct Watched {
  Route route;
  Pattern pattern;
  std::size_t counted_as;  // place in the counts
};

// A bounded number of places.
class Places {
 public:
  explicit Places(std::uint32_t free) : free_(free) {}
  void take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return free_ > 0; });
    --free_;
  }
  bool try_take() {
    const std::lock_guard lock(mutex_);
    if (free_ == 0) return false;
    --free_;
    return true;
  }
  void give_back() {
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

struct PlaceDeleter {
  void operator()(Places* places) const { places->give_back(); }
};
using Place = std::unique_ptr<Places, PlaceDeleter>;

// One request while it is answered.
struct Exchange {
  Connection& connection;
  Target target = {};
  Origin origin = {};                // who asks
  std::string accept_encoding = {};  // as it was sent: handlers may have packed bodies of their own
  const Watched* watched = nullptr;  // null: no route is meant
  std::map<std::string, std::string> params = {};
  std::optional<Response> fault = {};  // found before any handler
  bool is_unreadable = false;          // what follows on the connection is in doubt
  Place place = {};
};

// The library, but for connections and threads, which are the door's.
class Http : public httplib::Server {
 public:
  int listening() const { return svr_sock_; }
  bool process(Connection& connection, const std::function<void(httplib::Request&)>& prepare) {
    bool is_closed = false;
    return process_request(connection, false, is_closed, prepare) && !is_closed;
  }
};

}  // namespace

struct Server::State {
  Settings settings;
  TlsContext tls;
  Http http;
  std::vector<Watched> routes;  // does not change once it listens
  std::uint16_t port = 0;
  Places requests;
  Places streams;

  mutable std::mutex mutex;  // of the next two
  std::vector<RouteCounts> counts;
  std::map<const httplib::Request*, Exchange*> under_way;

  std::atomic<bool> is_stopping = false;
  std::unique_ptr<Door> door;  // last: its threads use all the others

  explicit State(const Settings& s)
      : settings(s), requests(std::max(s.requests_max, 1U)), streams(s.streams_max) {}

  void add(Route route) {
    auto same = std::ranges::find(counts, route.path, &RouteCounts::path);
    if (same == counts.end()) {
      same = counts.insert(counts.end(), RouteCounts{.path = route.path, .answers = {}});
    }
    const auto place = static_cast<std::size_t>(same - counts.begin());
    Pattern pattern(route.path);
    routes.push_back({std::move(route), std::move(pattern), place});
  }

  // ---- Before the handler

  // One request of a connection; whether the connection goes on.
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
        under_way[&request] = &exchange;
        known = &request;
      });
    } catch (const std::exception& error) {
      tell(exchange, error.what());
    }
    const std::lock_guard lock(mutex);
    if (known != nullptr) under_way.erase(known);
    // A head that could not be read tells nothing of what follows it.
    return goes_on && known != nullptr && !exchange.is_unreadable && !is_stopping;
  }

  Exchange& exchange_of(const httplib::Request& request) {
    const std::lock_guard lock(mutex);
    return *under_way.at(&request);
  }

  void tell(const Exchange& exchange, std::string_view what) const {
    if (settings.failed) {
      settings.failed(exchange.watched == nullptr ? "" : exchange.watched->route.path, what);
    }
  }

  void prepare(Exchange& exchange, httplib::Request& request) {
    request.path = std::string(kAnyPath);
    exchange.origin = find_origin(exchange.connection, request);
    // Pieces of an answer are not offered.
    request.ranges.clear();
    request.headers.erase("Range");
    // Of what the library can pack, what is quick: its brotli takes a second for a megabyte.
    exchange.accept_encoding = request.get_header_value("Accept-Encoding");
    const bool packs = accepts_gzip(exchange.accept_encoding);
    request.headers.erase("Accept-Encoding");
    if (packs) request.set_header("Accept-Encoding", "gzip");
    if (!is_framed(request)) {
      exchange.is_unreadable = true;
      exchange.fault = problem(400, "Bad request",
                               "Where the body ends is not said, or said twice; or the method has "
                               "none.");
    } else if (may_have_body(request.method) && !request.has_header("Content-Length") &&
               !request.has_header("Transfer-Encoding")) {
      // Without it the library would read until the connection ends.
      request.set_header("Content-Length", "0");
    }
    // Its parts are none of ours, and the library would look for somebody who takes them.
    if (in_small_letters(request.get_header_value("Content-Type")).starts_with("multipart/")) {
      exchange.is_unreadable = true;
      exchange.fault = problem(415, "Unsupported media type", "Nothing here takes parts.");
    }
    if (!exchange.fault) find_route(exchange, request);
    if (exchange.is_unreadable) {
      request.headers.erase("Connection");
      request.set_header("Connection", "close");
    }
    if (exchange.watched != nullptr && exchange.watched->route.is_stream) {
      if (streams.try_take()) {
        exchange.place = Place(&streams);
      } else if (!exchange.fault) {
        exchange.fault = problem(503, "Service unavailable", "Too many look at what happens.");
        exchange.fault->retry_after = kRetryWhenBusy;
      }
    } else {
      requests.take();
      exchange.place = Place(&requests);
    }
  }

  Origin find_origin(const Connection& connection, const httplib::Request& request) const {
    Headers said;
    for (const char* const name : {"x-forwarded-for", "x-forwarded-proto", "forwarded"}) {
      const auto [begin, end] = request.headers.equal_range(name);
      for (auto line = begin; line != end; ++line) said.emplace(name, line->second);
    }
    Origin origin = origin_of(request.remote_addr, said, settings.trusted_proxies);
    origin.secure = origin.secure || connection.is_secure();
    return origin;
  }

  void find_route(Exchange& exchange, const httplib::Request& request) const {
    auto target = read_target(request.target);
    if (!target) {
      exchange.fault = problem(400, "Bad request", "The address can't be read.");
      return;
    }
    exchange.target = *std::move(target);
    const std::string method = request.method == "HEAD" ? "GET" : request.method;
    std::set<std::string> others;
    for (const Watched& watched : routes) {
      auto params = watched.pattern.match(exchange.target);
      if (!params) continue;
      if (watched.route.method != method) {
        others.insert(watched.route.method);
        continue;
      }
      if (exchange.watched != nullptr &&
          !watched.pattern.says_more_than(exchange.watched->pattern)) {
        continue;
      }
      exchange.watched = &watched;
      exchange.params = *std::move(params);
    }
    if (exchange.watched != nullptr) return;
    if (others.empty()) {
      exchange.fault =
          problem(404, "Not found", fmt::format("There is nothing at {}.", exchange.target.path));
      return;
    }
    if (others.contains("GET")) others.insert("HEAD");
    exchange.fault =
        problem(405, "Method not allowed",
                fmt::format("{} takes {}.", exchange.target.path, fmt::join(others, ", ")));
    exchange.fault->headers = {{"Allow", fmt::format("{}", fmt::join(others, ", "))}};
  }

  // What the handler is told, but for the body.
  static Request request_of(const Exchange& exchange, const httplib::Request& from) {
    Request request;
    request.method = from.method == "HEAD" ? "GET" : from.method;
    request.path = exchange.target.path;
    request.params = exchange.params;
    request.query = exchange.target.query;
    request.content_type = from.get_header_value("Content-Type");
    request.content_encoding = from.get_header_value("Content-Encoding");
    if (is_unpacked(request.content_encoding)) request.content_encoding.clear();
    request.accept = from.get_header_value("Accept");
    request.peer = exchange.origin.peer;
    request.secure = exchange.origin.secure;
    // Of the library, and no headers.
    static const std::set<std::string> kNotSent = {"remote_addr", "remote_port", "local_addr",
                                                   "local_port"};
    std::string cookies;
    for (const auto& [name, value] : from.headers) {
      std::string small = in_small_letters(name);
      if (kNotSent.contains(small)) continue;
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
    if (exchange.fault) return std::move(exchange.fault);
    if (!settings.guard) return std::nullopt;
    try {
      return settings.guard(exchange.watched->route, request);
    } catch (const std::exception& error) {
      tell(exchange, error.what());
      return internal_error();
    }
  }

  // ---- The handler

  static Response internal_error() {
    return problem(500, "Internal server error", "This is our mistake; the log says more.");
  }

  Response too_large() const {
    return problem(413, "Content too large",
                   fmt::format("A body is at most {} bytes, unpacked; send smaller ones, or raise "
                               "serve.limits.body.",
                               settings.body_bytes_max));
  }

  void answer_without_body(const httplib::Request& from, httplib::Response& to) {
    Exchange& exchange = exchange_of(from);
    Request request = request_of(exchange, from);
    auto refused = refusal(exchange, request);
    answer(exchange, from, request, std::move(refused), to);
  }

  void answer_with_body(const httplib::Request& from, httplib::Response& to,
                        const httplib::ContentReader& content) {
    Exchange& exchange = exchange_of(from);
    Request request = request_of(exchange, from);
    auto refused = refusal(exchange, request);
    // The body of who is refused is read as well, and thrown away: the connection goes on.
    const bool is_wanted = !refused;
    std::string& body = request.body;
    if (is_wanted) {
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
      if (is_wanted) body.append(data, size);
      return true;
    });
    if (!whole) {
      if (!refused) {
        refused = to.status == 413
                      ? too_large()
                      : problem(400, "Bad request", "The body could not be read whole.");
      }
      // What is left of it must not be taken for a request.
      exchange.is_unreadable = true;
    }
    if (refused) body.clear();
    answer(exchange, from, request, std::move(refused), to);
  }

  Response handle(const Exchange& exchange, const Request& request) const {
    try {
      return exchange.watched->route.handler(request);
    } catch (const std::bad_alloc&) {
      return problem(503, "Out of memory", "There is no memory for this request; send less.");
    } catch (const std::exception& error) {
      tell(exchange, error.what());
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
      response.etag = in_quotes(response.etag);
      if (request.method == "GET" &&
          has_version(from.get_header_value("If-None-Match"), response.etag)) {
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
    if (exchange.watched == nullptr) return;
    const std::lock_guard lock(mutex);
    RouteCounts& counted = counts[exchange.watched->counted_as];
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
    // Several cookies may be set; of all others the answer's own comes before ours.
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
    if (exchange.origin.secure && has_host_to_itself(from)) {
      to.set_header("Strict-Transport-Security", kTlsAlone);
    }
    if (response.stream) {
      auto provider = [this, &exchange, stream = std::move(response.stream)](
                          std::size_t, httplib::DataSink& sink) {
        return run(exchange, stream, sink);
      };
      if (from.version == "HTTP/1.0") {
        // It ends with the connection: pieces with lengths are of HTTP/1.1.
        exchange.is_unreadable = true;
        to.set_content_provider(response.content_type, std::move(provider));
      } else {
        to.set_chunked_content_provider(response.content_type, std::move(provider));
      }
    } else if (to.has_header("Content-Encoding") && !response.body.empty()) {
      // The library does not pack again what comes from a provider.
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
      if (is_stopping || (piece.empty() && connection.is_gone())) is_read = false;
      if (is_read && !piece.empty()) is_read = to.write(piece.data(), piece.size());
      return is_read;
    };
    bool is_whole = false;
    try {
      is_whole = stream(sink);
    } catch (const std::exception& error) {
      tell(exchange, error.what());
    }
    if (!is_whole || !is_read) return false;
    connection.enter(Phase::kAnswer);
    to.done();
    return true;
  }

  void put_failure(const httplib::Request& from, httplib::Response& to,
                   const std::exception_ptr& thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& error) {
      tell(exchange_of(from), error.what());
    } catch (...) {
      tell(exchange_of(from), "something that is no exception");
    }
    const Response response = internal_error();
    to.status = response.status;
    put_headers(response, to);
    to.set_content(response.body, response.content_type);
  }

  // What the library refuses before it asks us.
  void put_library_refusal(const httplib::Request& from, httplib::Response& to) const {
    if (!to.body.empty() || to.status < 400) return;
    Response refused = problem(to.status, to.status == 414 ? "Address too long" : "Request refused",
                               "This can't be read as HTTP/1.1, or it is too long.");
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
    auto tls = open_tls(settings.cert_file, settings.key_file);
    if (!tls) return std::unexpected(tls.error());
    state.tls = *std::move(tls);
  }
  for (Route& route : routes) state.add(std::move(route));

  Http& http = state.http;
  http.set_payload_max_length(settings.body_bytes_max);
  http.set_keep_alive_max_count(kKeepAliveRequestsMax);
  http.set_keep_alive_timeout(
      std::chrono::ceil<std::chrono::seconds>(settings.idle_timeout).count());
  http.set_pre_routing_handler([&state](const httplib::Request& from, httplib::Response& to) {
    if (may_have_body(from.method) && !state.exchange_of(from).is_unreadable) {
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
               const std::exception_ptr& thrown) { state.put_failure(from, to, thrown); });
  // One process at a time: two that share a port would each get a part of the samples.
  http.set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  const int bound = settings.port == 0
                        ? http.bind_to_any_port(settings.host)
                        : (http.bind_to_port(settings.host, settings.port) ? settings.port : -1);
  if (bound < 0) {
    return fail(ErrorCode::kIo,
                fmt::format("cannot listen on {}:{}; is the address ours, and the port free?",
                            settings.host, settings.port));
  }
  state.port = static_cast<std::uint16_t>(bound);
  ::listen(http.listening(), kBacklog);
  ::fcntl(http.listening(), F_SETFL, O_NONBLOCK);
  state.door = std::make_unique<Door>(
      DoorOptions{.listening = http.listening(),
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
  if (!state_ || !state_->door) return;
  state_->is_stopping = true;
  state_->door->stop();
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
