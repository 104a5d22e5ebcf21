// Any bytes as the answer of an API server, cut anywhere: the same lines as uncut, and each line an
// event or an Error.
#include <cstdint>
#include <string>
#include <vector>

#include "core/check.h"
#include "ingest/schedulers/kubernetes/list_watch_event.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  if (size == 0) return 0;
  const std::size_t piece = 1 + data[0] % 64;
  const std::string_view stream(reinterpret_cast<const char*>(data) + 1, size - 1);
  constexpr std::size_t kMost = 4096;

  std::vector<std::string> whole;
  kubernetes::EventSplitter once(kMost);
  const bool all = once.feed(stream, [&](std::string_view line) {
    whole.emplace_back(line);
    return true;
  });
  CHECK(all != once.is_over_limit(), "only the limit ends it");

  std::vector<std::string> cut;
  kubernetes::EventSplitter pieces(kMost);
  bool on = true;
  for (std::size_t at = 0; at < stream.size() && on; at += piece) {
    on = pieces.feed(stream.substr(at, piece), [&](std::string_view line) {
      cut.emplace_back(line);
      return true;
    });
  }
  CHECK(on == all && cut == whole, "however the network cuts it");
  CHECK(!all || pieces.pending_bytes() == once.pending_bytes(), "the rest is the same too");

  simdjson::dom::parser parser;
  for (const std::string& line : whole) {
    CHECK(line.size() <= kMost, "no line past the limit");
    const auto event = kubernetes::read_event(parser, line);
    if (!event) {
      CHECK(!event.error().message.empty(), "a refusal says why");
    } else if (event->type == kubernetes::EventType::kError) {
      CHECK(event->error_code >= 100 && event->error_code <= 599, "an HTTP status");
    } else {
      CHECK(!event->resource_version.empty(), "there is where to go on from");
    }
  }
  const auto page = kubernetes::read_page(parser, stream);
  CHECK(!page || !page->resource_version.empty(), "there is where to watch from");
  for (const char c : kubernetes::status_message(stream)) {
    CHECK(c >= ' ' && c <= '~', "what is shown can be printed");
  }
  return 0;
}
