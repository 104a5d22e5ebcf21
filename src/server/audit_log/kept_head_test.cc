#include "server/audit_log/kept_head.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "core/check.h"
#include "server/audit_log/line.h"

namespace pennyweight::audit_log {
namespace {

using testing::HasSubstr;

class KeptHeadTest : public testing::Test {
 protected:
  KeptHeadTest() {
    std::string name = (std::filesystem::temp_directory_path() / "kept_head_test.XXXXXX").string();
    CHECK(mkdtemp(name.data()) != nullptr, "a folder for the test");
    folder_ = name;
    files_ = LogFiles::beside(folder_ / "x.audit");
  }
  ~KeptHeadTest() override { std::filesystem::remove_all(folder_); }

  Result<std::unique_ptr<AuditLog>> open() { return AuditLog::open(files_, clock_); }
  static Entry event(const std::string& subject) {
    return {.actor = "ana",
            .peer = "",
            .action = "user.add",
            .subject = subject,
            .before = "",
            .after = "",
            .hash = ""};
  }
  void write(int lines) {
    const auto audit_log = open();
    CHECK(audit_log.has_value(), "it opens");
    for (int i = 0; i < lines; ++i) {
      CHECK((*audit_log)->append(event("user " + std::to_string(i))).has_value(), "appended");
    }
  }
  static std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  static void put(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    std::istringstream text(read(files_.log));
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  }
  void put_lines(const std::vector<std::string>& lines) const {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    put(files_.log, text);
  }
  // A log of these entries with right numbers and hashes, as anybody can make it.
  static std::vector<std::string> forge(const std::vector<Entry>& entries) {
    std::vector<std::string> lines;
    std::string before(kNoHash);
    for (Entry entry : entries) {
      entry.number = lines.size() + 1;
      lines.push_back(write_line(entry, before).value());
      before = entry.hash;
    }
    return lines;
  }
  std::vector<Entry> entries_of(const std::vector<std::string>& lines) const {
    std::vector<Entry> entries;
    for (const std::string& line : lines) entries.push_back(read_line(line).value());
    return entries;
  }

  std::filesystem::path folder_;
  LogFiles files_;
  SimulatedClock clock_{from_unix_seconds(1'700'000'000)};
};

TEST_F(KeptHeadTest, RefusesALogThatIsNotTheKeptOne) {
  write(6);
  const auto good = lines();
  const std::string head = read(files_.head), key = read(files_.key);
  const auto all = entries_of(good);
  const std::vector<std::pair<std::string, std::function<void()>>> tamperings = {
      {"the last line cut", [&] { put_lines({good.begin(), good.end() - 1}); }},
      {"four lines cut", [&] { put_lines({good.begin(), good.end() - 4}); }},
      {"all lines cut", [&] { put(files_.log, ""); }},
      {"half the last line cut", [&] { put(files_.log, read(files_.log).substr(0, 900)); }},
      {"removed", [&] { std::filesystem::remove(files_.log); }},
      {"a line added",
       [&] {
         auto more = all;
         more.push_back(event("forged"));
         put_lines(forge(more));
       }},
      {"rewritten with right hashes",
       [&] {
         auto other = all;
         other[2].subject = "user mallory";
         put_lines(forge(other));
       }},
      {"reordered with right hashes",
       [&] {
         auto other = all;
         std::swap(other[1], other[2]);
         put_lines(forge(other));
       }},
      {"one removed, and renumbered",
       [&] {
         auto other = all;
         other.erase(other.begin() + 1);
         put_lines(forge(other));
       }},
      {"head removed", [&] { std::filesystem::remove(files_.head); }},
      {"key removed", [&] { std::filesystem::remove(files_.key); }},
      {"head made up",
       [&] {
         std::string other = head;
         for (const std::size_t at : {std::size_t{20}, std::size_t{532}}) {
           other[at] = other[at] == '5' ? '4' : '5';
         }
         put(files_.head, other);
       }},
      {"head emptied", [&] { put(files_.head, ""); }},
      {"another key", [&] { put(files_.key, std::string(64, 'a') + "\n"); }},
      {"a key that is none", [&] { put(files_.key, "key\n"); }},
  };
  for (const auto& [name, work] : tamperings) {
    put_lines(good);
    put(files_.head, head);
    put(files_.key, key);
    ASSERT_TRUE(open()) << name;
    ASSERT_TRUE(verify(files_)->whole) << name;
    work();
    const auto refused = open();
    EXPECT_FALSE(refused) << name;
    const auto verdict = verify(files_);
    EXPECT_TRUE(!verdict || !verdict->whole) << name;
    const auto again = open();
    EXPECT_FALSE(again) << name << ", the second time";
  }
}

TEST_F(KeptHeadTest, FindsItWhileTheLogIsInUse) {
  write(4);
  const auto audit_log = open();
  ASSERT_TRUE(audit_log);
  auto more = entries_of(lines());
  more.push_back(event("forged"));
  const auto forged = forge(more);
  // Appended in place, as another process of ours would do.
  std::ofstream(files_.log, std::ios::app) << forged.back() << "\n";
  const auto refused = (*audit_log)->append(event("next"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("cut, continued or rewritten from outside"));
}

TEST_F(KeptHeadTest, AnAcceptedLogIsMarkedForEver) {
  write(6);
  const auto good = lines();
  put_lines({good.begin(), good.begin() + 2});
  ASSERT_FALSE(open());
  Entry why = event("the audit log");
  why.action = std::string(kAcceptedAction);
  const auto head = accept(files_, why, clock_);
  ASSERT_TRUE(head) << head.error().message;
  EXPECT_EQ(head->number, 3U);
  write(3);
  const auto verdict = verify(files_);
  ASSERT_TRUE(verdict && verdict->whole) << verdict->reason;
  ASSERT_EQ(verdict->accepted.size(), 1U);
  EXPECT_EQ(verdict->accepted[0].number, 3U);
  // Whoever removes key and head to hide that is found as well.
  std::filesystem::remove(files_.key);
  std::filesystem::remove(files_.head);
  EXPECT_FALSE(open());
}

TEST_F(KeptHeadTest, AMissingLogIsBegunAnewOnlyByAccepting) {
  write(3);
  std::filesystem::remove(files_.log);
  ASSERT_FALSE(open());
  EXPECT_FALSE(std::filesystem::exists(files_.log)) << "nothing takes its place";
  Entry why = event("the audit log");
  why.action = std::string(kAcceptedAction);
  ASSERT_TRUE(accept(files_, why, clock_));
  EXPECT_EQ(verify(files_)->accepted.size(), 1U);
}

TEST_F(KeptHeadTest, ALogOfAnEarlierVersionIsAdoptedOnce) {
  write(2);
  std::filesystem::remove(files_.key);
  std::filesystem::remove(files_.head);
  write(1);
  const auto verdict = verify(files_);
  ASSERT_TRUE(verdict && verdict->whole);
  ASSERT_EQ(verdict->adopted.size(), 1U);
  EXPECT_EQ(verdict->adopted[0].number, 3U);
  EXPECT_EQ(verdict->head.number, 4U);
  write(1);
  EXPECT_EQ(verify(files_)->adopted.size(), 1U);
  std::filesystem::remove(files_.key);
  std::filesystem::remove(files_.head);
  EXPECT_FALSE(open()) << "it had a kept head";
}

TEST_F(KeptHeadTest, EveryHeadIsAnchored) {
  files_.anchor = folder_ / "elsewhere";
  write(5);
  EXPECT_EQ(std::ranges::count(read(files_.anchor), '\n'), 5);
  EXPECT_TRUE(verify(files_)->whole);
  // Log, head and key are put back as they were before: only the anchor knows better.
  const std::string log = read(files_.log), head = read(files_.head);
  write(2);
  put(files_.log, log);
  put(files_.head, head);
  const auto verdict = verify(files_);
  ASSERT_TRUE(verdict);
  EXPECT_FALSE(verdict->whole);
  EXPECT_EQ(verdict->bad_line, 6U);
  EXPECT_THAT(verdict->reason, HasSubstr("anchor"));
  put(files_.anchor, "nonsense\n");
  EXPECT_FALSE(verify(files_));
}

TEST_F(KeptHeadTest, NothingIsAppendedThatCannotBeAnchored) {
  files_.anchor = folder_ / "no folder" / "anchor";
  const auto audit_log = open();
  ASSERT_TRUE(audit_log);
  EXPECT_FALSE((*audit_log)->append(event("user")));
  EXPECT_EQ(read(files_.log), "");
  std::filesystem::create_directories(folder_ / "no folder");
  EXPECT_TRUE((*audit_log)->append(event("user")));
  EXPECT_TRUE(verify(files_)->whole);
}

// A process is killed at any moment while it appends: the log opens again, and is whole.
TEST_F(KeptHeadTest, SurvivesBeingKilledAtAnyMoment) {
  for (int round = 0; round < 25; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      auto audit_log = AuditLog::open(files_, clock_);
      while (audit_log && (*audit_log)->append(event("user"))) {
      }
      std::_Exit(1);
    }
    ::usleep(static_cast<useconds_t>(1'000 + (round * 7'919) % 20'000));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "it was still appending";
    const auto opened = open();
    ASSERT_TRUE(opened) << opened.error().message;
    const auto verdict = verify(files_);
    ASSERT_TRUE(verdict && verdict->whole) << verdict->reason;
  }
}

// Whoever is killed while the first key and head are written leaves one of these.
TEST_F(KeptHeadTest, AKeyWithoutANameIsNamedWhereItSignedTheHead) {
  const std::string part = files_.key + ".part";
  put(part, "half of a k");
  ASSERT_TRUE(open()) << "no head was written yet";
  write(2);
  std::filesystem::rename(files_.key, part);
  write(1);
  EXPECT_TRUE(verify(files_)->whole);
  EXPECT_FALSE(std::filesystem::exists(part));
  std::filesystem::remove(files_.key);
  put(part, std::string(64, 'a') + "\n");
  const auto opened = open();
  ASSERT_FALSE(opened) << "another key was taken for its own";
  EXPECT_THAT(opened.error().message, HasSubstr("is missing"));
}

// A record that the disk has only in part counts as not written.
TEST_F(KeptHeadTest, ATornRecordLeavesTheOneBefore) {
  write(2);
  const std::string key = read(files_.key).substr(0, 64);
  const std::string before = read(files_.head);
  write(1);
  const std::string after = read(files_.head);
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i <= after.size(); i += 16) {
    for (const std::size_t begin : {std::size_t{0}, std::size_t{512}}) {
      // Of one record only the first bytes are new.
      std::string torn = after;
      const std::size_t end = begin + 512;
      if (i < begin || i > end) continue;
      torn.replace(i, end - i, before.substr(i, end - i));
      EXPECT_TRUE(KeptHead::parse(torn, key)) << begin << " " << i;
    }
  }
}

}  // namespace
}  // namespace pennyweight::audit_log
