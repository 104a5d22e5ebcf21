#include "core/enum_names.h"

#include <gtest/gtest.h>

namespace pennyweight {
namespace {

enum class Colour { kRed, kGreen, kBlue };

constexpr auto kColours = enum_names<Colour>({
    {Colour::kRed, "red"},
    {Colour::kGreen, "green"},
});

static_assert(kColours.name(Colour::kGreen) == "green");
static_assert(kColours.parse("red") == Colour::kRed);

TEST(EnumNames, ReadsWhatItWrites) {
  for (const auto& [value, name] : kColours.entries()) {
    EXPECT_EQ(kColours.name(value), name);
    EXPECT_EQ(kColours.parse(name), value);
  }
  EXPECT_EQ(kColours.names()[1], "green");
}

TEST(EnumNames, OtherTextsHaveNoValue) {
  for (const char* text : {"", "Red", "red ", "blue"}) {
    EXPECT_EQ(kColours.parse(text), std::nullopt) << text;
  }
}

TEST(EnumNames, AValueThatTheTableLacksIsABug) {
  EXPECT_THROW(static_cast<void>(kColours.name(Colour::kBlue)), InvariantError);
}

}  // namespace
}  // namespace pennyweight
