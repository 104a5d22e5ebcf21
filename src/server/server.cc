#include "server/server.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "core/ascii.h"
#include "core/json_text.h"
#include "core/try.h"
#include "server/connection_loop.h"
#include "server/forwarded.h"
#include "server/gzip.h"
#include "server/request_text.h"
#include "server/stream_permits.h"
#include "server/stream_writer.h"
#include "server/tls.h"
#include "server/worker_pool.h"

namespace pennyweight::server {
namespace {

constexpr std::chrono::seconds kRetryWhenBusy{5};
// For a year after each answer, browsers contact this host over TLS only (RFC 6797).
constexpr const char* kStrictTransportSecurity = "max-age=31536000";
// Smaller bodies do not get smaller.
constexpr std::size_t kCompressedBytesMin = 256;
// How often it is looked whether the certificate was renewed.
constexpr std::chrono::seconds kCertificateCheckEvery{5};

std::string with_quotes(const std::string& etag) {
  return etag.starts_with('"') || etag.starts_with("W/\"") ? etag : fmt::format("\"{}\"", etag);
}

// Whether the host name stands for this server alone: it was asked at the default port. At another
// port, other services of the same host may have no TLS, and must stay reachable.
bool is_on_default_port(std::string_view host) {
  const std::string_view after_address = host.substr(host.rfind(']') + 1);
  return !host.empty() && (!after_address.contains(':') || after_address.ends_with(":443"));
}

// Host without its port, and an IPv6 address without its brackets.
std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.find(':'));
}

bool is_encoded(std::string_view content_encoding) {
  return !content_encoding.empty() && !ascii::equal_ignoring_case(content_encoding, "identity");
}

Response internal_error() {
  return problem(500, "Internal server error",
                 "This is a fault of the server; its log has the details.");
}

Response too_busy(std::string_view detail) {
  Response response = problem(503, "Service unavailable", detail);
  response.retry_after = kRetryWhenBusy;
  return response;
}

}  // namespace

// What a server is made of has names of its module, not of this file: Server::State holds it.

struct RegisteredRoute {
  Route route;
  RoutePattern pattern;
  std::size_t counts_index;  // into State::counts
};

// One request while it is being answered.
struct Call {
  const RegisteredRoute* route = nullptr;  // null: no route matches
  Target target = {};
  Origin origin = {};
  std::map<std::string, std::string> params = {};
  Request request = {};
  std::optional<Response> rejection = {};  // decided before any handler runs
};

struct Server::State final : ConnectionHandler {
  const Settings settings;
  std::vector<RegisteredRoute> routes;  // does not change once the server listens
  StreamPermits streams;

  mutable std::mutex mutex;  // guards the next one
  std::vector<RouteCounts> counts;

  std::atomic<bool> is_stopping = false;
  std::unique_ptr<TlsCertificate> certificate;
  std::mutex housekeeping_mutex;
  std::condition_variable housekeeping_changed;
  std::thread housekeeping;

  std::unique_ptr<ConnectionLoop> loop;
  // After the loop: exchanges that their threads hold end before it does.
  std::unique_ptr<WorkerPool> health_pool, stream_pool, pool;

  explicit State(const Settings& s)
      : settings(s), streams(s.streams_max, std::max(s.streams_per_user_max, 1U)) {}

  void add(Route route) {
    auto same = std::ranges::find(counts, route.path, &RouteCounts::path);
    if (same == counts.end()) {
      same = counts.insert(counts.end(), RouteCounts{.path = route.path, .answers = {}});
    }
    const auto index = static_cast<std::size_t>(same - counts.begin());
    RoutePattern pattern(route.path);
    routes.push_back({std::move(route), std::move(pattern), index});
  }

  static Call& call_of(const ExchangePtr& exchange) {
    return *static_cast<Call*>(exchange->notes.get());
  }

  // ---- On the network thread

  void head_arrived(const ExchangePtr& exchange) override {
    auto call = std::make_shared<Call>();
    exchange->notes = call;
    call->origin = resolve_peer(*exchange);
    match_route(*call, exchange->head);
    if (!call->rejection) check_host(*call, exchange->head);
    const bool is_health = call->route != nullptr && call->route->route.is_health;
    // What is refused here costs nothing, and needs no worker.
    if (call->rejection) {
      make_request(*call, *exchange);
      answer(exchange, *std::exchange(call->rejection, std::nullopt));
      return;
    }
    if (is_health || settings.guard) {
      submit(is_health ? *health_pool : *pool, call->origin.peer, exchange, &State::decide);
    } else {
      run(exchange, &State::decide);  // nobody is to be asked, so it takes no time
    }
  }

  void body_arrived(const ExchangePtr& exchange, BodyOutcome outcome) override {
    switch (outcome) {
      case BodyOutcome::kWhole:
        call_of(exchange).request.body = std::move(exchange->body);
        handle_later(exchange);
        return;
      case BodyOutcome::kTooLarge:
        answer(exchange, too_large(body_bytes_max(*call_of(exchange).route)));
        return;
      case BodyOutcome::kMalformed:
        answer(exchange, problem(400, "Bad request", "The body is malformed or too finely cut."));
        return;
      case BodyOutcome::kNoMemory:
        answer(exchange, too_busy("Too many bodies arrive at the same time."));
        return;
    }
  }

  WireAnswer refuse_head(const HeadProblem& found) override {
    Response response = problem(
        found.status, found.status == 414 ? "Address too long" : "Request refused", found.detail);
    WireAnswer wire{.status = response.status, .fields = fields(response, nullptr)};
    add_body(wire, std::move(response.body));
    return wire;
  }

  bool is_exempt(std::string_view address) override {
    const auto parsed = parse_address(address);
    return parsed && std::ranges::any_of(settings.trusted_proxies, [&](const AddressBlock& block) {
             return block.contains(*parsed);
           });
  }

  void network_failed(std::string_view what) override { report_failure("", what); }

  void submit(WorkerPool& to, const std::string& owner, const ExchangePtr& exchange,
              void (State::*task)(const ExchangePtr&)) {
    to.submit(owner, [this, exchange, task] { run(exchange, task); });
  }

  void run(const ExchangePtr& exchange, void (State::*task)(const ExchangePtr&)) {
    try {
      (this->*task)(exchange);
    } catch (const std::exception& error) {
      // Dropped without an answer: the connection ends.
      report_failure(call_of(exchange).route->route.path, error.what());
    }
  }

  Origin resolve_peer(const Exchange& exchange) const {
    Headers forwarding;
    if (!settings.trusted_proxies.empty()) {
      for (const auto& [name, value] : exchange.head.fields) {
        if (name == "x-forwarded-for" || name == "x-forwarded-proto" || name == "forwarded") {
          forwarding.emplace(name, value);
        }
      }
    }
    Origin origin = resolve_origin(exchange.peer, forwarding, settings.trusted_proxies);
    origin.secure = origin.secure || exchange.is_secure;
    return origin;
  }

  void match_route(Call& call, const RequestHead& head) const {
    auto target = read_target(head.target);
    if (!target) {
      call.rejection = problem(400, "Bad request", "The address is malformed.");
      return;
    }
    call.target = *std::move(target);
    const std::string method = head.method == "HEAD" ? "GET" : head.method;
    std::set<std::string> others;
    for (const RegisteredRoute& route : routes) {
      auto params = route.pattern.match(call.target);
      if (!params) continue;
      if (route.route.method != method) {
        others.insert(route.route.method);
        continue;
      }
      if (call.route != nullptr && !route.pattern.is_more_specific_than(call.route->pattern)) {
        continue;
      }
      call.route = &route;
      call.params = *std::move(params);
    }
    if (call.route != nullptr) {
      check_encoding(call, head);
      return;
    }
    const bool is_browser = std::ranges::any_of(head.fields, [](const auto& field) {
      return field.first == "accept" && field.second.find("text/html") != std::string::npos;
    });
    if (others.empty() && is_browser && method == "GET" && settings.missing_page &&
        !call.target.path.starts_with("/api/")) {
      call.rejection = settings.missing_page;
      return;
    }
    if (others.empty()) {
      call.rejection =
          problem(404, "Not found", fmt::format("Nothing is at {}.", call.target.path));
      return;
    }
    if (others.contains("GET")) others.insert("HEAD");
    call.rejection =
        problem(405, "Method not allowed",
                fmt::format("{} accepts {}.", call.target.path, fmt::join(others, ", ")));
    call.rejection->headers = {{"Allow", fmt::format("{}", fmt::join(others, ", "))}};
  }

  static void check_encoding(Call& call, const RequestHead& head) {
    // No route takes multipart bodies.
    if (ascii::lower_case(head.field("content-type")).starts_with("multipart/")) {
      call.rejection =
          problem(415, "Unsupported media type", "Multipart bodies are not accepted here.");
    } else if (!call.route->route.takes_encoded_body &&
               is_encoded(head.field("content-encoding"))) {
      call.rejection =
          problem(415, "Unsupported media type", "Send this body without Content-Encoding.");
    }
  }

  void check_host(Call& call, const RequestHead& head) const {
    if (!settings.is_known_host || call.route->route.is_health) return;
    if (!head.field("authorization").empty()) return;
    const std::string_view host = without_port(head.field("host"));
    if (settings.is_known_host(host)) return;
    call.rejection = problem(
        421, "Misdirected request",
        fmt::format("This server is not known by the name {}; if it should be, add the name "
                    "to serve.hosts.",
                    host.empty() ? "a request without Host" : host));
  }

  // ---- On a worker, but for decide() where no guard is to be asked

  // Lets the guard decide, before the body is read.
  void decide(const ExchangePtr& exchange) {
    Call& call = call_of(exchange);
    make_request(call, *exchange);
    if (auto refused = guard_refusal(call)) {
      answer(exchange, *std::move(refused));
      return;
    }
    const std::uint64_t bytes_max = body_bytes_max(*call.route);
    if (exchange->framing.content_length.value_or(0) > bytes_max) {
      answer(exchange, too_large(bytes_max));
    } else if (exchange->framing.has_body()) {
      exchange->read_body(bytes_max);
    } else if (call.route->route.is_health) {
      handle(exchange);
    } else {
      handle_later(exchange);
    }
  }

  std::uint64_t body_bytes_max(const RegisteredRoute& route) const {
    const std::uint64_t own = route.route.body_bytes_max;
    return own == 0 ? settings.body_bytes_max : std::min(own, settings.body_bytes_max);
  }

  void handle_later(const ExchangePtr& exchange) {
    const Call& call = call_of(exchange);
    const std::string& key = call.request.principal_key;
    const std::string& owner = key.empty() ? call.origin.peer : key;
    if (!call.route->route.is_stream) {
      submit(*pool, owner, exchange, &State::handle);
      return;
    }
    std::shared_ptr<StreamPermit> permit;
    switch (streams.acquire(owner, permit)) {
      case StreamPermits::Outcome::kGranted:
        break;
      case StreamPermits::Outcome::kFull:
        answer(exchange, too_busy("Too many event streams are open."));
        return;
      case StreamPermits::Outcome::kOwnerFull:
        answer(exchange, too_busy("You have too many event streams open; close one of them."));
        return;
    }
    stream_pool->submit(owner, [this, exchange, permit] { run(exchange, &State::handle); });
  }

  // The request as a handler gets it, without the body.
  static void make_request(Call& call, const Exchange& exchange) {
    Request& request = call.request;
    const RequestHead& from = exchange.head;
    request.method = from.method == "HEAD" ? "GET" : from.method;
    request.path = call.target.path;
    request.params = call.params;
    request.query = call.target.query;
    request.peer = call.origin.peer;
    request.secure = call.origin.secure;
    std::string cookies;
    for (const auto& [name, value] : from.fields) {
      if (name == "cookie") cookies.append(value).append(";");
      request.headers.emplace(name, value);
    }
    request.content_type = request.header("content-type");
    request.content_encoding = request.header("content-encoding");
    request.accept = request.header("accept");
    request.cookies = read_cookies(cookies);
  }

  std::optional<Response> guard_refusal(Call& call) const {
    // Whoever asks for health gets it, however often somebody else at the same address asks.
    if (!settings.guard || call.route->route.is_health) return std::nullopt;
    try {
      return settings.guard(call.route->route, call.request);
    } catch (const std::exception& error) {
      report_failure(call.route->route.path, error.what());
      return internal_error();
    }
  }

  void report_failure(std::string_view path, std::string_view what) const {
    if (settings.failed) settings.failed(path, what);
  }

  static Response too_large(std::uint64_t bytes_max) {
    return problem(413, "Content too large",
                   fmt::format("The body exceeds {} bytes; send smaller ones. serve.limits.body "
                               "bounds what senders of telemetry may send.",
                               bytes_max));
  }

  void handle(const ExchangePtr& exchange) {
    const Call& call = call_of(exchange);
    const auto begun = std::chrono::steady_clock::now();
    Response response = ask_handler(call);
    if (response.status == 200 && !response.etag.empty()) {
      response.etag = with_quotes(response.etag);
      if (call.request.method == "GET" &&
          matches_etag(call.request.header("if-none-match"), response.etag)) {
        response.status = 304;
        response.body.clear();
        response.constant_body = {};
        response.stream = nullptr;
      }
    }
    answer(exchange, std::move(response), std::chrono::steady_clock::now() - begun);
  }

  Response ask_handler(const Call& call) const {
    const Route& route = call.route->route;
    try {
      return route.handler(call.request);
    } catch (const std::bad_alloc&) {
      return problem(503, "Out of memory",
                     "The server has no memory left for this request; send smaller requests.");
    } catch (const std::exception& error) {
      report_failure(route.path, error.what());
    } catch (...) {
      report_failure(route.path, "an unknown exception");
    }
    return internal_error();
  }

  void count(const Call& call, int status, std::chrono::steady_clock::duration took) {
    if (call.route == nullptr) return;
    const std::lock_guard lock(mutex);
    RouteCounts& counted = counts[call.route->counts_index];
    ++counted.answers[status];
    counted.body_bytes += call.request.body.size();
    counted.milliseconds += static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(took).count());
  }

  // ---- The answer

  // "Name: value" lines of an answer. `call`: null before the head of a request could be read.
  std::string fields(const Response& response, const Call* call) const {
    std::string text;
    std::set<std::string> names;
    const auto add = [&](std::string_view name, std::string_view value) {
      // A handler that lets a client write lines of its own into an answer has a fault.
      if (name.find_first_of("\r\n:") != name.npos || value.find_first_of("\r\n") != value.npos) {
        throw std::invalid_argument("a header of the answer has a line end");
      }
      text.append(name).append(": ").append(value).append("\r\n");
      names.insert(ascii::lower_case(name));
    };
    const auto add_missing = [&](std::string_view name, std::string_view value) {
      if (!names.contains(ascii::lower_case(name))) add(name, value);
    };
    // Several cookies may be set; any other header of the handler overrides the server's.
    for (const auto& [name, value] : response.headers) add(name, value);
    for (const auto& [name, value] : settings.headers) add_missing(name, value);
    if (!response.etag.empty()) add_missing("ETag", response.etag);
    add_missing("Cache-Control", response.etag.empty() ? "no-store" : "private, no-cache");
    add_missing("X-Content-Type-Options", "nosniff");
    if (response.retry_after) {
      add_missing("Retry-After", std::to_string(response.retry_after->count()));
    }
    if (response.status == 401) add_missing("WWW-Authenticate", "Bearer");
    if (call != nullptr && call->origin.secure &&
        is_on_default_port(call->request.header("host"))) {
      add("Strict-Transport-Security", kStrictTransportSecurity);
    }
    const bool has_body =
        !response.body.empty() || !response.constant_body.empty() || response.stream != nullptr;
    if (has_body && !response.content_type.empty()) {
      add_missing("Content-Type", response.content_type);
    }
    return text;
  }

  static void add_body(WireAnswer& wire, std::string body) {
    wire.fields += fmt::format("Content-Length: {}\r\n", body.size());
    wire.body = std::move(body);
  }

  void answer(const ExchangePtr& exchange, Response response,
              std::chrono::steady_clock::duration took = {}) {
    const Call& call = call_of(exchange);
    const RequestHead& head = exchange->head;
    count(call, response.status, took);
    WireAnswer wire{.status = response.status, .fields = fields(response, &call)};
    const bool has_own_encoding = std::ranges::any_of(response.headers, [](const auto& header) {
      return ascii::equal_ignoring_case(header.first, "content-encoding");
    });
    const bool may_compress = !has_own_encoding && is_compressible(response.content_type) &&
                              accepts_gzip(call.request.header("accept-encoding"));
    if (response.stream) {
      if (may_compress) wire.fields += "Content-Encoding: gzip\r\n";
      stream(exchange, std::move(wire), response, may_compress);
      return;
    }
    if (!response.constant_body.empty()) {
      wire.fields += fmt::format("Content-Length: {}\r\n", response.constant_body.size());
      wire.constant_body = response.constant_body;
    } else if (may_compress && response.body.size() >= kCompressedBytesMin) {
      std::string packed;
      GzipWriter gzip;
      gzip.add(response.body, packed);
      gzip.finish(packed);
      wire.fields += "Content-Encoding: gzip\r\n";
      add_body(wire, std::move(packed));
    } else if (response.status != 204 && response.status != 304) {
      add_body(wire, std::move(response.body));
    }
    if (head.method == "HEAD") {
      wire.body.clear();
      wire.constant_body = {};
    }
    exchange->answer(std::move(wire));
  }

  void stream(const ExchangePtr& exchange, WireAnswer wire, const Response& response, bool gzip) {
    const bool is_until_cut = call_of(exchange).route->route.is_stream;
    const bool is_http10 = exchange->head.is_http10;
    if (exchange->head.method == "HEAD") {
      exchange->answer(std::move(wire));
      return;
    }
    if (is_http10) {
      // HTTP/1.0 has no chunks: the end of the connection ends the answer.
      wire.closes = true;
    } else {
      wire.fields += "Transfer-Encoding: chunked\r\n";
    }
    exchange->begin_stream(std::move(wire), is_until_cut);
    bool is_whole = false;
    try {
      StreamWriter writer(*exchange,
                          {.chunked = !is_http10, .gzip = gzip, .gathers = !is_until_cut});
      bool is_read = true;
      const Sink sink = [&](std::string_view piece) {
        is_read = is_read && !is_stopping && writer.write(piece);
        return is_read;
      };
      is_whole = response.stream(sink) && is_read && writer.finish();
    } catch (const std::exception& error) {
      report_failure(call_of(exchange).route->route.path, error.what());
    }
    exchange->end_stream(is_whole);
  }

  // ---- Its own upkeep

  void keep_house() {
    std::unique_lock lock(housekeeping_mutex);
    while (!is_stopping) {
      housekeeping_changed.wait_for(lock, kCertificateCheckEvery,
                                    [&] { return is_stopping.load(); });
      if (is_stopping) return;
      if (const auto read = certificate->reload_if_changed(); !read) {
        report_failure("tls", read.error().message);
      }
    }
  }

  void stop() {
    {
      const std::lock_guard lock(housekeeping_mutex);
      is_stopping = true;
    }
    housekeeping_changed.notify_all();
    if (housekeeping.joinable()) housekeeping.join();
    if (pool) pool->drop_waiting();
    if (stream_pool) stream_pool->drop_waiting();
    if (loop) loop->stop();
    for (const auto* const one : {&pool, &stream_pool, &health_pool}) {
      if (*one) (*one)->stop();
    }
  }
};

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}

Server::~Server() { stop(); }

Result<std::unique_ptr<Server>> Server::start(const Settings& settings, std::vector<Route> routes) {
  auto owner = std::make_unique<State>(settings);
  State& state = *owner;
  ConnectionLoopOptions options{
      .host = settings.host, .port = settings.port, .limits = settings.connections};
  options.limits.idle_max = settings.idle_timeout;
  if (!settings.cert_file.empty()) {
    state.certificate = TRY(TlsCertificate::open({.cert_file = settings.cert_file,
                                                  .key_file = settings.key_file,
                                                  .client_ca_file = settings.client_ca_file}));
    options.tls = [&state] { return state.certificate->current(); };
  }
  for (Route& route : routes) state.add(std::move(route));
  state.health_pool = std::make_unique<WorkerPool>(1, 1);
  state.stream_pool = std::make_unique<WorkerPool>(settings.streams_max, settings.streams_max);
  // No user gets more than half of the workers.
  state.pool = std::make_unique<WorkerPool>(settings.requests_max, settings.requests_max / 2);
  state.loop = TRY(ConnectionLoop::open(options, state));
  if (state.certificate) state.housekeeping = std::thread([&state] { state.keep_house(); });
  return std::make_unique<Server>(std::move(owner));
}

std::uint16_t Server::port() const { return state_->loop->port(); }

std::vector<RouteCounts> Server::counts() const {
  const std::lock_guard lock(state_->mutex);
  return state_->counts;
}

ConnectionCounts Server::connection_counts() const { return state_->loop->counts(); }

void Server::stop() {
  if (state_) state_->stop();
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
