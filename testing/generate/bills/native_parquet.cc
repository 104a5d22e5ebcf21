#include "testing/generate/bills/native_parquet.h"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/check.h"
#include "core/duckdb/database.h"
#include "core/try.h"
#include "testing/generate/bills/aws_columns.h"
#include "testing/generate/bills/gcp_sheet.h"

namespace pennyweight::bills {
namespace {

bool ends_with_any(std::string_view name, std::initializer_list<std::string_view> ends) {
  for (const std::string_view end : ends) {
    if (name.ends_with(end)) return true;
  }
  return false;
}

// The types of docs.aws.amazon.com/cur/latest/userguide/table-dictionary-cur2.
std::string aws_expression(std::string_view header) {
  const std::string name = duckdb::quote_identifier(std::string(header));
  if (header == "product" || header == "resource_tags" || header == "cost_category") {
    return fmt::format("CAST(CAST({0} AS JSON) AS MAP(VARCHAR, VARCHAR)) AS {0}", name);
  }
  if (header == "discount") {
    return fmt::format("CAST(CAST({0} AS JSON) AS MAP(VARCHAR, DOUBLE)) AS {0}", name);
  }
  if (ends_with_any(header, {"_start_date", "_end_date"})) {
    return fmt::format("CAST({0} AS TIMESTAMP_MS) AS {0}", name);
  }
  const bool is_number = ends_with_any(
      header,
      {"_cost", "_rate", "_fee", "_usage_amount", "_fee_for_usage", "_cost_for_usage",
       "_fee_for_billing_period", "_value", "_commitment_for_billing_period", "_commitment_to_date",
       "_used_commitment", "_quantity", "_total_discount", "_bundled_discount", "_split_usage",
       "_split_usage_ratio", "_reserved_usage", "_actual_usage"});
  return is_number ? fmt::format("CAST({0} AS DOUBLE) AS {0}", name) : name;
}

std::string aws_query(const std::string& text_path, const NativeBillOptions& options) {
  std::string columns;
  for (const SheetColumn& column : aws_columns(options)) {
    if (!columns.empty()) columns += ", ";
    columns += aws_expression(column.header);
  }
  return fmt::format(
      "SELECT {} FROM read_csv({}, header = true, all_varchar = true, delim = ',', quote = '\"', "
      "escape = '\"', nullstr = '')",
      columns, duckdb::quote_text(text_path));
}

// The type of a path that is not a record; prices are NUMERIC there.
std::string gcp_type(const GcpColumn& column) {
  switch (column.kind) {
    case GcpKind::kText:
    case GcpKind::kTime:
      return "VARCHAR";
    case GcpKind::kNumber:
      return column.path.starts_with("price.") ? "DECIMAL(38,18)" : "DOUBLE";
    case GcpKind::kList:
      return column.path == "credits"
                 ? "STRUCT(\"name\" VARCHAR, full_name VARCHAR, id VARCHAR, \"type\" VARCHAR, "
                   "amount DOUBLE)[]"
                 : "STRUCT(\"key\" VARCHAR, \"value\" VARCHAR)[]";
  }
  CHECK(false, "every kind of column is listed");
}

// {service: 'STRUCT("id" VARCHAR, …)', cost: 'DOUBLE', …}
std::string gcp_schema() {
  std::string schema;
  std::string record;  // the record being written
  std::string members;
  const auto close = [&] {
    if (record.empty()) return;
    schema += fmt::format("{}{}: {}", schema.empty() ? "" : ", ", duckdb::quote_text(record),
                          duckdb::quote_text("STRUCT(" + members + ")"));
    record.clear();
    members.clear();
  };
  for (const GcpColumn& column : gcp_columns()) {
    const std::size_t dot = column.path.find('.');
    const bool nested = dot != std::string_view::npos;
    const std::string of(nested ? column.path.substr(0, dot) : std::string_view());
    if (of != record) close();
    if (!nested) {
      schema += fmt::format("{}{}: {}", schema.empty() ? "" : ", ",
                            duckdb::quote_text(std::string(column.path)),
                            duckdb::quote_text(gcp_type(column)));
      continue;
    }
    record = of;
    members += fmt::format("{}{} {}", members.empty() ? "" : ", ",
                           duckdb::quote_identifier(std::string(column.path.substr(dot + 1))),
                           gcp_type(column));
  }
  close();
  return schema;
}

std::string gcp_query(const std::string& text_path) {
  std::string times;
  for (const std::string_view name : {"usage_start_time", "usage_end_time", "export_time"}) {
    times += fmt::format("{0}CAST(replace({1}, ' UTC', '') AS TIMESTAMP) AT TIME ZONE 'UTC' AS {1}",
                         times.empty() ? "" : ", ", name);
  }
  return fmt::format(
      "SELECT * REPLACE ({}) FROM read_json({}, format = 'newline_delimited', columns = {{{}}})",
      times, duckdb::quote_text(text_path), gcp_schema());
}

}  // namespace

bool can_be_parquet(NativeForm form) {
  return form == NativeForm::kAwsCur2 || form == NativeForm::kGcpJson;
}

std::string parquet_forms() {
  return fmt::format("{} and {}", to_text(NativeForm::kAwsCur2), to_text(NativeForm::kGcpJson));
}

Result<void> text_to_parquet(const std::string& text_path, const NativeBillOptions& options,
                             const std::string& parquet_path) {
  CHECK(can_be_parquet(options.form), "the caller asks first");
  // One thread writes the rows as it reads them. If the engine also had to preserve their order, it
  // would buffer them. Row groups are small, since wide ones are assembled in memory. If reading a
  // text in parallel were disabled, the engine would keep all of it (1.4 did).
  auto database = TRY(duckdb::Database::open(
      {.threads = 1,
       .temp_directory = std::filesystem::path(parquet_path).parent_path().string(),
       .keeps_insertion_order = false}));
  auto connection = TRY(database.connect());
  const std::string query =
      options.form == NativeForm::kAwsCur2 ? aws_query(text_path, options) : gcp_query(text_path);
  const std::string part = parquet_path + ".partial";
  const auto copied = connection.execute("COPY (" + query + ") TO " + duckdb::quote_text(part) +
                                         " (FORMAT parquet, ROW_GROUP_SIZE 20480)");
  std::error_code code;
  if (!copied) {
    std::filesystem::remove(part, code);
    return std::unexpected(copied.error().during("cannot write " + parquet_path));
  }
  std::filesystem::rename(part, parquet_path, code);
  if (code)
    return fail(ErrorCode::kIo, fmt::format("cannot write {}: {}", parquet_path, code.message()));
  return {};
}

}  // namespace pennyweight::bills
