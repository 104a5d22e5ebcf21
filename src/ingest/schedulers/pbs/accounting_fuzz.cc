// Any bytes as an accounting log: every record is held, passed over or refused with a reason, and
// the chunks do not matter.
#include <cstdint>
#include <span>
#include <string_view>

#include "core/check.h"
#include "core/plain_text.h"
#include "ingest/schedulers/pbs/accounting.h"

namespace {

using namespace pennyweight;

pbs::AccountingCounts read_in_chunks(std::string_view text, std::size_t chunk) {
  std::uint64_t held = 0, refused = 0;
  pbs::AccountingReader reader(
      {.file = "fuzz", .cluster = ClusterId("c"), .read_at = from_unix_seconds(2'000'000'000)},
      [&](std::span<const Holding> some) -> Result<void> {
        held += some.size();
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
  CHECK(counts.runs == counts.holdings + counts.never_started + counts.zero_length,
        "every run is one of three");
  return counts;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CHECK(read_in_chunks(text, 65'536) == read_in_chunks(text, 7), "chunks do not matter");
  return 0;
}
