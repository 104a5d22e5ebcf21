// A policy survives its text.
#include "config/policy_text.h"

#include <gtest/gtest.h>

#include "config/config.h"

namespace pennyweight {
namespace {

TEST(PolicyText, ReadsBackWhatItWrote) {
  Policy policy = default_config().policy;
  EXPECT_EQ(parse_policy_text(policy.text()).value().text(), policy.text());
  policy.weights = {.compute = 7, .memory = 0};
  policy.node_split = NodeSplit::kWholeNode;
  policy.time_zone = TimeZone::parse("America/Los_Angeles").value();
  policy.dimensions.push_back({"tier", {"a/b.c"}, "no tier"});
  EXPECT_EQ(parse_policy_text(policy.text()).value().text(), policy.text());
}

TEST(PolicyText, RefusesWhatItDoesNotKnow) {
  for (const char* text : {"", "basis: usage\n", "weights: {}\n"}) {
    EXPECT_FALSE(parse_policy_text(text)) << text;
  }
}

}  // namespace
}  // namespace pennyweight
