#include "telemetry/collect/series_json.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "core/try.h"

namespace pennyweight::collect {
namespace {

namespace dom = simdjson::dom;

constexpr double kMsMax = 7'258'118'399'999.0;  // the end of 2199, as core/instant.h has it

std::unexpected<Error> malformed(std::string_view why) {
  return fail(ErrorCode::kBadFile, fmt::format("the answer is not what was asked for: {}", why));
}

// Labels sorted by name. Nothing where they are malformed or too many.
std::optional<std::vector<prometheus::Label>> parse_labels(dom::element metric) {
  dom::object object;
  if (metric.get_object().get(object) != simdjson::SUCCESS) return std::nullopt;
  std::vector<prometheus::Label> labels;
  std::size_t bytes = 0;
  for (const auto [name, content] : object) {
    std::string_view value;
    if (content.get_string().get(value) != simdjson::SUCCESS || name.empty()) return std::nullopt;
    bytes += name.size() + value.size();
    if (labels.size() >= kSeriesLabelsMax || bytes > kSeriesLabelBytesMax) return std::nullopt;
    if (!value.empty()) labels.push_back({std::string(name), std::string(value)});
  }
  std::ranges::sort(labels);
  const auto twice = std::ranges::adjacent_find(labels, {}, &prometheus::Label::name);
  if (twice != labels.end() || labels.empty()) return std::nullopt;
  return labels;
}

// A value as Go writes it: "1.5e-07", "NaN", "+Inf".
std::optional<double> parse_value(std::string_view text) {
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_value(dom::element element) {
  if (element.is_null()) return std::bit_cast<double>(prometheus::kStaleNan);
  double number = 0;
  if (element.get_double().get(number) == simdjson::SUCCESS) return number;
  std::string_view text;
  if (element.get_string().get(text) == simdjson::SUCCESS) return parse_value(text);
  return std::nullopt;
}

std::optional<std::int64_t> to_ms(double ms) {
  if (!(ms >= 0 && ms <= kMsMax)) return std::nullopt;
  return std::llround(ms);
}

}  // namespace

Result<std::vector<std::string>> read_names(std::string_view json) {
  dom::parser parser;
  dom::element root;
  dom::array data;
  if (const auto error = parser.parse(json.data(), json.size()).get(root);
      error != simdjson::SUCCESS) {
    return malformed(fmt::format("it is not JSON: {}", simdjson::error_message(error)));
  }
  if (root["data"].get_array().get(data) != simdjson::SUCCESS) {
    return malformed("there is no list of names");
  }
  std::vector<std::string> names;
  for (const dom::element element : data) {
    std::string_view name;
    if (element.get_string().get(name) != simdjson::SUCCESS) {
      return malformed("a name is not a string");
    }
    names.emplace_back(name);
  }
  return names;
}

Result<void> LineSplitter::too_long() {
  return fail(ErrorCode::kLimit,
              fmt::format("a line of the answer has more than {} MiB", kExportLineBytesMax >> 20));
}

Result<RawSeries*> SeriesBuffer::find_or_add_series(std::vector<prometheus::Label> labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    text.append(name).append(1, '\0').append(value).append(1, '\0');
  }
  const auto [at, is_new] = places_.try_emplace(std::move(text), series_.size());
  if (is_new) {
    if (series_.size() >= limits_.series) {
      places_.erase(at);
      return fail(ErrorCode::kLimit,
                  fmt::format("more than {} series in one piece", limits_.series));
    }
    series_.push_back({std::move(labels), {}});
  }
  return &series_[at->second];
}

Result<void> SeriesBuffer::keep(RawSeries& series, std::int64_t at_ms, double value) {
  if (at_ms < from_ms_ || at_ms >= to_ms_) return {};
  if (samples_ >= limits_.samples) {
    return fail(ErrorCode::kLimit,
                fmt::format("more than {} samples in one piece", limits_.samples));
  }
  ++samples_;
  series.samples.push_back({at_ms, value});
  return {};
}

Result<void> SeriesBuffer::add_matrix(std::string_view json) {
  dom::parser parser;
  dom::element root;
  if (const auto error = parser.parse(json.data(), json.size()).get(root);
      error != simdjson::SUCCESS) {
    return malformed(fmt::format("it is not JSON: {}", simdjson::error_message(error)));
  }
  std::string_view type;
  if (root["data"]["resultType"].get_string().get(type) != simdjson::SUCCESS) {
    return malformed("it has no data.resultType");
  }
  if (type != "matrix") return malformed("its resultType is not matrix");
  dom::array result;
  if (root["data"]["result"].get_array().get(result) != simdjson::SUCCESS) {
    return malformed("its result is not a list");
  }
  for (const dom::element one : result) {
    dom::element metric;
    if (one["metric"].get(metric) != simdjson::SUCCESS) return malformed("a series has no metric");
    auto labels = parse_labels(metric);
    if (!labels) return malformed("labels that are none, or too many");
    dom::array values;
    if (one["values"].get_array().get(values) != simdjson::SUCCESS) {
      if (one["histograms"].error() == simdjson::SUCCESS) continue;  // native histograms only
      return malformed("a series has no values");
    }
    auto series = TRY(find_or_add_series(*std::move(labels)));
    for (const dom::element pair : values) {
      double seconds = 0;
      std::string_view text;
      if (pair.at(0).get_double().get(seconds) != simdjson::SUCCESS ||
          pair.at(1).get_string().get(text) != simdjson::SUCCESS) {
        return malformed("a sample is not [seconds, \"value\"]");
      }
      const auto at_ms = to_ms(seconds * 1000);
      const auto value = parse_value(text);
      if (!at_ms || !value) return malformed("a sample that is not a time and a number");
      TRY(keep(*series, *at_ms, *value));
    }
  }
  return {};
}

Result<void> SeriesBuffer::add_line(std::string_view json) {
  dom::parser parser;
  dom::element root;
  if (const auto error = parser.parse(json.data(), json.size()).get(root);
      error != simdjson::SUCCESS) {
    return malformed(fmt::format("a line is not JSON: {}", simdjson::error_message(error)));
  }
  dom::element metric;
  dom::array values;
  dom::array times;
  if (root["metric"].get(metric) != simdjson::SUCCESS ||
      root["values"].get_array().get(values) != simdjson::SUCCESS ||
      root["timestamps"].get_array().get(times) != simdjson::SUCCESS) {
    return malformed("a line without metric, values and timestamps");
  }
  auto labels = parse_labels(metric);
  if (!labels) return malformed("labels that are none, or too many");
  auto series = TRY(find_or_add_series(*std::move(labels)));
  auto time = times.begin();
  for (const dom::element element : values) {
    double ms = 0;
    if (time == times.end() || (*time).get_double().get(ms) != simdjson::SUCCESS) {
      return malformed("a line with more values than timestamps");
    }
    ++time;
    const auto at_ms = to_ms(ms);
    const auto value = parse_value(element);
    if (!at_ms || !value) return malformed("a sample that is not a time and a number");
    TRY(keep(*series, *at_ms, *value));
  }
  if (time != times.end()) return malformed("a line with more timestamps than values");
  return {};
}

void SeriesBuffer::sort() {
  samples_ = 0;
  for (RawSeries& series : series_) {
    std::ranges::stable_sort(series.samples, {}, &prometheus::Sample::at_ms);
    const auto twice = std::ranges::unique(series.samples, {}, &prometheus::Sample::at_ms);
    series.samples.erase(twice.begin(), twice.end());
    samples_ += series.samples.size();
  }
}

}  // namespace pennyweight::collect
