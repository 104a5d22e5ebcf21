// Lines are the same whatever the chunks are, and an endless one takes no memory.
#include "ingest/lines/line_feeder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/limits.h"

namespace pennyweight {
namespace {

std::string fed(std::string_view text, std::size_t chunk) {
  std::string shown;
  LineFeeder feeder([&](const FedLine& line) -> Result<void> {
    shown += fmt::format("{}{} {}\n", line.number, line.is_too_long ? "!" : "",
                         line.text.size() > 20 ? std::to_string(line.text.size()) : line.text);
    return {};
  });
  for (std::size_t at = 0; at < text.size(); at += chunk) {
    EXPECT_TRUE(feeder.feed(text.substr(at, chunk)));
  }
  EXPECT_TRUE(feeder.finish());
  return shown;
}

TEST(LineFeeder, ChunksDoNotMatter) {
  const std::string text = "a\r\n\nb c\nlast";
  for (const std::size_t chunk : {1u, 2u, 3u, 100u}) {
    EXPECT_EQ(fed(text, chunk), "1 a\n3 b c\n4 last\n") << chunk;
    EXPECT_EQ(fed("\xEF\xBB\xBF" + text, chunk), "1 a\n3 b c\n4 last\n") << chunk;
  }
}

TEST(LineFeeder, ALineThatIsTooLongIsCutAndTheNextIsWhole) {
  const std::string text = std::string(limits::kRowBytesMax * 3, 'x') + "\nnext\n";
  const std::string want = fmt::format("1! {}\n2 next\n", limits::kRejectedTextBytesMax);
  for (const std::size_t chunk : {4096u, 65'536u}) EXPECT_EQ(fed(text, chunk), want) << chunk;
}

}  // namespace
}  // namespace pennyweight
