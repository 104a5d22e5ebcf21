#include "app/import/backfill_state.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

namespace pennyweight {
namespace {

TEST(BackfillState, IsReadAsItWasWritten) {
  for (const bool finished : {false, true}) {
    const BackfillState state{
        .generation = 163'760'000, .done = from_unix_ms(1'772'323'200'001), .finished = finished};
    EXPECT_EQ(parse_backfill_state(to_text(state)), state);
  }
}

TEST(BackfillState, RefusesMalformedFiles) {
  const std::string good =
      to_text(BackfillState{.generation = 1, .done = from_unix_ms(0), .finished = false});
  ASSERT_TRUE(parse_backfill_state(good));
  for (std::size_t cut = 0; cut < good.size(); ++cut) {
    EXPECT_FALSE(parse_backfill_state(good.substr(0, cut))) << cut;
  }
  EXPECT_FALSE(parse_backfill_state(good + "more"));
  EXPECT_FALSE(
      parse_backfill_state("pennyweight backfill 1\ngeneration -1\ndone 2026-03-01\n"
                           "finished 0\n"));
  EXPECT_FALSE(
      parse_backfill_state("pennyweight backfill 1\ngeneration 1\ndone 2026-03-01\n"
                           "finished yes\n"));
}

TEST(BackfillState, LivesInAFolder) {
  std::string folder = (std::filesystem::temp_directory_path() / "pw-backfill-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const auto none = load_backfill_state(folder);
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
  const BackfillState state{.generation = 7, .done = from_unix_ms(1'000), .finished = true};
  ASSERT_TRUE(save_backfill_state(folder, state));
  const auto there = load_backfill_state(folder);
  ASSERT_TRUE(there);
  EXPECT_EQ(*there, state);
  EXPECT_FALSE(load_backfill_state(folder + "/backfill.state")) << "no folder";
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace pennyweight
