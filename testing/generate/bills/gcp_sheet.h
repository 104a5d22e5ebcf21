// GcpSheet: rows of Google's detailed export, as a CSV of flattened paths or as newline-delimited
// JSON of nested records.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/decimal.h"
#include "core/instant.h"
#include "testing/generate/bills/sheet.h"

namespace pennyweight::bills {

enum class GcpKind { kText, kNumber, kTime, kList };

struct GcpColumn {
  std::string_view path;  // "service.id"
  GcpKind kind;
};
// The columns of the table; those of a record are adjacent.
std::span<const GcpColumn> gcp_columns();

class GcpSheet {
 public:
  GcpSheet(bool as_json, const TextSink& sink);

  // A column is set by the function of its kind; a column that is not set is null.
  void text(std::string_view path, std::string_view value);
  void number(std::string_view path, Decimal value);
  void time(std::string_view path, Instant value);
  void list(std::string_view path, std::string json);
  Result<void> end_row();
  Result<void> finish();

 private:
  std::size_t find(std::string_view path) const;
  void end_json_row();

  bool as_json_;
  Sheet csv_;
  const TextSink& sink_;
  std::vector<std::string> values_;  // as JSON; empty: null
  std::string text_;
};

}  // namespace pennyweight::bills
