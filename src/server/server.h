// Server: answers HTTP requests by routes, with limits, TLS, and counts by route.
//
// The server layer contains no application logic. What a request may cost is bounded before a
// handler sees it: connections, heads, bodies and their pace by the connection loop
// (server/connection_loop.h), concurrent requests by Settings. Handlers run on the server's
// threads, several at a time, and in turn between users.
#pragma once

#include <any>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "server/address.h"
#include "server/connection_loop.h"

namespace pennyweight::server {

struct Request {
  std::string method;
  std::string path;                           // as sent, without the query
  std::map<std::string, std::string> params;  // values of the {name}s in the route, unescaped
  std::multimap<std::string, std::string> query;
  std::string content_type;
  std::string content_encoding;  // of the body, which the server does not decode
  std::string accept;
  // The client's address, and whether it uses TLS: those of the connection, or what one of
  // Settings::trusted_proxies reports (server/forwarded.h).
  std::string peer;
  bool secure = false;
  std::string body;
  std::multimap<std::string, std::string> headers;  // names in lower case
  std::map<std::string, std::string> cookies;
  // Set by the guard: the authenticated principal, and a text that is the same for all of their
  // requests, by which work and streams are shared out. "": the client's address.
  std::any principal;
  std::string principal_key;

  // Each returns the first value, or "".
  std::string parameter(const std::string& name) const;  // of the query
  std::string header(const std::string& name) const;
  std::string param(const std::string& name) const;  // of the path
};

// Takes a piece of a long answer. False: the client is gone, or the server stops. An empty piece
// writes nothing and only checks; a stream that waits for news checks at least once a second.
using Sink = std::function<bool(std::string_view)>;

struct Response {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body = {};
  // Instead of `body`: bytes that live as long as the program, which are not copied.
  std::string_view constant_body = {};
  std::optional<std::chrono::seconds> retry_after = {};
  std::vector<std::pair<std::string, std::string>> headers = {};  // additional ones
  // A request with this version in If-None-Match is answered 304 without a body. Quotes are added
  // if missing. Unless `headers` has Cache-Control, an answer with an ETag may be stored and
  // revalidated ("private, no-cache"), and one without may not be stored.
  std::string etag = {};
  // Instead of a body: called once, writes the answer piece by piece, and returns whether it is
  // complete; an incomplete answer is cut off so that the client notices. A stream of events
  // (text/event-stream) runs until the sink returns false, and takes one of streams_max permits.
  std::function<bool(const Sink&)> stream = {};
};

// An error answer in the form of RFC 9457, application/problem+json.
Response problem(int status, std::string_view title, std::string_view detail);

struct Route {
  std::string method;  // GET, POST, PUT, PATCH, DELETE; HEAD is answered as GET
  // "/api/v1/users/{name}"; a name in braces stands for one segment. If two routes match, the one
  // with a literal segment wins. Segments that are empty, "." or ".." never match.
  std::string path;
  bool open = false;  // without the guard: health
  std::function<Response(const Request&)> handler;
  std::string permission = {};  // a permission, for the guard; the server does not know its meaning
  bool is_stream = false;       // events: limited by streams_max instead of requests_max
  // The most bytes that a body of this route may have; 0: Settings::body_bytes_max, if less.
  std::uint64_t body_bytes_max = 0;
  // The handler decodes Content-Encoding, within limits of its own. Without it, such bodies are
  // refused before they are read.
  bool takes_encoded_body = false;
  // Health: answered by a thread of its own, whatever the others do, to every Host and without the
  // guard. Its handler must be quick.
  bool is_health = false;
};

// Called before the body is read and the handler runs: returns an answer to refuse the request;
// otherwise may set `principal`.
using Guard = std::function<std::optional<Response>(const Route&, Request&)>;

struct Settings {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;  // 0: any that is free
  std::uint64_t body_bytes_max = 32u << 20;
  std::uint32_t requests_max = 64;  // concurrent; further ones wait
  std::uint32_t streams_max = 64;   // concurrent event streams; further ones get a 503
  std::uint32_t streams_per_user_max = 16;
  ConnectionLimits connections = {};  // its idle_max is idle_timeout
  std::chrono::milliseconds idle_timeout{30'000};
  Guard guard = {};  // without one, every request is allowed
  // Headers of every answer: Content-Security-Policy and the like.
  std::vector<std::pair<std::string, std::string>> headers = {};
  // The answer to browsers (Accept has text/html) at an address outside of /api/ without a route.
  // Nothing: a problem document, as programs get.
  std::optional<Response> missing_page = {};
  std::string cert_file = {};  // with key_file: turns TLS on
  std::string key_file = {};
  std::string client_ca_file = {};  // with them: clients must have a certificate that it signed
  // Proxies whose forwarding headers are believed. No client's own address may be among them.
  std::vector<AddressBlock> trusted_proxies = {};
  // Whether requests may be addressed to this host name or address (Host without its port), so that
  // no other name that leads here, such as an attacker's own (DNS rebinding), reaches what trusts
  // this machine or network. Not asked for health, nor for requests with an Authorization header,
  // which no browser sends by itself. Without it, every name is accepted.
  std::function<bool(std::string_view host)> is_known_host = {};
  // Called with the route and the message when a handler throws. The client gets a 500 without
  // details.
  std::function<void(std::string_view path, std::string_view what)> failed = {};
};

// Counts of all routes of one path, whatever the method, since the start.
struct RouteCounts {
  std::string path;
  std::map<int, std::uint64_t> answers;  // by status
  std::uint64_t body_bytes = 0;          // received, as sent
  std::uint64_t milliseconds = 0;        // spent in handlers, in total
};

class Server {
 public:
  // The server listens when this returns. Errors: the port is taken, the certificate is invalid.
  static Result<std::unique_ptr<Server>> start(const Settings& settings, std::vector<Route> routes);
  struct State;  // for start() alone
  explicit Server(std::unique_ptr<State> state);
  // Does what stop() does.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const;
  std::vector<RouteCounts> counts() const;
  ConnectionCounts connection_counts() const;
  // Accepts no new connection and waits for the active requests. Streams are ended; clients that
  // are slow to send or to receive get two seconds.
  void stop();

 private:
  std::unique_ptr<State> state_;
};

}  // namespace pennyweight::server
