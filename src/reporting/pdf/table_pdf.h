// Tables as PDF, drawn with libharu: landscape A4, a title, a lead, each table with its head
// repeated on every page, and pages numbered. The same tables and font give the same bytes.
#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "reporting/table.h"

namespace pennyweight {

struct TableDocument {
  std::string title;
  std::vector<std::string> lead;  // sentences below it
  std::vector<Table> tables;
};

// `font_file` is a TrueType font, which is embedded. Characters that it does not have, and control
// characters, are refused: an Error names the text.
Result<std::string> render_tables_pdf(const TableDocument& document, const std::string& font_file);

}  // namespace pennyweight
