// The version is stated in two places, which must agree.
#include "app/context/version.h"

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
