// Arbitrary bytes as the part of a snapshot that keeps a stream, and as rows: no crash. What loads
// can be finished, saves to bytes that load again, and its rows can be read back.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/check.h"
#include "telemetry/live/sample_stream.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const live::RowSinks sinks = {.usages = [](auto) -> Result<void> { return {}; },
                                .gpus = [](auto) -> Result<void> { return {}; },
                                .outcomes = [](auto) -> Result<void> { return {}; }};
  {
    live::ByteReader reader(bytes);
    live::FlushRows rows;
    if (rows.load(reader)) (void)rows.read(sinks);
  }
  const live::StreamOptions options{
      .classification = {.cluster = ClusterId("c")}, .timing = {}, .limits = {}};
  live::StreamCounts counts = {};
  std::map<std::string, std::uint64_t> unusable;
  live::SampleStream stream(options, false, counts, unusable, nullptr);
  live::ByteReader reader(bytes);
  if (!stream.load(reader)) return 0;

  live::ByteWriter writer;
  stream.save(writer);
  live::SampleStream again(options, false, counts, unusable, nullptr);
  live::ByteReader saved(writer.bytes());
  CHECK(again.load(saved) && saved.at_end(), "what was saved loads");
  CHECK(again.accumulators() == stream.accumulators() && again.groups() == stream.groups(),
        "nothing is lost on the way");

  std::vector<Usage> open;
  stream.provisional(ClusterId("prod"), 0, 1, open);
  constexpr std::int64_t kNow = 1'767'225'600'000;
  live::FlushRows rows;
  const live::SampleStream::PartNumbering part = [](const Hash128&) { return std::uint64_t{1}; };
  stream.finish(kNow, std::nullopt, part, rows);
  stream.finish(kNow, kNow, part, rows);
  stream.forget(kNow);
  CHECK(rows.read(sinks).has_value(), "rows can be read back");
  return 0;
}
