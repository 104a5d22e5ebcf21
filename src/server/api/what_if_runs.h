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

#include "allocation/pricing/catalog.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/instant.h"
#include "core/interruption.h"
#include "insight/queries/what_if_query.h"

namespace pennyweight {
struct Config;
}

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

// Any thread may use it.
class WhatIfRuns {
 public:
  using Ledger = std::function<Result<void>(const std::function<Result<void>(Store&)>&)>;
  // All arguments outlive it.
  WhatIfRuns(const Config& config, const Catalog& catalog, Clock& clock, Ledger ledger);
  ~WhatIfRuns();  // does what stop() does
  WhatIfRuns(const WhatIfRuns&) = delete;
  WhatIfRuns& operator=(const WhatIfRuns&) = delete;

  struct Submitted {
    WhatIfRun run;
    bool is_new = true;  // false: the same is under way, or was answered from this ledger
  };
  // kLimit: too many wait already. `last_import`: of the ledger now.
  Result<Submitted> submit(WhatIfAsked asked, std::uint64_t last_import);
  // The newest first.
  std::vector<WhatIfRun> list() const;
  std::optional<WhatIfRun> find(std::string_view id) const;
  // Cancels one that waits or runs, and forgets one that has ended. kNotFound: there is none.
  Result<void> end(std::string_view id);
  // Cancels all, and waits for the one that runs.
  void stop();

 private:
  struct Entry {
    WhatIfRun run;
    std::unique_ptr<what_if::WhatIfProgress> progress;
    bool is_cancelled = false;
  };
  using Entries = std::list<Entry>;  // the newest first; an entry that runs stays where it is

  void work();
  Result<WhatIfTables> answer(const WhatIfQuery& query, WhatIfRun& result,
                              what_if::WhatIfProgress& progress);
  // REQUIRES for all: mutex_ is held.
  WhatIfRun now(const Entry& entry) const;
  Entry* next_in_turn();
  void forget_old();

  const Config& config_;
  const Catalog& catalog_;
  Clock& clock_;
  const Ledger ledger_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  Entries entries_;
  std::string last_user_;  // whose run was last
  bool stopping_ = false;
  Interruption reading_;  // of the ledger
  std::thread thread_;    // last: it uses the others from its first moment
};

}  // namespace pennyweight::api
