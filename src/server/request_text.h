// What of a request's text we read ourselves: its target, its cookies, the versions that the asker
// has; and the patterns of routes, which are held against the target.
//
// The target is split before it is unescaped, and each part is unescaped once: an escaped '/' is a
// letter of its segment, and nothing that was unescaped is looked at as a path again.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pennyweight::server {

struct Target {
  std::string path;                   // as it came, without the query
  std::vector<std::string> segments;  // unescaped; of "/" none, and of "/a/" two: "a" and ""
  std::multimap<std::string, std::string> query;
};

// RFC 9112, section 3.2.1, and RFC 3986. Nothing where an escape is none, where what it stands for
// is no UTF-8 or a control character (in the query only NUL is refused), or where there are more
// than kParametersMax parameters.
std::optional<Target> read_target(std::string_view text);
inline constexpr std::size_t kParametersMax = 1000;

// RFC 6265: "a=1; b=2". Of a name that is there twice the first counts.
std::map<std::string, std::string> read_cookies(std::string_view header);

// Whether one of the versions of If-None-Match is `etag` (weakly compared), or '*'.
bool has_version(std::string_view if_none_match, std::string_view etag);

// "/api/v1/users/{name}"
class Pattern {
 public:
  // REQUIRES: it begins with '/', has no empty segments, and braces only around whole segments.
  explicit Pattern(std::string_view text);

  // What the braces stand for. A segment that is empty, '.' or '..' never matches.
  std::optional<std::map<std::string, std::string>> match(const Target& target) const;
  // Of two patterns that match one target, the one that says more: its first letter-by-letter
  // segment stands where the other has braces.
  bool says_more_than(const Pattern& other) const;

 private:
  struct Segment {
    bool is_param = false;
    std::string text;
  };
  std::vector<Segment> segments_;
};

}  // namespace pennyweight::server
