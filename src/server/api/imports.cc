// Imports: the files and their changes; and the rows that were set aside.
#include <fmt/format.h>

#include <limits>
#include <set>
#include <string>
#include <utility>

#include "core/try.h"
#include "core/whole_count.h"
#include "ledger/bill_statement.h"
#include "server/api/bill_equation.h"
#include "server/api/endpoints.h"
#include "server/api/route_helpers.h"

namespace pennyweight::api {
namespace {

constexpr std::string_view kImportList = "imports";

// The months that a bill delivers, and its equation; both are empty for what is no bill.
void write_statement(JsonWriter& out, const ImportRecord& one) {
  const auto parsed = parse_bill_statement(one.statement);
  const BillStatement statement = one.statement.empty() || !parsed ? BillStatement() : *parsed;
  std::set<std::string> months;
  for (const DeliveredShare& share : statement.delivered) months.insert(share.month());
  out.texts("months", {months.begin(), months.end()});
  write_bill_equation(out, statement);
}

// The newest first.
std::string import_key(const ImportRecord& one) { return descending_key(one.number); }

void write_import(JsonWriter& out, const ImportRecord& one) {
  out.begin_object()
      .field("number", one.number)
      .field("format", one.source.format)
      .field("name", one.source.name)
      .field("at", one.source.at)
      .field("style", to_text(one.source.style))
      .field("reason", one.source.reason)
      .field("charges", one.charges)
      .field("holdings", one.holdings)
      .field("nodes", one.nodes)
      .field("gpus", one.gpus)
      .field("usages", one.usages)
      .field("outages", one.outages)
      .field("corrections", one.corrections)
      .field("outcomes", one.outcomes)
      .field("rejected", one.rejected)
      .key("restated")
      .begin_object()
      .field("removed", one.restated.removed)
      .field("reversed", one.restated.reversed)
      .field("late", one.restated.late)
      .end_object();
  write_statement(out, one);
  out.end_object();
}

// A row that was set aside knows its file, and is stored once however often the file is imported.
Result<std::vector<RejectedRow>> rejected_rows_of_import(Store& store, std::uint64_t number) {
  const auto imports = TRY(store.imports());
  const auto found = std::ranges::find(imports, number, &ImportRecord::number);
  if (found == imports.end()) {
    return fail(ErrorCode::kNotFound, fmt::format("there is no import {}", number));
  }
  std::vector<RejectedRow> rows;
  if (found->rejected == 0) return rows;
  auto all = TRY(store.rejected_rows(std::numeric_limits<std::int64_t>::max()));
  for (RejectedRow& row : all) {
    if (row.file == found->source.name) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

server::Response get_imports(const Services& services, const server::Request& request) {
  QueryParams params(request);
  const auto format = params.text("format");
  const Page page = params.page(kImportList);
  if (auto problem = params.problem()) return *std::move(problem);
  auto all = ask_ledger(services, [](Store& store) { return store.imports(); });
  if (!all) return refusal(all.error());
  if (format) {
    std::erase_if(*all, [&](const ImportRecord& one) { return one.source.format != *format; });
  }
  std::ranges::sort(*all, {}, import_key);
  const auto part = cut_page(kImportList, page, *std::move(all), import_key);
  return with_body_etag(list(part.entries, part.next, write_import));
}

server::Response get_rejected_rows(const Services& services, const server::Request& request) {
  const std::string text = request.param("number");
  const auto number = parse_count(text, std::numeric_limits<std::int64_t>::max());
  if (!number) return not_found(fmt::format("there is no import {}", text));
  // Rows of one file have no key, so the cursor is their position in it.
  const std::string list_name = fmt::format("rejected {}", *number);
  QueryParams params(request);
  const Page page = params.page(list_name);
  if (auto problem = params.problem()) return *std::move(problem);
  auto rows =
      ask_ledger(services, [&](Store& store) { return rejected_rows_of_import(store, *number); });
  if (!rows) return refusal(rows.error());
  std::uint64_t begin = 0;
  if (page.after) begin = parse_count(*page.after, rows->size()).value_or(rows->size());
  const std::uint64_t end = std::min<std::uint64_t>(begin + page.limit, rows->size());
  std::optional<std::string> next;
  if (end < rows->size()) next = to_cursor(list_name, std::to_string(end));
  const std::vector<RejectedRow> shown(rows->begin() + static_cast<std::ptrdiff_t>(begin),
                                       rows->begin() + static_cast<std::ptrdiff_t>(end));
  return with_body_etag(list(shown, next, [](JsonWriter& out, const RejectedRow& row) {
    out.begin_object()
        .field("line", row.line)
        .field("column", row.column)
        .field("reason", row.reason)
        .field("text", row.text)
        .end_object();
  }));
}

}  // namespace pennyweight::api
