// The examples of --help, as docs/guide/cli-examples.txt has them.
#include "app/cli/examples.h"

#include <gtest/gtest.h>

namespace pennyweight {
namespace {

TEST(Examples, AreASectionsCommentsAndCommands) {
  const char* text = "# no\n## a\n# words\n$ go\n? 1\n> out\n## b\n$ stay\n";
  EXPECT_EQ(examples_section(text, "a"), "  # words\n  $ go\n");
  EXPECT_EQ(examples_section(text, "c"), "");
}

}  // namespace
}  // namespace pennyweight
