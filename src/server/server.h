// Server: our door to HTTP: routes, limits, TLS, and counts of what went through.
//
// It knows no route's meaning. What a request may cost is bounded before a handler sees it: its
// line and headers by the library, its body (after unpacking) and the number of requests at once by
// Settings. A handler runs on one of the server's threads, several at a time.
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

namespace pennyweight::server {

struct Request {
  std::string method;
  std::string path;                           // as it came, without the query
  std::map<std::string, std::string> params;  // what {name} of the route stands for, unescaped
  std::multimap<std::string, std::string> query;
  std::string content_type;
  std::string content_encoding;  // gzip, deflate and br are unpacked already, and then it is empty
  std::string accept;
  // Address of who asks, and whether he asks over TLS: of who is connected to us, or as one of
  // Settings::trusted_proxies has it (server/forwarded.h).
  std::string peer;
  bool secure = false;
  std::string body;
  std::multimap<std::string, std::string> headers;  // names in small letters
  std::map<std::string, std::string> cookies;
  // Whom the guard has taken the asker for.
  std::any who;

  // The first value, or "".
  std::string parameter(const std::string& name) const;
  std::string header(const std::string& name) const;
  std::string param(const std::string& name) const;
};

// Takes a piece of a long answer; false: nobody reads any more, or the server stops. An empty piece
// writes nothing and only asks: who waits for something to tell asks every second or more often.
using Sink = std::function<bool(std::string_view)>;

struct Response {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body = {};
  std::optional<std::chrono::seconds> retry_after = {};
  std::vector<std::pair<std::string, std::string>> headers = {};  // further ones
  // With it, a request that has it already (If-None-Match) is answered 304 and no body. It is put
  // in quotes where it is not. Without "Cache-Control" among the headers an answer with it may be
  // kept by the asker and asked for again ("private, no-cache"), and one without it not at all.
  std::string etag = {};
  // Instead of a body: called once, writes it piece by piece, and returns whether it is whole; an
  // answer that is not is cut off so that the client notices. For events (text/event-stream) it
  // stays until the sink says no, and takes one of streams_max places.
  std::function<bool(const Sink&)> stream = {};
};

// The answer to what can't be done, as RFC 9457 has it: application/problem+json.
Response problem(int status, std::string_view title, std::string_view detail);

struct Route {
  std::string method;  // GET, POST, PUT, PATCH, DELETE; HEAD is answered as GET
  // "/api/v1/users/{name}"; a part in braces stands for one segment. Where two match, that with
  // letters counts. What is empty, '.' or '..' never matches.
  std::string path;
  bool open = false;  // no guard: health
  std::function<Response(const Request&)> handler;
  std::string needs = {};  // a permission, for the guard; the server does not know its meaning
  bool is_stream = false;  // events: counted in streams_max and not in requests_max
};

// Looks at a request before its handler, and before its body is read: an answer where it is
// refused; else it may set `who`.
using Guard = std::function<std::optional<Response>(const Route&, Request&)>;

struct Settings {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;  // 0: any that is free
  std::uint64_t body_bytes_max = 32u << 20;
  std::uint32_t requests_max = 64;  // at once; further connections wait
  std::uint32_t streams_max = 64;   // events at once; further ones are answered 503
  std::chrono::milliseconds idle_timeout{30'000};
  Guard guard = {};  // without it anybody may ask anything
  // What every answer bears: Content-Security-Policy and its like.
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string cert_file = {};  // TLS where it is given, with key_file
  std::string key_file = {};
  // Who is believed when he says for whom he asks. Nobody may be among them who asks for himself.
  std::vector<AddressBlock> trusted_proxies = {};
  // Told what a handler threw, by route. It is answered 500, and the asker is not told why.
  std::function<void(std::string_view path, std::string_view what)> failed = {};
};

// Of all routes of one path, whatever the method: since the start.
struct RouteCounts {
  std::string path;
  std::map<int, std::uint64_t> answers;  // by status
  std::uint64_t body_bytes = 0;          // received, unpacked
  std::uint64_t milliseconds = 0;        // spent in the handler, all together
};

class Server {
 public:
  // Listens when it returns. An Error says why it can't: the port is taken, a certificate is none.
  static Result<std::unique_ptr<Server>> start(const Settings& settings, std::vector<Route> routes);
  // For start().
  struct State;
  explicit Server(std::unique_ptr<State> state);
  // Ends like stop().
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const;
  std::vector<RouteCounts> counts() const;
  // No new connection; waits for the requests under way. Streams are told to end, and askers that
  // are slow to send or to take have two seconds.
  void stop();

 private:
  std::unique_ptr<State> state_;
};

}  // namespace pennyweight::server
