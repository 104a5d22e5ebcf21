// Any bytes as what tracejob prints: every record is held, counted or refused with a reason, and
// the chunks do not matter.
#include <span>
#include <string_view>

#include "core/check.h"
#include "core/plain_text.h"
#include "ingest/schedulers/pbs/tracejob.h"

namespace {

using namespace pennyweight;

accounting::Counts traced_counts(std::string_view text, std::size_t chunk) {
  std::uint64_t held = 0, refused = 0;
  pbs::TracejobReader reader(
      {.file = "fuzz", .cluster = ClusterId("c"), .read_at = from_unix_seconds(2'000'000'000)},
      {.holdings = [&](std::span<const Holding> some) -> Result<void> {
         held += some.size();
         return {};
       },
       .outcomes = [](std::span<const Outcome>) -> Result<void> { return {}; },
       .rejected = [&](std::span<const RejectedRow> rows) -> Result<void> {
         for (const RejectedRow& row : rows) {
           CHECK(row.line > 0 && !row.reason.empty(), "a refusal says where and why");
           CHECK(is_plain_text(row.text), "what is kept is UTF-8");
         }
         refused += rows.size();
         return {};
       }});
  for (std::size_t at = 0; at < text.size(); at += chunk) {
    CHECK(reader.feed(text.substr(at, chunk)).has_value(), "the sinks refuse nothing");
  }
  CHECK(reader.finish().has_value(), "the sinks refuse nothing");
  CHECK(reader.counts().holdings == held && reader.counts().rejected == refused, "all is counted");
  return reader.counts();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  pbs::is_tracejob(text);
  const accounting::Counts all = traced_counts(text, size + 1);
  CHECK(traced_counts(text, 1) == all && traced_counts(text, 7) == all, "chunks do not matter");
  return 0;
}
