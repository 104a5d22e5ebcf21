// MessageParser: one request, parsed by Boost.Beast: its head at once, its body as it arrives.
//
// Beast bounds what it keeps: the head by the bytes that HeadScanner admitted, the body by
// limit_body(), and the line before a chunk by kChunkLineBytesMax. Nothing is reserved in advance
// for a length that a client states.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pennyweight::server {

// The line before a chunk: its size and extensions, or a trailer field.
inline constexpr std::size_t kChunkLineBytesMax = 1024;

// The reason phrase of a status: "Not Found".
std::string_view status_text(int status);

// The head of a request, in the order of the wire.
struct RequestHead {
  std::string method;
  std::string target;  // as sent
  bool is_http10 = false;
  bool keeps_alive = false;  // the client can take another answer on this connection
  std::vector<std::pair<std::string, std::string>> fields;  // names in lower case

  // The first value; "" if the field is absent.
  std::string_view field(std::string_view name) const;
};

class MessageParser {
 public:
  enum class Progress { kNeedsMore, kWhole, kMalformed, kTooLarge };

  MessageParser();
  ~MessageParser();
  MessageParser(const MessageParser&) = delete;
  MessageParser& operator=(const MessageParser&) = delete;

  // Parses a whole head, with its blank line. False: malformed.
  bool parse_head(std::string_view head, RequestHead& parsed);
  // The most bytes that the body may have. REQUIRES: the head is parsed.
  void limit_body(std::uint64_t bytes_max);
  // Parses the bytes after the head, and removes what it consumed from the front of `received`.
  // What it leaves must be passed again, with more behind it.
  Progress parse_body(std::string& received);
  // Bytes of the body so far.
  std::size_t body_bytes() const;
  std::string take_body();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pennyweight::server
