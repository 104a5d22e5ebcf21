// The first byte chooses the parser; the rest is its text.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/check.h"
#include "server/request_text.h"

using namespace pennyweight::server;

namespace {

std::string escaped(std::string_view text) {
  static constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

void check_target(std::string_view text) {
  const auto target = read_target(text);
  if (!target) return;
  CHECK(text.starts_with(target->path), "a path is the front of its target");
  CHECK(target->query.size() <= kParametersMax, "parameters have a limit");
  // With every byte escaped it means the same.
  std::string again;
  bool is_plain = true;
  for (const std::string& segment : target->segments) {
    CHECK(segment.find('\0') == std::string::npos, "no segment has a NUL");
    again += "/" + escaped(segment);
    is_plain = is_plain && !segment.empty() && segment != "." && segment != "..";
  }
  if (again.empty()) again = "/";
  char sign = '?';
  for (const auto& [name, value] : target->query) {
    again += sign + escaped(name) + "=" + escaped(value);
    sign = '&';
  }
  const auto same = read_target(again);
  CHECK(same && same->segments == target->segments && same->query == target->query,
        "what is read can be written and read again");
  const bool matches = RoutePattern("/{a}/{b}").match(*target).has_value();
  CHECK(matches == (is_plain && target->segments.size() == 2),
        "braces stand for any plain segment");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case 'c':
      for (const auto& [name, value] : read_cookies(text)) {
        CHECK(!name.empty() && !name.contains(';') && !value.contains(';'), "cookies end at ';'");
      }
      break;
    case 'v': {
      const std::size_t line = text.find('\n');
      if (line == std::string_view::npos) break;
      const std::string_view etag = text.substr(0, line), header = text.substr(line + 1);
      const bool has = matches_etag(header, etag);
      CHECK(matches_etag(std::string(header) + ",*", etag), "a star is any version");
      CHECK(!has || matches_etag("\"x\", " + std::string(header), etag), "one of a list is enough");
      break;
    }
    default:
      check_target(text);
  }
  return 0;
}
