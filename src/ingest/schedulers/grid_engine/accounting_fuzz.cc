// Any bytes as an accounting file of Grid Engine: every record is held, counted or refused with a
// reason, and the chunks do not matter.
#include <cstdint>
#include <span>
#include <string_view>

#include "core/check.h"
#include "core/plain_text.h"
#include "ingest/schedulers/grid_engine/accounting.h"

namespace {

using namespace pennyweight;

grid_engine::AccountingCounts grid_engine_counts(std::string_view text, std::size_t chunk) {
  std::uint64_t held = 0, unheld = 0, refused = 0;
  grid_engine::AccountingReader reader(
      {.file = "fuzz", .cluster = ClusterId("c"), .read_at = from_unix_seconds(2'000'000'000)},
      [&](std::span<const Holding> some) -> Result<void> {
        held += some.size();
        return {};
      },
      [&](std::span<const Outcome> some) -> Result<void> {
        unheld += some.size();
        return {};
      },
      [&](std::span<const RejectedRow> rows) -> Result<void> {
        for (const RejectedRow& row : rows) {
          CHECK(row.line > 0 && !row.reason.empty(), "a refusal says where and why");
          CHECK(is_plain_text(row.text) && is_plain_text(row.reason), "what is kept is UTF-8");
        }
        refused += rows.size();
        return {};
      });
  for (std::size_t at = 0; at < text.size(); at += chunk) {
    CHECK(reader.feed(text.substr(at, chunk)), "only a sink can fail");
  }
  CHECK(reader.finish(), "only a sink can fail");
  const auto& counts = reader.counts();
  CHECK(counts.holdings == held && counts.rejected == refused, "counts are of what was given");
  CHECK(counts.never_started + counts.zero_length == unheld, "and so are jobs that held nothing");
  CHECK(counts.runs == held + unheld, "every run is one of the two");
  return counts;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CHECK(grid_engine_counts(text, 65'536) == grid_engine_counts(text, 7), "chunks do not matter");
  return 0;
}
