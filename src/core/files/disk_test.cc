#include "core/files/disk.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

namespace pennyweight {
namespace {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "disk_test.XXXXXX").string();
    path_ = ::mkdtemp(name.data()) == nullptr ? std::string() : name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct FullDisk : Disk {
  std::size_t room = 0;

  std::int64_t write(int file, const char* bytes, std::size_t size) override {
    if (room == 0) {
      errno = ENOSPC;
      return -1;
    }
    size = std::min(size, room);
    room -= size;
    return Disk::write(file, bytes, size);
  }
};

TEST(ReplaceFile, LeavesTheOldContentOrTheNew) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/state";
  ASSERT_TRUE(replace_file(path, "old"));
  FullDisk disk;
  disk.room = 2;
  const auto failed = replace_file(path, "new", disk);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kIo);
  EXPECT_TRUE(failed.error().message.ends_with("; make room on the disk"))
      << failed.error().message;
  EXPECT_EQ(*read_raw_file(path, 10), "old");
  EXPECT_FALSE(std::filesystem::exists(path + ".new"));
  disk.room = 3;
  ASSERT_TRUE(replace_file(path, "new", disk));
  EXPECT_EQ(*read_raw_file(path, 10), "new");
}

TEST(ReplaceFile, OnlyItsOwnerMayReadIt) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/state";
  ASSERT_TRUE(replace_file(path, "secret"));
  namespace fs = std::filesystem;
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(ReadRawFile, RefusesWhatIsMissingOrTooLarge) {
  const TemporaryFolder folder;
  ASSERT_TRUE(replace_file(folder.path() + "/state", "new"));
  EXPECT_EQ(read_raw_file(folder.path() + "/state", 2).error().code, ErrorCode::kLimit);
  EXPECT_EQ(read_raw_file(folder.path() + "/none", 2).error().code, ErrorCode::kNotFound);
}

TEST(SyncFolder, SaysWhichFolderIsMissing) {
  const auto synced = sync_folder("/no/such/folder");
  ASSERT_FALSE(synced);
  EXPECT_EQ(synced.error().message,
            "cannot sync the folder /no/such/folder: No such file or directory");
}

TEST(FolderOf, IsWhatStandsBeforeTheName) {
  EXPECT_EQ(folder_of("a/b/c"), "a/b/");
  EXPECT_EQ(folder_of("/c"), "/");
  EXPECT_EQ(folder_of("c"), ".");
}

}  // namespace
}  // namespace pennyweight
