// ServeTrail: what `serve` does to the ledger by itself, in the audit log, as "serve".
//
// A run and a month that is priced are told at once, as the verbs tell theirs. What comes in while
// it happens is imported every minute or more often: that is summed up and told once an hour, and
// when `serve` stops. What an earlier `serve` imported and was killed before it could tell is found
// in the ledger, since the log says up to which import it has told.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "app/told_changes.h"
#include "core/error.h"
#include "core/instant.h"
#include "ledger/store.h"
#include "trail/trail.h"

namespace pennyweight {

// The format of imports of what came in while it happened.
inline constexpr std::string_view kLiveFormat = "live";

class ServeTrail {
 public:
  // Appends one entry, and keeps the log's head. REQUIRES: an Error means that it is not appended.
  using Append = std::function<Result<void>(trail::Entry)>;
  explicit ServeTrail(Append append) : append_(std::move(append)) {}

  static constexpr std::chrono::milliseconds kTellEvery{3'600'000};
  // Changes that wait for a log that can't be written; further ones are counted.
  static constexpr std::size_t kWaitingMax = 1'000;

  // Live imports that the log does not know of. REQUIRES: nothing was told of before.
  Result<void> take_up(Store& store, trail::Trail& trail);

  void imported(const ImportOutcome& outcome, Instant at);
  void changed(ToldChange change);

  // Appends what is due; `all`: whatever the time. After an Error nothing is lost: it is appended
  // the next time.
  Result<void> tell(Instant now, bool all);

 private:
  struct Sums {
    std::uint64_t imports = 0, first = 0, last = 0;
    Instant from, to;
    std::uint64_t holdings = 0, nodes = 0, gpus = 0, usages = 0, outages = 0, outcomes = 0;
    std::uint64_t rejected = 0;
  };
  void add(const ImportRecord& record);
  Result<void> append(const ToldChange& change);

  Append append_;
  std::optional<Sums> sums_;         // of imports that are not told; nothing: there are none
  std::vector<ToldChange> waiting_;  // in the order in which they were made
  std::uint64_t left_out_ = 0;
};

// 77 of "imports 17 to 77", and of "import 77"; nothing: it is the subject of something else.
std::optional<std::uint64_t> last_import_of(std::string_view subject);

}  // namespace pennyweight
