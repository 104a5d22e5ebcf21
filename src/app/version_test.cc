// The version stands in two places; this holds them together.
#include "app/version.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace pennyweight {
namespace {

TEST(Version, IsTheProjects) {
  std::ifstream file(PROJECT_ROOT "/CMakeLists.txt");
  std::stringstream text;
  text << file.rdbuf();
  const std::string want = std::string("project(pennyweight VERSION ") + kProgramVersion + " ";
  EXPECT_NE(text.str().find(want), std::string::npos);
}

}  // namespace
}  // namespace pennyweight
