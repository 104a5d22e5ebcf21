#include "server/head_scanner.h"

#include <algorithm>
#include <charconv>

#include "core/ascii.h"
#include "core/check.h"

namespace pennyweight::server {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kVersion11 = "HTTP/1.1";
constexpr std::string_view kVersion10 = "HTTP/1.0";
// Of Content-Length: fewer than any 64-bit number has, so that it can't overflow.
constexpr std::size_t kLengthDigitsMax = 18;

// RFC 9110, section 5.6.2.
constexpr bool is_token_byte(char c) {
  return ascii::is_letter_or_digit(c) || std::string_view("!#$%&'*+-.^_`|~").contains(c);
}

constexpr bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_token_byte);
}

constexpr bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7F;
}

// Methods whose requests may have a body here.
constexpr bool is_method_with_body(std::string_view method) {
  return method == "POST" || method == "PUT" || method == "PATCH" || method == "DELETE";
}

// A host with or without a port (RFC 9110, section 7.2): no user, path, list or blank.
bool is_host(std::string_view host) {
  return std::ranges::all_of(host, [](char c) {
    return ascii::is_letter_or_digit(c) || std::string_view("-._~!$&'()*+;=%:[]").contains(c);
  });
}

// The lines of a whole head, without their ends and without the blank line.
class HeadLines {
 public:
  explicit HeadLines(std::string_view head) : rest_(head) {}
  std::string_view next() {
    const std::size_t end = rest_.find(kLineEnd);
    CHECK(end != std::string_view::npos, "the scanner saw the end of every line");
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end + kLineEnd.size());
    return line;
  }

 private:
  std::string_view rest_;
};

struct RequestLine {
  std::string_view method, target, version;
};

std::optional<RequestLine> split_request_line(std::string_view line) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return std::nullopt;
  const RequestLine split{.method = line.substr(0, first),
                          .target = line.substr(first + 1, last - first - 1),
                          .version = line.substr(last + 1)};
  const bool is_visible = std::ranges::all_of(split.target, [](char c) {
    return !is_control(c) && c != ' ' && static_cast<unsigned char>(c) < 0x80;
  });
  if (!is_token(split.method) || split.target.empty() || !is_visible) return std::nullopt;
  return split;
}

// What the fields say that decides where the request ends and for whom it is.
class FieldChecker {
 public:
  explicit FieldChecker(const RequestLine& request) : request_(request) {}

  std::optional<HeadProblem> add(std::string_view line) {
    if (ascii::is_blank(line.front())) {
      return HeadProblem{400, "A header line is folded, which RFC 9112 forbids."};
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
      return HeadProblem{400, "A header is not of the form Name: value."};
    }
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = ascii::trim(line.substr(colon + 1));
    if (ascii::equal_ignoring_case(name, "host")) return add_host(value);
    if (ascii::equal_ignoring_case(name, "content-length")) return add_length(value);
    if (ascii::equal_ignoring_case(name, "transfer-encoding")) return add_coding(value);
    if (ascii::equal_ignoring_case(name, "expect")) return add_expectation(value);
    return std::nullopt;
  }

  std::optional<HeadProblem> finish(Framing& framing) const {
    if (hosts_ == 0 && request_.version == kVersion11) {
      return HeadProblem{400, "Host is missing, which version 1.1 demands."};
    }
    if (framing_.content_length && framing_.is_chunked) {
      return HeadProblem{400, "Content-Length and Transfer-Encoding contradict each other."};
    }
    if (framing_.has_body() && !is_method_with_body(request_.method)) {
      return HeadProblem{400, "A request with this method has no body."};
    }
    framing = framing_;
    return std::nullopt;
  }

 private:
  std::optional<HeadProblem> add_host(std::string_view host) {
    if (++hosts_ > 1) return HeadProblem{400, "Host is given twice."};
    if (!is_host(host)) return HeadProblem{400, "Host is not a host name or address."};
    return std::nullopt;
  }

  std::optional<HeadProblem> add_length(std::string_view value) {
    if (framing_.content_length) return HeadProblem{400, "Content-Length is given twice."};
    if (!ascii::is_all_digits(value) || value.size() > kLengthDigitsMax) {
      return HeadProblem{400, "Content-Length is not a number of bytes."};
    }
    std::uint64_t length = 0;
    std::from_chars(value.data(), value.data() + value.size(), length);
    framing_.content_length = length;
    return std::nullopt;
  }

  std::optional<HeadProblem> add_coding(std::string_view value) {
    if (framing_.is_chunked) return HeadProblem{400, "Transfer-Encoding is given twice."};
    if (request_.version != kVersion11 || !ascii::equal_ignoring_case(value, "chunked")) {
      return HeadProblem{400, "The only Transfer-Encoding is chunked, from version 1.1 on."};
    }
    framing_.is_chunked = true;
    return std::nullopt;
  }

  std::optional<HeadProblem> add_expectation(std::string_view value) {
    if (!ascii::equal_ignoring_case(value, "100-continue")) {
      return HeadProblem{417, "The only expectation that can be met is 100-continue."};
    }
    framing_.expects_continue = request_.version == kVersion11;
    return std::nullopt;
  }

  const RequestLine request_;
  int hosts_ = 0;
  Framing framing_;
};

}  // namespace

std::optional<HeadProblem> HeadScanner::scan(std::string_view received) {
  while (scanned_ < received.size() && !head_bytes_) {
    if (scanned_ >= limits_.bytes_max) return HeadProblem{431, "The headers are too long."};
    const char c = received[scanned_];
    const bool is_after_cr = scanned_ > line_begin_ && received[scanned_ - 1] == '\r';
    if (c == '\n') {
      if (!is_after_cr) return HeadProblem{400, "A line ends with LF instead of CR LF."};
      if (auto problem = end_line(received, scanned_ - 1)) return problem;
    } else if (is_after_cr) {
      return HeadProblem{400, "CR stands alone in a line."};
    } else if (is_control(c) && c != '\r' && c != '\t') {
      return HeadProblem{400, "The head has a control character."};
    }
    ++scanned_;
    if (c == '\n') line_begin_ = scanned_;
    // The version and the method take less than 64 bytes besides the target.
    if (lines_ == 0 && scanned_ > limits_.target_bytes_max + 64) {
      return HeadProblem{414, "The address is too long."};
    }
  }
  return std::nullopt;
}

std::optional<HeadProblem> HeadScanner::end_line(std::string_view received, std::size_t line_end) {
  if (line_end == line_begin_) {
    if (lines_ == 0) return HeadProblem{400, "The request line is empty."};
    head_bytes_ = line_end + kLineEnd.size();
    return std::nullopt;
  }
  if (++lines_ > limits_.fields_max + 1) return HeadProblem{431, "There are too many headers."};
  if (lines_ > 1) return std::nullopt;
  const auto request = split_request_line(received.substr(0, line_end));
  if (!request) return HeadProblem{400, "The request line is malformed."};
  // RFC 9113, section 3.4: PRI begins a connection of HTTP/2, whatever version stands behind it. A
  // recipient that speaks HTTP/2 may leave HTTP/1 here, so nothing that follows is read as HTTP/1.
  if (request->method == "PRI") {
    return HeadProblem{505, "PRI begins HTTP/2; this server speaks HTTP/1.1 and HTTP/1.0."};
  }
  if (request->version == kVersion10 || request->version == kVersion11) return std::nullopt;
  if (request->version.starts_with("HTTP/")) {
    return HeadProblem{505, "This server speaks HTTP/1.1 and HTTP/1.0."};
  }
  return HeadProblem{400, "The request line is malformed."};
}

std::optional<HeadProblem> check_head(std::string_view head, Framing& framing) {
  HeadLines lines(head);
  const auto request = split_request_line(lines.next());
  CHECK(request.has_value(), "the scanner has checked the request line");
  FieldChecker checker(*request);
  for (std::string_view line = lines.next(); !line.empty(); line = lines.next()) {
    if (auto problem = checker.add(line)) return problem;
  }
  return checker.finish(framing);
}

}  // namespace pennyweight::server
