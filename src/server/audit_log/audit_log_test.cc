#include "server/audit_log/audit_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "core/check.h"
#include "server/audit_log/line.h"

namespace pennyweight::audit_log {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Verdict verify_text(std::string_view bytes) {
  Verifier verification;
  verification.add(bytes);
  return verification.finish();
}

class AuditLogTest : public testing::Test {
 protected:
  AuditLogTest() {
    std::string name = (std::filesystem::temp_directory_path() / "trail_test.XXXXXX").string();
    CHECK(mkdtemp(name.data()) != nullptr, "a folder for the test");
    folder_ = name;
  }
  ~AuditLogTest() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return folder_ / "x.audit"; }
  std::unique_ptr<AuditLog> open() {
    auto audit_log = AuditLog::open(path(), clock_);
    CHECK(audit_log.has_value(), "it opens");
    return *std::move(audit_log);
  }
  static Entry entry(const std::string& subject) {
    return {.number = 0,
            .at = {},
            .actor = "ana",
            .peer = "127.0.0.1",
            .action = "user.add",
            .subject = subject,
            .before = "",
            .after = R"({"role": "viewer", "part": 0.10})",
            .hash = ""};
  }
  // A log with this many lines.
  std::vector<std::string> write(int lines) {
    const auto audit_log = open();
    for (int i = 1; i <= lines; ++i) {
      clock_.advance(std::chrono::seconds(1));
      CHECK(audit_log->append(entry("user " + std::to_string(i))).has_value(), "it is appended");
    }
    return read_lines();
  }
  std::string read() const {
    std::ifstream file(path(), std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  std::vector<std::string> read_lines() const {
    std::vector<std::string> lines;
    std::istringstream text(read());
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  }
  void put(const std::string& bytes) const {
    std::ofstream(path(), std::ios::binary | std::ios::trunc) << bytes;
  }
  void forget_kept_head() const {
    std::filesystem::remove(path() + ".head");
    std::filesystem::remove(path() + ".key");
  }
  void put_lines(const std::vector<std::string>& lines) const {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    put(text);
  }
  Verdict verdict(const std::optional<Head>& known = {}) const {
    const auto found = verify(path(), known);
    CHECK(found.has_value(), "it can be read");
    return *found;
  }

  std::filesystem::path folder_;
  SimulatedClock clock_{from_unix_seconds(1'700'000'000)};
};

TEST_F(AuditLogTest, KeepsEntriesToTheLetter) {
  const auto audit_log = open();
  Entry odd = entry("a \"quoted\"\\\n\x01 name, ü");
  odd.before = "{ \"costs\" : [1.50, \"a  b\"] }";
  const auto head = audit_log->append(odd);
  ASSERT_TRUE(head) << head.error().message;
  EXPECT_EQ(head->number, 1U);
  const auto entries = audit_log->entries(0, 10, {});
  ASSERT_TRUE(entries) << entries.error().message;
  ASSERT_EQ(entries->size(), 1U);
  EXPECT_EQ((*entries)[0].subject, odd.subject);
  EXPECT_EQ((*entries)[0].before, R"({"costs":[1.50,"a  b"]})");
  EXPECT_EQ((*entries)[0].after, R"({"role":"viewer","part":0.10})");
  EXPECT_EQ((*entries)[0].at, clock_.now());
  EXPECT_EQ((*entries)[0].hash, head->hash);
  EXPECT_EQ(read_lines().size(), 1U);
}

TEST_F(AuditLogTest, HasKnownBytes) {
  // The hash as printed by `printf '%s' 64_ZEROS LINE_WITHOUT_HASH
  // sha256sum`.
  write(1);
  EXPECT_EQ(read(), R"({"number":1,"at":"2023-11-14T22:13:21Z","actor":"ana","peer":"127.0.0.1",)"
                    R"("action":"user.add","subject":"user 1","before":null,)"
                    R"("after":{"role":"viewer","part":0.10},)"
                    R"("hash":"731c77199294fc2d614fad5f9223266f1226b6de21c4ed94f95a539f75276d6a"})"
                    "\n");
}

TEST_F(AuditLogTest, RefusesWhatIsOverItsLimits) {
  const auto audit_log = open();
  Entry entry = this->entry(std::string(kNameBytesMax + 1, 'x'));
  EXPECT_EQ(audit_log->append(entry).error().code, ErrorCode::kLimit);
  entry = this->entry("\xff");
  EXPECT_EQ(audit_log->append(entry).error().code, ErrorCode::kBadValue);
  entry = this->entry("x");
  entry.after = "{\"a\":";
  EXPECT_EQ(audit_log->append(entry).error().code, ErrorCode::kBadValue);
  entry.after = "\"" + std::string(kJsonBytesMax, 'x') + "\"";
  EXPECT_EQ(audit_log->append(entry).error().code, ErrorCode::kLimit);
  EXPECT_EQ(read(), "") << "and nothing is written";
  entry.subject = std::string(kNameBytesMax, '\x01');  // each is six bytes
  entry.after = "\"" + std::string(kJsonBytesMax - 2, 'x') + "\"";
  EXPECT_TRUE(audit_log->append(entry));
  EXPECT_TRUE(verdict().whole);
}

TEST_F(AuditLogTest, GivesTheNewestFirst) {
  write(300);
  const auto audit_log = open();
  const auto numbers = [&](std::uint64_t before, std::size_t at_most, const auto& passes) {
    const auto entries = audit_log->entries(before, at_most, passes);
    std::vector<std::uint64_t> found;
    for (const Entry& each : *entries) found.push_back(each.number);
    return found;
  };
  EXPECT_THAT(numbers(0, 3, nullptr), ElementsAre(300, 299, 298));
  EXPECT_THAT(numbers(3, 3, nullptr), ElementsAre(2, 1));
  EXPECT_THAT(numbers(200, 2, [](const Entry& each) { return each.number % 50 == 0; }),
              ElementsAre(150, 100));
  EXPECT_EQ(numbers(0, 1000, nullptr).size(), 300U);
}

TEST_F(AuditLogTest, GoesOnWhereItEnded) {
  write(2);
  const auto audit_log = open();
  EXPECT_EQ(audit_log->head()->number, 2U);
  EXPECT_EQ(audit_log->append(entry("c"))->number, 3U);
  EXPECT_EQ(verdict().head, *audit_log->head());
  EXPECT_TRUE(verdict().whole);
}

TEST_F(AuditLogTest, SeesWhatAnotherHasAppended) {
  const auto one = open();
  const auto other = open();
  ASSERT_TRUE(one->append(entry("a")));
  ASSERT_TRUE(other->append(entry("b")));
  ASSERT_TRUE(one->append(entry("c")));
  EXPECT_EQ(other->head()->number, 3U);
  EXPECT_EQ(other->entries(0, 9, {})->size(), 3U);
  EXPECT_TRUE(verdict().whole);
}

// Every bit of every byte is flipped, and some bytes are replaced whole: all 256 values of each
// byte would take minutes.
TEST_F(AuditLogTest, FindsOneAlteredByteAnywhere) {
  write(3);
  const std::string good = read();
  ASSERT_TRUE(verify_text(good).whole);
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    const auto line = static_cast<std::uint64_t>(
        1 + std::count(good.begin(), good.begin() + std::int64_t(i), '\n'));
    std::set<char> others = {'\n', '\0', ' ', '"', '0', 'A'};
    for (unsigned bit = 0; bit < 8; ++bit) {
      others.insert(static_cast<char>(static_cast<unsigned char>(good[i]) ^ (1U << bit)));
    }
    for (const char other : others) {
      if (other == good[i]) continue;
      bad[i] = other;
      const Verdict found = verify_text(bad);
      EXPECT_FALSE(found.whole) << i << ": " << static_cast<int>(other);
      EXPECT_EQ(found.bad_line, line) << i << ": " << static_cast<int>(other);
      EXPECT_NE(found.reason, "");
    }
    bad = good;
    bad.erase(i, 1);
    EXPECT_FALSE(verify_text(bad).whole) << "without byte " << i;
  }
}

// The same through the file, at one byte of each line.
TEST_F(AuditLogTest, FindsAnAlteredByteInTheFile) {
  write(3);
  const std::string good = read();
  std::size_t at = 0;
  for (std::uint64_t line = 1; line <= 3; ++line) {
    std::string bad = good;
    const std::size_t role = good.find("viewer", at);
    bad[role] = 'V';
    put(bad);
    EXPECT_FALSE(verdict().whole);
    EXPECT_EQ(verdict().bad_line, line);
    EXPECT_EQ(verdict().head.number, line - 1);
    EXPECT_THAT(verdict().reason, HasSubstr("changed"));
    at = role + 1;
  }
}

TEST_F(AuditLogTest, FindsLinesThatAreRemovedInsertedOrSwapped) {
  const auto lines = write(5);
  const auto found = [&](std::vector<std::string> other) {
    put_lines(other);
    const Verdict verdict = this->verdict();
    EXPECT_FALSE(verdict.whole);
    return verdict;
  };
  EXPECT_EQ(found({lines[0], lines[1], lines[3], lines[4]}).bad_line, 3U);
  EXPECT_THAT(found({lines[0], lines[2]}).reason, HasSubstr("a line is missing before it"));
  EXPECT_THAT(found({lines[0], lines[4]}).reason, HasSubstr("lines are missing before it"));
  EXPECT_EQ(found({lines[1], lines[2]}).bad_line, 1U);
  EXPECT_EQ(found({lines[0], lines[1], lines[1], lines[2]}).bad_line, 3U);
  EXPECT_EQ(found({lines[0], lines[2], lines[1], lines[3]}).bad_line, 2U);
  EXPECT_EQ(found({lines[0], "", lines[1]}).bad_line, 2U);
  // An inserted line with a right number and a right hash of its own breaks the next line.
  Entry forged = entry("forged");
  forged.number = 2;
  const auto first = read_line(lines[0]);
  const auto line = write_line(forged, first->hash);
  EXPECT_EQ(found({lines[0], *line, lines[2]}).bad_line, 3U);
}

TEST_F(AuditLogTest, FindsACutTailWhereTheHeadIsKnown) {
  const auto lines = write(4);
  const Head head = verdict().head;
  EXPECT_TRUE(verdict(head).whole);
  put_lines({lines[0], lines[1]});
  EXPECT_TRUE(verdict().whole) << "the log alone does not show it";
  EXPECT_FALSE(verdict(head).whole);
  EXPECT_EQ(verdict(head).bad_line, 3U);
  EXPECT_THAT(verdict(head).reason, HasSubstr("ends with number 2, and number 4 is known"));
  // Rewritten from the third line on, by somebody who removed the kept head as well.
  forget_kept_head();
  const auto audit_log = open();
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(audit_log->append(entry("other")));
  EXPECT_TRUE(verdict().whole);
  EXPECT_EQ(verdict(head).bad_line, 4U);
  EXPECT_THAT(verdict(head).reason, HasSubstr("rewritten"));
  // An older head is fine.
  EXPECT_TRUE(verdict(Head{2, read_line(lines[1])->hash}).whole);
}

TEST(Heads, AreWrittenAndReadAgain) {
  const Head head{.number = 4711, .hash = std::string(64, 'a')};
  EXPECT_EQ(write_head(head), "4711:" + std::string(64, 'a'));
  EXPECT_EQ(parse_head(write_head(head)).value(), head);
  const std::string hash(64, '0');
  for (const std::string& none :
       {std::string(), std::string(":"), hash, ":" + hash, "0:" + hash, "-1:" + hash, "1 :" + hash,
        "99999999999999999999:" + hash, "1:" + hash + "0", "1:" + hash.substr(1),
        "1:" + std::string(64, 'A'), "1:" + std::string(64, 'g'), "1::" + hash.substr(1)}) {
    EXPECT_FALSE(parse_head(none)) << none;
  }
}

TEST_F(AuditLogTest, AnEmptyLogIsIntact) {
  EXPECT_EQ(verify(path()).error().code, ErrorCode::kNotFound);
  open();
  EXPECT_TRUE(verdict().whole);
  EXPECT_EQ(verdict().head, Head());
  EXPECT_FALSE(verdict(Head{1, std::string(kNoHash)}).whole);
}

TEST_F(AuditLogTest, SetsHalfALineAsideAndSaysSo) {
  const auto lines = write(3);
  for (std::size_t cut = 1; cut <= lines[2].size(); cut += 40) {
    std::filesystem::remove(path() + ".torn");
    const std::string half = lines[2].substr(0, cut);
    forget_kept_head();
    put(lines[0] + "\n" + lines[1] + "\n");
    open();
    const std::string before = read();
    put(before + half);
    EXPECT_EQ(verdict().bad_line, 4U);
    EXPECT_THAT(verdict().reason, HasSubstr("half-written"));
    const auto audit_log = open();
    EXPECT_EQ(audit_log->head()->number, 4U) << "two, the adopted head, and the torn line";
    const auto entries = audit_log->entries(0, 1, {});
    EXPECT_EQ((*entries)[0].action, "trail.torn");
    EXPECT_EQ((*entries)[0].after, "{\"bytes\":" + std::to_string(half.size()) + "}");
    std::ifstream torn(path() + ".torn");
    std::stringstream kept;
    kept << torn.rdbuf();
    EXPECT_EQ(kept.str(), half + "\n");
    EXPECT_TRUE(verdict().whole);
  }
}

TEST_F(AuditLogTest, SetsAsideWhatAnotherLeftWhenItWasKilled) {
  write(2);
  const auto audit_log = open();
  std::ofstream(path(), std::ios::app) << "{\"number\":3,\"at";
  EXPECT_EQ(audit_log->head()->number, 2U) << "readers repair nothing";
  EXPECT_EQ(audit_log->append(entry("c"))->number, 4U);
  EXPECT_EQ((*audit_log->entries(4, 1, {}))[0].action, "trail.torn");
  EXPECT_TRUE(verdict().whole);
}

TEST_F(AuditLogTest, AppendsNothingToADamagedEnd) {
  auto lines = write(3);
  auto bad = lines;
  bad[2].replace(bad[2].find("viewer"), 6, "admin!");
  put_lines(bad);
  const auto refused = AuditLog::open(path(), clock_);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("damaged at its end"));
  // Lines that others append while it is open are checked against our last line.
  put_lines({lines[0], lines[1]});
  forget_kept_head();
  const auto audit_log = open();
  put_lines(bad);
  EXPECT_FALSE(audit_log->append(entry("x")));
  EXPECT_FALSE(audit_log->head());
  EXPECT_EQ(read_lines(), bad);
}

TEST_F(AuditLogTest, NoticesThatItWasCutOrReplaced) {
  const auto lines = write(3);
  const auto audit_log = open();
  put_lines({lines[0]});
  EXPECT_THAT(audit_log->append(entry("x")).error().message, HasSubstr("truncated or replaced"));
  std::filesystem::remove(path());
  put_lines(lines);
  EXPECT_THAT(audit_log->append(entry("x")).error().message, HasSubstr("truncated or replaced"));
}

TEST_F(AuditLogTest, StaysWholeWhoeverAppends) {
  constexpr int kProcesses = 4;
  constexpr int kThreads = 3;
  constexpr int kEach = 15;
  const auto append_all = [&](const std::string& who) {
    const auto audit_log = AuditLog::open(path(), clock_);
    if (!audit_log) return false;
    std::atomic<bool> good = true;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        for (int i = 0; i < kEach; ++i) {
          const auto head =
              (*audit_log)
                  ->append(entry(who + "." + std::to_string(thread) + "." + std::to_string(i)));
          if (!head) good = false;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    return good.load();
  };
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    const pid_t child = ::fork();
    if (child == 0) std::_Exit(append_all(std::to_string(process)) ? 0 : 1);
    children.push_back(child);
  }
  EXPECT_TRUE(append_all("here"));
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  const Verdict found = verdict();
  EXPECT_TRUE(found.whole) << found.reason;
  constexpr std::size_t kAll = (kProcesses + 1) * kThreads * kEach;
  EXPECT_EQ(found.head.number, kAll);
  std::set<std::string> subjects;
  const auto all = open()->entries(0, 2 * kAll, {});
  ASSERT_TRUE(all);
  for (const Entry& each : *all) subjects.insert(each.subject);
  EXPECT_EQ(subjects.size(), kAll) << "each once";
}

}  // namespace
}  // namespace pennyweight::audit_log
