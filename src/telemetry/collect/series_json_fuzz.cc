// Any bytes as answers of both kinds: refused in words, or samples of the window, in order, each
// once, with labels that are sorted.
#include <algorithm>
#include <cstdint>

#include "core/check.h"
#include "telemetry/collect/series_json.h"

namespace {

using pennyweight::collect::SeriesBuffer;

void check(SeriesBuffer& buffer) {
  buffer.sort();
  std::size_t samples = 0;
  for (const auto& series : buffer.series()) {
    CHECK(!series.labels.empty() && std::ranges::is_sorted(series.labels), "labels by name");
    samples += series.samples.size();
    std::int64_t last = -1;
    for (const auto& sample : series.samples) {
      CHECK(sample.at_ms > last, "in order of time, each moment once");
      CHECK(sample.at_ms >= 1'000 && sample.at_ms < 2'000'000'000'000, "of the window");
      last = sample.at_ms;
    }
  }
  CHECK(samples == buffer.samples(), "what is kept is counted");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const SeriesBuffer::Limits limits{.series = 100, .samples = 1'000};
  SeriesBuffer matrix(1'000, 2'000'000'000'000, limits);
  if (const auto added = matrix.add_matrix(text); !added) {
    CHECK(!added.error().message.empty(), "a refusal says why");
  }
  check(matrix);

  SeriesBuffer lines(1'000, 2'000'000'000'000, limits);
  collect::LineSplitter splitter;
  const auto sink = [&](std::string_view line) { return lines.add_line(line); };
  const std::size_t half = size / 2;
  auto added = splitter.add(text.substr(0, half), sink);
  if (added) added = splitter.add(text.substr(half), sink);
  if (added) added = splitter.finish(sink);
  if (!added) CHECK(!added.error().message.empty(), "a refusal says why");
  check(lines);
  if (const auto names = collect::read_names(text); !names) {
    CHECK(!names.error().message.empty(), "a refusal says why");
  }
  return 0;
}
