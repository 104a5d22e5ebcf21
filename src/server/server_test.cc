#include "server/server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>

#include "server/metrics.h"
#include "server/tls.h"

namespace pennyweight::server {
namespace {

using testing::HasSubstr;

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Sends and receives exact bytes.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    const timeval patience{.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  ~RawClient() { ::close(socket_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  void send(std::string_view text) const {
    ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
  }
  // Reads until `end` has arrived, or the connection ends.
  std::string read_until(std::string_view end) {
    while (!got_.contains(end)) {
      char buffer[4096];
      const ssize_t size = ::recv(socket_, buffer, sizeof buffer, 0);
      if (size <= 0) break;
      got_.append(buffer, static_cast<std::size_t>(size));
    }
    return got_;
  }
  void forget() { got_.clear(); }
  // Reads everything. REQUIRES: the server closes the connection.
  std::string read_all() { return read_until(std::string_view("\0never", 6)); }

 private:
  int socket_;
  std::string got_;
};

std::unique_ptr<Server> started(Settings settings, std::vector<Route> routes) {
  auto server = Server::start(settings, std::move(routes));
  EXPECT_TRUE(server) << (server ? "" : server.error().message);
  return server ? std::move(*server) : nullptr;
}

std::vector<Route> echo() {
  return {{.method = "POST",
           .path = "/echo",
           .handler =
               [](const Request& request) {
                 return Response{.body = request.content_encoding + "|" + request.body + "|" +
                                         request.parameter("q")};
               },
           .takes_encoded_body = true},
          {.method = "GET", .path = "/health", .open = true, .handler = [](const Request&) {
             return Response{.body = "ok"};
           }}};
}

TEST(Server, AnswersOverHttp) {
  const auto server = started({}, echo());
  httplib::Client client("127.0.0.1", server->port());
  client.set_keep_alive(true);
  for (int i = 0; i < 3; ++i) {
    const auto answer = client.Post("/echo?q=7", "hello", "text/plain");
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(answer->body, "|hello|7");
    EXPECT_EQ(answer->get_header_value("Cache-Control"), "no-store");
  }
  EXPECT_EQ(client.Get("/health")->body, "ok");
  const auto missing = client.Get("/nowhere");
  EXPECT_EQ(missing->status, 404);
  EXPECT_EQ(missing->get_header_value("Content-Type"), "application/problem+json");
  const auto counts = server->counts();
  EXPECT_EQ(counts[0].answers.at(200), 3u);
  EXPECT_EQ(counts[0].body_bytes, 15u);
}

TEST(Server, LeavesEncodedBodiesToRoutesThatTakeThem) {
  std::vector<Route> routes = echo();
  routes.push_back(routes.front());
  routes.back().path = "/plain";
  routes.back().takes_encoded_body = false;
  const auto server = started({}, routes);
  httplib::Client client("127.0.0.1", server->port());
  const auto post = [&](const std::string& path, const std::string& encoding) {
    return client.Post(path, httplib::Headers{{"Content-Encoding", encoding}}, "raw",
                       "application/x-protobuf");
  };
  EXPECT_EQ(post("/echo", "snappy")->body, "snappy|raw|");
  EXPECT_EQ(post("/echo", "gzip")->body, "gzip|raw|");
  EXPECT_EQ(post("/plain", "Identity")->status, 200);
  const auto refused = post("/plain", "gzip");
  EXPECT_EQ(refused->status, 415);
  EXPECT_THAT(refused->body, HasSubstr("without Content-Encoding"));
}

TEST(Server, RefusesWhatIsTooLarge) {
  Settings settings;
  settings.body_bytes_max = 1000;
  const auto server = started(settings, echo());
  httplib::Client client("127.0.0.1", server->port());
  EXPECT_EQ(client.Post("/echo", std::string(1000, 'a'), "text/plain")->status, 200);
  EXPECT_EQ(client.Post("/echo", std::string(1001, 'a'), "text/plain")->status, 413);
  const auto chunked = client.Post(
      "/echo",
      [](std::size_t offset, httplib::DataSink& sink) {
        if (offset > 100'000) {
          sink.done();
          return true;
        }
        return sink.write("a bit of a body, again and again", 32);
      },
      "text/plain");
  ASSERT_TRUE(chunked);
  EXPECT_EQ(chunked->status, 413);
  EXPECT_THAT(chunked->body, HasSubstr("exceeds 1000 bytes"));
  // A route may take less.
  std::vector<Route> routes = echo();
  routes.front().body_bytes_max = 10;
  const auto strict = started(settings, routes);
  httplib::Client other("127.0.0.1", strict->port());
  EXPECT_EQ(other.Post("/echo", std::string(10, 'a'), "text/plain")->status, 200);
  EXPECT_EQ(other.Post("/echo", std::string(11, 'a'), "text/plain")->status, 413);
  // The refusal is sent before a large body is.
  RawClient waits(strict->port());
  waits.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\n");
  EXPECT_THAT(waits.read_until("\r\n\r\n"),
              testing::AllOf(testing::StartsWith("HTTP/1.1 413 "), HasSubstr("Connection: close")));
}

TEST(Server, SaysWhyItCanNotListen) {
  const auto server = started({}, echo());
  Settings taken;
  taken.port = server->port();
  const auto second = Server::start(taken, echo());
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("cannot listen on 127.0.0.1:"));
  Settings secure;
  secure.cert_file = "/nowhere.pem";
  secure.key_file = "/nowhere.key";
  const auto unsafe = Server::start(secure, echo());
  ASSERT_FALSE(unsafe);
  EXPECT_THAT(unsafe.error().message, HasSubstr("/nowhere.pem"));
}

TEST(Server, StopsWhenRequestsAreDone) {
  std::atomic<bool> entered = false, leave = false;
  auto server = started({}, {{.method = "GET", .path = "/slow", .handler = [&](const Request&) {
                                entered = true;
                                while (!leave) std::this_thread::yield();
                                return Response{.body = "done"};
                              }}});
  std::string body;
  std::thread asking([&] {
    httplib::Client client("127.0.0.1", server->port());
    const auto answer = client.Get("/slow");
    body = answer ? answer->body : "none";
  });
  while (!entered) std::this_thread::yield();
  std::thread stopping([&] { server->stop(); });
  leave = true;
  stopping.join();
  asking.join();
  EXPECT_EQ(body, "done");
}

std::string ask_raw(const Server& server, std::string_view target) {
  RawClient client(server.port());
  client.send(fmt::format("GET {} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", target));
  return client.read_all();
}

Route route(std::string method, std::string path, std::function<Response(const Request&)> handler) {
  return {.method = std::move(method), .path = std::move(path), .handler = std::move(handler)};
}

std::vector<Route> named() {
  const auto tell = [](std::string_view which) {
    return [which](const Request& request) {
      std::string body(which);
      for (const auto& [name, value] : request.params) body += fmt::format(" {}={}", name, value);
      for (const auto& [name, value] : request.query) body += fmt::format(" {}:{}", name, value);
      return Response{.body = body};
    };
  };
  return {route("GET", "/", tell("root")),
          route("GET", "/users/{name}", tell("one")),
          route("GET", "/users/me", tell("me")),
          route("PUT", "/users/{name}", tell("put")),
          route("PATCH", "/users/{name}", tell("patch")),
          route("DELETE", "/users/{name}", tell("delete")),
          route("GET", "/users/{name}/tokens/{id}", tell("token"))};
}

TEST(Routes, HaveParametersThatAreUnescapedOnce) {
  const auto server = started({}, named());
  const std::vector<std::array<std::string_view, 3>> table = {
      {"/", "200", "root"},
      {"/?a=1&b=x%20y&b=z+w", "200", "root a:1 b:x y b:z w"},
      {"/users/ana", "200", "one name=ana"},
      {"/users/me", "200", "me"},
      {"/%75sers/m%65", "200", "me"},
      {"/users/a%2Fb", "200", "one name=a/b"},
      {"/users/%252e", "200", "one name=%2e"},
      {"/users/me/tokens/7", "200", "token id=7 name=me"},
      {"/users/", "404", "Nothing is at"},
      {"/users//tokens/7", "404", "Nothing is at"},
      {"//users/ana", "404", "Nothing is at"},
      {"/users/..", "404", "Nothing is at"},
      {"/users/%2e%2E", "404", "Nothing is at"},
      {"/users/.", "404", "Nothing is at"},
      {"/users/ana/../me", "404", "Nothing is at"},
      {"/users", "404", "Nothing is at"},
      {"/users/a%zz", "400", "malformed"},
      {"/users/a%4", "400", "malformed"},
      {"/users/a%00b", "400", "malformed"},
      {"/users/%ff", "400", "malformed"},
      {"/users/ana?x=%ff", "400", "malformed"},
      {"users/ana", "400", "malformed"},
  };
  for (const auto& [target, status, body] : table) {
    const std::string answer = ask_raw(*server, target);
    EXPECT_TRUE(answer.starts_with(fmt::format("HTTP/1.1 {} ", status))) << target << answer;
    EXPECT_THAT(answer, HasSubstr(body)) << target;
  }
}

TEST(Routes, TakeEveryMethodAndNameThemWhereOneIsNotTaken) {
  const auto server = started({}, named());
  httplib::Client client("127.0.0.1", server->port());
  client.set_keep_alive(true);
  EXPECT_EQ(client.Put("/users/a", "x", "text/plain")->body, "put name=a");
  EXPECT_EQ(client.Patch("/users/a", "x", "text/plain")->body, "patch name=a");
  EXPECT_EQ(client.Delete("/users/a")->body, "delete name=a");
  const auto refused = client.Post("/users/a", "x", "text/plain");
  EXPECT_EQ(refused->status, 405);
  EXPECT_EQ(refused->get_header_value("Allow"), "DELETE, GET, HEAD, PATCH, PUT");
  EXPECT_EQ(client.Options("/users/a")->status, 405);
  EXPECT_EQ(client.Post("/nowhere", "x", "text/plain")->status, 404);
  // The connection goes on after all of these.
  EXPECT_EQ(client.Get("/users/a")->body, "one name=a");
}

TEST(Routes, AnswerHeadAsGetWithoutTheBody) {
  const auto server = started({}, named());
  httplib::Client client("127.0.0.1", server->port());
  const auto head = client.Head("/users/ana");
  EXPECT_EQ(head->status, 200);
  EXPECT_EQ(head->body, "");
  EXPECT_EQ(head->get_header_value("Content-Length"), "12");
  EXPECT_EQ(client.Head("/nowhere")->status, 404);
}

TEST(Routes, AreCountedByTheirPattern) {
  const auto server = started({}, named());
  httplib::Client client("127.0.0.1", server->port());
  client.Get("/users/ana");
  client.Get("/users/bo");
  client.Delete("/users/bo");
  const auto counts = server->counts();
  ASSERT_EQ(counts.size(), 4u);
  EXPECT_EQ(counts[1].path, "/users/{name}");
  EXPECT_EQ(counts[1].answers.at(200), 3u);
}

TEST(Requests, WhoseEndIsInDoubtAreRefusedAndEndTheConnection) {
  const auto server = started({}, echo());
  const std::vector<std::string_view> heads = {
      "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
      "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: "
      "chunked\r\n\r\n0\r\n\r\n",
      "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\na",
      "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\na",
      "GET /health HTTP/1.1\r\nHost: x\r\nContent-Length: 30\r\n\r\nGET /health HTTP/1.1\r\nHost: "
      "x\r\nA: b\r\n\r\n"};
  for (const std::string_view head : heads) {
    RawClient client(server->port());
    client.send(head);
    const std::string answer = client.read_all();
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << head << answer;
    EXPECT_EQ(answer.find("HTTP/1.1", 1), std::string::npos) << head << answer;
  }
  RawClient parts(server->port());
  parts.send(
      "POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
      "Content-Type: multipart/form-data; boundary=x\r\n"
      "Content-Length: 3\r\n\r\n--x");
  EXPECT_TRUE(parts.read_all().starts_with("HTTP/1.1 415 "));
}

TEST(Requests, MayFollowEachOtherWithoutWaiting) {
  const auto server = started({}, echo());
  RawClient client(server->port());
  client.send(
      "POST /echo?q=1 HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na"
      "POST /echo?q=2 HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nb"
      "GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string answers = client.read_all();
  EXPECT_LT(answers.find("|a|1"), answers.find("|b|2"));
  EXPECT_LT(answers.find("|b|2"), answers.find("ok"));
}

TEST(Requests, WithoutABodyNeedNotSayTheirLength) {
  const auto server = started({}, echo());
  RawClient client(server->port());
  client.send("POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(client.read_all(), HasSubstr("||"));
}

TEST(Requests, BringHeadersAndCookies) {
  const auto server = started({}, {route("GET", "/", [](const Request& request) {
                                Response response;
                                response.body =
                                    fmt::format("{}|{}|{}|{}|{}", request.header("x-one"),
                                                request.cookies.at("a"), request.cookies.at("b"),
                                                request.header("remote-addr"), request.peer);
                                response.headers = {{"Set-Cookie", "a=1"}, {"Set-Cookie", "b=2"}};
                                return response;
                              })});
  httplib::Client client("127.0.0.1", server->port());
  const auto answer = client.Get(
      "/", {{"X-One", "1"}, {"Cookie", "a=x=y; b=\"q\"; a=2"}, {"X-Remote-Addr", "8.8.8.8"}});
  EXPECT_EQ(answer->body, "1|x=y|q||127.0.0.1");
  EXPECT_EQ(answer->get_header_value_count("Set-Cookie"), 2u);
}

TEST(Requests, ComeFromWhomATrustedProxySaysTheyDo) {
  const std::vector<Route> routes = {route("GET", "/", [](const Request& request) {
    return Response{.body = request.peer + (request.secure ? " secure" : "")};
  })};
  const httplib::Headers said = {{"X-Forwarded-For", "198.51.100.1, 203.0.113.7"},
                                 {"X-Forwarded-Proto", "https"}};
  const auto open = started({}, routes);
  httplib::Client stranger("127.0.0.1", open->port());
  const auto plain = stranger.Get("/", said);
  EXPECT_EQ(plain->body, "127.0.0.1");
  EXPECT_FALSE(plain->has_header("Strict-Transport-Security"));
  Settings settings;
  settings.trusted_proxies = {{.address = *parse_address("127.0.0.1"), .bits = 128}};
  const auto behind = started(settings, routes);
  httplib::Client proxy("127.0.0.1", behind->port());
  const auto asked = [&](const std::string& host) {
    httplib::Headers headers = said;
    headers.emplace("Host", host);
    return proxy.Get("/", headers);
  };
  const auto alone = asked("gpu.example");
  EXPECT_EQ(alone->body, "203.0.113.7 secure");
  EXPECT_EQ(alone->get_header_value("Strict-Transport-Security"), "max-age=31536000");
  EXPECT_TRUE(asked("gpu.example:443")->has_header("Strict-Transport-Security"));
  EXPECT_TRUE(asked("[2001:db8::1]")->has_header("Strict-Transport-Security"));
  // At another port of the host.
  EXPECT_FALSE(asked("gpu.example:9595")->has_header("Strict-Transport-Security"));
  EXPECT_FALSE(asked("[2001:db8::1]:9595")->has_header("Strict-Transport-Security"));
  EXPECT_EQ(proxy.Get("/")->body, "127.0.0.1");
  EXPECT_EQ(proxy.Get("/", {{"Forwarded", "for=203.0.113.7;proto=https"}})->body,
            "203.0.113.7 secure");
  EXPECT_EQ(proxy.Get("/", {{"Forwarded", "for=\""}, {"X-Forwarded-For", ",,\t;\"["}})->body,
            "127.0.0.1");
}

TEST(Requests, ThatAHandlerThrowsAtAreAnsweredWithoutTheReason) {
  Settings settings;
  std::string reported;
  settings.failed = [&](std::string_view path, std::string_view what) {
    reported = fmt::format("{}: {}", path, what);
  };
  const auto server = started(settings, {route("GET", "/bad", [](const Request&) -> Response {
                                throw std::runtime_error("secret reason");
                              })});
  httplib::Client client("127.0.0.1", server->port());
  const auto answer = client.Get("/bad");
  EXPECT_EQ(answer->status, 500);
  EXPECT_EQ(answer->get_header_value("Content-Type"), "application/problem+json");
  EXPECT_THAT(answer->body, testing::Not(HasSubstr("secret")));
  EXPECT_EQ(reported, "/bad: secret reason");
}

TEST(Guards, DecideBeforeTheHandlerAndIdentifyTheCaller) {
  Settings settings;
  settings.guard = [](const Route& asked, Request& request) -> std::optional<Response> {
    if (asked.open) return std::nullopt;
    if (request.header("authorization") == "Bearer x") return problem(401, "Unauthorized", "Who?");
    if (asked.permission != "read" || request.header("x-user").empty()) {
      return problem(403, "Forbidden", "Not you.");
    }
    request.principal = request.header("x-user");
    return std::nullopt;
  };
  std::atomic<int> handled = 0;
  std::vector<Route> routes = {
      {.method = "POST",
       .path = "/say",
       .handler =
           [&](const Request& request) {
             ++handled;
             return Response{.body = std::any_cast<const std::string&>(request.principal) +
                                     request.body};
           },
       .permission = "read"},
      {.method = "GET",
       .path = "/none",
       .handler =
           [&](const Request&) {
             ++handled;
             return Response{};
           }},
      {.method = "GET", .path = "/open", .open = true, .handler = [](const Request& request) {
         return Response{.body = request.principal.has_value() ? "somebody" : "nobody"};
       }}};
  const auto server = started(settings, routes);
  httplib::Client client("127.0.0.1", server->port());
  client.set_keep_alive(true);
  EXPECT_EQ(client.Post("/say", "body that is thrown away", "text/plain")->status, 403);
  EXPECT_EQ(client.Get("/none")->status, 403);
  const auto unknown = client.Get("/none", {{"Authorization", "Bearer x"}});
  EXPECT_EQ(unknown->status, 401);
  EXPECT_EQ(unknown->get_header_value("WWW-Authenticate"), "Bearer");
  EXPECT_EQ(handled, 0);
  EXPECT_EQ(client.Post("/say", {{"X-User", "ana:"}}, "hi", "text/plain")->body, "ana:hi");
  EXPECT_EQ(client.Get("/open")->body, "nobody");
  EXPECT_EQ(server->counts()[0].answers.at(403), 1u);
  EXPECT_EQ(server->counts()[0].body_bytes, 2u);
}

TEST(Answers, AreNotSentAgainForAMatchingEtag) {
  std::atomic<int> streamed = 0;
  const auto server = started(
      {},
      {route("GET", "/text", [](const Request&) { return Response{.body = "long", .etag = "v7"}; }),
       route("GET", "/stream",
             [&](const Request&) {
               return Response{.etag = "\"s\"", .stream = [&](const Sink& sink) {
                                 ++streamed;
                                 return sink("piece");
                               }};
             }),
       route("GET", "/missing",
             [](const Request&) { return Response{.status = 404, .body = "no", .etag = "v7"}; })});
  httplib::Client client("127.0.0.1", server->port());
  const auto first = client.Get("/text");
  EXPECT_EQ(first->get_header_value("ETag"), "\"v7\"");
  EXPECT_EQ(first->get_header_value("Cache-Control"), "private, no-cache");
  for (const char* const has : {"\"v7\"", "\"x\", W/\"v7\"", "*"}) {
    const auto again = client.Get("/text", {{"If-None-Match", has}});
    EXPECT_EQ(again->status, 304) << has;
    EXPECT_EQ(again->body, "");
    EXPECT_EQ(again->get_header_value("ETag"), "\"v7\"");
  }
  EXPECT_EQ(client.Get("/text", {{"If-None-Match", "\"v8\""}})->body, "long");
  EXPECT_EQ(client.Get("/missing", {{"If-None-Match", "\"v7\""}})->status, 404);
  EXPECT_EQ(client.Get("/stream", {{"If-None-Match", "\"s\""}})->status, 304);
  EXPECT_EQ(client.Head("/stream")->status, 200);
  EXPECT_EQ(streamed, 0);
  EXPECT_EQ(client.Get("/stream")->body, "piece");
}

TEST(Answers, BearWhatAllBearButForWhatTheySayThemselves) {
  Settings settings;
  settings.headers = {{"Content-Security-Policy", "default-src 'none'"},
                      {"X-Frame-Options", "DENY"}};
  const auto server =
      started(settings, {route("GET", "/page", [](const Request&) {
                Response response{.body = "page"};
                response.headers = {{"content-security-policy", "default-src 'self'"},
                                    {"Cache-Control", "max-age=60"}};
                return response;
              })});
  httplib::Client client("127.0.0.1", server->port());
  const auto page = client.Get("/page");
  EXPECT_EQ(page->get_header_value("Content-Security-Policy"), "default-src 'self'");
  EXPECT_EQ(page->get_header_value_count("Content-Security-Policy"), 1u);
  EXPECT_EQ(page->get_header_value("X-Frame-Options"), "DENY");
  EXPECT_EQ(page->get_header_value("Cache-Control"), "max-age=60");
  EXPECT_EQ(client.Get("/nowhere")->get_header_value("Content-Security-Policy"),
            "default-src 'none'");
  EXPECT_THAT(ask_raw(*server, std::string(10'000, 'a')), HasSubstr("X-Frame-Options: DENY"));
}

TEST(Answers, ArePackedOnceAndInPiecesAreNotAskedFor) {
  const std::string text(5000, 'a');
  const auto server =
      started({}, {route("GET", "/text",
                         [&](const Request&) {
                           return Response{.content_type = "application/json", .body = text};
                         }),
                   route("GET", "/packed", [](const Request&) {
                     Response response{.content_type = "text/css", .body = "PACKED"};
                     response.headers = {{"Content-Encoding", "br"}};
                     return response;
                   })});
  httplib::Client client("127.0.0.1", server->port());
  client.set_decompress(false);
  const auto packed = client.Get("/text", {{"Accept-Encoding", "br, gzip"}});
  EXPECT_EQ(packed->get_header_value("Content-Encoding"), "gzip");
  EXPECT_LT(packed->body.size(), 200u);
  EXPECT_EQ(client.Get("/text", {{"Accept-Encoding", "br"}})->body, text);
  EXPECT_EQ(client.Get("/text", {{"Range", "bytes=0-9"}})->body, text);
  const auto as_it_is = client.Get("/packed", {{"Accept-Encoding", "br, gzip"}});
  EXPECT_EQ(as_it_is->body, "PACKED");
  EXPECT_EQ(as_it_is->get_header_value("Content-Encoding"), "br");
  EXPECT_EQ(as_it_is->get_header_value("Content-Length"), "6");
}

TEST(Streams, ArriveInPiecesAndAreCutWhereTheyAreNotWhole) {
  const auto server = started(
      {}, {route("GET", "/rows",
                 [](const Request&) {
                   return Response{.content_type = "text/csv", .stream = [](const Sink& sink) {
                                     for (int i = 0; i < 1000; ++i) {
                                       if (!sink(fmt::format("row {}\n", i))) return false;
                                     }
                                     return true;
                                   }};
                 }),
           route("GET", "/broken",
                 [](const Request&) {
                   return Response{.stream = [](const Sink& sink) {
                     sink("begun");
                     return false;
                   }};
                 }),
           route("GET", "/throws", [](const Request&) {
             return Response{.stream = [](const Sink& sink) -> bool {
               sink("begun");
               throw std::runtime_error("no");
             }};
           })});
  httplib::Client client("127.0.0.1", server->port());
  EXPECT_THAT(client.Get("/rows")->body, testing::EndsWith("row 999\n"));
  EXPECT_FALSE(client.Get("/broken"));
  EXPECT_FALSE(client.Get("/throws"));
  // HTTP/1.0 has no chunk lengths.
  RawClient old(server->port());
  old.send("GET /rows HTTP/1.0\r\n\r\n");
  EXPECT_THAT(old.read_all(), testing::AllOf(HasSubstr("\r\n\r\nrow 0\nrow 1\n"),
                                             testing::EndsWith("row 998\nrow 999\n")));
}

// A handler of events: the first one at once, then none until the client is gone.
Route events(std::atomic<int>& open) {
  return {.method = "GET",
          .path = "/events",
          .handler =
              [&open](const Request&) {
                return Response{.content_type = "text/event-stream",
                                .stream = [&](const Sink& sink) {
                                  ++open;
                                  sink("event: live\ndata: 1\n\n");
                                  std::mutex mutex;
                                  std::condition_variable never;
                                  std::unique_lock lock(mutex);
                                  while (sink("")) never.wait_for(lock, milliseconds(5));
                                  --open;
                                  return false;
                                }};
              },
          .is_stream = true};
}

TEST(Streams, EndWhenTheClientGoes) {
  std::atomic<int> open = 0;
  const auto server = started({}, {events(open)});
  {
    RawClient client(server->port());
    client.send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_THAT(client.read_until("data: 1\n\n"), HasSubstr("text/event-stream"));
    EXPECT_EQ(open, 1);
  }
  const auto begun = steady_clock::now();
  while (open > 0 && steady_clock::now() - begun < std::chrono::seconds(10)) {
    std::this_thread::yield();
  }
  EXPECT_EQ(open, 0);
}

TEST(Streams, HavePlacesOfTheirOwn) {
  std::atomic<int> open = 0;
  Settings settings;
  settings.requests_max = 1;
  settings.streams_max = 2;
  std::vector<Route> routes = echo();
  routes.push_back(events(open));
  const auto server = started(settings, routes);
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 2; ++i) {
    clients.push_back(std::make_unique<RawClient>(server->port()));
    clients.back()->send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
    clients.back()->read_until("data: 1\n\n");
  }
  httplib::Client client("127.0.0.1", server->port());
  const auto third = client.Get("/events");
  ASSERT_TRUE(third);
  EXPECT_EQ(third->status, 503);
  EXPECT_EQ(third->get_header_value("Retry-After"), "5");
  EXPECT_EQ(client.Get("/health")->body, "ok");
}

TEST(Streams, AreSharedOutBetweenUsers) {
  std::atomic<int> open = 0;
  Settings settings;
  settings.streams_max = 4;
  settings.streams_per_user_max = 2;
  settings.guard = [](const Route&, Request& request) -> std::optional<Response> {
    request.principal_key = request.header("x-user");
    return std::nullopt;
  };
  const auto server = started(settings, {events(open)});
  std::vector<std::unique_ptr<RawClient>> clients;
  const auto status = [&](const std::string& user) {
    clients.push_back(std::make_unique<RawClient>(server->port()));
    clients.back()->send(
        fmt::format("GET /events HTTP/1.1\r\nHost: x\r\nX-User: {}\r\n\r\n", user));
    return clients.back()->read_until("\r\n").substr(9, 3);
  };
  EXPECT_EQ(status("ana"), "200");
  EXPECT_EQ(status("ana"), "200");
  EXPECT_EQ(status("ana"), "503");
  EXPECT_EQ(status("bo"), "200");
  EXPECT_EQ(status("bo"), "200");
  EXPECT_EQ(status("cy"), "503");
  // Who closes one may open another.
  clients.front().reset();
  const auto begun = steady_clock::now();
  while (open == 4 && steady_clock::now() - begun < std::chrono::seconds(10)) {
    std::this_thread::yield();
  }
  std::string last;
  while (last != "200" && steady_clock::now() - begun < std::chrono::seconds(10)) {
    last = status("ana");
  }
  EXPECT_EQ(last, "200");
}

TEST(ConnectionLoop, EndsBodiesThatDripAndAnswersThatAreNotRead) {
  Settings settings;
  settings.idle_timeout = milliseconds(200);
  const std::string large(64u << 20, 'a');
  std::vector<Route> routes = echo();
  routes.push_back(route("GET", "/large", [&](const Request&) { return Response{.body = large}; }));
  const auto server = started(settings, routes);
  const RawClient reads_nothing(server->port());
  reads_nothing.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
  RawClient drips(server->port());
  drips.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\na");
  EXPECT_EQ(drips.read_all(), "");
  const auto begun = steady_clock::now();
  ConnectionCounts counts;
  do {
    counts = server->connection_counts();
  } while ((counts.ended[static_cast<std::size_t>(ConnectionEnd::kSlowReader)] == 0 ||
            counts.ended[static_cast<std::size_t>(ConnectionEnd::kSlowBody)] == 0) &&
           steady_clock::now() - begun < std::chrono::seconds(10));
  EXPECT_EQ(counts.ended[static_cast<std::size_t>(ConnectionEnd::kSlowReader)], 1u);
  EXPECT_EQ(counts.ended[static_cast<std::size_t>(ConnectionEnd::kSlowBody)], 1u);
  EXPECT_EQ(counts.accepted, 2u);
}

TEST(ConnectionLoop, LetsDawdlersMakeRoomForOthers) {
  Settings settings;
  settings.connections.connections_per_address_max = 4;
  const auto server = started(settings, echo());
  std::vector<std::unique_ptr<RawClient>> dawdlers;
  for (int i = 0; i < 4; ++i) {
    dawdlers.push_back(std::make_unique<RawClient>(server->port()));
    dawdlers.back()->send("GET /health HTTP/1.1\r\nA");
  }
  std::this_thread::sleep_for(milliseconds(60));
  for (int i = 0; i < 10; ++i) {
    httplib::Client client("127.0.0.1", server->port());
    ASSERT_EQ(client.Get("/health")->body, "ok");
  }
  EXPECT_EQ(dawdlers.front()->read_all(), "");
  EXPECT_GE(
      server->connection_counts().ended[static_cast<std::size_t>(ConnectionEnd::kAddressLimit)],
      1u);
}

TEST(ConnectionLoop, AnnouncesThatItWillReadABody) {
  Settings settings;
  settings.body_bytes_max = 10;
  const auto server = started(settings, echo());
  RawClient client(server->port());
  client.send(
      "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("abc");
  EXPECT_THAT(client.read_until("|abc|"), HasSubstr("HTTP/1.1 200 OK"));
  RawClient refused(server->port());
  refused.send(
      "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 30\r\n\r\n");
  EXPECT_THAT(refused.read_all(), testing::StartsWith("HTTP/1.1 413 "));
}

TEST(ConnectionLoop, KnowsItsOwnNames) {
  Settings settings;
  settings.is_known_host = [](std::string_view host) { return host == "gpu.example"; };
  std::vector<Route> routes = echo();
  routes.push_back(route("GET", "/page", [](const Request&) { return Response{.body = "page"}; }));
  routes[1].is_health = true;
  const auto server = started(settings, routes);
  httplib::Client client("127.0.0.1", server->port());
  const auto status = [&](const std::string& path, httplib::Headers headers) {
    return client.Get(path, headers)->status;
  };
  EXPECT_EQ(status("/page", {{"Host", "gpu.example"}}), 200);
  EXPECT_EQ(status("/page", {{"Host", "gpu.example:9595"}}), 200);
  EXPECT_EQ(status("/page", {{"Host", "evil.example"}}), 421);
  EXPECT_EQ(status("/page", {{"Host", "[::1]:9595"}}), 421);
  EXPECT_EQ(status("/page", {{"Host", "10.0.0.7"}, {"Authorization", "Bearer x"}}), 200);
  EXPECT_EQ(status("/health", {{"Host", "10.0.0.7:9595"}}), 200);
}

TEST(Server, ServesMoreIdleConnectionsThanItHasThreads) {
  Settings settings;
  settings.requests_max = 2;
  settings.streams_max = 0;
  const auto server = started(settings, echo());
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 50; ++i) clients.push_back(std::make_unique<RawClient>(server->port()));
  for (int round = 0; round < 2; ++round) {
    for (const auto& client : clients) client->send("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
    for (const auto& client : clients) {
      EXPECT_THAT(client->read_until("\r\n\r\nok"), testing::EndsWith("ok"));
      client->forget();
    }
  }
  httplib::Client last("127.0.0.1", server->port());
  EXPECT_EQ(last.Get("/health")->body, "ok");
}

TEST(Server, StopsAtOnceWithOpenConnections) {
  std::atomic<int> open = 0;
  std::vector<Route> routes = echo();
  routes.push_back(events(open));
  const auto server = started({}, routes);
  RawClient silent(server->port());
  RawClient kept(server->port());
  kept.send("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(kept.read_until("ok"), HasSubstr("Keep-Alive"));
  RawClient slow(server->port());
  slow.send("GET /hea");
  RawClient listening(server->port());
  listening.send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
  listening.read_until("data: 1\n\n");
  const auto begun = steady_clock::now();
  server->stop();
  EXPECT_LT(steady_clock::now() - begun, milliseconds(1500));
  EXPECT_EQ(open, 0);
  EXPECT_EQ(silent.read_all(), "");
  // The cut stream does not end as if it were complete.
  EXPECT_THAT(listening.read_all(), testing::Not(testing::EndsWith("0\r\n\r\n")));
}

TEST(Server, DisconnectsClientsThatSendOneByteNowAndThen) {
  Settings settings;
  settings.idle_timeout = milliseconds(200);
  const auto server = started(settings, echo());
  RawClient drips(server->port());
  std::atomic<bool> is_over = false;
  std::thread dripping([&] {
    drips.send("GET /health HTTP/1.1\r\nHost: x\r\nA: ");
    while (!is_over) {
      drips.send("a");
      std::this_thread::yield();
    }
  });
  const auto begun = steady_clock::now();
  const std::string answer = drips.read_all();
  EXPECT_LT(steady_clock::now() - begun, std::chrono::seconds(10));
  EXPECT_THAT(answer, testing::Not(HasSubstr("200 OK")));
  is_over = true;
  dripping.join();
}

// A key and a certificate for localhost, as PEM files that are removed at the end.
class Certificate {
 public:
  Certificate() {
    std::string folder = (std::filesystem::temp_directory_path() / "server-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) ADD_FAILURE() << "no folder for the test";
    folder_ = folder;
    const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
    const std::unique_ptr<X509, void (*)(X509*)> cert(X509_new(), X509_free);
    ASN1_INTEGER_set(X509_get_serialNumber(cert.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(cert.get()), 0);
    X509_gmtime_adj(X509_getm_notAfter(cert.get()), 3600);
    X509_set_pubkey(cert.get(), key.get());
    X509_NAME* const name = X509_get_subject_name(cert.get());
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
    X509_set_issuer_name(cert.get(), name);
    const std::unique_ptr<X509_EXTENSION, void (*)(X509_EXTENSION*)> names(
        X509V3_EXT_nconf_nid(nullptr, nullptr, NID_subject_alt_name,
                             "DNS:gpu.example.com, IP:10.0.0.1, DNS:*.gpu.example.com"),
        X509_EXTENSION_free);
    X509_add_ext(cert.get(), names.get(), -1);
    X509_sign(cert.get(), key.get(), EVP_sha256());
    const std::unique_ptr<BIO, void (*)(BIO*)> cert_file(BIO_new_file(cert_path().c_str(), "w"),
                                                         BIO_free_all);
    PEM_write_bio_X509(cert_file.get(), cert.get());
    const std::unique_ptr<BIO, void (*)(BIO*)> key_file(BIO_new_file(key_path().c_str(), "w"),
                                                        BIO_free_all);
    PEM_write_bio_PrivateKey(key_file.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  }
  ~Certificate() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Certificate(const Certificate&) = delete;
  Certificate& operator=(const Certificate&) = delete;
  std::string cert_path() const { return folder_ + "/cert.pem"; }
  std::string key_path() const { return folder_ + "/key.pem"; }

 private:
  std::string folder_;
};

TEST(Tls, CarriesLargeBodiesBothWaysAndStreams) {
  const Certificate certificate;
  Settings settings;
  settings.cert_file = certificate.cert_path();
  settings.key_file = certificate.key_path();
  std::atomic<int> open = 0;
  std::vector<Route> routes = echo();
  routes.push_back(route("GET", "/secure", [](const Request& request) {
    return Response{.body = request.secure ? "secure" : "plain"};
  }));
  routes.push_back(events(open));
  const auto server = started(settings, routes);
  httplib::SSLClient client("127.0.0.1", server->port());
  client.enable_server_certificate_verification(false);
  client.set_keep_alive(true);
  EXPECT_EQ(client.Get("/secure")->body, "secure");
  std::string large;
  for (int i = 0; large.size() < (8u << 20); ++i) large += fmt::format("{} ", i);
  for (int i = 0; i < 2; ++i) {
    const auto answer = client.Post("/echo", large, "application/octet-stream");
    ASSERT_TRUE(answer);
    EXPECT_TRUE(answer->body == "|" + large + "|");
  }
  // A client without TLS is disconnected, and one that only connected as soon as the server stops.
  RawClient plain(server->port());
  plain.send("GET /secure HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(plain.read_all(), testing::Not(HasSubstr("secure")));
  std::string first;
  std::atomic<bool> has_heard = false;
  std::thread listening([&] {
    httplib::SSLClient other("127.0.0.1", server->port());
    other.enable_server_certificate_verification(false);
    other.Get("/events", [&](const char* data, std::size_t size) {
      first.append(data, size);
      has_heard = true;
      return true;
    });
    has_heard = true;
  });
  while (!has_heard) std::this_thread::yield();
  const auto begun = steady_clock::now();
  server->stop();
  EXPECT_LT(steady_clock::now() - begun, milliseconds(1500));
  listening.join();
  EXPECT_THAT(first, HasSubstr("data: 1"));
}

TEST(Tls, TheOldestHandshakeMakesRoomForOthers) {
  const Certificate certificate;
  Settings settings;
  settings.cert_file = certificate.cert_path();
  settings.key_file = certificate.key_path();
  settings.connections.handshakes_max = 3;
  const auto server = started(settings, echo());
  std::vector<std::unique_ptr<RawClient>> beginners;
  for (int i = 0; i < 3; ++i) {
    beginners.push_back(std::make_unique<RawClient>(server->port()));
    beginners.back()->send(std::string("\x16\x03\x01\0\1\1", 6));  // a record, of a longer message
  }
  // Whose first message is not whole takes no place.
  std::vector<std::unique_ptr<RawClient>> slow;
  for (int i = 0; i < 5; ++i) {
    slow.push_back(std::make_unique<RawClient>(server->port()));
    slow.back()->send("\x16\x03");
  }
  std::this_thread::sleep_for(milliseconds(60));
  httplib::SSLClient client("127.0.0.1", server->port());
  client.enable_server_certificate_verification(false);
  EXPECT_EQ(client.Get("/health")->body, "ok");
  EXPECT_EQ(beginners.front()->read_all(), "");
  // One that is complete takes no place among them.
  EXPECT_EQ(client.Get("/health")->body, "ok");
  EXPECT_EQ(
      server->connection_counts().ended[static_cast<std::size_t>(ConnectionEnd::kHandshakeLimit)],
      1u);
}

TEST(Tls, TakesARenewedCertificateWithoutARestart) {
  const Certificate first, second;
  const auto opened = TlsCertificate::open({first.cert_path(), first.key_path()});
  ASSERT_TRUE(opened);
  TlsCertificate& certificate = **opened;
  const auto before = certificate.current();
  EXPECT_TRUE(certificate.reload_if_changed());
  EXPECT_EQ(certificate.current(), before);
  // A certificate without its key is not used, and said once.
  std::filesystem::remove(first.cert_path());
  std::filesystem::copy_file(second.cert_path(), first.cert_path());
  EXPECT_FALSE(certificate.reload_if_changed());
  EXPECT_TRUE(certificate.reload_if_changed());
  EXPECT_EQ(certificate.current(), before);
  std::filesystem::remove(first.key_path());
  std::filesystem::copy_file(second.key_path(), first.key_path());
  EXPECT_TRUE(certificate.reload_if_changed());
  EXPECT_NE(certificate.current(), before);
}

TEST(Tls, ACertificateTellsItsNames) {
  const Certificate made;
  EXPECT_THAT(certificate_names(made.cert_path()).value(),
              testing::ElementsAre("gpu.example.com", "*.gpu.example.com"));
  EXPECT_FALSE(certificate_names(made.key_path()));
  EXPECT_FALSE(certificate_names("/nowhere.pem"));
}

TEST(Metrics, AreTextThatPrometheusReads) {
  MetricsText metrics;
  metrics.family("pennyweight_samples_total", "counter", "Samples \\ taken.");
  metrics.sample({}, 7);
  metrics.sample({{"why", "a \"b\"\\\n"}, {"cluster", "x"}}, "0.25");
  EXPECT_EQ(metrics.text(),
            "# HELP pennyweight_samples_total Samples \\\\ taken.\n"
            "# TYPE pennyweight_samples_total counter\n"
            "pennyweight_samples_total 7\n"
            "pennyweight_samples_total{why=\"a \\\"b\\\"\\\\\\n\",cluster=\"x\"} 0.25\n");
}

}  // namespace
}  // namespace pennyweight::server
