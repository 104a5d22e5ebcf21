// WhatIfRuns: replays that users ask for, one after the other, in a thread of their own.
//
// A replay takes a core and the memory of a month, so one runs at a time, whoever asks; those who
// ask take turns. Results are kept in memory for a day and while there is room for them: the same
// question about the same ledger has the same answer, so it can be asked again.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/clock.h"
#include "core/error.h"
#include "core/instant.h"
#include "core/interruption.h"
#include "insight/queries/what_if_query.h"

namespace pennyweight::api {

inline constexpr std::size_t kWhatIfWaitingPerUser = 3;
inline constexpr std::size_t kWhatIfWaiting = 24;
inline constexpr std::size_t kWhatIfKept = 100;
inline constexpr std::size_t kWhatIfRowsKept = 200'000;  // of the tables of all results
inline constexpr std::chrono::hours kWhatIfKeptFor{24};

enum class WhatIfState { kQueued, kRunning, kDone, kFailed, kCancelled };
std::string_view to_text(WhatIfState state);  // "queued", …

// What somebody asks.
struct WhatIfAsked {
  std::string user;
  std::string name;         // for people
  std::string scenario;     // as a line; see insight/what_if/scenario_text.h
  std::string calibration;  // likewise
  WhatIfQuery query;
};

// A run as it is now.
struct WhatIfRun {
  std::string id;
  WhatIfAsked asked;
  WhatIfState state = WhatIfState::kQueued;
  std::string_view stage = {};   // of a running one
  std::uint64_t jobs_ended = 0;  // of this stage
  std::uint64_t jobs = 0;        // 0: the stage is not about jobs
  Instant created;
  std::optional<Instant> ended = {};
  std::string error = {};         // of a failed one
  std::uint64_t last_import = 0;  // of the ledger that a result was made from
  std::string cluster = {};       // that was replayed
  std::shared_ptr<const WhatIfTables> tables = {};
};

struct WhatIfAnswer {
  std::string cluster;            // that was replayed
  std::uint64_t last_import = 0;  // of the ledger that it was made from
  WhatIfTables tables;
};
// Replays; an Error where the progress says to stop.
using WhatIfAnswerer =
    std::function<Result<WhatIfAnswer>(const WhatIfQuery&, what_if::WhatIfProgress&)>;

// Any thread may use it.
class WhatIfRuns {
 public:
  // Is told of a run that ended with an exception, and what it says.
  using Failed = std::function<void(const WhatIfRun&, std::string_view)>;
  // The clock outlives it.
  WhatIfRuns(Clock& clock, WhatIfAnswerer answerer, Failed failed);
  ~WhatIfRuns();  // does what stop() does
  WhatIfRuns(const WhatIfRuns&) = delete;
  WhatIfRuns& operator=(const WhatIfRuns&) = delete;

  struct Submitted {
    WhatIfRun run;
    bool is_new = true;  // false: the same is under way, or was answered from this ledger
  };
  // For the audit log.
  using Record = std::function<Result<void>(const WhatIfRun&)>;
  // kLimit: too many wait already. `last_import`: of the ledger now. A new run begins once `record`
  // has it, and is gone where that fails; what answers another user's question is recorded too.
  Result<Submitted> submit(WhatIfAsked asked, std::uint64_t last_import, const Record& record);
  // The newest first.
  std::vector<WhatIfRun> list() const;
  std::optional<WhatIfRun> find(std::string_view id) const;
  // Cancels one that waits or runs, and forgets one that has ended. kNotFound: there is none.
  Result<void> end(std::string_view id);
  // Cancels all and takes no more. Does not wait.
  void interrupt();
  // The same, and waits for the one that runs.
  void stop();

 private:
  struct Entry {
    WhatIfRun run;
    std::unique_ptr<what_if::WhatIfProgress> progress;
    bool is_recorded = false;  // else it may not begin
    bool is_cancelled = false;
  };
  using Entries = std::list<Entry>;  // the newest first; an entry that runs stays where it is

  void work();
  // What the answerer says; an exception of it becomes an Error.
  Result<WhatIfAnswer> answer(const WhatIfRun& run, what_if::WhatIfProgress& progress) const;
  // REQUIRES for all: mutex_ is held.
  WhatIfRun now(const Entry& entry) const;
  Entry* next_in_turn();
  Entries::iterator entry_of(std::string_view id);
  void forget_old();

  Clock& clock_;
  const WhatIfAnswerer answerer_;
  const Failed failed_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  Entries entries_;
  std::string last_user_;  // whose run was last
  bool stopping_ = false;
  Interruption reading_;  // of the ledger
  std::thread thread_;    // last: it uses the others from its first moment
};

}  // namespace pennyweight::api
