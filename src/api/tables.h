// Tables as answers: JSON with their columns, or rows alone in a stream for programs: CSV, JSON
// lines, Parquet.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/answers.h"
#include "report/table.h"
#include "server/server.h"

namespace pennyweight::api {

enum class AnswerFormat { kJson, kCsv, kJsonLines, kParquet };

// As `format` says, else as the request's Accept does, else JSON. What the route does not have is
// refused.
AnswerFormat format_of(Asked& asked, const server::Request& request, bool has_parquet);
std::string_view content_type_of(AnswerFormat format);

// {"title": …, "currency": …, "columns": […], "rows": […], "total": {…}, "notes": […]}
void write_table(JsonWriter& out, const Table& table);
// The cells of a row by their columns' names, as write_table() has them.
void write_row(JsonWriter& out, const Table& table, const Row& row);

// {"tables": […], "etag": …}, or the rows of all tables. Of CSV and Parquet they have the same
// columns.
server::Response answer(std::vector<Table> tables, AnswerFormat format, const std::string& etag);

}  // namespace pennyweight::api
