#include <fmt/format.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/hash.h"
#include "telemetry/prometheus/encoded_label.h"
#include "telemetry/prometheus/exposition_parsing.h"
#include "telemetry/prometheus/wire.h"

namespace pennyweight::prometheus {
namespace {

// The labels of one series as fields of a message: the name, those of the metric, le or quantile.
class FieldLabels final : public EncodedLabels {
 public:
  explicit FieldLabels(const ParserContext& context) : context_(context) {}
  std::string fields;
  std::uint64_t message = 0;

  bool decode(std::vector<Label>& labels) const override {
    const LabelLimits& limits = context_.options.labels;
    if (decode_label_fields(fields, limits, labels)) {
      add_target_labels(context_.target, labels);
      if (normalise_labels(labels, limits)) return true;
    }
    record_bad_line(context_.report, message,
                    "too many labels, or one that is too long, repeated or not UTF-8");
    return false;
  }

 private:
  const ParserContext& context_;
};

// A bound as Prometheus writes it into le and quantile: "0.5", "1.0", "+Inf".
std::string bound_text(double bound) {
  if (std::isnan(bound)) return "NaN";
  if (std::isinf(bound)) return bound > 0 ? "+Inf" : "-Inf";
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), bound);
  std::string written(text.data(), end);
  if (error != std::errc{}) return {};
  if (written.find_first_of(".e") == std::string::npos) written += ".0";
  return written;
}

double to_double(const WireField& field) { return std::bit_cast<double>(field.value); }

// The one number of a counter, gauge or untyped metric: field 1.
std::optional<double> number_in(std::string_view message) {
  WireReader reader(message);
  WireField field;
  double value = 0;
  while (reader.next(field)) {
    if (field.is(1, WireType::kFixed64)) value = to_double(field);
  }
  if (reader.wrong() != nullptr) return std::nullopt;
  return value;
}

class ProtobufParser {
 public:
  explicit ProtobufParser(const ParserContext& context)
      : context_(context), seed_(target_seed(context.target, "protobuf")), labels_(context) {}

  void family(std::string_view message) {
    ++labels_.message;
    std::string_view name;
    WireReader reader(message);
    WireField field;
    while (reader.next(field)) {
      if (field.is(1, WireType::kBytes)) name = field.bytes;
    }
    if (reader.wrong() != nullptr) return bad(reader.wrong());
    if (name.empty()) return bad("a family without a name");
    WireReader again(message);
    while (again.next(field)) {
      if (field.is(4, WireType::kBytes)) metric(name, field.bytes);
    }
  }

 private:
  void bad(std::string_view why) { record_bad_line(context_.report, labels_.message, why); }

  void metric(std::string_view name, std::string_view message) {
    metric_labels_.clear();
    at_ms_ = unix_ms(context_.options.scraped_at);
    WireReader reader(message);
    WireField field;
    while (reader.next(field)) {
      if (field.is(1, WireType::kBytes)) {
        metric_labels_.append(field.begin, reader.at());
      } else if (field.is(6, WireType::kVarint) && context_.options.honor_timestamps) {
        at_ms_ = static_cast<std::int64_t>(field.value);
      }
    }
    if (reader.wrong() != nullptr) return bad(reader.wrong());
    WireReader again(message);
    while (again.next(field)) {
      if (field.type != WireType::kBytes) continue;
      switch (field.number) {
        case 2:  // gauge
        case 3:  // counter
        case 5:  // untyped
          if (const auto value = number_in(field.bytes)) {
            emit(name, "", "", 0, *value);
          } else {
            bad("a metric's number can't be read");
          }
          break;
        case 4:
          summary(name, field.bytes);
          break;
        case 7:
          histogram(name, field.bytes);
          break;
        default:
          break;
      }
    }
  }

  // sample_count 1, sample_sum 2, quantile 3 (quantile 1, value 2).
  void summary(std::string_view name, std::string_view message) {
    double count = 0;
    double sum = 0;
    WireReader reader(message);
    WireField field;
    while (reader.next(field)) {
      if (field.is(1, WireType::kVarint)) count = static_cast<double>(field.value);
      if (field.is(2, WireType::kFixed64)) sum = to_double(field);
      if (!field.is(3, WireType::kBytes)) continue;
      double quantile = 0;
      double value = 0;
      WireReader inner(field.bytes);
      WireField part;
      while (inner.next(part)) {
        if (part.is(1, WireType::kFixed64)) quantile = to_double(part);
        if (part.is(2, WireType::kFixed64)) value = to_double(part);
      }
      if (inner.wrong() != nullptr) return bad(inner.wrong());
      emit(name, "", "quantile", quantile, value);
    }
    if (reader.wrong() != nullptr) return bad(reader.wrong());
    emit(name, "_sum", "", 0, sum);
    emit(name, "_count", "", 0, count);
  }

  // sample_count 1, sample_sum 2, bucket 3 (cumulative_count 1, upper_bound 2,
  // cumulative_count_float 4), sample_count_float 4; 5 (schema) and above: native.
  void histogram(std::string_view name, std::string_view message) {
    double count = 0;
    double sum = 0;
    bool has_infinity = false;
    bool has_buckets = false;
    bool is_native = false;
    WireReader reader(message);
    WireField field;
    while (reader.next(field)) {
      if (field.is(1, WireType::kVarint)) count = static_cast<double>(field.value);
      if (field.is(4, WireType::kFixed64) && to_double(field) > 0) count = to_double(field);
      if (field.is(2, WireType::kFixed64)) sum = to_double(field);
      if (field.is(5, WireType::kVarint)) is_native = true;
      if (!field.is(3, WireType::kBytes)) continue;
      double bound = 0;
      double below = 0;
      WireReader inner(field.bytes);
      WireField part;
      while (inner.next(part)) {
        if (part.is(1, WireType::kVarint)) below = static_cast<double>(part.value);
        if (part.is(4, WireType::kFixed64) && to_double(part) > 0) below = to_double(part);
        if (part.is(2, WireType::kFixed64)) bound = to_double(part);
        if (part.is(3, WireType::kBytes)) ++context_.report.exemplars;
      }
      if (inner.wrong() != nullptr) return bad(inner.wrong());
      has_buckets = true;
      has_infinity = has_infinity || (std::isinf(bound) && bound > 0);
      emit(name, "_bucket", "le", bound, below);
    }
    if (reader.wrong() != nullptr) return bad(reader.wrong());
    if (is_native && !has_buckets) {
      ++context_.report.histograms;
      return;
    }
    if (!has_infinity) {
      emit(name, "_bucket", "le", std::numeric_limits<double>::infinity(), count);
    }
    emit(name, "_sum", "", 0, sum);
    emit(name, "_count", "", 0, count);
  }

  void emit(std::string_view name, std::string_view suffix, std::string_view extra, double bound,
            double value) {
    if (at_ms_ < unix_ms(kInstantMin) || at_ms_ > unix_ms(kInstantMax)) {
      ++context_.report.samples_out_of_range;
      return;
    }
    labels_.fields.clear();
    put_label_field(labels_.fields, "__name__", std::string(name).append(suffix));
    labels_.fields += metric_labels_;
    if (!extra.empty()) put_label_field(labels_.fields, extra, bound_text(bound));
    ++context_.report.samples;
    const Sample one = {.at_ms = at_ms_, .value = value};
    context_.sink.series(mixed(hash_of(labels_.fields), seed_), labels_, std::span(&one, 1));
  }

  const ParserContext& context_;
  Hash128 seed_;
  FieldLabels labels_;
  std::string metric_labels_;
  std::int64_t at_ms_ = 0;
};

}  // namespace

Result<void> check_delimited(std::string_view document) {
  const char* at = document.data();
  const char* const end = at + document.size();
  while (at < end) {
    std::uint64_t size = 0;
    const char* const message = WireReader::varint(at, end, size);
    if (message == nullptr || size > static_cast<std::size_t>(end - message)) {
      return fail(ErrorCode::kBadFile,
                  fmt::format("the protobuf exposition is cut off or malformed at byte {} of {}",
                              at - document.data(), document.size()));
    }
    at = message + size;
  }
  return {};
}

void parse_protobuf(std::string_view document, const ParserContext& context) {
  ProtobufParser parser(context);
  const char* at = document.data();
  const char* const end = at + document.size();
  while (at < end) {
    std::uint64_t size = 0;
    const char* const message = WireReader::varint(at, end, size);
    parser.family(std::string_view(message, static_cast<std::size_t>(size)));
    at = message + size;
  }
}

}  // namespace pennyweight::prometheus
