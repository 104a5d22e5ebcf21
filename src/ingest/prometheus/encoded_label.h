// Labels as protobuf has them: in remote_write 1.0 and in the protobuf exposition a label is field
// 1 of its series, with a name (1) and a value (2).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/prometheus/label_limits.h"
#include "ingest/prometheus/series.h"

namespace pennyweight::prometheus {

// Reads the labels of a message in their order, passing over its other fields; settle_labels()
// comes next. False where one can't be read or there are too many.
bool decode_label_fields(std::string_view message, const LabelLimits& limits,
                         std::vector<Label>& labels);

// Writes into `labels[used++]`, so that the memory of earlier texts is used again. False at the
// limit.
bool add_label(std::vector<Label>& labels, std::size_t& used, const LabelLimits& limits,
               std::string_view name, std::string_view value);

void put_varint(std::string& out, std::uint64_t value);
// Adds the field of one label.
void put_label_field(std::string& out, std::string_view name, std::string_view value);

}  // namespace pennyweight::prometheus
