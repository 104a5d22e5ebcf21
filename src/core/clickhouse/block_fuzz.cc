// Any bytes as blocks: the same blocks, or the same Error, for any division into pieces. Every
// value can be read, and reads the same after being written again.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/check.h"
#include "core/clickhouse/block.h"

namespace {

using namespace pennyweight;
using namespace pennyweight::clickhouse;

struct Read {
  std::vector<Block> blocks = {};
  std::string error = {};
  bool at_end = false;
};

Read read(std::string_view bytes, std::size_t piece) {
  Read read;
  BlockReader reader;
  while (!bytes.empty()) {
    reader.add(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    for (;;) {
      Block block;
      const auto whole = reader.next(block);
      if (!whole) {
        read.error = whole.error().message;
        return read;
      }
      if (!*whole) break;
      read.blocks.push_back(std::move(block));
    }
  }
  read.at_end = reader.at_end();
  return read;
}

// Copies every value from one to the other.
void copy(const Column& from, std::uint64_t row, ColumnWriter& to) {
  const auto type = parse_value_type(from.type());
  CHECK(type, "a block has types that are listed");
  if (type->array) {
    to.add_texts(from.texts(row));
    return;
  }
  if (from.is_null(row)) {
    to.add_null();
    return;
  }
  switch (type->base) {
    case ValueType::Base::kString:
      to.add_text(from.text(row));
      return;
    case ValueType::Base::kHash:
      to.add_hash(from.hash(row));
      return;
    case ValueType::Base::kUInt8:
      to.add_bool(from.boolean(row));
      return;
    case ValueType::Base::kUInt32:
      to.add_uint32(from.uint32(row));
      return;
    case ValueType::Base::kUInt64:
      to.add_uint64(from.uint64(row));
      return;
    case ValueType::Base::kInt32:
      to.add_int32(from.int32(row));
      return;
    case ValueType::Base::kInt64:
      to.add_int64(from.int64(row));
      return;
    case ValueType::Base::kDecimal:
      to.add_wide(from.wide(row));
      return;
  }
}

std::string written(const Block& block) {
  std::vector<ColumnSpec> specs;
  for (const Column& column : block.columns) {
    specs.push_back({.name = column.name(), .type = column.type()});
  }
  BlockWriter writer(specs);
  for (std::size_t i = 0; i < block.columns.size(); ++i) {
    for (std::uint64_t row = 0; row < block.rows; ++row) {
      copy(block.columns[i], row, writer.column(i));
    }
  }
  return writer.take();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece = 1 + data[0] % 64;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const Read whole = read(bytes, bytes.size() + 1);
  const Read pieces = read(bytes, piece);
  CHECK(whole.blocks.size() == pieces.blocks.size() && whole.error == pieces.error &&
            whole.at_end == pieces.at_end,
        "pieces make no difference");
  for (std::size_t i = 0; i < whole.blocks.size(); ++i) {
    const std::string once = written(whole.blocks[i]);
    CHECK(once == written(pieces.blocks[i]), "pieces make no difference");
    const Read again = read(once, once.size());
    CHECK(again.at_end && again.blocks.size() == 1 && written(again.blocks[0]) == once,
          "what is written is read");
  }
  return 0;
}
