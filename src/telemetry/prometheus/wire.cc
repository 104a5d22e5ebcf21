#include "telemetry/prometheus/wire.h"

namespace pennyweight::prometheus {

const char* WireReader::long_varint(const char* at, const char* end, std::uint64_t& value) {
  std::uint64_t read = 0;
  for (unsigned shift = 0; shift < 64 && at < end; shift += 7) {
    const auto byte = static_cast<unsigned char>(*at++);
    if (shift == 63 && byte > 1) return nullptr;
    read |= static_cast<std::uint64_t>(byte & 0x7fu) << shift;
    if (byte < 0x80) {
      value = read;
      return at;
    }
  }
  return nullptr;
}

bool WireReader::next(WireField& field) {
  if (at_ == end_) return false;
  field.begin = at_;
  std::uint64_t tag = 0;
  const char* at = varint(at_, end_, tag);
  if (at == nullptr) return refuse("a field's tag is cut off or too long");
  if (tag >> 3 == 0 || tag >> 3 > 0x1fffffff) return refuse("a field has no valid number");
  field.number = static_cast<std::uint32_t>(tag >> 3);
  const auto left = [&] { return static_cast<std::size_t>(end_ - at); };
  switch (tag & 7) {
    case 0:
      at = varint(at, end_, field.value);
      if (at == nullptr) return refuse("a number is cut off or has more than 64 bits");
      field.type = WireType::kVarint;
      break;
    case 1:
      if (left() < 8) return refuse("a number of 8 bytes is cut off");
      field.value = load_little_endian<std::uint64_t>(at);
      field.type = WireType::kFixed64;
      at += 8;
      break;
    case 2: {
      std::uint64_t size = 0;
      at = varint(at, end_, size);
      if (at == nullptr) return refuse("a length is cut off or has more than 64 bits");
      if (size > left()) return refuse("a length passes the end of its message");
      field.bytes = std::string_view(at, static_cast<std::size_t>(size));
      field.type = WireType::kBytes;
      at += size;
      break;
    }
    case 5:
      if (left() < 4) return refuse("a number of 4 bytes is cut off");
      field.value = load_little_endian<std::uint32_t>(at);
      field.type = WireType::kFixed32;
      at += 4;
      break;
    default:
      return refuse("a field has a wire type that is not read");
  }
  at_ = at;
  return true;
}

}  // namespace pennyweight::prometheus
