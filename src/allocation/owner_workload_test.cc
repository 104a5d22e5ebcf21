// The workload that names an owner reads back, and nothing else does.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "allocation/distribute.h"
#include "allocation/distribute_test_scope.h"

namespace pennyweight::distribute_test {
namespace {

TEST(OwnerWorkload, SaysItsDimensionsAndReadsBack) {
  EXPECT_EQ(owner_workload({}).text(), "()");
  EXPECT_EQ(owner_workload(owner({{"user", "ann"}, {"team", "nlp"}})).text(),
            "(team=nlp,user=ann)");
  EXPECT_EQ(owner_workload(owner({{"a,b", "(x=1)%\n"}})).text(), "(a%2Cb=(x%3D1)%25%0A)");
  for (const char* bad : {"", "(", ")", "team=nlp", "(team)", "(team=nlp", "(b=1,a=2)", "(a=1,a=1)",
                          "(a=1,)", "(a=%2c)", "(a=%41)", "(a=%4)", "(a=%)", "(a=b=c)"}) {
    EXPECT_FALSE(parse_owner_workload(WorkloadId(bad)).has_value()) << bad;
  }
}

RC_GTEST_PROP(OwnerWorkload, ReadsBackWhateverTheNamesAre, ()) {
  const auto entries = *rc::gen::arbitrary<std::map<std::string, std::string>>();
  Labels labels;
  for (const auto& [key, value] : entries) {
    if (!labels.set(key, value)) RC_DISCARD("past the limits of labels");
  }
  const auto back = parse_owner_workload(owner_workload(labels));
  RC_ASSERT(back.has_value());
  RC_ASSERT(*back == labels);
}

}  // namespace
}  // namespace pennyweight::distribute_test
