#include "telemetry/prometheus/exposition.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <sstream>

#include "telemetry/prometheus/collecting_sink.h"
#include "telemetry/prometheus/encoded_label.h"

namespace pennyweight::prometheus {
namespace {

constexpr std::int64_t kAt = 1'772'323'200'000;

struct Outcome {
  Result<ExpositionReport> report;
  CollectingSink sink;
};
Outcome parse(ExpositionFormat format, std::string_view text, const TargetLabels& target = {},
              bool honor_timestamps = true) {
  Outcome outcome{.report = ExpositionReport{}, .sink = {}};
  const ExpositionOptions options = {.scraped_at = from_unix_ms(kAt),
                                     .honor_timestamps = honor_timestamps};
  outcome.report = parse_exposition(format, text, target, options, outcome.sink);
  return outcome;
}
Outcome text(std::string_view document, const TargetLabels& target = {}) {
  return parse(ExpositionFormat::kText, document, target);
}

std::string read_file(const std::string& name) {
  std::ifstream file(std::string(TEST_DATA) + "/dcgm/" + name, std::ios::binary);
  std::ostringstream all;
  all << file.rdbuf();
  return all.str();
}

TEST(Exposition, RealScrapes) {
  struct Case {
    const char* file;
    std::size_t samples;
  };
  // grep -c ^DCGM
  for (const Case& c : {Case{"t4_two_gpu_one_pod.prom", 38}, Case{"a100_mig_active_1g5gb.prom", 14},
                        Case{"a100_mig_idle_1g5gb.prom", 14}}) {
    const std::string document = read_file(c.file);
    const Outcome outcome = text(document);
    ASSERT_TRUE(outcome.report);
    EXPECT_EQ(outcome.report->bad, 0u);
    EXPECT_EQ(outcome.report->samples, c.samples) << c.file;
    EXPECT_EQ(outcome.sink.all.size(), c.samples) << c.file;
    EXPECT_EQ(outcome.sink.labels_of_key.size(), c.samples) << c.file;
  }
}

TEST(Exposition, Lines) {
  struct Case {
    const char* line;
    const char* series;
    double value;
  };
  for (const Case& c : {
           Case{"m 1", "m{}", 1},
           Case{"m{} 1", "m{}", 1},
           Case{"  m\t{ a = \"b\" , c=\"d\" , }  -1.5  ", "m{a=\"b\",c=\"d\"}", -1.5},
           Case{"vllm:tokens_total{m=\"x\"} 12", "vllm:tokens_total{m=\"x\"}", 12},
           Case{R"(m{a="q\"b\\n\nx"} 1)", "m{a=\"q\"b\\n\nx\"}", 1},
           Case{R"(m{a="}, {="} 1)", "m{a=\"}, {=\"}", 1},
           Case{R"(m{a="",b="1"} 1)", "m{b=\"1\"}", 1},
           Case{R"({"dotted.name",a="b"} 1)", "dotted.name{a=\"b\"}", 1},
           Case{R"({"m","dotted.label"="b",} 1)", "m{dotted.label=\"b\"}", 1},
           Case{R"(m{b="1",a="2"} 1)", "m{a=\"2\",b=\"1\"}", 1},
           Case{"m{a=\"b\"}1", "m{a=\"b\"}", 1},
           Case{"m 1\r", "m{}", 1},
           Case{"m +Inf", "m{}", HUGE_VAL},
           Case{"m -Inf", "m{}", -HUGE_VAL},
           Case{"m +1.5e3", "m{}", 1500},
           Case{"m 1e-400", "m{}", 0},
           Case{"m .5", "m{}", 0.5},
           Case{"m 5.", "m{}", 5},
           Case{"m 0.1", "m{}", 0.1},
           Case{"m 9007199254740993", "m{}", 9007199254740992.0},
           Case{"m 123456789012345678901234567890", "m{}", 123456789012345678901234567890.0},
           Case{"m 0.30000000000000004", "m{}", 0.30000000000000004},
           Case{"m 1.7976931348623157e308", "m{}", 1.7976931348623157e308},
       }) {
    for (const char* const end : {"\n", ""}) {
      const Outcome outcome = text(std::string(c.line) + end);
      ASSERT_TRUE(outcome.report);
      ASSERT_EQ(outcome.sink.all.size(), 1u)
          << c.line << ": " << (outcome.report->bad > 0 ? outcome.report->first_bad[0].reason : "");
      EXPECT_EQ(outcome.sink.all[0].text(), c.series) << c.line;
      EXPECT_EQ(outcome.sink.all[0].samples[0].value, c.value) << c.line;
      EXPECT_EQ(outcome.sink.all[0].samples[0].at_ms, kAt);
    }
  }
  // A NaN in a text is never a stale marker.
  const Outcome nan = text("m NaN\n");
  EXPECT_TRUE(std::isnan(nan.sink.all.at(0).samples[0].value));
  EXPECT_NE(std::bit_cast<std::uint64_t>(nan.sink.all[0].samples[0].value), kStaleNan);
}

TEST(Exposition, BadLinesAreNamedAndTheRestIsTaken) {
  struct Case {
    const char* line;
    const char* why;
  };
  for (const Case& c : {
           Case{"1m 1", "name"},
           Case{"{} 1", "name"},
           Case{"{a=\"b\"} 1", "name"},
           Case{"m{\"n\"} 1", "'='"},
           Case{"m", "blank"},
           Case{"m{", "label name"},
           Case{"m{1a=\"b\"} 1", "label name"},
           Case{"m{a:b=\"c\"} 1", "'='"},
           Case{"m{a} 1", "'='"},
           Case{"m{a=b} 1", "quotes"},
           Case{"m{a=\"b} 1", "end"},
           Case{"m{a=\"b\\", "end"},
           Case{"m{a=\"b\\x\"} 1", "escape"},
           Case{"m{a=\"b\"c=\"d\"} 1", "','"},
           Case{"m{a=\"b\",,} 1", "label name"},
           Case{"m{a=\"b\"}", "number"},
           Case{"m ", "number"},
           Case{"m one", "number"},
           Case{"m 1x", "number"},
           Case{"m 1_000", "number"},
           Case{"m --1", "number"},
           Case{"m +-1", "number"},
           Case{"m nan(1)", "number"},
           Case{"m 1e400", "number"},
           Case{"m 1 1.5", "timestamp"},
           Case{"m 1 99999999999999999999", "timestamp"},
           Case{"m 1 1 1", "follows"},
           Case{"m 1 # {} 1", "follows"},
           Case{"m{a=\"b\",a=\"c\"} 1", "repeated"},
           Case{"m{a=\"\xff\"} 1", "UTF-8"},
       }) {
    const Outcome outcome = text("first 1\n" + std::string(c.line) + "\nlast 1\n");
    ASSERT_TRUE(outcome.report);
    ASSERT_EQ(outcome.report->bad, 1u) << c.line;
    EXPECT_EQ(outcome.report->first_bad[0].line, 2u) << c.line;
    EXPECT_NE(outcome.report->first_bad[0].reason.find(c.why), std::string::npos)
        << c.line << ": " << outcome.report->first_bad[0].reason;
    EXPECT_EQ(outcome.sink.all.size(), 2u) << c.line;
  }
  std::string many;
  for (int i = 0; i < 50; ++i) many += "?\n";
  const Outcome outcome = text(many);
  EXPECT_EQ(outcome.report->bad, 50u);
  EXPECT_EQ(outcome.report->first_bad.size(), kBadLinesKept);
}

TEST(Exposition, Timestamps) {
  const Outcome outcome = text("a 1 1700000000123\nb 1 -5\nc 1 9999999999999\n# d 1\n\nd 1\n");
  EXPECT_EQ(outcome.report->samples_out_of_range, 2u);
  ASSERT_EQ(outcome.sink.all.size(), 2u);
  EXPECT_EQ(outcome.sink.all[0].samples[0].at_ms, 1'700'000'000'123);
  EXPECT_EQ(outcome.sink.all[1].samples[0].at_ms, kAt);
  const Outcome own = parse(ExpositionFormat::kText, "a 1 1700000000123\n", {}, false);
  EXPECT_EQ(own.sink.all[0].samples[0].at_ms, kAt);
}

TEST(Exposition, OpenMetrics) {
  const Outcome outcome = parse(ExpositionFormat::kOpenMetrics,
                                "# TYPE a counter\n"
                                "a_total{m=\"x\"} 17 1700000000.123 # {trace_id=\"}\"} 0.67 1.5\n"
                                "a_created{m=\"x\"} 1605281325.5\n"
                                "b 2 # {} 1\n"
                                "c 3 1e300\n"
                                "d 4 1700000000\n"
                                "e 5 NaN\n"
                                "# EOF\n");
  ASSERT_TRUE(outcome.report) << outcome.report.error().message;
  EXPECT_EQ(outcome.report->exemplars, 2u);
  EXPECT_EQ(outcome.report->samples_out_of_range, 1u);
  EXPECT_EQ(outcome.report->bad, 1u);
  ASSERT_EQ(outcome.sink.all.size(), 4u);
  EXPECT_EQ(outcome.sink.all[0].samples[0].at_ms, 1'700'000'000'123);
  EXPECT_EQ(outcome.sink.all[0].samples[0].value, 17);
  EXPECT_EQ(outcome.sink.all[1].text(), "a_created{m=\"x\"}");
  EXPECT_EQ(outcome.sink.all[2].samples[0].at_ms, kAt);
  EXPECT_EQ(outcome.sink.all[3].samples[0].at_ms, 1'700'000'000'000);
  for (const char* const cut : {"", "a 1\n", "a 1\n# EO", "a 1 # EOF", "a 1\n# EOF\nb 2\n"}) {
    const Outcome refused = parse(ExpositionFormat::kOpenMetrics, cut);
    ASSERT_FALSE(refused.report) << cut;
    EXPECT_NE(refused.report.error().message.find("cut off"), std::string::npos);
    EXPECT_TRUE(refused.sink.all.empty());
  }
  EXPECT_TRUE(parse(ExpositionFormat::kOpenMetrics, "# EOF").report);
}

TEST(Exposition, TargetLabels) {
  const std::vector<Label> own = {{"instance", "n1:9400"}, {"job", "dcgm"}, {"pod", "exporter-1"}};
  const std::string line = R"(m{pod="train-0",job="",exported_job="e"} 1)";
  EXPECT_EQ(text(line, {.labels = own}).sink.all.at(0).text(),
            "m{exported_job=\"e\",exported_pod=\"train-0\",instance=\"n1:9400\",job=\"dcgm\","
            "pod=\"exporter-1\"}");
  EXPECT_EQ(text(line, {.labels = own, .honor_labels = true}).sink.all.at(0).text(),
            "m{exported_job=\"e\",instance=\"n1:9400\",pod=\"train-0\"}");
  // exported_ again, where there is one already.
  EXPECT_EQ(text(R"(m{pod="a",exported_pod="b"} 1)", {.labels = own}).sink.all.at(0).text(),
            "m{exported_exported_pod=\"a\",exported_pod=\"b\",instance=\"n1:9400\",job=\"dcgm\","
            "pod=\"exporter-1\"}");
  // Other targets, other keys; the same target, the same key.
  const auto key = [&](const TargetLabels& target) {
    return text(line, target).sink.all.at(0).key;
  };
  EXPECT_EQ(key({.labels = own}), key({.labels = own}));
  EXPECT_NE(key({.labels = own}), key({.labels = {{"instance", "n2:9400"}}}));
  EXPECT_NE(key({.labels = own}), key({.labels = own, .honor_labels = true}));
  EXPECT_NE(key({.labels = own}), key({}));
}

std::string escaped(const std::string& value) {
  std::string out;
  for (const char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return out;
}

std::string written(const CollectedSeries& series) {
  std::string name;
  std::string inside;
  for (const Label& label : series.labels) {
    if (label.name == "__name__") {
      name = label.value;
    } else {
      inside += (inside.empty() ? "" : ",") + ("\"" + escaped(label.name) + "\"=\"") +
                escaped(label.value) + "\"";
    }
  }
  std::ostringstream line;
  line.precision(17);
  line << "{\"" << escaped(name) << "\"" << (inside.empty() ? "" : ",") << inside << "} "
       << series.samples[0].value << ' ' << series.samples[0].at_ms << '\n';
  return line.str();
}

// Any labels and any finite value: written, read and written again are the same bytes.
RC_GTEST_PROP(Exposition, TextSeriesTextIsStable, ()) {
  const auto letters = rc::gen::container<std::string>(
      rc::gen::oneOf(rc::gen::elementOf(std::string("\"\\\n{}=, #n")), rc::gen::inRange('a', 'z')));
  CollectedSeries series;
  series.labels.push_back({"__name__", *rc::gen::nonEmpty(letters)});
  for (const std::string& name : *rc::gen::container<std::vector<std::string>>(letters)) {
    if (!name.empty()) series.labels.push_back({name, *rc::gen::nonEmpty(letters)});
  }
  RC_PRE(normalise_labels(series.labels, {}));
  const auto value = *rc::gen::arbitrary<double>();
  series.samples.push_back({*rc::gen::inRange<std::int64_t>(0, unix_ms(kInstantMax)), value});
  const std::string line = written(series);
  const Outcome outcome = text(line);
  RC_ASSERT(outcome.sink.all.size() == 1u);
  RC_ASSERT(outcome.sink.all[0].labels == series.labels);
  RC_ASSERT(outcome.sink.all[0].samples[0].value == value);
  RC_ASSERT(written(outcome.sink.all[0]) == line);
}

// The result of a line does not depend on its place in memory or on the lines around it.
RC_GTEST_PROP(Exposition, LinesAreIndependent, (const std::vector<std::string>& rest)) {
  const std::string line = "m{UUID=\"GPU-7a2e92f2-be71-d37e-a744-541600ffc722\"} 97.25";
  std::string document;
  for (const std::string& other : rest) document += "#" + std::string(other.c_str()) + "\n";
  std::erase(document, '\r');
  const Outcome outcome = text(document + line);
  RC_ASSERT(!outcome.sink.all.empty());
  RC_ASSERT(outcome.sink.all.back().key == text(line).sink.all[0].key);
}

std::string varint(std::uint64_t value) {
  std::string out;
  put_varint(out, value);
  return out;
}
std::string field(int number, const std::string& bytes) {
  return static_cast<char>(number * 8 + 2) + varint(bytes.size()) + bytes;
}
std::string number_field(int number, std::uint64_t value) {
  return static_cast<char>(number * 8) + varint(value);
}
std::string double_field(int number, double value) {
  std::string out(1, static_cast<char>(number * 8 + 1));
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (unsigned shift = 0; shift < 64; shift += 8) {
    out += static_cast<char>((bits >> shift) & 0xff);
  }
  return out;
}
std::string label(const std::string& name, const std::string& value) {
  return field(1, field(1, name) + field(2, value));
}
std::string delimited(const std::string& message) { return varint(message.size()) + message; }

TEST(Exposition, Protobuf) {
  const std::string gauge =
      field(1, "DCGM_FI_DEV_GPU_UTIL") + field(2, "help") + number_field(3, 1) +
      field(4, label("gpu", "0") + field(2, double_field(1, 97.5)) + number_field(6, 1000)) +
      field(4, label("gpu", "1") + field(2, ""));
  const std::string counter = field(1, "c_total") + field(4, field(3, double_field(1, 3)));
  const std::string untyped = field(1, "u") + field(4, field(5, double_field(1, 4)));
  const std::string summary =
      field(1, "s") + field(4, field(4, number_field(1, 5) + double_field(2, 1.5) +
                                            field(3, double_field(1, 0.5) + double_field(2, 9))));
  const std::string histogram =
      field(1, "h") +
      field(4,
            label("m", "x") + field(7, number_field(1, 7) + double_field(2, 2.5) +
                                           field(3, number_field(1, 6) + double_field(2, 1)) +
                                           field(3, number_field(1, 7) + double_field(2, 0.25))));
  const std::string native =
      field(1, "n") + field(4, field(7, number_field(1, 7) + number_field(5, 3)));
  const Outcome outcome =
      parse(ExpositionFormat::kProtobuf,
            delimited(gauge) + delimited(counter) + delimited(untyped) + delimited(summary) +
                delimited(histogram) + delimited(native) + delimited("\x0a\x7f") + delimited(""),
            {.labels = {{"job", "j"}}});
  ASSERT_TRUE(outcome.report) << outcome.report.error().message;
  std::vector<std::string> got;
  for (const CollectedSeries& series : outcome.sink.all) {
    std::ostringstream line;
    line << series.text() << ' ' << series.samples[0].value;
    got.push_back(line.str());
  }
  const std::vector<std::string> wanted = {
      "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",job=\"j\"} 97.5",
      "DCGM_FI_DEV_GPU_UTIL{gpu=\"1\",job=\"j\"} 0",
      "c_total{job=\"j\"} 3",
      "u{job=\"j\"} 4",
      "s{job=\"j\",quantile=\"0.5\"} 9",
      "s_sum{job=\"j\"} 1.5",
      "s_count{job=\"j\"} 5",
      "h_bucket{job=\"j\",le=\"1.0\",m=\"x\"} 6",
      "h_bucket{job=\"j\",le=\"0.25\",m=\"x\"} 7",
      "h_bucket{job=\"j\",le=\"+Inf\",m=\"x\"} 7",
      "h_sum{job=\"j\",m=\"x\"} 2.5",
      "h_count{job=\"j\",m=\"x\"} 7",
  };
  EXPECT_EQ(got, wanted);
  EXPECT_EQ(outcome.sink.all[0].samples[0].at_ms, 1000);
  EXPECT_EQ(outcome.sink.all[1].samples[0].at_ms, kAt);
  EXPECT_EQ(outcome.report->histograms, 1u);
  EXPECT_EQ(outcome.report->bad, 2u);
  EXPECT_EQ(outcome.report->first_bad[0].line, 7u);

  const Outcome cut =
      parse(ExpositionFormat::kProtobuf, delimited(counter) + delimited(gauge).substr(0, 20));
  ASSERT_FALSE(cut.report);
  EXPECT_TRUE(cut.sink.all.empty());
}

TEST(Exposition, ContentTypes) {
  EXPECT_EQ(parse_exposition_format(""), ExpositionFormat::kText);
  EXPECT_EQ(parse_exposition_format("text/plain; version=0.0.4; charset=utf-8"),
            ExpositionFormat::kText);
  EXPECT_EQ(parse_exposition_format("application/openmetrics-text; version=1.0.0; charset=utf-8"),
            ExpositionFormat::kOpenMetrics);
  EXPECT_EQ(parse_exposition_format("application/vnd.google.protobuf; "
                                    "proto=io.prometheus.client.MetricFamily; encoding=delimited"),
            ExpositionFormat::kProtobuf);
  for (const char* const other : {"text/html", "application/json",
                                  "application/vnd.google.protobuf; "
                                  "proto=io.prometheus.client.MetricFamily; encoding=text"}) {
    EXPECT_EQ(parse_exposition_format(other).error().code, ErrorCode::kUnsupported) << other;
  }
}

}  // namespace
}  // namespace pennyweight::prometheus
