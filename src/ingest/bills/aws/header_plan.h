// HeaderPlan: where the columns of a report are, decided once from its header.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "ingest/bills/aws/column.h"
#include "ingest/csv/header.h"

namespace pennyweight::aws {

struct TagColumn {
  std::size_t at;
  std::string key;
};

// A column that is stored in other_columns unless a field of the charge took it.
struct OtherColumn {
  std::size_t at;
  std::optional<Column> column;    // which a rule reads; else it is always stored
  std::optional<std::size_t> tag;  // index in HeaderPlan::tags: stored only if the tag was refused
  bool is_amount = false;          // stored in one charge only where a row becomes two
  std::string name;                // x_UsageType
  std::string json_key;            // "x_UsageType":
};

struct HeaderPlan {
  // An Error lists the columns without which no charge can be read.
  static Result<HeaderPlan> of(const csv::Header& header, bool keep_line_item_ids);

  std::optional<std::size_t> position(Column column) const {
    return positions[static_cast<std::size_t>(column)];
  }
  bool has(Column column) const { return position(column).has_value(); }

  std::string kind;  // "AWS CUR 2.0"
  std::size_t width = 0;
  std::vector<std::string> names;
  std::array<std::optional<std::size_t>, kColumnCount> positions;
  std::vector<TagColumn> tags;
  std::vector<OtherColumn> others;    // by name
  std::vector<std::string> half_net;  // warnings, if rows have net costs
};

}  // namespace pennyweight::aws
