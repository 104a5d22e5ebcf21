// Columns and notes that the coverage tables share.
#pragma once

#include <cstdint>

#include "core/money.h"
#include "reporting/number_format.h"
#include "reporting/table.h"

namespace pennyweight {

inline Ratio money_ratio(Money part, Money whole) { return {part.ticks(), whole.ticks()}; }

inline Column effective_column(Currency currency) {
  return {"effective_cost", "effective " + currency.text(), ColumnKind::kMoney};
}

// Notes how many rows --top left out.
inline void note_hidden_rows(Table& table, std::uint64_t hidden) {
  if (hidden > 0) table.notes.push_back(counted(hidden, "further row") + "; --top shows more");
}

}  // namespace pennyweight
