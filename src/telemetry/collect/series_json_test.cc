#include "telemetry/collect/series_json.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

namespace pennyweight::collect {
namespace {

using prometheus::Label;

constexpr std::int64_t kAt = 1'435'781'430'781;

std::string matrix(const std::string& result) {
  return R"({"status":"success","data":{"resultType":"matrix","result":[)" + result + "]}}";
}

bool is_stale(double value) { return std::bit_cast<std::uint64_t>(value) == prometheus::kStaleNan; }

TEST(SeriesJson, MatrixOfPrometheus) {
  SeriesBuffer buffer(kAt, kAt + 60'000);
  ASSERT_TRUE(buffer.add_matrix(matrix(
      R"({"metric":{"job":"a","__name__":"up","none":""},"values":[[1435781430.781,"1.5e-07"],)"
      R"([1435781431,"NaN"],[1435781432.5,"+Inf"],[1435781433,"-Inf"],[1435781434,"-2"]]})")));
  buffer.sort();
  ASSERT_EQ(buffer.series().size(), 1u);
  EXPECT_EQ(buffer.series()[0].labels, (std::vector<Label>{{"__name__", "up"}, {"job", "a"}}));
  const auto& samples = buffer.series()[0].samples;
  ASSERT_EQ(samples.size(), 5u);
  EXPECT_EQ(samples[0].at_ms, kAt);
  EXPECT_EQ(samples[0].value, 1.5e-07);
  EXPECT_TRUE(std::isnan(samples[1].value) && !is_stale(samples[1].value));
  EXPECT_EQ(samples[2].at_ms, 1'435'781'432'500);
  EXPECT_TRUE(std::isinf(samples[2].value) && samples[2].value > 0);
  EXPECT_TRUE(std::isinf(samples[3].value) && samples[3].value < 0);
  EXPECT_EQ(samples[4].value, -2);
}

// Prometheus 2 includes both ends of a range, 3 only the later one; the window decides.
TEST(SeriesJson, WindowIsHalfOpen) {
  SeriesBuffer buffer(1'000, 3'000);
  ASSERT_TRUE(buffer.add_matrix(
      matrix(R"({"metric":{"a":"b"},"values":[[0.999,"1"],[1,"2"],[2.999,"3"],[3,"4"]]})")));
  ASSERT_TRUE(buffer.add_line(
      R"({"metric":{"a":"c"},"values":[1,2,3,4],"timestamps":[999,1000,2999,3000]})"));
  for (const RawSeries& series : buffer.series()) {
    ASSERT_EQ(series.samples.size(), 2u);
    EXPECT_EQ(series.samples[0].at_ms, 1'000);
    EXPECT_EQ(series.samples[1].at_ms, 2'999);
  }
}

TEST(SeriesJson, LinesOfVictoriaMetrics) {
  SeriesBuffer buffer(0, kAt * 2);
  ASSERT_TRUE(buffer.add_line(
      R"({"metric":{"__name__":"up"},"values":[3,null,"Infinity"],"timestamps":[30,40,50]})"));
  ASSERT_TRUE(
      buffer.add_line(R"({"metric":{"__name__":"up"},"values":[1,3],"timestamps":[10,30]})"));
  buffer.sort();
  ASSERT_EQ(buffer.series().size(), 1u) << "lines of one series are one series";
  const auto& samples = buffer.series()[0].samples;
  ASSERT_EQ(samples.size(), 4u) << "one of each millisecond";
  EXPECT_EQ(buffer.samples(), 4u);
  EXPECT_EQ(samples[0].at_ms, 10);
  EXPECT_EQ(samples[1].at_ms, 30);
  EXPECT_TRUE(is_stale(samples[2].value));
  EXPECT_TRUE(std::isinf(samples[3].value));
}

TEST(SeriesJson, RefusesWhatIsNoAnswer) {
  for (
      const char* const text :
      {"", "[]", "<html>", R"({"status":"error","error":"no"})",
       R"({"data":{"resultType":"vector","result":[]}})",
       R"({"data":{"resultType":"matrix","result":{}}})",
       R"({"data":{"resultType":"matrix","result":[{"metric":{"a":"b"}}]}})",
       R"({"data":{"resultType":"matrix","result":[{"metric":{},"values":[]}]}})",
       R"({"data":{"resultType":"matrix","result":[{"metric":{"a":1},"values":[]}]}})",
       R"({"data":{"resultType":"matrix","result":[{"metric":{"a":"b"},"values":[[1,2]]}]}})",
       R"({"data":{"resultType":"matrix","result":[{"metric":{"a":"b"},"values":[[1,"x"]]}]}})",
       R"({"data":{"resultType":"matrix","result":[{"metric":{"a":"b"},"values":[[-1,"1"]]}]}})"}) {
    SeriesBuffer buffer(0, kAt);
    const auto added = buffer.add_matrix(text);
    ASSERT_FALSE(added) << text;
    EXPECT_EQ(added.error().code, ErrorCode::kBadFile) << text;
  }
  for (const char* const text : {"{}", R"({"metric":{"a":"b"},"values":[1,2],"timestamps":[1]})",
                                 R"({"metric":{"a":"b"},"values":[1],"timestamps":[1,2]})",
                                 R"({"metric":{"a":"b"},"values":["x"],"timestamps":[1]})",
                                 R"({"metric":{"a":"b","a":"c"},"values":[1],"timestamps":[1]})"}) {
    SeriesBuffer buffer(0, kAt);
    EXPECT_FALSE(buffer.add_line(text)) << text;
  }
}

TEST(SeriesJson, NativeHistogramsAreLeftOut) {
  SeriesBuffer buffer(0, kAt);
  ASSERT_TRUE(
      buffer.add_matrix(matrix(R"({"metric":{"a":"b"},"histograms":[[1,{"count":"1"}]]})")));
  EXPECT_EQ(buffer.samples(), 0u);
}

TEST(SeriesJson, HasLimits) {
  SeriesBuffer few(0, kAt, {.series = 1, .samples = 2});
  ASSERT_TRUE(few.add_line(R"({"metric":{"a":"b"},"values":[1,2],"timestamps":[1,2]})"));
  const auto samples = few.add_line(R"({"metric":{"a":"b"},"values":[3],"timestamps":[3]})");
  ASSERT_FALSE(samples);
  EXPECT_EQ(samples.error().code, ErrorCode::kLimit);
  const auto series = few.add_line(R"({"metric":{"a":"c"},"values":[],"timestamps":[]})");
  ASSERT_FALSE(series);
  EXPECT_EQ(series.error().code, ErrorCode::kLimit);
  std::string many = R"({"metric":{"a":"b")";
  for (std::size_t i = 0; i < kSeriesLabelsMax; ++i)
    many += ",\"l" + std::to_string(i) + "\":\"v\"";
  SeriesBuffer buffer(0, kAt);
  EXPECT_FALSE(buffer.add_line(many + R"(},"values":[],"timestamps":[]})"));
}

TEST(LineSplitter, CutsWhereverTheBytesAreCut) {
  const std::string text = "one\n\ntwo\r\nthree";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    LineSplitter splitter;
    std::string lines;
    const auto sink = [&](std::string_view line) -> Result<void> {
      lines.append(line).append("|");
      return {};
    };
    ASSERT_TRUE(splitter.add(std::string_view(text).substr(0, cut), sink));
    ASSERT_TRUE(splitter.add(std::string_view(text).substr(cut), sink));
    ASSERT_TRUE(splitter.finish(sink));
    EXPECT_EQ(lines, "one|two\r|three|") << cut;
  }
}

TEST(LineSplitter, RefusesALineWithoutEnd) {
  LineSplitter splitter;
  const auto sink = [](std::string_view) { return Result<void>{}; };
  const std::string part(kExportLineBytesMax, 'x');
  ASSERT_TRUE(splitter.add(part, sink));
  const auto more = splitter.add("x", sink);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, ErrorCode::kLimit);
}

TEST(ReadNames, AListOfTexts) {
  const auto names = read_names(R"({"status":"success","data":["up","down"]})");
  ASSERT_TRUE(names);
  EXPECT_EQ(*names, (std::vector<std::string>{"up", "down"}));
  EXPECT_FALSE(read_names(R"({"data":[1]})"));
  EXPECT_FALSE(read_names(R"({"data":{}})"));
  EXPECT_FALSE(read_names("<html>"));
}

}  // namespace
}  // namespace pennyweight::collect
