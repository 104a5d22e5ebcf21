// LogSimulation: writers and readers on one simulated LogStorage, driven by a seed. Steps come in
// any order; appends fail before or after they take effect, or take effect much later; reads see a
// part of concurrent writes; writers pause, die and come back; clocks differ by minutes and jump.
// An auditor checks every answer. At the end the faults stop, and then some commit must succeed.
// For tests only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/instant.h"
#include "core/try.h"
#include "ledger/store/clickhouse/log/commit_log.h"
#include "ledger/store/clickhouse/log/fiber.h"
#include "ledger/store/clickhouse/log/log_storage.h"

namespace pennyweight::commit_log {

// A fault planted on purpose: the storage deceives a writer as if the writer had skipped a step.
enum class PlantedFault {
  kNone,
  kBlindCheck,   // an entry is taken as safe without looking for later claims
  kBlindClaim,   // a turn is taken although another writer claimed it too
  kSealedFirst,  // an entry is sealed before it is known to be safe
  kForgetTail,   // a turn is opened without the entry that nobody has sealed yet
  kStaleRead,    // a read shows what was there before one's own append, and one's own rows
  kEarlyAnswer,  // an append answers success before its row is there
};

class LogSimulation {
 public:
  LogSimulation(std::uint64_t seed, PlantedFault plant) : random_(seed), plant_(plant) {}

  // Runs it. Returns what went wrong; empty: nothing.
  std::string run() {
    const int writers = 2 + pick(3);
    steps_of_faults_ = 40 + pick(160);
    violence_ = 1 + pick(4);
    // The hardest runs: writers soon take each other for dead, or have no patience.
    hasty_ = pick(2) == 0;
    if (hasty_) settings_.lease = std::chrono::milliseconds(20 + pick(pick(2) == 0 ? 400 : 5'000));
    if (pick(4) == 0) settings_.patience = std::chrono::milliseconds(500 + pick(5'000));
    if (hasty_ || pick(2) == 0) settings_.skew = {};
    reading_ms_ = pick(3) == 0 ? 1'000 : 100;
    seen_of_ten_ = 1 + pick(9);
    for (int i = 0; i < writers; ++i) people_.push_back(std::make_unique<Actor>());
    people_.push_back(std::make_unique<Actor>(Actor{.reader = true}));
    for (auto& person : people_) come(*person);
    while (step()) {
    }
    quiet_ = true;
    end_all();
    if (wrong_.empty()) audit_end();
    return wrong_;
  }
  std::uint64_t acknowledged() const { return promised_.size(); }
  std::uint64_t doubts() const { return doubts_; }
  std::uint64_t voided() const { return voided_; }

 private:
  struct Died {};

  struct Actor {
    bool reader = false;
    std::int64_t wake_ms = 0;
    std::int64_t clock_off_ms = 0;
    std::uint64_t turn_of_claim = 0, turn_of_entry = 0, writer = 0;  // for planted faults
    std::size_t rows_before = 0;
    std::vector<LogRow> own = {};
    std::unique_ptr<Fiber> fiber = {};
  };

  class Endpoint : public LogStorage {
   public:
    Endpoint(LogSimulation& world, Actor& person) : world_(world), person_(person) {}
    Result<void> append(const LogRow& row) override { return world_.append(person_, row); }
    Result<std::vector<LogRow>> read(const LogPosition& since) override {
      return world_.read(person_, since, false);
    }
    Result<void> seals(const LogPosition& since, const SealSink& sink) override {
      const std::vector<LogRow> rows = TRY(world_.read(person_, since, true));
      for (const LogRow& row : rows) sink({row.position, row.turn, row.session, row.what});
      return {};
    }

   private:
    LogSimulation& world_;
    Actor& person_;
  };

  int pick(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  bool chance(int of_thousand) { return pick(1000) < of_thousand; }
  bool fault(int of_thousand) { return !quiet_ && chance(of_thousand * violence_); }
  void wrong(const std::string& what) {
    if (wrong_.empty()) wrong_ = what;
  }

  // -- time ---------------------------------------------------------------------------------------

  void come(Actor& person) {
    person.turn_of_claim = person.turn_of_entry = person.writer = 0;
    person.clock_off_ms = pick(2) == 0 ? 0 : pick(600'000) - 300'000;
    person.wake_ms = now_ms_ + pick(2'000);
    person.own.clear();
    person.fiber = std::make_unique<Fiber>([this, &person] {
      try {
        live(person);
      } catch (const Died&) {
      } catch (const std::exception& e) {
        wrong(std::string("a broken invariant: ") + e.what());
      }
    });
  }

  void end_all() {
    over_ = true;
    for (auto& person : people_) {
      while (!person->fiber->done()) person->fiber->resume();
    }
    over_ = false;
  }
  void start_anew() {
    end_all();
    for (auto& person : people_) come(*person);
  }

  // Resumes the actor that wakes next. False when the simulation is over.
  bool step() {
    if (!wrong_.empty()) return false;
    ++steps_;
    if (steps_ == steps_of_faults_) {
      quiet_ = true;
      quiet_since_ms_ = now_ms_;
      // Hasty writers would keep taking turns from each other for ever, so replace them.
      if (hasty_) start_anew();
    }
    if (quiet_ && done_in_quiet_ >= 2) return false;
    if (quiet_ && now_ms_ > quiet_since_ms_ + 900'000) {
      wrong("nobody committed anything in 15 minutes without faults");
      return false;
    }
    Actor* next = nullptr;
    for (auto& person : people_) {
      if (next == nullptr || person->wake_ms < next->wake_ms) next = person.get();
    }
    now_ms_ = std::max(now_ms_, next->wake_ms);
    for (std::size_t i = 0; i < late_.size();) {
      if (late_[i].first > now_ms_) {
        ++i;
        continue;
      }
      rows_.push_back(late_[i].second);
      late_.erase(late_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    next->fiber->resume();
    if (next->fiber->done()) {
      come(*next);
      next->wake_ms = now_ms_ + pick(60'000);
    }
    return true;
  }

  // Lets time pass for one actor.
  void wait(Actor& person, std::int64_t ms) {
    if (over_) throw Died{};
    if (fault(4)) ms += pick(100'000);
    if (fault(4)) person.clock_off_ms += pick(600'000) - 300'000;
    person.wake_ms = now_ms_ + ms;
    person.fiber->yield();
    if (over_ || fault(5)) throw Died{};
  }

  // -- storage ------------------------------------------------------------------------------------

  Result<void> append(Actor& person, const LogRow& row) {
    wait(person, 1 + pick(60));
    person.writer = row.writer;
    person.rows_before = rows_.size();
    if (row.kind == RowKind::kClaim) person.turn_of_claim = row.turn;
    person.turn_of_entry = row.kind == RowKind::kEntry ? row.turn : 0;
    if (row.kind != RowKind::kClaim) person.turn_of_claim = 0;
    if (plant_ != PlantedFault::kNone) person.own.push_back(row);
    const auto unsure = fail(ErrorCode::kStore, "broken off");
    if (fault(40)) return unsure;
    if (fault(30)) {
      late_.emplace_back(now_ms_ + pick(pick(2) == 0 ? 400 : 200'000), row);
      wait(person, 1 + pick(500));
      return unsure;
    }
    if (plant_ == PlantedFault::kEarlyAnswer && fault(200)) {
      late_.emplace_back(now_ms_ + pick(2'000), row);
      return {};
    }
    rows_.push_back(row);
    if (plant_ == PlantedFault::kSealedFirst && row.kind == RowKind::kEntry) {
      rows_.push_back(row);
      rows_.back().kind = RowKind::kSealed;
    }
    if (fault(20)) rows_.push_back(row);
    const bool broken_off = fault(40);
    wait(person, 1 + pick(60));
    if (broken_off) return unsure;
    return {};
  }

  Result<std::vector<LogRow>> read(Actor& person, const LogPosition& since, bool seals_alone) {
    wait(person, 1 + pick(30));
    const std::size_t certain = rows_.size();
    wait(person, pick(2) == 0 ? pick(reading_ms_) : 0);
    if (fault(20)) return fail(ErrorCode::kStore, "broken off");
    const bool spares_known = pick(2) == 0;  // it may leave them out, and need not
    const auto is_asked_for = [&](const LogRow& row) {
      const bool is_seal = row.kind == RowKind::kSealed;
      if (is_seal && spares_known && row.position < since.position) return false;
      return row.turn >= since.turn && (is_seal || !seals_alone);
    };
    std::vector<LogRow> seen;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (i >= certain && pick(10) >= seen_of_ten_) continue;
      if (is_asked_for(rows_[i]) && !hidden(person, i)) seen.push_back(rows_[i]);
    }
    if (plant_ == PlantedFault::kStaleRead || plant_ == PlantedFault::kEarlyAnswer) {
      std::ranges::copy_if(person.own, std::back_inserter(seen), is_asked_for);
    }
    if (pick(4) == 0) std::ranges::reverse(seen);
    return seen;
  }

  // What a planted fault keeps from a writer.
  bool hidden(const Actor& person, std::size_t index) const {
    const LogRow& row = rows_[index];
    switch (plant_) {
      case PlantedFault::kNone:
      case PlantedFault::kSealedFirst:
      case PlantedFault::kEarlyAnswer:
        return false;
      case PlantedFault::kBlindCheck:
        return person.turn_of_entry != 0 && row.turn > person.turn_of_entry;
      case PlantedFault::kBlindClaim:
        return person.turn_of_claim != 0 && row.turn == person.turn_of_claim &&
               row.writer != person.writer;
      case PlantedFault::kForgetTail:
        return person.turn_of_claim != 0 && row.kind == RowKind::kEntry &&
               std::ranges::none_of(rows_, [&](const LogRow& seal) {
                 return seal.kind == RowKind::kSealed && seal.position >= row.position;
               });
      case PlantedFault::kStaleRead:
        return index >= person.rows_before;
    }
    return false;
  }

  // -- what people do -----------------------------------------------------------------------------

  void live(Actor& person) {
    Endpoint endpoint(*this, person);
    const Clock clock{
        .now = [&] { return from_unix_ms(1'800'000'000'000 + now_ms_ + person.clock_off_ms); },
        .sleep = [&](std::chrono::milliseconds time) { wait(person, time.count()); }};
    CommitLog log(endpoint, clock, quiet_ ? Settings{} : settings_, random_());
    std::vector<std::uint64_t> in_doubt;
    for (;;) {
      if (person.reader || pick(5) == 0) {
        const std::uint64_t least = least_;
        const Result<View> view = log.read();
        if (view) hear(*view, least);
        wait(person, pick(3'000));
        continue;
      }
      const std::uint64_t least = least_;
      const Result<View> view = log.begin();
      if (!view) {
        wait(person, pick(3'000));
        continue;
      }
      hear(*view, least);
      // begin() has settled whether they count.
      for (const std::uint64_t session : in_doubt) {
        const bool counts = counts_in(*view, session);
        if (!counts && pick(2) == 0)
          commit(log, session, in_doubt);
        else if (!counts)
          refused_.insert(session);
      }
      in_doubt.clear();
      for (int left = 1 + pick(3); left > 0 && log.has_turn(); --left) {
        if (pick(4) == 0) wait(person, pick(25'000));
        if (pick(3) == 0 && !log.alive()) continue;
        if (log.has_turn()) commit(log, ++sessions_, in_doubt);
      }
      if (log.has_turn() && !fault(100)) {
        [[maybe_unused]] const Result<void> released = log.release();
      } else if (log.has_turn()) {
        throw Died{};
      }
      wait(person, pick(2'000));
    }
  }

  void commit(CommitLog& log, std::uint64_t session, std::vector<std::uint64_t>& in_doubt) {
    if (!log.has_turn()) return;
    const Result<Entry> entry = log.commit(session, "import");
    if (entry) {
      if (entry->session != session) wrong("the entry of another session was answered");
      promise(*entry);
      if (quiet_) ++done_in_quiet_;
    } else if (log.in_doubt()) {
      ++doubts_;
      in_doubt.push_back(session);
      if (log.has_turn()) wrong("a turn goes on after a doubt");
    } else {
      ++voided_;
      // It may have been in doubt before; either way it was said to be void.
      refused_.insert(session);
      if (log.has_turn()) wrong("a turn goes on after a refusal");
    }
  }

  // -- the auditor --------------------------------------------------------------------------------

  static std::string name(const Entry& entry) {
    return "position " + std::to_string(entry.position) + " (turn " + std::to_string(entry.turn) +
           ", session " + std::to_string(entry.session) + ")";
  }

  static bool counts_in(const View& view, std::uint64_t session) {
    return view.entries.find(session) < view.entries.size();
  }

  // Every view has the same entry at a position.
  void same(const Entry& entry) {
    const auto [at, added] = truth_.emplace(entry.position, entry);
    if (!added && at->second != entry) {
      wrong("two entries of a position: " + name(at->second) + " and " + name(entry));
    }
    if (refused_.contains(entry.session)) wrong("was refused and counts: " + name(entry));
  }

  // `least`: how many entries some view had shown before this read began.
  void hear(const View& view, std::uint64_t least) {
    std::set<std::uint64_t> sessions;
    for (const Entry& entry : view.entries) {
      if (!sessions.insert(entry.session).second) wrong("a session twice: " + name(entry));
      same(entry);
    }
    if (view.entries.size() < least) {
      wrong("a view ends at " + std::to_string(view.entries.size()) + " after another showed " +
            std::to_string(least));
    }
    least_ = std::max(least_, view.entries.size());
  }

  void promise(const Entry& entry) {
    same(entry);
    promised_.insert(entry.session);
    least_ = std::max(least_, entry.position);
  }

  void audit_end() {
    const Result<View> view = view_of(rows_);
    if (!view) return wrong(view.error().message);
    hear(*view, least_);
    for (const std::uint64_t session : promised_) {
      if (!counts_in(*view, session)) {
        wrong("acknowledged and lost: session " + std::to_string(session));
      }
    }
  }

  std::mt19937_64 random_;
  PlantedFault plant_;
  std::string wrong_;
  std::vector<std::unique_ptr<Actor>> people_;
  std::int64_t now_ms_ = 0, quiet_since_ms_ = 0;
  Settings settings_;
  bool hasty_ = false;
  int violence_ = 1;      // how much more often something goes wrong
  int reading_ms_ = 100;  // how long a read may take
  int seen_of_ten_ = 5;   // of the rows that come meanwhile
  int steps_ = 0, steps_of_faults_ = 0, done_in_quiet_ = 0;
  bool quiet_ = false, over_ = false;

  std::vector<LogRow> rows_;  // in the order in which they came to be there
  std::vector<std::pair<std::int64_t, LogRow>> late_;  // will be there at that time

  std::uint64_t sessions_ = 0, doubts_ = 0, voided_ = 0;
  std::uint64_t least_ = 0;
  std::map<std::uint64_t, Entry> truth_;  // by position
  std::set<std::uint64_t> promised_, refused_;
};

}  // namespace pennyweight::commit_log
