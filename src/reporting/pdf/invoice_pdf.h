// Invoices as PDF, drawn with libharu: what the HTML page shows, on A4 or Letter, with the table's
// head repeated and the pages numbered. The same invoice, font and view give the same bytes.
#pragma once

#include <string>

#include "core/error.h"
#include "reporting/invoice/invoice.h"

namespace pennyweight {

// Debian's fonts-dejavu-core: Latin, Greek, Cyrillic and more, all currency signs.
inline constexpr const char* kPdfFont = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf";

// `font_file` is a TrueType font, which is embedded. An Error names a character that the font does
// not have (a page must not show an empty box for a name), or a logo that is neither PNG nor JPEG.
Result<std::string> render_invoice_pdf(const Invoice& invoice, const std::string& font_file);

}  // namespace pennyweight
