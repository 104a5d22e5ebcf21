// Arbitrary bytes as what a snapshot keeps of a lane, and as rows: no crash; what loads can be
// finished, saves to bytes that load again, and its rows can be read back.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/check.h"
#include "live/lane.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const live::RowSinks sinks = {.usages = [](auto) -> Result<void> { return {}; },
                                .gpus = [](auto) -> Result<void> { return {}; },
                                .outcomes = [](auto) -> Result<void> { return {}; }};
  {
    live::Reader reader(bytes);
    live::Rows rows;
    if (rows.load(reader)) (void)rows.read(sinks);
  }
  const live::LaneOptions options{
      .meaning = {.cluster = ClusterId("c")}, .timing = {}, .limits = {}};
  live::LaneCounts counts = {};
  std::map<std::string, std::uint64_t> unusable;
  live::Lane lane(options, false, counts, unusable, nullptr);
  live::Reader reader(bytes);
  if (!lane.load(reader)) return 0;

  live::Writer writer;
  lane.save(writer);
  live::Lane again(options, false, counts, unusable, nullptr);
  live::Reader saved(writer.bytes());
  CHECK(again.load(saved) && saved.at_end(), "what was saved loads");
  CHECK(again.accumulators() == lane.accumulators() && again.groups() == lane.groups(),
        "nothing is lost on the way");

  std::vector<Usage> open;
  lane.provisional(ClusterId("prod"), 0, 1, open);
  constexpr std::int64_t kNow = 1'767'225'600'000;
  live::Rows rows;
  const live::Lane::PartOf part = [](const Hash128&) { return std::uint64_t{1}; };
  lane.finish(kNow, std::nullopt, part, rows);
  lane.finish(kNow, kNow, part, rows);
  lane.forget(kNow);
  CHECK(rows.read(sinks).has_value(), "rows can be read back");
  return 0;
}
