#include "core/files/output_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace pennyweight {
namespace {

TEST(OutputPath, OnlyFilesAreReplaced) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "output_path";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "there") << "old";
  EXPECT_TRUE(check_may_be_replaced(folder / "there"));
  EXPECT_TRUE(check_may_be_replaced(folder / "fresh"));
  EXPECT_TRUE(check_may_be_replaced(folder / "nowhere" / "fresh")) << "who opens it says why not";
  for (const std::string& path : {folder.string(), std::string("/dev/null")}) {
    const auto may = check_may_be_replaced(path);
    ASSERT_FALSE(may) << path;
    EXPECT_THAT(may.error().message, testing::HasSubstr("something that is not a file is there"));
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace pennyweight
