// HeadScanner: the strict rules for the head of a request, applied while its bytes arrive.
//
// A server and a proxy in front of it must see the same requests in the same bytes. So whatever RFC
// 9112 lets one recipient repair and another refuse is refused here: bare LF, folded lines, blanks
// before a colon, a length that isn't plain digits, two lengths, two hosts, a length beside a
// transfer coding. The scanner runs before the parser and doesn't allocate; the head that it
// accepts is then parsed by Boost.Beast (server/message_parser.h), which must accept it too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pennyweight::server {

struct HeadLimits {
  std::size_t bytes_max = 32u << 10;        // the request line, the fields and the blank line
  std::size_t target_bytes_max = 8u << 10;  // of the request line
  std::size_t fields_max = 100;
};

// Why a head is refused: an HTTP status, and a sentence for the client.
struct HeadProblem {
  int status = 400;
  std::string_view detail;
  bool operator==(const HeadProblem&) const = default;
};

// Finds the end of a head that arrives in pieces. One scanner for each head.
class HeadScanner {
 public:
  explicit HeadScanner(const HeadLimits& limits) : limits_(limits) {}

  // `received` is everything since the head's first byte; bytes that were scanned before are not
  // looked at again. A problem shows as soon as its byte arrives.
  std::optional<HeadProblem> scan(std::string_view received);
  // The bytes of the head with its blank line; nothing while it is not whole.
  std::optional<std::size_t> head_bytes() const { return head_bytes_; }

 private:
  std::optional<HeadProblem> end_line(std::string_view received, std::size_t line_end);

  HeadLimits limits_;
  std::size_t scanned_ = 0;
  std::size_t line_begin_ = 0;
  std::size_t lines_ = 0;  // whole ones, the request line first
  std::optional<std::size_t> head_bytes_ = {};
};

// How the body of a request is delimited (RFC 9112, section 6).
struct Framing {
  std::optional<std::uint64_t> content_length = {};
  bool is_chunked = false;
  bool expects_continue = false;  // Expect: 100-continue
  bool has_body() const { return is_chunked || content_length.value_or(0) > 0; }
  bool operator==(const Framing&) const = default;
};

// Checks a whole head, as HeadScanner found it, line by line. ENSURES: without a problem, `framing`
// is what the head says about the body.
std::optional<HeadProblem> check_head(std::string_view head, Framing& framing);

}  // namespace pennyweight::server
