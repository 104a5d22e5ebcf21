// Answers with tables: JSON with columns and totals, or a stream of rows: CSV, JSON lines, Parquet.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "reporting/table.h"
#include "server/api/answers.h"
#include "server/server.h"

namespace pennyweight::api {

// kSheet is CSV for spreadsheets: a text that one would take for a formula has an apostrophe before
// it. CSV for programs has texts as they are.
enum class AnswerFormat { kJson, kCsv, kSheet, kJsonLines, kParquet };

// The format by the parameter `format`, else by the Accept header, else JSON. Formats that the
// route lacks are refused.
AnswerFormat choose_format(QueryParams& params, const server::Request& request, bool has_parquet);
std::string_view content_type_name(AnswerFormat format);

// {"title": …, "currency": …, "columns": […], "rows": […], "total": {…}, "notes": […]}
void write_table(JsonWriter& out, const Table& table);
// The cells of a row by column name, as write_table() writes them.
void write_row(JsonWriter& out, const Table& table, const Row& row);
// The text as a spreadsheet takes it for a text: with an apostrophe if it begins as a formula does
// (owasp.org, CSV injection), except for plain numbers.
std::string sheet_text(const std::string& text);

// {"tables": […], "etag": …}, or the rows of all tables, which for CSV and Parquet have the same
// columns.
server::Response answer(std::vector<Table> tables, AnswerFormat format, const std::string& etag);

}  // namespace pennyweight::api
