#include "ingest/bills/gcp/row_parser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "core/check.h"
#include "ingest/bills/gcp/export_values.h"
#include "ingest/bills/gcp/gcp_bill.h"

namespace pennyweight::gcp {
namespace {

struct NeededPath {
  std::string_view path;
  std::string_view record;  // which may hold it instead; empty: none
};
// No charge can be read without these.
constexpr NeededPath kNeeded[] = {
    {"billing_account_id", ""}, {"usage_start_time", ""},     {"usage_end_time", ""}, {"cost", ""},
    {"currency", ""},           {"invoice.month", "invoice"},
};
// One of these, besides, marks a table as Google's.
constexpr NeededPath kDistinctive[] = {{"service.description", "service"}, {"sku.id", "sku"}};

template <class Paths>
bool contains(const Paths& paths, const NeededPath& needed) {
  return std::ranges::any_of(paths, [&](const std::string& path) {
    return path == needed.path || (!needed.record.empty() && path == needed.record);
  });
}

bool is_null(std::string_view text, bool quoted) {
  if (text.empty()) return true;
  return !quoted && (text == "NULL" || text == "null" || text == "\\N");
}

}  // namespace

Result<RowParser> RowParser::open(const csv::Header& header) {
  RowParser reader;
  std::map<std::string, std::string> names;  // path → the name it came under
  std::vector<std::string> paths;
  for (const std::string& name : header.names()) {
    const std::string path = path_of(name);
    if (is_unnested(path)) {
      return fail(
          ErrorCode::kBadFile,
          fmt::format("column {} is a list that was unnested, so rows and their costs occur "
                      "several times; export the list whole, as with TO_JSON_STRING(labels)",
                      name));
    }
    const auto [there, is_new] = names.emplace(path, name);
    if (!is_new) {
      return fail(ErrorCode::kBadFile,
                  fmt::format("columns {} and {} are the same; remove one", there->second, name));
    }
    paths.push_back(path);
    const auto field = find_field(path);
    if (field) reader.has_[static_cast<std::size_t>(*field)] = true;
    reader.columns_.push_back({.name = name,
                               .path = path,
                               .kept_as = kept_name(path),
                               .field = field,
                               .is_record = is_record(path),
                               .is_number = is_number(path),
                               .is_unknown = path == kUnknownMembers});
  }
  std::vector<std::string_view> missing;
  for (const NeededPath& needed : kNeeded) {
    if (!contains(paths, needed)) missing.push_back(needed.path);
  }
  if (!missing.empty()) {
    return fail(
        ErrorCode::kBadFile,
        fmt::format("a billing export of Google Cloud has columns that this file lacks: {}; "
                    "export the table with them",
                    fmt::join(missing, ", ")));
  }
  return reader;
}

std::optional<bill::RowFault> RowParser::parse_record(const Column& column, std::string_view text,
                                                      Row& row) {
  const auto record = parse_json(text);
  if (!record || (record->kind != JsonKind::kObject && record->kind != JsonKind::kNull)) {
    return bill::RowFault{column.name,
                          fmt::format("{} {}; export the record with TO_JSON_STRING", column.name,
                                      record ? "is not a record" : record.error().message)};
  }
  if (record->kind == JsonKind::kNull) return std::nullopt;
  members_of(*record, members_);
  for (const JsonMember& member : members_) {
    const std::string key = unescaped(member.raw_key);
    std::string value = text_of(member.value);
    if (value.empty() || value == "[]") continue;
    const std::string path = column.is_unknown ? key : column.path + "." + key;
    const auto field = find_field(path);
    if (field && row.has(*field)) {
      return bill::RowFault{column.name, fmt::format("{} is given twice in one row", path)};
    }
    if (field) {
      row.set(*field, row.store(std::move(value)));
    } else {
      if (is_number(path)) value = number_text(value);
      const std::string_view name = row.store(kept_name(path));
      row.keep(name, row.store(std::move(value)));
    }
  }
  return std::nullopt;
}

std::optional<bill::RowFault> RowParser::parse(const bill::TextRow& text, Row& row) {
  CHECK(text.fields.size() == columns_.size(), "a row has as many fields as its header");
  row.clear();
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const std::string_view value = text.fields[i];
    if (is_null(value, text.quoted[i] != 0) || value == "[]") continue;
    const Column& column = columns_[i];
    if (column.is_record || column.is_unknown) {
      if (auto fault = parse_record(column, value, row)) return fault;
    } else if (column.field) {
      // Both "invoice" and "invoice.month" may be there.
      if (row.has(*column.field) && row[*column.field] != value) {
        return bill::RowFault{
            column.name,
            fmt::format("{} is given twice in one row, with different values", column.path)};
      }
      row.set(*column.field, value);
    } else if (column.is_number) {
      row.keep(column.kept_as, row.store(number_text(value)));
    } else if (value[0] == '[' || value[0] == '{') {
      const auto json = parse_json(value);
      row.keep(column.kept_as, json ? row.store(text_of(*json)) : value);
    } else {
      row.keep(column.kept_as, value);
    }
  }
  return std::nullopt;
}

bool is_gcp_header(std::span<const std::string> names) {
  std::vector<std::string> paths;
  for (const std::string& name : names) paths.push_back(path_of(name));
  const auto there = [&](const NeededPath& needed) { return contains(paths, needed); };
  return std::ranges::all_of(kNeeded, there) && std::ranges::any_of(kDistinctive, there);
}

}  // namespace pennyweight::gcp
