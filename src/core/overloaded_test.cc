#include "core/overloaded.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>

namespace pennyweight {
namespace {

TEST(Overloaded, TheLambdaOfTheHeldTypeIsCalled) {
  const auto name = [](const std::variant<int, std::string>& held) {
    return std::visit(Overloaded{[](int) { return std::string("int"); },
                                 [](const std::string& text) { return text; }},
                      held);
  };
  EXPECT_EQ(name(7), "int");
  EXPECT_EQ(name("text"), "text");
}

}  // namespace
}  // namespace pennyweight
