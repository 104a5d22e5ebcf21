// Any bytes at all: the reader gives jobs, each once, or reasons.
#include <cstdint>
#include <set>
#include <string>

#include "core/check.h"
#include "core/plain_text.h"
#include "ingest/inventory/job_trace.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::set<std::string> names;
  inventory::JobTraceReader reader(
      {.file = "fuzz", .cluster = ClusterId("c")},
      [&](std::span<const Holding> jobs) -> Result<void> {
        for (const Holding& job : jobs) {
          CHECK(names.insert(job.workload.text()).second, "a job is there once");
          CHECK(job.ended && std::holds_alternative<InPool>(job.placement),
                "a job of a trace has ended, and ran somewhere");
        }
        return {};
      },
      [](std::span<const RejectedRow> rows) -> Result<void> {
        for (const RejectedRow& row : rows) {
          CHECK(row.line > 0 && !row.reason.empty(), "a refusal says where and why");
          CHECK(is_plain_text(row.text), "what is kept is UTF-8");
        }
        return {};
      });
  const std::size_t half = size / 2;
  if (reader.feed(text.substr(0, half)) && reader.feed(text.substr(half))) {
    [[maybe_unused]] const auto done = reader.finish();
  }
  return 0;
}
