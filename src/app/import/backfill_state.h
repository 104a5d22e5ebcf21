// BackfillState: how far a backfill has come, in a small file that is replaced as a whole.
//
//   pennyweight backfill 1
//   generation 163760000      when it was begun, seconds since kGenerationEpochS
//   done 2026-03-01T02:00:00Z  all samples before are durable in the engine's journal
//   finished 0                 1: all rows are in the ledger
//
// `done` reaches the end before the stream is closed. So a piece is only read again while its
// stream is there, where samples that it already has are duplicates.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/instant.h"

namespace pennyweight {

inline constexpr std::int64_t kGenerationEpochS = 1'600'000'000;

struct BackfillState {
  std::uint64_t generation = 0;
  Instant done;
  bool finished = false;
  bool operator==(const BackfillState&) const = default;
};

std::string to_text(const BackfillState& state);
// kBadFile: it is malformed.
Result<BackfillState> parse_backfill_state(std::string_view text);

// Nothing where there is no such file yet.
Result<std::optional<BackfillState>> load_backfill_state(const std::string& folder);
// Durable when it returns.
Result<void> save_backfill_state(const std::string& folder, const BackfillState& state);

}  // namespace pennyweight
