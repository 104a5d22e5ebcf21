#include "telemetry/prometheus/remote_write.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/hash.h"
#include "core/instant.h"
#include "core/try.h"
#include "telemetry/prometheus/encoded_label.h"
#include "telemetry/prometheus/header_value.h"
#include "telemetry/prometheus/wire.h"

namespace pennyweight::prometheus {
namespace {

constexpr char kTagOne = 0x0a;  // field 1, bytes
constexpr char kTagTwo = 0x12;  // field 2, bytes
constexpr std::int64_t kAtMin = unix_ms(kInstantMin);
constexpr std::int64_t kAtMax = unix_ms(kInstantMax);
// Precedes what a 2.0 key is the hash of, so that it never equals a 1.0 key.
constexpr std::string_view kV2Seed = "remote_write 2.0";

// Of a full body; real ones share nearly all symbols.
constexpr std::size_t kSymbolsPerSeriesMax = 4;

template <class T>
void empty(std::vector<T>& values) {
  if (values.capacity() * sizeof(T) > kReaderBytesKept) {
    std::vector<T>().swap(values);
  } else {
    values.clear();
  }
}

}  // namespace

Result<WriteProtocol> parse_write_protocol(std::string_view content_type) {
  if (content_type.empty()) return WriteProtocol::kV1;
  if (media_type(content_type) != "application/x-protobuf") {
    return fail(ErrorCode::kUnsupported,
                fmt::format("Content-Type \"{}\" is not remote write; send application/x-protobuf",
                            printable(content_type)));
  }
  const std::optional<std::string> proto = parameter(content_type, "proto");
  if (!proto || *proto == "prometheus.WriteRequest") return WriteProtocol::kV1;
  if (*proto == "io.prometheus.write.v2.Request") return WriteProtocol::kV2;
  return fail(ErrorCode::kUnsupported,
              fmt::format("remote write of the message \"{}\" is not supported; send "
                          "prometheus.WriteRequest or io.prometheus.write.v2.Request",
                          printable(*proto)));
}

class WriteRequestReader::EncodedV1 final : public EncodedLabels {
 public:
  explicit EncodedV1(const LabelLimits& limits) : limits_(limits) {}
  std::string_view message;

  bool decode(std::vector<Label>& labels) const override {
    return decode_label_fields(message, limits_, labels) && normalise_labels(labels, limits_);
  }

 private:
  const LabelLimits& limits_;
};

class WriteRequestReader::EncodedV2 final : public EncodedLabels {
 public:
  EncodedV2(const LabelLimits& limits, std::span<const std::string_view> symbols)
      : limits_(limits), symbols_(symbols) {}
  std::span<const std::uint32_t> refs;

  bool decode(std::vector<Label>& labels) const override {
    std::size_t used = 0;
    for (std::size_t i = 0; i + 1 < refs.size(); i += 2) {
      if (!add_label(labels, used, limits_, symbols_[refs[i]], symbols_[refs[i + 1]])) return false;
    }
    labels.resize(used);
    return normalise_labels(labels, limits_);
  }

 private:
  const LabelLimits& limits_;
  std::span<const std::string_view> symbols_;
};

std::unexpected<Error> WriteRequestReader::malformed(const char* at, std::string_view why) const {
  return fail(ErrorCode::kBadFile,
              fmt::format("the remote write {} body is malformed at byte {} of {}: {}",
                          protocol_ == WriteProtocol::kV1 ? "1.0" : "2.0", at - body_.data(),
                          body_.size(), why));
}

void WriteRequestReader::keep_sample(std::int64_t at_ms, double value) {
  if (at_ms < kAtMin || at_ms > kAtMax) {
    ++counts_.samples_out_of_range;
  } else if (samples_.size() == limits_.samples) {
    too_many_samples_ = true;
  } else {
    samples_.push_back({.at_ms = at_ms, .value = value});
  }
}

// A value (1, a double) and a time (2, milliseconds), each left out where it is zero.
Result<void> WriteRequestReader::read_sample(const char* at, const char* end) {
  // The form that every sender writes: a tag and 8 bytes, unless 0; a tag and the 6 bytes of a time
  // between 1971 and 2109.
  double value = 0;
  const char* const begin = at;
  if (end - at >= 9 && *at == 0x09) {
    value = std::bit_cast<double>(load_little_endian<std::uint64_t>(at + 1));
    at += 9;
  }
  std::uint64_t time = 0;
  if (end - at == 7 && *at == 0x10) {
    const char* const past = WireReader::varint(at + 1, end, time);
    if (past == end) {
      keep_sample(static_cast<std::int64_t>(time), value);
      return {};
    }
  }
  value = 0;
  time = 0;
  WireReader reader(std::string_view(begin, static_cast<std::size_t>(end - begin)));
  WireField field;
  while (reader.next(field)) {
    if (field.is(1, WireType::kFixed64)) {
      value = std::bit_cast<double>(field.value);
    } else if (field.is(2, WireType::kVarint)) {
      time = field.value;
    } else if (field.number <= 2) {
      return malformed(field.begin, "a sample's field has another wire type");
    }
  }
  if (reader.wrong() != nullptr) return malformed(reader.at(), reader.wrong());
  keep_sample(static_cast<std::int64_t>(time), value);
  return {};
}

Result<void> WriteRequestReader::add_series(Series& series) {
  if (series_.size() == limits_.series) {
    return fail(ErrorCode::kLimit, fmt::format("a remote write body holds more than {} series; "
                                               "send smaller requests",
                                               limits_.series));
  }
  if (too_many_samples_) {
    return fail(ErrorCode::kLimit, fmt::format("a remote write body holds more than {} samples; "
                                               "send smaller requests",
                                               limits_.samples));
  }
  series.samples = static_cast<std::uint32_t>(samples_.size()) - series.first_sample;
  series_.push_back(series);
  return {};
}

Result<void> WriteRequestReader::read_series_v1(std::string_view message) {
  Series series;
  series.first_sample = static_cast<std::uint32_t>(samples_.size());
  const char* at = message.data();
  const char* const end = at + message.size();
  // The common form: labels come first and adjacent, each shorter than 128 bytes.
  while (end - at >= 2 && *at == kTagOne && static_cast<unsigned char>(at[1]) < 0x80 &&
         end - at - 2 >= at[1]) {
    at += 2 + at[1];
  }
  const char* labels_end = at;
  bool in_one_piece = true;
  while (end - at >= 2 && *at == kTagTwo && static_cast<unsigned char>(at[1]) < 0x80 &&
         end - at - 2 >= at[1]) {
    const char* const past = at + 2 + at[1];
    TRY(read_sample(at + 2, past));
    at = past;
  }
  WireReader reader(message);
  reader.skip_to(at);
  WireField field;
  while (reader.next(field)) {
    if (field.number >= 1 && field.number <= 4 && field.type != WireType::kBytes) {
      return malformed(field.begin, "a field of a series has another wire type");
    }
    switch (field.number) {
      case 1:
        if (in_one_piece && field.begin == labels_end) {
          labels_end = reader.at();
        } else {
          in_one_piece = false;
        }
        break;
      case 2: {
        const char* const begin = field.bytes.data();
        TRY(read_sample(begin, begin + field.bytes.size()));
        break;
      }
      case 3:
        ++counts_.exemplars;
        break;
      case 4:
        ++counts_.histograms;
        break;
      default:
        break;
    }
  }
  if (reader.wrong() != nullptr) return malformed(reader.at(), reader.wrong());
  if (in_one_piece) {
    series.labels = message.substr(0, static_cast<std::size_t>(labels_end - message.data()));
    series.key = hash_of(series.labels);
  } else {
    // The same key as if they were adjacent.
    scratch_.clear();
    WireReader again(message);
    while (again.next(field)) {
      if (field.number == 1) scratch_.append(field.begin, again.at());
    }
    series.labels = message;
    series.key = hash_of(scratch_);
  }
  return add_series(series);
}

Result<void> WriteRequestReader::read_v1(std::string_view body) {
  WireReader reader(body);
  WireField field;
  while (reader.next(field)) {
    if (field.is(1, WireType::kBytes)) {
      TRY(read_series_v1(field.bytes));
    } else if (field.is(3, WireType::kBytes)) {
      ++counts_.metadata;
    } else if (field.number == 1 || field.number == 3) {
      return malformed(field.begin, "a field of the request has another wire type");
    } else if (field.number == 4 || field.number == 5) {
      return malformed(field.begin, "this is a 2.0 request; its Content-Type must say so");
    }
  }
  if (reader.wrong() != nullptr) return malformed(reader.at(), reader.wrong());
  return {};
}

Result<void> WriteRequestReader::read_series_v2(std::string_view message) {
  Series series;
  series.first_ref = static_cast<std::uint32_t>(refs_.size());
  series.first_sample = static_cast<std::uint32_t>(samples_.size());
  std::size_t refs = 0;
  // One label too many is enough for it to be dropped when it is decoded.
  const std::size_t refs_max = 2 * limits_.labels.labels + 2;
  constexpr const char* kNoSymbol = "a label refers to a symbol that is not there";
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.is(1, WireType::kBytes)) {  // packed
      const char* at = field.bytes.data();
      const char* const end = at + field.bytes.size();
      const std::size_t kept = refs_.size();
      refs_.resize(kept + std::min(field.bytes.size(), refs_max - (kept - series.first_ref)));
      std::uint32_t* to = refs_.data() + kept;
      const std::uint32_t* const to_end = refs_.data() + refs_.size();
      while (at < end) {
        std::uint64_t ref = 0;
        const char* const past = WireReader::varint(at, end, ref);
        if (past == nullptr) return malformed(at, "a reference is cut off");
        if (ref >= symbols_.size()) return malformed(at, kNoSymbol);
        if (to != to_end) *to++ = static_cast<std::uint32_t>(ref);
        ++refs;
        at = past;
      }
      refs_.resize(static_cast<std::size_t>(to - refs_.data()));
    } else if (field.is(1, WireType::kVarint)) {
      if (field.value >= symbols_.size()) return malformed(field.begin, kNoSymbol);
      if (refs_.size() - series.first_ref < refs_max) {
        refs_.push_back(static_cast<std::uint32_t>(field.value));
      }
      ++refs;
    } else if (field.is(2, WireType::kBytes)) {
      const char* const begin = field.bytes.data();
      TRY(read_sample(begin, begin + field.bytes.size()));
    } else if (field.is(3, WireType::kBytes)) {
      ++counts_.histograms;
    } else if (field.is(4, WireType::kBytes)) {
      ++counts_.exemplars;
    } else if (field.is(5, WireType::kBytes)) {
      ++counts_.metadata;
    } else if (field.number <= 5) {
      return malformed(field.begin, "a field of a series has another wire type");
    }
  }
  if (reader.wrong() != nullptr) return malformed(reader.at(), reader.wrong());
  series.refs = static_cast<std::uint32_t>(refs_.size()) - series.first_ref;
  if (refs % 2 != 0) return malformed(message.data(), "a label has a name and no value");
  // Each text is hashed once for the whole body; a series' key is the hash of their hashes.
  scratch_.assign(kV2Seed);
  scratch_.resize(kV2Seed.size() + series.refs * sizeof(Hash128));
  char* to = scratch_.data() + kV2Seed.size();
  for (std::size_t i = series.first_ref; i < refs_.size(); ++i, to += sizeof(Hash128)) {
    std::memcpy(to, &symbol_hashes_[refs_[i]], sizeof(Hash128));
  }
  series.key = hash_of(scratch_);
  return add_series(series);
}

Result<void> WriteRequestReader::read_v2(std::string_view body) {
  WireReader reader(body);
  WireField field;
  while (reader.next(field)) {
    if (field.is(4, WireType::kBytes)) {
      symbols_.push_back(field.bytes);
      symbol_hashes_.push_back(hash_of(field.bytes));
    } else if (field.is(5, WireType::kBytes)) {
      messages_.push_back(field.bytes);
    } else if (field.number == 4 || field.number == 5) {
      return malformed(field.begin, "a field of the request has another wire type");
    } else if (field.number == 1 || field.number == 3) {
      return malformed(field.begin, "this is a 1.0 request; its Content-Type must say so");
    }
    if (symbols_.size() > kSymbolsPerSeriesMax * limits_.series ||
        messages_.size() > limits_.series) {
      return fail(ErrorCode::kLimit,
                  fmt::format("a remote write body holds more than {} series, or {} symbols for "
                              "each; send smaller requests",
                              limits_.series, kSymbolsPerSeriesMax));
    }
  }
  if (reader.wrong() != nullptr) return malformed(reader.at(), reader.wrong());
  if (!messages_.empty() && (symbols_.empty() || !symbols_.front().empty())) {
    return malformed(body.data(), "the first symbol must be the empty text");
  }
  for (const std::string_view message : messages_) {
    TRY(read_series_v2(message));
  }
  return {};
}

Result<WriteCounts> WriteRequestReader::read(WriteProtocol protocol, std::string_view body) {
  protocol_ = protocol;
  body_ = body;
  counts_ = {};
  too_many_samples_ = false;
  empty(series_);
  empty(samples_);
  empty(symbols_);
  empty(symbol_hashes_);
  empty(refs_);
  empty(messages_);
  const Result<void> read = protocol == WriteProtocol::kV1 ? read_v1(body) : read_v2(body);
  if (!read) {
    series_.clear();
    return std::unexpected(read.error());
  }
  counts_.series = series_.size();
  counts_.samples = samples_.size();
  return counts_;
}

void WriteRequestReader::emit(SeriesSink& sink) const {
  const std::span<const Sample> samples(samples_);
  EncodedV1 v1(limits_.labels);
  EncodedV2 v2(limits_.labels, symbols_);
  for (const Series& series : series_) {
    if (series.samples == 0) continue;
    const auto own = samples.subspan(series.first_sample, series.samples);
    if (protocol_ == WriteProtocol::kV1) {
      v1.message = series.labels;
      sink.series(series.key, v1, own);
    } else {
      v2.refs = std::span(refs_).subspan(series.first_ref, series.refs);
      sink.series(series.key, v2, own);
    }
  }
}

}  // namespace pennyweight::prometheus
