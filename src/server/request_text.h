// Parses the text of a request: its target, its cookies and If-None-Match; and matches targets
// against the patterns of routes.
//
// The target is split before it is unescaped, and each part is unescaped once: an escaped '/' is
// part of its segment, and unescaped text is never interpreted as a path again.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pennyweight::server {

struct Target {
  std::string path;                   // as sent, without the query
  std::vector<std::string> segments;  // unescaped; "/" has none, and "/a/" two: "a" and ""
  std::multimap<std::string, std::string> query;
};

// Parses a target (RFC 9112, section 3.2.1, and RFC 3986). Nothing if an escape is malformed, if
// unescaped text is not UTF-8 or has a control character (in the query only NUL is refused), or if
// there are more than kParametersMax parameters.
std::optional<Target> read_target(std::string_view text);
inline constexpr std::size_t kParametersMax = 1000;

// Parses a Cookie header (RFC 6265): "a=1; b=2". The first value of a repeated name counts.
std::map<std::string, std::string> read_cookies(std::string_view header);

// Whether If-None-Match is '*' or lists `etag` (weak comparison).
bool matches_etag(std::string_view if_none_match, std::string_view etag);

// The path of a route: "/api/v1/users/{name}".
class RoutePattern {
 public:
  // REQUIRES: it begins with '/', has no empty segments, and braces only around whole segments.
  explicit RoutePattern(std::string_view text);

  // The values of the names in braces. A segment that is empty, "." or ".." never matches.
  std::optional<std::map<std::string, std::string>> match(const Target& target) const;
  // Of two patterns that match the same target, the one whose first differing segment is literal.
  bool is_more_specific_than(const RoutePattern& other) const;

 private:
  struct Segment {
    bool is_param = false;
    std::string text;
  };
  std::vector<Segment> segments_;
};

}  // namespace pennyweight::server
