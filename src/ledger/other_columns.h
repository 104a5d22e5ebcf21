// Reads Charge::other_columns: the columns of a bill that no rule of pennyweight uses, as a flat
// JSON object of texts, {"name":"value",...}.
//
// Which of them are amounts decides what a charge is about: amounts may change between two
// deliveries of one charge, everything else is part of its natural key. The bytes that identify a
// column are stored in fingerprints, so neither they nor is_amount_column() ever change.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace pennyweight {

// Whether a column of this name holds an amount. FOCUS ends the names of its amounts so
// (BilledCost, ConsumedQuantity, ListUnitPrice), and so does ingest where it names a provider's own
// columns.
bool is_amount_column(std::string_view name);

struct OtherColumn {
  std::string_view name;      // as the JSON has it, escapes and all
  std::string_view identity;  // the bytes from the name's quote up to the quote that ends the value
};

// Takes one column after another off the object. Looks into `json`, which must outlive it.
class OtherColumnReader {
 public:
  explicit OtherColumnReader(std::string_view json) : rest_(json) {}
  // Nothing at the end, and where a string is cut short.
  std::optional<OtherColumn> next();

 private:
  std::string_view rest_;
};

}  // namespace pennyweight
