// Outlines as text and as JSON.
#include "reporting/outline.h"

#include <gtest/gtest.h>

namespace pennyweight {
namespace {

TEST(Outline, AlignsValuesAndEscapesNames) {
  const std::vector<OutlineSection> sections = {
      {"The bill line", {{"id", "7"}, {"resource", "n1"}}}, {"The share", {{"of\x1b[2J", "1/2"}}}};
  EXPECT_EQ(render_text(sections, {}),
            "1. The bill line\n"
            "   id         7\n"
            "   resource   n1\n"
            "\n"
            "2. The share\n"
            "   of\\x1b[2J  1/2\n");
  const std::vector<OutlineSection> wide = {{"T", {{"how", "one two three four five six"}}}};
  EXPECT_EQ(render_text(wide, {.width = 27}),
            "1. T\n"
            "   how  one two three four\n"
            "        five six\n");
  EXPECT_EQ(render_json(std::span(sections).first(1)),
            "[\n  {\"title\": \"The bill line\", \"facts\": [\n"
            "    {\"name\": \"id\", \"value\": \"7\"},\n"
            "    {\"name\": \"resource\", \"value\": \"n1\"}]}]");
}

}  // namespace
}  // namespace pennyweight
