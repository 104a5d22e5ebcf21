// Programs that answer, refuse, hang, flood and leave children behind.
#include "ingest/schedulers/slurm/command.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace pennyweight::slurm {
namespace {

Command shell(std::string script, std::chrono::milliseconds timeout = std::chrono::seconds(20)) {
  return {.words = {"sh", "-c", std::move(script)},
          .environment = {"PATH=/usr/bin:/bin", "TZ=Mars", "TZ=UTC"},
          .timeout = timeout};
}

TEST(Command, GivesWhatItPrints) {
  EXPECT_EQ(run_command(shell("echo one; echo aside >&2; echo two")), "one\ntwo\n");
  EXPECT_EQ(run_command(shell("cat; echo \"$TZ\"")), "UTC\n") << "no input, and the later value";
  EXPECT_EQ(run_command({.words = {"echo", "a b", "$(id)", "*"},
                         .environment = {},
                         .timeout = std::chrono::seconds(20)}),
            "a b $(id) *\n")
      << "no shell";
  const auto much = run_command(shell("head -c 3000000 /dev/zero"));
  ASSERT_TRUE(much.has_value());
  EXPECT_EQ(much->size(), 3'000'000u);
}

TEST(Command, SaysWhyItFailed) {
  const auto refused = run_command(shell("echo 'no access to slurmdbd' >&2; exit 3"));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message, "sh: it exited with 3: no access to slurmdbd");
  const auto missing = run_command(
      {.words = {"/nowhere/sacct"}, .environment = {}, .timeout = std::chrono::seconds(20)});
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(missing.error().message.starts_with("/nowhere/sacct: cannot start it"));
  const auto killed = run_command(shell("kill -9 $$"));
  ASSERT_FALSE(killed.has_value());
  EXPECT_EQ(killed.error().message, "sh: it was killed by signal 9");
}

TEST(Command, EndsWhatHangsOrFloods) {
  // The shell's own child holds the pipe open: it has to be killed too, or this would last.
  const auto hung =
      run_command(shell("echo begun >&2; sleep 300 & sleep 300", std::chrono::milliseconds(200)));
  ASSERT_FALSE(hung.has_value());
  EXPECT_EQ(hung.error().code, ErrorCode::kLimit);
  EXPECT_EQ(hung.error().message, "sh: no complete answer within 0 s: begun");
  Command flood = shell("yes");
  flood.output_bytes_max = 100'000;
  const auto flooded = run_command(flood);
  ASSERT_FALSE(flooded.has_value());
  EXPECT_EQ(flooded.error().message, "sh: it printed more than the limit of 100000 bytes");
}

}  // namespace
}  // namespace pennyweight::slurm
