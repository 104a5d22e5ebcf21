// Any bytes of an answer give a message that fits on one line and belongs to a real error code; and
// text in front of it does not hide it.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/check.h"
#include "core/clickhouse/refusal.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto error = clickhouse::find_server_error(text);
  if (!error) return 0;
  CHECK(error->code > 0 && error->code < 100'000, "a code is a number");
  CHECK(error->words.size() <= clickhouse::kWordsBytesMax, "words have an end");
  CHECK(std::ranges::none_of(error->words, [](char c) { return (c >= 0 && c < ' ') || c == 127; }),
        "words fit on a line");
  CHECK(clickhouse::refusal_of(error->code, true) != clickhouse::Refusal::kNone, "it is refused");
  const auto behind = clickhouse::find_server_error("rows Code: none\n" + std::string(text));
  CHECK(behind && behind->code == error->code, "what stands in front hides nothing");
  return 0;
}
