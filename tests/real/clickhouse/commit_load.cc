// Commits to a ledger's log on ClickHouse as fast as it can, writes down the answers, and
// compares the answers that several of them got: for a cluster whose servers, ZooKeeper
// and writers are killed meanwhile.
//
//   commit_load write ADDRESS FILE SEED SECONDS LEASE_MS COMMITS   (commits in a turn)
//   commit_load look ADDRESS FILE SECONDS
//   commit_load audit ADDRESS FILE…
//
// A line of a FILE is "word begin end number session …": ok (position, turn behind), void and doubt
// of a commit; view (how many entries, the last one's session) of a read or a begin; error. Times
// are this machine's, in milliseconds. Each is one write, so that a killed program leaves whole
// lines. The audit prints what must not be and exits with 1, or sums up.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "core/clickhouse/address.h"
#include "core/clock.h"
#include "ledger/store/clickhouse/database.h"

namespace {

using pennyweight::Instant;
using pennyweight::Result;
using pennyweight::commit_log::CommitLog;
using pennyweight::commit_log::Entry;
using pennyweight::commit_log::View;
using std::chrono::milliseconds;

class WallClock : public pennyweight::Clock {
 public:
  Instant now() override {
    return std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now());
  }
};

WallClock wall_clock;
std::int64_t now_ms() { return pennyweight::unix_ms(wall_clock.now()); }

std::unique_ptr<pennyweight::ClickhouseDatabase> open_database(const std::string& text,
                                                               milliseconds lease) {
  const auto address = pennyweight::clickhouse::parse_address(text);
  if (!address) {
    std::cerr << address.error().message << "\n";
    std::exit(2);
  }
  for (int attempt = 1;; ++attempt) {
    auto database = pennyweight::ClickhouseDatabase::open(
        {.address = *address,
         .lease = lease,
         .clock = &wall_clock,
         .seed = std::random_device{}() + (static_cast<std::uint64_t>(getpid()) << 32)});
    if (database) return std::move(*database);
    std::cerr << database.error().message << "\n";
    if (attempt == 20) std::exit(2);
    std::this_thread::sleep_for(milliseconds(500));
  }
}

class Notes {
 public:
  explicit Notes(const std::string& path)
      : file_(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644)) {}
  ~Notes() { close(file_); }
  Notes(const Notes&) = delete;
  Notes& operator=(const Notes&) = delete;
  void add(const std::string& word, std::int64_t begin, const std::string& rest) {
    const std::string line =
        word + " " + std::to_string(begin) + " " + std::to_string(now_ms()) + " " + rest + "\n";
    if (write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) std::exit(2);
  }
  void view(std::int64_t begin, const View& view) {
    add("view", begin,
        std::to_string(view.entries.size()) + " " +
            std::to_string(view.entries.empty() ? 0 : view.entries.back().session));
  }

 private:
  int file_;
};

int write_load(const std::string& address, const std::string& path, std::uint64_t seed, int seconds,
               milliseconds lease, int commits) {
  const auto database = open_database(address, lease);
  const std::unique_ptr<CommitLog> log = database->log();
  Notes notes(path);
  std::mt19937_64 random(seed ^ (static_cast<std::uint64_t>(now_ms()) << 16));
  const std::int64_t end = now_ms() + seconds * 1000;
  std::vector<std::uint64_t> in_doubt;
  while (now_ms() < end) {
    std::int64_t begun = now_ms();
    const Result<View> view = log->begin();
    if (!view) {
      notes.add("error", begun, "0 0 " + view.error().message);
      continue;
    }
    notes.view(begun, *view);
    for (const std::uint64_t session : in_doubt) {
      const bool counts =
          std::ranges::find(view->entries, session, &Entry::session) != view->entries.end();
      if (!counts) notes.add("void", begun, "0 " + std::to_string(session));
    }
    in_doubt.clear();
    for (int i = 0; i < commits && log->has_turn(); ++i) {
      const std::uint64_t session = random();
      begun = now_ms();
      const Result<Entry> entry = log->commit(session, "import");
      if (entry) {
        notes.add("ok", begun,
                  std::to_string(entry->position) + " " + std::to_string(entry->session) + " " +
                      std::to_string(entry->turn));
      } else {
        notes.add(log->in_doubt() ? "doubt" : "void", begun,
                  "0 " + std::to_string(session) + " " + entry.error().message);
        if (log->in_doubt()) in_doubt.push_back(session);
      }
    }
    begun = now_ms();
    if (const Result<void> done = log->release(); !done) {
      notes.add("error", begun, "0 0 release: " + done.error().message);
    }
  }
  return 0;
}

int look(const std::string& address, const std::string& path, int seconds) {
  const auto database = open_database(address, milliseconds(30'000));
  Notes notes(path);
  const std::int64_t end = now_ms() + seconds * 1000;
  while (now_ms() < end) {
    const std::int64_t begun = now_ms();
    const Result<View> view = database->view();
    if (view) notes.view(begun, *view);
    if (!view) notes.add("error", begun, "0 0 " + view.error().message);
    std::this_thread::sleep_for(milliseconds(20));
  }
  return 0;
}

struct WriterAnswer {
  std::string word, file, text;
  std::int64_t begin = 0, end = 0;
  std::uint64_t number = 0, session = 0, turn = 0;
};

std::vector<WriterAnswer> answers_in(const std::vector<std::string>& files) {
  std::vector<WriterAnswer> all;
  for (const std::string& file : files) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
      std::istringstream words(line);
      WriterAnswer answer;
      answer.file = file;
      answer.text = line;
      words >> answer.word >> answer.begin >> answer.end >> answer.number >> answer.session >>
          answer.turn;
      all.push_back(answer);
    }
  }
  return all;
}

int audit(const std::string& address, const std::vector<std::string>& files) {
  const auto database = open_database(address, milliseconds(30'000));
  const Result<View> view = database->view();
  if (!view) {
    std::cout << "WRONG no view: " << view.error().message << "\n";
    return 1;
  }
  std::uint64_t wrong = 0;
  const auto say = [&](const std::string& what, const WriterAnswer& answer) {
    if (++wrong <= 20)
      std::cout << "WRONG " << what << ": " << answer.file << ": " << answer.text << "\n";
  };
  std::map<std::uint64_t, Entry> counts;
  for (const Entry& entry : view->entries) {
    if (!counts.emplace(entry.session, entry).second) {
      ++wrong;
      std::cout << "WRONG session " << entry.session << " counts twice\n";
    }
  }
  std::vector<WriterAnswer> all = answers_in(files);
  std::map<std::string, std::uint64_t> words;
  std::vector<std::int64_t> took;
  for (const WriterAnswer& answer : all) {
    ++words[answer.word];
    const auto found = counts.find(answer.session);
    if (answer.word == "ok") {
      took.push_back(answer.end - answer.begin);
      if (found == counts.end())
        say("acknowledged and lost", answer);
      else if (found->second.position != answer.number || found->second.turn != answer.turn)
        say("acknowledged elsewhere", answer);
    } else if (answer.word == "void") {
      if (found != counts.end()) say("refused and counts", answer);
    } else if (answer.word == "view" && answer.number > 0) {
      if (answer.number > view->entries.size() ||
          view->entries[answer.number - 1].session != answer.session)
        say("a view that is not a prefix of the log", answer);
    }
  }
  // A read shows everything that was acknowledged before it began.
  std::vector<const WriterAnswer*> by_end, by_begin;
  for (const WriterAnswer& answer : all) {
    if (answer.word == "ok" || answer.word == "view") by_end.push_back(&answer);
    if (answer.word == "view") by_begin.push_back(&answer);
  }
  std::ranges::sort(by_end, {}, &WriterAnswer::end);
  std::ranges::sort(by_begin, {}, &WriterAnswer::begin);
  std::uint64_t least = 0;
  std::size_t ended = 0;
  for (const WriterAnswer* answer : by_begin) {
    for (; ended < by_end.size() && by_end[ended]->end < answer->begin; ++ended) {
      least = std::max(least, by_end[ended]->number);
    }
    if (answer->number < least) say("shows less than " + std::to_string(least), *answer);
  }
  std::cout << view->entries.size() << " entries count;";
  for (const auto& [word, count] : words) std::cout << " " << word << " " << count;
  // How long nobody committed anything.
  std::vector<std::int64_t> ends;
  for (const WriterAnswer* answer : by_end) {
    if (answer->word == "ok") ends.push_back(answer->end);
  }
  std::int64_t longest = 0;
  for (std::size_t i = 1; i < ends.size(); ++i) longest = std::max(longest, ends[i] - ends[i - 1]);
  std::ranges::sort(took);
  if (!took.empty()) {
    std::cout << "; commit() median " << took[took.size() / 2] << " ms, longest " << took.back()
              << " ms; " << ends.size() << " in " << (ends.back() - ends.front()) / 1000
              << " s, longest pause " << longest << " ms";
  }
  std::cout << "; wrong " << wrong << "\n";
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 7 && words[0] == "write") {
    return write_load(words[1], words[2], std::stoull(words[3]), std::stoi(words[4]),
                      milliseconds(std::stoi(words[5])), std::stoi(words[6]));
  }
  if (words.size() == 4 && words[0] == "look") return look(words[1], words[2], std::stoi(words[3]));
  if (words.size() >= 3 && words[0] == "audit") {
    return audit(words[1], {words.begin() + 2, words.end()});
  }
  std::cerr << "usage: commit_load write|look|audit ADDRESS FILE …; see the source\n";
  return 2;
}
