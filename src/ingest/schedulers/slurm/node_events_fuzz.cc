// Any bytes as events of nodes: times with names, or a reason.
#include <cstdint>
#include <span>
#include <string_view>

#include "core/check.h"
#include "core/plain_text.h"
#include "ingest/schedulers/slurm/node_events.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Instant now = from_unix_seconds(1'796'000'000);
  const auto found =
      slurm::parse_node_events(text, {.cluster = ClusterId("c"), .file = "fuzz", .now = now});
  if (!found) return 0;
  CHECK(slurm::is_node_events(text), "what is read is recognised");
  for (const slurm::NodeEvent& event : found->events) {
    CHECK(!event.node.empty() && is_plain_text(event.node.text()), "a node has a name");
    CHECK(is_plain_text(event.reason), "a reason is text");
    CHECK(event.during.end() - event.during.begin() <= slurm::kNodeEventMax, "within the limit");
  }
  for (const RejectedRow& row : found->rejected) {
    CHECK(row.line > 1 && !row.reason.empty(), "a refusal says where and why");
  }
  if (found->events.size() > 100) return 0;
  const auto given =
      slurm::give_outages(*found, ClusterId("c"), [](std::span<const Outage> some) -> Result<void> {
        for (const Outage& piece : some) {
          CHECK(piece.during.begin() < piece.during.end(), "a piece lasts");
        }
        return {};
      });
  CHECK(given.has_value(), "a hundred events are within the limit");
  return 0;
}
