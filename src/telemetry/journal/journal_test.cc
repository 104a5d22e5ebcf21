#include "telemetry/journal/journal.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

namespace pennyweight::journal {
namespace {

using ::testing::HasSubstr;

class Folder {
 public:
  Folder() {
    std::array<char, 64> name = {"/tmp/pennyweight-journal-XXXXXX"};
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A disk that fails on request.
struct FaultyDisk : Disk {
  std::int64_t room = -1;      // bytes until ENOSPC; -1: enough
  std::size_t bite = 1 << 30;  // at most so many bytes a write
  bool sync_fails = false;
  bool truncate_fails = false;
  std::atomic<int> syncs = 0;

  std::int64_t write(int file, const char* bytes, std::size_t size) override {
    size = std::min(size, bite);
    if (room >= 0) {
      if (room == 0) {
        errno = ENOSPC;
        return -1;
      }
      size = std::min(size, static_cast<std::size_t>(room));
      room -= static_cast<std::int64_t>(size);
    }
    return Disk::write(file, bytes, size);
  }
  int sync_data(int) override {
    ++syncs;
    if (!sync_fails) return 0;  // no test pulls the plug
    errno = EIO;
    return -1;
  }
  int sync(int) override { return 0; }
  int truncate(int file, std::uint64_t size) override {
    if (!truncate_fails) return Disk::truncate(file, size);
    errno = EIO;
    return -1;
  }
};

std::unique_ptr<Journal> open(const std::string& folder, Disk* disk = nullptr,
                              std::uint64_t segment_bytes_max = kSegmentBytesMax) {
  auto journal =
      Journal::open({.folder = folder, .segment_bytes_max = segment_bytes_max, .disk = disk});
  EXPECT_TRUE(journal) << journal.error().message;
  return journal ? std::move(*journal) : nullptr;
}

std::vector<std::string> all_of(Journal& journal, std::uint64_t from = 0) {
  std::vector<std::string> records;
  const auto replayed = journal.replay(from, [&](const Record& record) -> Result<void> {
    records.emplace_back(record.bytes);
    return {};
  });
  EXPECT_TRUE(replayed) << replayed.error().message;
  return records;
}

std::string newest_file(const std::string& folder) {
  std::string newest;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".journal") newest = std::max(newest, entry.path().string());
  }
  return newest;
}

void flip_byte(const std::string& path, std::uint64_t at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(at));
  const int byte = file.get();
  file.seekp(static_cast<std::streamoff>(at));
  file.put(static_cast<char>(byte ^ 1));
}

TEST(Journal, GivesBackWhatItWasGivenInOrder) {
  const Folder folder;
  {
    const auto journal = open(folder.path());
    EXPECT_TRUE(journal->append_durably(1, "one"));
    EXPECT_TRUE(journal->append_durably(2, ""));
    EXPECT_TRUE(journal->append_durably(3, std::string(100'000, 'x')));
  }
  const auto journal = open(folder.path());
  EXPECT_EQ(all_of(*journal), (std::vector<std::string>{"one", "", std::string(100'000, 'x')}));
  EXPECT_EQ(journal->counts().torn_tails, 0u);
}

TEST(Journal, ARecordMayComeInTwoParts) {
  const Folder folder;
  for (const std::size_t size : {0u, 1u, 7u, 300u, 5'000u, 100'000u}) {
    const std::string bytes(size / 3, 'a');
    const std::string more(size - size / 3, 'b');
    auto journal = open(folder.path());
    const auto position = journal->append(1, bytes, more);
    ASSERT_TRUE(position);
    ASSERT_TRUE(journal->wait(*position));
    journal.reset();
    EXPECT_EQ(all_of(*open(folder.path())).back(), bytes + more);
  }
}

TEST(Journal, RotatesAndDrops) {
  const Folder folder;
  const auto journal = open(folder.path());
  ASSERT_TRUE(journal->append_durably(1, "old"));
  const auto next = journal->rotate();
  ASSERT_TRUE(next);
  EXPECT_EQ(*next, 2u);
  ASSERT_TRUE(journal->append_durably(1, "new"));
  EXPECT_EQ(all_of(*journal, *next), std::vector<std::string>{"new"});
  ASSERT_TRUE(journal->drop_before(*next));
  EXPECT_EQ(journal->first_segment(), 2u);
  EXPECT_EQ(journal->counts().segments, 1u);
  // Dropped segments can't be replayed, and the caller gets an Error.
  const auto gone = journal->replay(1, [](const Record&) -> Result<void> { return {}; });
  ASSERT_FALSE(gone);
  EXPECT_THAT(gone.error().message, HasSubstr("segment 1"));
  ASSERT_TRUE(journal->drop_before(99));  // the newest stays
  EXPECT_EQ(all_of(*journal, 2), std::vector<std::string>{"new"});
}

TEST(Journal, OneProcessAtATime) {
  const Folder folder;
  const auto journal = open(folder.path());
  const auto second = Journal::open({.folder = folder.path()});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kConflict);
}

TEST(Journal, CutsAndCountsATornTail) {
  const Folder folder;
  {
    const auto journal = open(folder.path());
    ASSERT_TRUE(journal->append_durably(1, "whole"));
    ASSERT_TRUE(journal->append(1, "torn away"));
  }
  const std::string path = newest_file(folder.path());
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 3);
  {
    const auto journal = open(folder.path());
    EXPECT_EQ(journal->counts().torn_tails, 1u);
    EXPECT_EQ(all_of(*journal), std::vector<std::string>{"whole"});
    ASSERT_TRUE(journal->append_durably(1, "after"));
  }
  EXPECT_EQ(all_of(*open(folder.path())), (std::vector<std::string>{"whole", "after"}));
}

TEST(Journal, DamageToWhatWasPromisedIsAnErrorThatNamesIt) {
  const Folder folder;
  {
    const auto journal = open(folder.path());
    ASSERT_TRUE(journal->append_durably(1, "first"));
    ASSERT_TRUE(journal->append_durably(1, "second"));
  }
  flip_byte(newest_file(folder.path()), 16 + 32 + 1);  // in "first"
  const auto damaged = Journal::open({.folder = folder.path()});
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code, ErrorCode::kBadFile);
  EXPECT_THAT(damaged.error().message, HasSubstr("segment 1"));
  EXPECT_THAT(damaged.error().message, HasSubstr("byte 16"));
}

TEST(Journal, DamageInAnOlderSegmentIsAnError) {
  const Folder folder;
  const auto journal = open(folder.path());
  ASSERT_TRUE(journal->append_durably(1, "first"));
  const std::string path = newest_file(folder.path());
  ASSERT_TRUE(journal->rotate());
  flip_byte(path, std::filesystem::file_size(path) - 1);
  const auto replayed = journal->replay(0, [](const Record&) -> Result<void> { return {}; });
  ASSERT_FALSE(replayed);
  EXPECT_THAT(replayed.error().message, HasSubstr("segment 1"));
}

TEST(Journal, AMissingSegmentIsAnError) {
  const Folder folder;
  {
    const auto journal = open(folder.path());
    ASSERT_TRUE(journal->rotate());
    ASSERT_TRUE(journal->rotate());
  }
  std::filesystem::remove(folder.path() + "/segment-00000000000000000002.journal");
  const auto opened = Journal::open({.folder = folder.path()});
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("segment 2"));
}

TEST(Journal, WritesOverShortWrites) {
  const Folder folder;
  FaultyDisk disk;
  disk.bite = 3;
  EXPECT_TRUE(open(folder.path(), &disk)->append_durably(1, "in small bites"));
  EXPECT_EQ(all_of(*open(folder.path())), std::vector<std::string>{"in small bites"});
}

TEST(Journal, AFullDiskRefusesAndLeavesTheJournalSound) {
  const Folder folder;
  FaultyDisk disk;
  {
    const auto journal = open(folder.path(), &disk);
    ASSERT_TRUE(journal->append_durably(1, "before"));
    disk.room = 40;  // the head and a bit
    const auto refused = journal->append_durably(1, "does not fit in");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kIo);
    EXPECT_THAT(refused.error().message, HasSubstr("make room"));
    disk.room = -1;
    ASSERT_TRUE(journal->append_durably(1, "after"));
  }
  const auto journal = open(folder.path());
  EXPECT_EQ(all_of(*journal), (std::vector<std::string>{"before", "after"}));
  EXPECT_EQ(journal->counts().torn_tails, 0u);
}

TEST(Journal, RefusesWhereTornBytesCantBeCut) {
  const Folder folder;
  FaultyDisk disk;
  const auto journal = open(folder.path(), &disk);
  disk.room = 5;
  disk.truncate_fails = true;
  EXPECT_FALSE(journal->append_durably(1, "torn"));
  disk.room = -1;
  EXPECT_FALSE(journal->append_durably(1, "behind torn bytes"));
  EXPECT_TRUE(journal->refuses());
}

TEST(Journal, AfterAFailedSyncRefusesUntilStartedAfresh) {
  const Folder folder;
  FaultyDisk disk;
  {
    const auto journal = open(folder.path(), &disk);
    ASSERT_TRUE(journal->append_durably(1, "durable"));
    disk.sync_fails = true;
    EXPECT_FALSE(journal->append_durably(1, "who knows"));
    disk.sync_fails = false;
    EXPECT_FALSE(journal->append_durably(1, "refused"));
    EXPECT_FALSE(journal->rotate());
    ASSERT_TRUE(journal->restart());
    EXPECT_TRUE(journal->append_durably(1, "again"));
  }
  EXPECT_EQ(all_of(*open(folder.path())), (std::vector<std::string>{"durable", "again"}));
}

TEST(Journal, WhoWaitedForWhatWasCutIsNotToldThatItIsDurable) {
  const Folder folder;
  FaultyDisk disk;
  const auto journal = open(folder.path(), &disk);
  const auto early = journal->append(1, "durable");
  ASSERT_TRUE(journal->wait(*early));
  const auto late = journal->append(1, "cut");
  disk.sync_fails = true;
  EXPECT_FALSE(journal->append_durably(1, "fails"));
  disk.sync_fails = false;
  ASSERT_TRUE(journal->restart());
  EXPECT_TRUE(journal->wait(*early));
  EXPECT_FALSE(journal->wait(*late));
}

TEST(Journal, HasAnEnd) {
  const Folder folder;
  auto journal = Journal::open({.folder = folder.path(), .journal_bytes_max = 1000});
  ASSERT_TRUE(journal);
  ASSERT_TRUE((*journal)->append_durably(1, std::string(500, 'a')));
  const auto refused = (*journal)->append(1, std::string(500, 'b'));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kLimit);
  const auto next = (*journal)->rotate();
  ASSERT_TRUE(next && (*journal)->drop_before(*next));
  EXPECT_TRUE((*journal)->append_durably(1, std::string(500, 'b')));
}

TEST(Journal, WritersShareSyncs) {
  const Folder folder;
  const auto journal = open(folder.path(), nullptr, 10'000);
  constexpr int kThreads = 8;
  constexpr int kEach = 200;
  std::vector<std::thread> threads;
  std::atomic<int> failed = 0;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kEach; ++i) {
        if (!journal->append_durably(1, std::to_string(thread) + ":" + std::to_string(i))) ++failed;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  const auto records = all_of(*journal);
  EXPECT_EQ(records.size(), std::size_t{kThreads * kEach});
  EXPECT_GT(journal->counts().segments, 1u);  // rotated by itself
  std::array<int, kThreads> next = {};
  for (const auto& record : records) {  // each thread's in its order
    const auto colon = record.find(':');
    EXPECT_EQ(std::stoi(record.substr(colon + 1)), next.at(std::stoul(record.substr(0, colon)))++);
  }
}

// A child appends and prints what was acknowledged; it is killed at some moment. What it printed is
// there, once, and in order.
TEST(Journal, SurvivesKill) {
  for (int round = 0; round < 5; ++round) {
    const Folder folder;
    std::array<int, 2> pipe = {};
    ASSERT_EQ(::pipe(pipe.data()), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      auto journal = Journal::open({.folder = folder.path(), .segment_bytes_max = 5000});
      for (std::uint32_t i = 0; journal; ++i) {
        const std::string bytes = std::to_string(i) + std::string(i % 100, '.');
        if (!(*journal)->append_durably(1, bytes)) break;
        if (::write(pipe[1], &i, sizeof i) != sizeof i) break;
      }
      ::_exit(1);
    }
    ::close(pipe[1]);
    std::uint32_t promised = 0;
    const auto enough = static_cast<std::uint32_t>(20 + round * 37);
    while (promised < enough && ::read(pipe[0], &promised, sizeof promised) == sizeof promised) {
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    while (::read(pipe[0], &promised, sizeof promised) == sizeof promised) {
    }
    ::close(pipe[0]);
    const auto records = all_of(*open(folder.path()));
    ASSERT_GT(records.size(), promised);
    for (std::size_t i = 0; i < records.size(); ++i) {
      EXPECT_EQ(std::stoul(records[i]), i);
    }
  }
}

// Appends, rotations, drops, re-openings, full disks and failed syncs in any order: what was
// acknowledged and not dropped is there, in order; what was refused is not.
RC_GTEST_PROP(JournalProperty, KeepsWhatItAcknowledged, (std::vector<std::uint16_t> steps)) {
  const Folder folder;
  FaultyDisk disk;
  std::vector<std::pair<std::uint64_t, std::string>> promised;  // segment, bytes
  auto journal = open(folder.path(), &disk, 400);
  const auto segment_now = [&] {
    const auto counts = journal->counts();
    return journal->first_segment() + counts.segments - 1;
  };
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::string bytes = std::to_string(i) + std::string(steps[i] % 97, 'b');
    switch (steps[i] % 8) {
      case 0:
        RC_ASSERT(journal->rotate().has_value());
        break;
      case 1: {
        const auto next = journal->rotate();
        RC_ASSERT(next.has_value() && journal->drop_before(*next).has_value());
        promised.clear();
        break;
      }
      case 2:
        journal.reset();
        journal = open(folder.path(), &disk, 400);
        RC_ASSERT(journal != nullptr);
        break;
      case 3:
        disk.room = steps[i] % 60;
        if (journal->append_durably(1, bytes)) promised.emplace_back(segment_now(), bytes);
        disk.room = -1;
        break;
      case 4:
        disk.sync_fails = true;
        RC_ASSERT(!journal->append_durably(1, bytes));
        disk.sync_fails = false;
        if (journal->refuses()) RC_ASSERT(journal->restart().has_value());
        break;
      default:
        RC_ASSERT(journal->append_durably(1, bytes).has_value());
        promised.emplace_back(segment_now(), bytes);
    }
  }
  std::vector<std::string> expected;
  for (const auto& [segment, bytes] : promised) expected.push_back(bytes);
  RC_ASSERT(all_of(*journal, journal->first_segment()) == expected);
  journal.reset();
  journal = open(folder.path(), &disk, 400);
  RC_ASSERT(all_of(*journal, journal->first_segment()) == expected);
}

}  // namespace
}  // namespace pennyweight::journal
