#include "telemetry/prometheus/write_request.h"

#include <snappy.h>

#include <bit>
#include <cstdint>

#include "telemetry/prometheus/encoded_label.h"

namespace pennyweight::prometheus {
void WriteRequestBuilder::add(std::span<const Label> labels, std::span<const Sample> samples) {
  series_.clear();
  for (const Label& label : labels) {
    put_label_field(series_, label.name, label.value);
  }
  for (const Sample& sample : samples) {
    // Zero is left out, as proto3 has it; the zero with a sign is not zero.
    const auto bits = std::bit_cast<std::uint64_t>(sample.value);
    const auto at = static_cast<std::uint64_t>(sample.at_ms);
    series_.push_back(0x12);
    put_varint(series_, (bits != 0 ? 9u : 0u) + (at != 0 ? 1 + varint_size(at) : 0));
    if (bits != 0) {
      series_.push_back(0x09);
      for (unsigned shift = 0; shift < 64; shift += 8) {
        series_.push_back(static_cast<char>((bits >> shift) & 0xffu));
      }
    }
    if (at != 0) {
      series_.push_back(0x10);
      put_varint(series_, at);
    }
  }
  body_.push_back(0x0a);
  put_varint(body_, series_.size());
  body_ += series_;
}

std::string WriteRequestBuilder::snappy() const {
  std::string compressed;
  snappy::Compress(body_.data(), body_.size(), &compressed);
  return compressed;
}

}  // namespace pennyweight::prometheus
