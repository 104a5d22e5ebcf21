#include "core/files/file_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <filesystem>
#include <string>
#include <utility>

namespace pennyweight {
namespace {

// Whether another descriptor could lock the file now.
bool is_free(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  return file.is_open() && ::flock(file.number(), LOCK_EX | LOCK_NB) == 0;
}

TEST(FileLock, IsHeldUntilTheLastOwnerIsGone) {
  const std::string path = testing::TempDir() + "/file_lock_test";
  const std::string beside = path + ".lock";
  {
    auto lock = FileLock::beside(path);
    ASSERT_TRUE(lock) << lock.error().message;
    EXPECT_FALSE(std::filesystem::exists(path)) << "the file itself is left alone";
    EXPECT_FALSE(is_free(beside));
    const auto second = FileLock::try_beside(path);
    ASSERT_TRUE(second);
    EXPECT_FALSE(second->has_value()) << "it does not wait";
    const FileLock moved = *std::move(lock);
    EXPECT_FALSE(is_free(beside));
  }
  EXPECT_TRUE(is_free(beside));
  {
    const auto first = FileLock::try_beside(path);
    ASSERT_TRUE(first && first->has_value());
    EXPECT_FALSE(is_free(beside));
  }
  EXPECT_FALSE(FileLock::try_beside(testing::TempDir() + "/no such folder/file"));
  const FileDescriptor file(::open(beside.c_str(), O_RDWR | O_CLOEXEC));
  {
    const auto lock = FileLock::take(file.number(), LOCK_EX, beside);
    ASSERT_TRUE(lock);
    EXPECT_FALSE(is_free(beside));
  }
  EXPECT_TRUE(is_free(beside)) << "the descriptor is still open";
  EXPECT_FALSE(FileLock::beside(testing::TempDir() + "/no such folder/file"));
  std::filesystem::remove(beside);
}

}  // namespace
}  // namespace pennyweight
