#include "telemetry/prometheus/encoded_label.h"

#include <bit>

#include "telemetry/prometheus/wire.h"

namespace pennyweight::prometheus {
namespace {

void put_bytes(std::string& out, char tag, std::string_view bytes) {
  out.push_back(tag);
  put_varint(out, bytes.size());
  out.append(bytes);
}

bool read_label(std::string_view message, std::string_view& name, std::string_view& value) {
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.is(1, WireType::kBytes)) {
      name = field.bytes;
    } else if (field.is(2, WireType::kBytes)) {
      value = field.bytes;
    } else if (field.number <= 2) {
      return false;
    }
  }
  return reader.wrong() == nullptr;
}

}  // namespace

std::size_t varint_size(std::uint64_t value) {
  return (static_cast<std::size_t>(std::bit_width(value | 1)) + 6) / 7;
}

void put_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>((value & 0x7fu) | 0x80u));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

void put_label_field(std::string& out, std::string_view name, std::string_view value) {
  out.push_back(0x0a);
  put_varint(out,
             2 + varint_size(name.size()) + name.size() + varint_size(value.size()) + value.size());
  put_bytes(out, 0x0a, name);
  put_bytes(out, 0x12, value);
}

bool add_label(std::vector<Label>& labels, std::size_t& used, const LabelLimits& limits,
               std::string_view name, std::string_view value) {
  if (used == limits.labels) return false;
  if (used == labels.size()) labels.emplace_back();
  labels[used].name.assign(name);
  labels[used].value.assign(value);
  ++used;
  return true;
}

bool decode_label_fields(std::string_view message, const LabelLimits& limits,
                         std::vector<Label>& labels) {
  WireReader reader(message);
  WireField field;
  std::size_t used = 0;
  while (reader.next(field)) {
    if (!field.is(1, WireType::kBytes)) continue;
    std::string_view name;
    std::string_view value;
    if (!read_label(field.bytes, name, value)) return false;
    if (!add_label(labels, used, limits, name, value)) return false;
  }
  labels.resize(used);
  return reader.wrong() == nullptr;
}

}  // namespace pennyweight::prometheus
