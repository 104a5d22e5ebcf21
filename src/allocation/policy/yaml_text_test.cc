// Plain where that is safe, else quoted. That YAML reads it back is tested in config/.
#include "allocation/policy/yaml_text.h"

#include <gtest/gtest.h>

namespace pennyweight {
namespace {

TEST(YamlText, QuotesWhatMeansSomethingElse) {
  const struct {
    const char* text;
    const char* want;
  } kCases[] = {
      {"team", "team"},
      {"(unowned)", "(unowned)"},
      {"app.kubernetes.io/name", "app.kubernetes.io/name"},
      {"2026 chargeback", "\"2026 chargeback\""},
      {"our rules", "our rules"},
      {"ends ", "\"ends \""},
      {"", "\"\""},
      {"no", "\"no\""},
      {"Null", "\"Null\""},
      {"1.0", "\"1.0\""},
      {"a: b", "\"a: b\""},
      {"nvidia-*", "\"nvidia-*\""},
      {"a #b", "\"a #b\""},
      {"say \"x\" \\ y", "\"say \\\"x\\\" \\\\ y\""},
      {"two\nlines\tand a bell\a", "\"two\\nlines\\tand a bell\\x07\""},
      {"Zürich", "\"Zürich\""},
      {"\u0085\u2028\uFEFF", "\"\\x85\\u2028\\uFEFF\""},
  };
  for (const auto& [text, want] : kCases) EXPECT_EQ(yaml_text(text), want);
}

TEST(YamlText, NumbersAndTimes) {
  EXPECT_EQ(permille_text(300), "0.3");
  EXPECT_EQ(permille_text(2500), "2.5");
  EXPECT_EQ(permille_text(0), "0");
  EXPECT_EQ(duration_text(0), "0s");
  EXPECT_EQ(duration_text(60'000), "60s");
  EXPECT_EQ(duration_text(120'000), "2m");
  EXPECT_EQ(duration_text(-90'000), "-90s");
  EXPECT_EQ(duration_text(3'600'000), "1h");
  EXPECT_EQ(duration_text(1500), "1500ms");
}

}  // namespace
}  // namespace pennyweight
