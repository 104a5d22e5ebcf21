// Labels in protobuf: in remote_write 1.0 and in the protobuf exposition a label is field 1 of its
// series, with a name (1) and a value (2).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "telemetry/prometheus/label_limits.h"
#include "telemetry/prometheus/series.h"

namespace pennyweight::prometheus {

// Reads the labels of a message in their order and skips its other fields; normalise_labels() comes
// next. False where one can't be read or there are too many.
bool decode_label_fields(std::string_view message, const LabelLimits& limits,
                         std::vector<Label>& labels);

// Writes into `labels[used++]`, so that the memory of earlier texts is reused. False at the limit.
bool add_label(std::vector<Label>& labels, std::size_t& used, const LabelLimits& limits,
               std::string_view name, std::string_view value);

// How many bytes put_varint() writes.
std::size_t varint_size(std::uint64_t value);
void put_varint(std::string& out, std::uint64_t value);
// Adds the field of one label.
void put_label_field(std::string& out, std::string_view name, std::string_view value);

}  // namespace pennyweight::prometheus
