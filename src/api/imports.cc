// Imports: what came in, from where, what it changed; and the rows that were kept aside.
#include <fmt/format.h>

#include <limits>
#include <utility>

#include "api/book_routes.h"
#include "api/books.h"
#include "core/whole_count.h"

namespace pennyweight::api {
namespace {

constexpr std::string_view kList = "imports";

// The newest first.
std::string key_of(const ImportRecord& one) { return in_reverse(one.number); }

void write(JsonWriter& out, const ImportRecord& one) {
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
      .end_object()
      .end_object();
}

server::Response imports(const Parts& parts, const server::Request& request) {
  Asked asked(request);
  const auto format = asked.text("format");
  const Page page = asked.page(kList);
  if (auto no = asked.refused()) return *std::move(no);
  auto all = ask_ledger(parts, [](Store& store) { return store.imports(); });
  if (!all) return refusal(all.error());
  if (format) {
    std::erase_if(*all, [&](const ImportRecord& one) { return one.source.format != *format; });
  }
  std::ranges::sort(*all, {}, key_of);
  const auto part = page_of(kList, page, *std::move(all), key_of);
  return with_version(list(part.entries, part.next, write));
}

// A row that is kept aside knows its file, and is kept once however often the file came.
Result<std::vector<RejectedRow>> rows_of(Store& store, std::uint64_t number) {
  const auto imports = store.imports();
  if (!imports) return std::unexpected(imports.error());
  const auto found = std::ranges::find(*imports, number, &ImportRecord::number);
  if (found == imports->end()) {
    return fail(ErrorCode::kNotFound, fmt::format("there is no import {}", number));
  }
  std::vector<RejectedRow> rows;
  if (found->rejected == 0) return rows;
  auto all = store.rejected_rows(std::numeric_limits<std::int64_t>::max());
  if (!all) return std::unexpected(all.error());
  for (RejectedRow& row : *all) {
    if (row.file == found->source.name) rows.push_back(std::move(row));
  }
  return rows;
}

server::Response rejected(const Parts& parts, const server::Request& request) {
  const std::string text = request.param("number");
  const auto number = parse_count(text, std::numeric_limits<std::int64_t>::max());
  if (!number) return not_found(fmt::format("there is no import {}", text));
  // Rows of one file have no key of their own, so it is their place in it that a page ends with.
  const std::string list_name = fmt::format("rejected {}", *number);
  Asked asked(request);
  const Page page = asked.page(list_name);
  if (auto no = asked.refused()) return *std::move(no);
  auto rows = ask_ledger(parts, [&](Store& store) { return rows_of(store, *number); });
  if (!rows) return refusal(rows.error());
  std::uint64_t begin = 0;
  if (page.after) begin = parse_count(*page.after, rows->size()).value_or(rows->size());
  const std::uint64_t end = std::min<std::uint64_t>(begin + page.limit, rows->size());
  std::optional<std::string> next;
  if (end < rows->size()) next = to_cursor(list_name, std::to_string(end));
  const std::vector<RejectedRow> shown(rows->begin() + static_cast<std::ptrdiff_t>(begin),
                                       rows->begin() + static_cast<std::ptrdiff_t>(end));
  return with_version(list(shown, next, [](JsonWriter& out, const RejectedRow& row) {
    out.begin_object()
        .field("line", row.line)
        .field("column", row.column)
        .field("reason", row.reason)
        .field("text", row.text)
        .end_object();
  }));
}

}  // namespace

std::vector<server::Route> import_routes(const Parts& parts) {
  return {{.method = "GET",
           .path = "/api/v1/imports",
           .handler = [&parts](const server::Request& request) { return imports(parts, request); },
           .needs = "read_bills"},
          {.method = "GET",
           .path = "/api/v1/imports/{number}/rejected",
           .handler = [&parts](const server::Request& request) { return rejected(parts, request); },
           .needs = "read_bills"}};
}

}  // namespace pennyweight::api
