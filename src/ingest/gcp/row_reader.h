// RowReader: the header of an export, once; then each of its rows as a Row.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "ingest/bill/bill_reader.h"
#include "ingest/csv/header.h"
#include "ingest/gcp/json_text.h"
#include "ingest/gcp/row.h"

namespace pennyweight::gcp {

// A column of JSON rows that holds the members of a row which the schema does not have.
inline constexpr std::string_view kUnknownMembers = "*";

class RowReader {
 public:
  // An Error for missing columns, for one path under two names, and for a table that was unnested.
  static Result<RowReader> of(const csv::Header& header);

  bool has(Field field) const { return has_[static_cast<std::size_t>(field)]; }

  // `row` is replaced; what it says lives as long as the texts of `text`, and as `row`.
  std::optional<bill::Fault> read(const bill::TextRow& text, Row& row);

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

  std::optional<bill::Fault> read_record(const Column& column, std::string_view text, Row& row);

  std::vector<Column> columns_;
  std::array<bool, kFields> has_{};
  std::vector<JsonMember> members_;
};

}  // namespace pennyweight::gcp
