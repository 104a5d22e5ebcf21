// Labels: sorted, unique keys, and within their limits.
#include "core/label.h"

#include <gtest/gtest.h>

#include <string>

#include "core/limits.h"

namespace pennyweight {
namespace {

TEST(Labels, SortsByKeyAndReplaces) {
  Labels labels;
  EXPECT_TRUE(labels.empty());
  for (const auto& [key, value] :
       {Labels::Entry{"team", "nlp"}, {"app", ""}, {"user", "mia"}, {"team", "vision"}}) {
    ASSERT_TRUE(labels.set(key, value).has_value());
  }
  const std::vector<Labels::Entry> want = {{"app", ""}, {"team", "vision"}, {"user", "mia"}};
  EXPECT_EQ(labels.entries(), want);
  EXPECT_EQ(labels.find("team"), "vision");
  EXPECT_EQ(labels.find("app"), "");  // an empty value is a value
  EXPECT_FALSE(labels.find("tea").has_value());
  EXPECT_FALSE(labels.find("zone").has_value());
}

TEST(Labels, EqualWhateverTheOrderTheyCameIn) {
  Labels one, other;
  ASSERT_TRUE(one.set("a", "1") && one.set("b", "2"));
  ASSERT_TRUE(other.set("b", "2") && other.set("a", "1"));
  EXPECT_EQ(one, other);
}

TEST(Labels, KeepsToItsLimits) {
  Labels labels;
  EXPECT_TRUE(labels.set(std::string(limits::kLabelKeyBytesMax, 'k'), "v").has_value());
  EXPECT_TRUE(labels.set("k", std::string(limits::kLabelValueBytesMax, 'v')).has_value());
  const Labels before = labels;
  for (const auto& [key, value] : {Labels::Entry{"", "v"},
                                   {std::string(limits::kLabelKeyBytesMax + 1, 'k'), "v"},
                                   {"key", std::string(limits::kLabelValueBytesMax + 1, 'v')}}) {
    const auto set = labels.set(key, value);
    ASSERT_FALSE(set.has_value());
    EXPECT_EQ(set.error().code, ErrorCode::kLimit);
  }
  EXPECT_EQ(labels, before);  // a refused label changes nothing

  for (std::size_t i = labels.entries().size(); i < limits::kLabelsMax; ++i) {
    ASSERT_TRUE(labels.set("key" + std::to_string(i), "v").has_value());
  }
  EXPECT_FALSE(labels.set("one more", "v").has_value());
  EXPECT_TRUE(labels.set("k", "replaced").has_value());  // a key that is there takes no place
  EXPECT_EQ(labels.entries().size(), limits::kLabelsMax);
}

}  // namespace
}  // namespace pennyweight
