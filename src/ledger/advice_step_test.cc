#include "ledger/advice_step.h"

#include <gtest/gtest.h>

#include "ledger/bill_statement.h"

namespace pennyweight {
namespace {

AdviceStep whole_step() {
  AdviceStep step{.advice = "8f9957ca687c",
                  .action = AdviceAction::kVerify,
                  .at = *parse_instant("2026-05-01T08:00:00Z"),
                  .by = "ana",
                  .reason = "a tab\tand a line\nand 100 %",
                  .day = *parse_date("2026-04-28"),
                  .month = "2026-03",
                  .kind = "idle",
                  .cluster = "lab",
                  .subject = "user ana",
                  .change = "End what holds GPUs without using them",
                  .workload = "(several)",
                  .work = "user ana",
                  .low = Money::zero(kUsd),
                  .expected = Money::from_ticks(-1, kUsd),
                  .high = Money::from_ticks(7, kUsd),
                  .owner = {},
                  .realised = Money::from_ticks(5, kUsd),
                  .findings = {"one", ""}};
  EXPECT_TRUE(step.owner.set("team", "nlp"));
  EXPECT_TRUE(step.owner.set("user", ""));
  return step;
}

TEST(AdviceStep, IsReadAsItIsWritten) {
  const AdviceStep step = whole_step();
  const auto read = parse_advice_step(to_text(step));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(**read, step);
  AdviceStep bare;
  bare.advice = "a";
  const auto read_bare = parse_advice_step(to_text(bare));
  ASSERT_TRUE(read_bare) << read_bare.error().message;
  EXPECT_EQ(**read_bare, bare);
}

// Programs before it, and readers of bills, take it for a statement that says nothing of a bill.
TEST(AdviceStep, IsNoStatementOfABill) {
  const auto statement = parse_bill_statement(to_text(whole_step()));
  ASSERT_TRUE(statement) << statement.error().message;
  EXPECT_EQ(*statement, BillStatement());
  const auto none = parse_advice_step(to_text(BillStatement()));
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->has_value());
}

TEST(AdviceStep, ARecordThatIsCutIsRefused) {
  const std::string whole = to_text(whole_step());
  for (std::size_t end = 7; end + 1 < whole.size(); ++end) {
    const std::string cut = whole.substr(0, end);
    const auto read = parse_advice_step(cut);
    if (read && *read) {
      EXPECT_NE(**read, whole_step()) << cut;
    }
  }
  EXPECT_FALSE(parse_advice_step("advice\tx\tforget\n"));
  EXPECT_FALSE(parse_advice_step("advice\tx\n"));
}

}  // namespace
}  // namespace pennyweight
