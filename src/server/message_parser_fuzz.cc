// Requests in any pieces: what arrives byte by byte is read as what arrives at once, and a chunked
// body as the plain rules of RFC 9112, section 7.1, have it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/check.h"
#include "server/head_scanner.h"
#include "server/message_parser.h"

namespace {

using namespace pennyweight::server;
using Progress = MessageParser::Progress;

constexpr std::uint64_t kBodyBytesMax = 4096;
constexpr HeadLimits kFuzzedLimits{.bytes_max = 2048, .target_bytes_max = 256, .fields_max = 20};

struct ReadRequest {
  int status = -1;  // -1: not whole; 0: accepted
  RequestHead head = {};
  Framing framing = {};
  std::size_t head_bytes = 0;
  Progress progress = Progress::kNeedsMore;
  std::string body = {};
  std::string rest = {};
};

ReadRequest read_in_pieces(std::string_view sent, std::size_t piece) {
  ReadRequest read;
  HeadScanner scanner(kFuzzedLimits);
  std::size_t at = 0;
  while (at < sent.size() && !scanner.head_bytes()) {
    at = std::min(at + piece, sent.size());
    if (const auto problem = scanner.scan(sent.substr(0, at))) {
      read.status = problem->status;
      return read;
    }
  }
  if (!scanner.head_bytes()) return read;
  read.head_bytes = *scanner.head_bytes();
  const std::string_view head = sent.substr(0, read.head_bytes);
  if (const auto problem = check_head(head, read.framing)) {
    read.status = problem->status;
    return read;
  }
  MessageParser parser;
  if (!parser.parse_head(head, read.head)) {
    read.status = 400;
    return read;
  }
  read.status = 0;
  if (!read.framing.has_body()) return read;
  parser.limit_body(kBodyBytesMax);
  read.rest = sent.substr(read.head_bytes, at - read.head_bytes);
  read.progress = parser.parse_body(read.rest);
  while (read.progress == Progress::kNeedsMore && at < sent.size()) {
    const std::size_t more = std::min(piece, sent.size() - at);
    read.rest += sent.substr(at, more);
    at += more;
    read.progress = parser.parse_body(read.rest);
  }
  if (read.progress == Progress::kWhole) read.rest += sent.substr(at);
  read.body = parser.take_body();
  CHECK(read.body.size() <= kBodyBytesMax, "bodies are bounded");
  return read;
}

// The body by the plain rules, without extensions or trailers; nothing if it has some, or is wrong.
std::optional<std::string> plain_chunks(std::string_view sent) {
  std::string body;
  while (true) {
    const std::size_t end = sent.find("\r\n");
    if (end == std::string_view::npos || end == 0 || end > 8) return std::nullopt;
    std::size_t size = 0;
    for (const char c : sent.substr(0, end)) {
      const std::size_t digit = std::string_view("0123456789abcdef").find(c);
      if (digit == std::string_view::npos) return std::nullopt;
      size = size * 16 + digit;
    }
    sent.remove_prefix(end + 2);
    if (sent.size() < size + 2 || sent.substr(size, 2) != "\r\n") return std::nullopt;
    body += sent.substr(0, size);
    sent.remove_prefix(size + 2);
    if (size == 0) return body;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view sent(reinterpret_cast<const char*>(data) + 1, size - 1);
  const ReadRequest whole = read_in_pieces(sent, sent.size() + 1);
  const ReadRequest pieces = read_in_pieces(sent, 1 + data[0] % 16);
  CHECK(whole.status == pieces.status, "pieces don't matter");
  if (whole.status != 0) return 0;
  CHECK(whole.framing == pieces.framing && whole.head.fields == pieces.head.fields,
        "pieces don't matter");
  if (!whole.framing.has_body()) return 0;
  const std::string_view after = sent.substr(whole.head_bytes);
  if (whole.framing.content_length) {
    const std::uint64_t length = *whole.framing.content_length;
    CHECK(
        (whole.progress == Progress::kWhole) == (after.size() >= length && length <= kBodyBytesMax),
        "a length is a length");
    if (whole.progress == Progress::kWhole) {
      CHECK(whole.body == after.substr(0, length) && whole.rest == after.substr(length),
            "and what follows is the next request");
    }
  } else if (const auto plain = plain_chunks(after); plain && plain->size() <= kBodyBytesMax) {
    CHECK(whole.progress == Progress::kWhole && whole.body == *plain, "chunks are chunks");
  }
  if (whole.progress == Progress::kWhole) {
    CHECK(pieces.progress == Progress::kWhole && pieces.body == whole.body &&
              pieces.rest == whole.rest,
          "pieces don't matter");
  } else {
    CHECK(pieces.progress != Progress::kWhole, "pieces don't matter");
  }
  return 0;
}
