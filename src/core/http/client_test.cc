// The client against a loopback server, with TLS where it matters.
#include "core/http/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <zlib.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <latch>
#include <thread>

#include "core/check.h"

namespace pennyweight::http {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;
using SteadyClock = std::chrono::steady_clock;

// Runs a server during its own lifetime. REQUIRES: its routes are set before start().
template <class Server>
struct Running {
  template <class... Args>
  explicit Running(Args... args) : server(args...) {}
  void start() {
    port = server.bind_to_any_port("127.0.0.1");
    ASSERT_GT(port, 0);
    thread = std::thread([this] { server.listen_after_bind(); });
    while (!server.is_running()) std::this_thread::sleep_for(milliseconds(1));
  }
  ~Running() {
    server.stop();
    if (thread.joinable()) thread.join();
  }
  std::string url(const std::string& path, const std::string& scheme = "http") const {
    return scheme + "://127.0.0.1:" + std::to_string(port) + path;
  }
  Server server;
  int port = 0;
  std::thread thread;
};
using Plain = Running<httplib::Server>;
using Tls = Running<httplib::SSLServer>;

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "http_test.XXXXXX").string();
    CHECK(mkdtemp(name.data()) != nullptr, "a folder for the test");
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name) const { return path_ / name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name)) << text;
    return file(name);
  }

 private:
  std::filesystem::path path_;
};

std::string gzipped(const std::string& text) {
  z_stream stream{};
  CHECK(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK,
        "zlib starts");
  std::string out(deflateBound(&stream, text.size()) + 32, '\0');
  std::string in = text;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END, "it fits");
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string error_of(const Result<Response>& result) {
  return result ? "status " + std::to_string(result->status) : result.error().message;
}

TEST(Client, SendsWhatItIsToldAndGivesTheAnswer) {
  Plain run;
  run.server.Post("/write", [](const httplib::Request& request, httplib::Response& response) {
    response.status = 503;
    response.set_header("Retry-After", "7");
    response.set_content(request.get_header_value("X-Version") + "|" +
                             request.get_header_value("Content-Type") + "|" + request.body,
                         "text/plain");
  });
  run.start();
  Client client({});
  const auto response = client.send({.method = "POST",
                                     .url = run.url("/write"),
                                     .headers = {{"X-Version", "1"}},
                                     .body = std::string("a\0b", 3)});
  ASSERT_TRUE(response) << error_of(response);
  EXPECT_EQ(response->status, 503);
  EXPECT_EQ(response->retry_after, milliseconds(7'000));
  EXPECT_EQ(response->content_type, "text/plain");
  EXPECT_EQ(response->body, std::string("1||a\0b", 6));
}

TEST(Client, KeepsItsConnection) {
  Plain run;
  run.server.Get("/port", [](const httplib::Request& request, httplib::Response& response) {
    response.set_content(std::to_string(request.remote_port), "text/plain");
  });
  run.start();
  Client client({});
  const auto first = client.send({.url = run.url("/port")});
  const auto second = client.send({.url = run.url("/port")});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->body, second->body);
}

TEST(Client, ReadsTheTokenFileForEachRequest) {
  Plain run;
  run.server.Get("/", [](const httplib::Request& request, httplib::Response& response) {
    response.set_content(request.get_header_value("Authorization"), "text/plain");
  });
  run.start();
  Folder folder;
  Client client({.bearer_token_file = folder.write("token", "one\n")});
  EXPECT_EQ(client.send({.url = run.url("/")})->body, "Bearer one");
  folder.write("token", "two");
  EXPECT_EQ(client.send({.url = run.url("/")})->body, "Bearer two");

  for (const std::string bad : {"", "a\nb", "a\rX-Injected: 1"}) {
    folder.write("token", bad);
    EXPECT_THAT(error_of(client.send({.url = run.url("/")})), HasSubstr("bearer token file"));
  }
  folder.write("token", std::string(70'000, 'x'));
  EXPECT_THAT(error_of(client.send({.url = run.url("/")})), HasSubstr("more than 65536 bytes"));
  std::filesystem::remove(folder.file("token"));
  EXPECT_THAT(error_of(client.send({.url = run.url("/")})), HasSubstr("cannot read"));
}

TEST(Client, BasicOrBearerButNotBoth) {
  Plain run;
  run.server.Get("/", [](const httplib::Request& request, httplib::Response& response) {
    response.set_content(request.get_header_value("Authorization"), "text/plain");
  });
  run.start();
  Folder folder;
  const std::string password = folder.write("password", "open sesame\n");
  Client basic({.basic_user = "Aladdin", .basic_password_file = password});
  // The example of RFC 7617.
  EXPECT_EQ(basic.send({.url = run.url("/")})->body, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
  Client bearer({.bearer_token = "abc"});
  EXPECT_EQ(bearer.send({.url = run.url("/")})->body, "Bearer abc");
  Client both({.bearer_token = "abc", .basic_user = "Aladdin"});
  EXPECT_THAT(error_of(both.send({.url = run.url("/")})), HasSubstr("keep one"));
  Client injected({.bearer_token = "abc\r\nX-Injected: 1"});
  EXPECT_THAT(error_of(injected.send({.url = run.url("/")})), HasSubstr("control characters"));
}

TEST(Client, CountsTheBytesAfterDecoding) {
  Plain run;
  const std::string bomb = gzipped(std::string(8u << 20, '\0'));
  ASSERT_LT(bomb.size(), 10'000u);
  run.server.Get("/bomb", [&](const httplib::Request&, httplib::Response& response) {
    response.set_header("Content-Encoding", "gzip");
    response.set_content(bomb, "application/octet-stream");
  });
  run.server.Get("/large", [&](const httplib::Request&, httplib::Response& response) {
    response.set_content(std::string(100'001, 'x'), "application/octet-stream");
  });
  run.server.Get("/fits", [&](const httplib::Request&, httplib::Response& response) {
    response.set_header("Content-Encoding", "gzip");
    response.set_content(gzipped(std::string(100'000, 'x')), "application/octet-stream");
  });
  run.server.Get("/torn", [&](const httplib::Request&, httplib::Response& response) {
    response.set_header("Content-Encoding", "gzip");
    response.set_content("no gzip at all", "application/octet-stream");
  });
  run.start();
  Client client({.body_bytes_max = 100'000});
  EXPECT_THAT(error_of(client.send({.url = run.url("/bomb")})),
              HasSubstr("more than 100000 bytes"));
  EXPECT_EQ(client.send({.url = run.url("/large")}).error().code, ErrorCode::kLimit);
  const auto fits = client.send({.url = run.url("/fits")});
  ASSERT_TRUE(fits) << error_of(fits);
  EXPECT_EQ(fits->body, std::string(100'000, 'x'));
  EXPECT_FALSE(client.send({.url = run.url("/torn")}));
}

TEST(Client, ErrorsNameTheAddressAndNoSecret) {
  Client client({.connect_timeout = milliseconds(2'000)});
  // Port 1 of loopback: no server listens there.
  const std::string refused =
      error_of(client.send({.url = "http://name:secret@127.0.0.1:1/api?token=secret"}));
  EXPECT_THAT(refused, HasSubstr("http://127.0.0.1:1/api: "));
  EXPECT_THAT(refused, Not(HasSubstr("secret")));
  EXPECT_THAT(error_of(client.send({.url = "file:///etc/passwd"})), HasSubstr("protocol"));
  EXPECT_FALSE(client.send({.url = "secret secret"}));
  EXPECT_FALSE(client.send({.url = "http://127.0.0.1:1/", .headers = {{"A", "b\r\nC: d"}}}));
}

TEST(Client, WaitsNoLongerThanItShould) {
  // declared before the server, whose threads read it until they end
  std::atomic<bool> over = false;
  Plain run;
  run.server.Get("/slow", [&](const httplib::Request&, httplib::Response& response) {
    while (!over) std::this_thread::sleep_for(milliseconds(5));
    response.set_content("late", "text/plain");
  });
  run.start();
  Client client({.timeout = milliseconds(100)});
  const auto begin = SteadyClock::now();
  EXPECT_THAT(error_of(client.send({.url = run.url("/slow")})), HasSubstr("100 ms in all"));
  EXPECT_THAT(error_of(client.stream({.url = run.url("/slow")}, [](auto) { return true; })),
              HasSubstr("no byte for 100 ms"));
  EXPECT_LT(SteadyClock::now() - begin, std::chrono::seconds(5));
  over = true;
}

// (No JSON: the server would buffer it to compress it.) A piece every few milliseconds, in total
// for longer than the time-out, and then silence.
TEST(Client, StreamsForAsLongAsBytesCome) {
  // declared before the server, whose threads read it until they end
  std::atomic<bool> over = false;
  Plain run;
  run.server.Get("/watch", [&](const httplib::Request&, httplib::Response& response) {
    response.set_chunked_content_provider(
        "application/octet-stream", [&, pieces = 0](std::size_t, httplib::DataSink& sink) mutable {
          if (pieces++ < 30) {
            std::this_thread::sleep_for(milliseconds(10));
            return sink.write("{}\n", 3);
          }
          while (!over) std::this_thread::sleep_for(milliseconds(5));
          return false;
        });
  });
  run.start();
  Client client({.timeout = milliseconds(200)});
  std::string got;
  const auto result = client.stream({.url = run.url("/watch")}, [&](std::string_view bytes) {
    got += bytes;
    return true;
  });
  EXPECT_THAT(error_of(result), HasSubstr("no byte for 200 ms"));
  EXPECT_EQ(got.size(), 90u);
  over = true;
}

TEST(Client, AStreamEndsWhenTheSinkHasEnough) {
  Plain run;
  run.server.Get("/watch", [&](const httplib::Request&, httplib::Response& response) {
    response.set_chunked_content_provider("application/octet-stream",
                                          [](std::size_t, httplib::DataSink& sink) {
                                            std::this_thread::sleep_for(milliseconds(1));
                                            return sink.write("{}\n", 3);
                                          });
  });
  run.server.Get("/cut", [&](const httplib::Request&, httplib::Response& response) {
    response.set_content_provider(100, "application/octet-stream",
                                  [](std::size_t at, std::size_t, httplib::DataSink& sink) {
                                    return at == 0 && sink.write("half", 4);
                                  });
  });
  run.server.Get("/refused", [&](const httplib::Request&, httplib::Response& response) {
    response.status = 410;
    response.set_content(std::string(200'000, 'g'), "application/octet-stream");
  });
  run.start();
  Client client({});
  int pieces = 0;
  const auto enough =
      client.stream({.url = run.url("/watch")}, [&](std::string_view) { return ++pieces < 3; });
  ASSERT_TRUE(enough) << error_of(enough);
  EXPECT_EQ(enough->status, 200);
  EXPECT_EQ(enough->body, "");
  EXPECT_EQ(pieces, 3);

  EXPECT_FALSE(client.stream({.url = run.url("/cut")}, [](auto) { return true; }));
  EXPECT_FALSE(client.send({.url = run.url("/cut")}));

  // The beginning of an error response goes into the Error; the sink gets none of it.
  const auto refused = client.stream({.url = run.url("/refused")}, [](auto) -> bool {
    ADD_FAILURE() << "no part of the stream";
    return true;
  });
  ASSERT_TRUE(refused) << error_of(refused);
  EXPECT_EQ(refused->status, 410);
  EXPECT_EQ(refused->body, std::string(65'536, 'g'));

  // An exception of a sink reaches the caller, and the client still works afterwards.
  EXPECT_THROW(static_cast<void>(
                   client.stream({.url = run.url("/watch")},
                                 [](std::string_view) -> bool { throw std::runtime_error("no"); })),
               std::runtime_error);
  EXPECT_EQ(client.send({.url = run.url("/refused")})->status, 410);
}

TEST(Client, StopsFromAnotherThread) {
  // declared before the server, whose threads read it until they end
  std::atomic<bool> over = false;
  Plain run;
  std::latch asked(1);
  run.server.Get("/slow", [&](const httplib::Request&, httplib::Response&) {
    asked.count_down();
    while (!over) std::this_thread::sleep_for(milliseconds(5));
  });
  run.start();
  Client client({.timeout = milliseconds(60'000)});
  std::string said;
  SteadyClock::time_point ended;
  std::thread waits([&] {
    said = error_of(client.send({.url = run.url("/slow")}));
    ended = SteadyClock::now();
  });
  asked.wait();
  const auto stopped_at = SteadyClock::now();
  client.stop();
  waits.join();
  EXPECT_THAT(said, HasSubstr("stopped"));
  EXPECT_LT(ended - stopped_at, std::chrono::seconds(2));
  EXPECT_THAT(error_of(client.send({.url = run.url("/slow")})), HasSubstr("stopped"));
  over = true;
}

TEST(Client, FollowsRedirectsWithinTheServerAlone) {
  Plain other;
  std::atomic<int> reached = 0;
  other.server.Get("/landed", [&](const httplib::Request& request, httplib::Response& response) {
    ++reached;
    response.set_content("other " + request.get_header_value("Authorization"), "text/plain");
  });
  other.start();
  Plain run;
  run.server.Get("/away", [&](const httplib::Request&, httplib::Response& response) {
    response.set_redirect(other.url("/landed"));
  });
  run.server.Get("/here", [&](const httplib::Request&, httplib::Response& response) {
    response.set_redirect("/landed");
  });
  run.server.Get("/landed", [&](const httplib::Request& request, httplib::Response& response) {
    response.set_content("same " + request.get_header_value("Authorization"), "text/plain");
  });
  run.server.Get("/round", [&](const httplib::Request&, httplib::Response& response) {
    response.set_redirect("/round");
  });
  run.server.Post("/away", [&](const httplib::Request&, httplib::Response& response) {
    response.set_redirect(other.url("/landed"));
  });
  run.start();
  Client with({.bearer_token = "secret"});
  EXPECT_EQ(with.send({.url = run.url("/here")})->body, "same Bearer secret");
  EXPECT_THAT(error_of(with.send({.url = run.url("/away")})), HasSubstr("is not followed"));
  // Nor without credentials: what only this machine can reach would be asked by whoever redirects.
  Client without({});
  EXPECT_EQ(without.send({.url = run.url("/here")})->body, "same ");
  EXPECT_THAT(error_of(without.send({.url = run.url("/away")})), HasSubstr("is not followed"));
  EXPECT_EQ(reached, 0);
  EXPECT_THAT(error_of(without.send({.url = run.url("/round")})),
              HasSubstr("more than 5 redirects"));
  EXPECT_EQ(without.send({.method = "POST", .url = run.url("/away"), .body = "x"})->status, 302);
}

// A certificate authority for the duration of the test, made with the program `openssl`.
struct Authority {
  Folder folder;
  std::string ca = folder.file("ca.crt");
  Authority() {
    run("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=test-ca "
        "-keyout ca.key -out ca.crt");
    issue("server", "subjectAltName=IP:127.0.0.1");
    issue("named", "subjectAltName=DNS:kubernetes.default.svc");
    issue("client", "extendedKeyUsage=clientAuth");
  }
  void issue(const std::string& name, const std::string& extension) {
    folder.write(name + ".ext", extension + "\n");
    run("req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=" + name + " -keyout " +
        name + ".key -out " + name + ".csr");
    run("x509 -req -in " + name +
        ".csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile " + name + ".ext -out " +
        name + ".crt");
  }
  void run(const std::string& arguments) const {
    const std::string command =
        "cd '" + folder.file("") + "' && openssl " + arguments + " >openssl.log 2>&1";
    CHECK(std::system(command.c_str()) == 0, "openssl makes the test's certificates");
  }
};

TEST(ClientTls, ChecksWhoAnswers) {
  const Authority authority;
  const auto file = [&](const char* name) { return authority.folder.file(name); };
  const auto hello = [](const httplib::Request& request, httplib::Response& response) {
    response.set_content("hello " + request.get_header_value("Host"), "text/plain");
  };
  const std::string crt = file("server.crt");
  const std::string key = file("server.key");
  Tls run(crt.c_str(), key.c_str());
  run.server.Get("/", hello);
  run.start();
  const std::string url = run.url("/", "https");

  Client trusts({.ca_file = authority.ca});
  const auto answer = trusts.send({.url = url});
  ASSERT_TRUE(answer) << error_of(answer);
  EXPECT_THAT(answer->body, HasSubstr("hello 127.0.0.1:"));
  // The system's authorities do not know ours.
  Client system_only({});
  EXPECT_THAT(error_of(system_only.send({.url = url})), HasSubstr("certificate"));
  Client skips({.insecure_skip_verify = true});
  EXPECT_TRUE(skips.send({.url = url}));
  Client no_file({.ca_file = file("absent.crt")});
  EXPECT_FALSE(no_file.send({.url = url}));

  // A certificate for another name: refused, unless that name is configured.
  const std::string named_crt = file("named.crt");
  const std::string named_key = file("named.key");
  Tls named(named_crt.c_str(), named_key.c_str());
  named.server.Get("/", hello);
  named.start();
  EXPECT_FALSE(trusts.send({.url = named.url("/", "https")}));
  Client by_name({.ca_file = authority.ca, .server_name = "kubernetes.default.svc"});
  const auto by_name_answer = by_name.send({.url = named.url("/", "https")});
  ASSERT_TRUE(by_name_answer) << error_of(by_name_answer);
  EXPECT_EQ(by_name_answer->body, "hello 127.0.0.1:" + std::to_string(named.port));
  EXPECT_FALSE(by_name.send({.url = url}));
}

TEST(ClientTls, ShowsItsOwnCertificate) {
  const Authority authority;
  const auto file = [&](const char* name) { return authority.folder.file(name); };
  const std::string crt = file("server.crt");
  const std::string key = file("server.key");
  Tls run(crt.c_str(), key.c_str(), authority.ca.c_str());
  run.server.Get("/", [](const httplib::Request&, httplib::Response& response) {
    response.set_content("known", "text/plain");
  });
  run.start();
  const std::string url = run.url("/", "https");
  Client known(
      {.ca_file = authority.ca, .cert_file = file("client.crt"), .key_file = file("client.key")});
  const auto answer = known.send({.url = url});
  ASSERT_TRUE(answer) << error_of(answer);
  EXPECT_EQ(answer->body, "known");
  const auto text = [&](const char* name) {
    std::ifstream in(file(name));
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  Client as_text(
      {.ca_pem = text("ca.crt"), .cert_pem = text("client.crt"), .key_pem = text("client.key")});
  const auto same = as_text.send({.url = url});
  ASSERT_TRUE(same) << error_of(same);
  EXPECT_EQ(same->body, "known");
  Client unknown({.ca_file = authority.ca});
  EXPECT_FALSE(unknown.send({.url = url}));
}

}  // namespace
}  // namespace pennyweight::http
