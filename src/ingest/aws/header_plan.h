// HeaderPlan: where everything of a report stands, decided once from its header.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "ingest/aws/column.h"
#include "ingest/csv/header.h"

namespace pennyweight::aws {

struct TagColumn {
  std::size_t at;
  std::string key;
};

// A column that is kept in other_columns, unless a field of the Charge took it.
struct OtherColumn {
  std::size_t at;
  std::optional<Column> column;    // what a rule reads; else it is always kept
  std::optional<std::size_t> tag;  // of HeaderPlan::tags: kept only where the tag was refused
  bool is_amount = false;          // stands on one line only where a row becomes two
  std::string name;                // x_UsageType
  std::string json_key;            // "x_UsageType":
};

struct HeaderPlan {
  // An Error that lists the columns without which no line can be taken.
  static Result<HeaderPlan> of(const csv::Header& header, bool keep_line_item_ids);

  std::optional<std::size_t> place(Column column) const {
    return places[static_cast<std::size_t>(column)];
  }
  bool has(Column column) const { return place(column).has_value(); }

  std::string kind;  // "AWS CUR 2.0"
  std::size_t width = 0;
  std::vector<std::string> names;
  std::array<std::optional<std::size_t>, kColumnCount> places;
  std::vector<TagColumn> tags;
  std::vector<OtherColumn> others;    // by name
  std::vector<std::string> half_net;  // warnings, where rows do have net costs
};

}  // namespace pennyweight::aws
