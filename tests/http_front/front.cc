// http_front: the HTTP front of `serve` without anything behind it, to be compared with other
// readers of HTTP.
//
//   http_front read          reads cases from standard input: four bytes of length, in the order of
//                            the machine, and the bytes that a client sends; answers each with what
//                            the front reads in them, in the same form
//   http_front serve         answers on a free port of 127.0.0.1, which it prints; ends when
//                            standard input does
//
// What is read: for each whole message its request line, its fields in order, a blank line and its
// body, behind "M" and the length of all that; then a letter: E refused, I a message has begun and
// is not whole, C nothing has begun, X the connection ends after the last message.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/head_scanner.h"
#include "server/message_parser.h"
#include "server/server.h"

namespace {

using namespace pennyweight::server;

constexpr std::uint64_t kBodyBytesMax = 1u << 20;

std::string message_text(const RequestHead& head, std::string_view body) {
  std::string text =
      fmt::format("{} {} {}\n", head.method, head.target, head.is_http10 ? "1.0" : "1.1");
  for (const auto& [name, value] : head.fields) text += fmt::format("{}:{}\n", name, value);
  text += '\n';
  text += body;
  return text;
}

// Reads as server/session.cc does. The same bytes are sent to the server now and then to make sure.
std::string read_messages(std::string_view sent) {
  std::string read;
  while (true) {
    if (sent.starts_with("\r\n")) sent.remove_prefix(2);
    if (sent.empty() || sent == "\r") return read + 'C';
    HeadScanner scanner{HeadLimits{}};
    if (scanner.scan(sent)) return read + 'E';
    if (!scanner.head_bytes()) return read + 'I';
    const std::string_view head = sent.substr(0, *scanner.head_bytes());
    Framing framing;
    RequestHead parsed;
    MessageParser parser;
    if (check_head(head, framing) || !parser.parse_head(head, parsed)) return read + 'E';
    sent.remove_prefix(head.size());
    std::string body;
    if (framing.has_body()) {
      parser.limit_body(kBodyBytesMax);
      std::string rest(sent);
      const auto progress = parser.parse_body(rest);
      if (progress == MessageParser::Progress::kNeedsMore) return read + 'I';
      if (progress != MessageParser::Progress::kWhole) return read + 'E';
      sent.remove_prefix(sent.size() - rest.size());
      body = parser.take_body();
    }
    const std::string text = message_text(parsed, body);
    read += fmt::format("M{:08x}{}", text.size(), text);
    if (!parsed.keeps_alive) return read + 'X';
  }
}

bool read_exactly(char* to, std::size_t bytes) { return std::fread(to, 1, bytes, stdin) == bytes; }

void write_with_length(std::string_view bytes) {
  const auto length = static_cast<std::uint32_t>(bytes.size());
  std::fwrite(&length, sizeof length, 1, stdout);
  std::fwrite(bytes.data(), 1, bytes.size(), stdout);
}

// A case without bytes asks for what was answered so far.
int read_cases() {
  std::string sent;
  std::uint32_t length = 0;
  while (read_exactly(reinterpret_cast<char*>(&length), sizeof length)) {
    sent.resize(length);
    if (!read_exactly(sent.data(), length)) return 1;
    if (length == 0) {
      std::fflush(stdout);
    } else {
      write_with_length(read_messages(sent));
    }
  }
  return 0;
}

int serve() {
  Settings settings;
  settings.body_bytes_max = kBodyBytesMax;
  settings.requests_max = 4;
  std::vector<Route> routes;
  for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE"}) {
    routes.push_back({.method = method, .path = "/f/{id}", .handler = [](const Request& request) {
                        return Response{.body = fmt::format("{} bytes\n", request.body.size())};
                      }});
  }
  routes.push_back({.method = "GET", .path = "/canary/{id}", .handler = [](const Request& request) {
                      return Response{.body = "canary " + request.param("id") + "\n"};
                    }});
  auto server = Server::start(settings, std::move(routes));
  if (!server) {
    std::fprintf(stderr, "%s\n", server.error().message.c_str());
    return 1;
  }
  std::printf("%d\n", (*server)->port());
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc == 2 ? argv[1] : "";
  if (mode == "read") return read_cases();
  if (mode == "serve") return serve();
  std::fprintf(stderr, "usage: http_front read|serve\n");
  return 2;
}
