#include "ledger/store/move/page.h"

namespace pennyweight::move {

void Page::begin(const MovedTable& of, std::uint64_t count) {
  table = &of;
  rows = count;
  entry_numbers.assign(count, 0);
  columns.resize(of.columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    PageColumn& column = columns[i];
    column.pairs.clear();
    column.is_absent.clear();
    if (of.columns[i].nullable) column.is_absent.resize(count);
    switch (of.columns[i].kind) {
      case ValueKind::kText:
        column.texts.resize(count);
        break;
      case ValueKind::kPairs:
        column.ends.resize(count);
        break;
      case ValueKind::kHash:
      case ValueKind::kUInt64:
      case ValueKind::kUInt32:
      case ValueKind::kBool:
      case ValueKind::kInstant:
      case ValueKind::kDate:
      case ValueKind::kDecimal:
      case ValueKind::kWide:
        column.numbers.resize(count);
        break;
    }
  }
}

std::unexpected<Error> holds_nothing(const MovedTable& table, const MovedColumn& column) {
  return fail(ErrorCode::kStore, "the column " + column.name + " of " + table.name +
                                     " lacks a value where every version wrote one");
}

}  // namespace pennyweight::move
