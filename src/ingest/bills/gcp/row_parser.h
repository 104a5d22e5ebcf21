// RowParser: turns the texts of an export's rows into values by path (row.h), whichever shape its
// columns have.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "ingest/bills/gcp/json_scanner.h"
#include "ingest/bills/gcp/row.h"
#include "ingest/bills/row_reader.h"
#include "ingest/csv/header.h"

namespace pennyweight::gcp {

// The name of a column for JSON rows: an object of those members that the schema does not have.
inline constexpr std::string_view kUnknownMembers = "*";

class RowParser {
 public:
  // An Error for missing columns, for one path under two names, and for a table that was unnested.
  static Result<RowParser> open(const csv::Header& header);

  bool has(Field field) const { return has_[static_cast<std::size_t>(field)]; }

  // Replaces `row`. Its texts live as long as those of `text`, and as `row`.
  std::optional<bill::RowFault> parse(const bill::TextRow& text, Row& row);

 private:
  struct Column {
    std::string name;  // of the file
    std::string path;
    std::string kept_as;
    std::optional<Field> field;
    bool is_record = false;
    bool is_number = false;
    bool is_unknown = false;  // kUnknownMembers
  };

  std::optional<bill::RowFault> parse_record(const Column& column, std::string_view text, Row& row);

  std::vector<Column> columns_;
  std::array<bool, kFields> has_{};
  std::vector<JsonMember> members_;
};

}  // namespace pennyweight::gcp
