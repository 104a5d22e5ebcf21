// What every invoice's HTML has in common: its style sheet, and how text gets into a page.
#pragma once

#include <string>
#include <string_view>

namespace pennyweight {

// Text as HTML content or as a quoted attribute: markup means nothing in it, control characters and
// bytes that are not UTF-8 are written as \xNN, and what turns the direction of writing ends with
// the element (the style sheet isolates it).
std::string html_text(std::string_view text);

// The style sheet, on screen as in print. `size` is a CSS page size, `foot` the text at the bottom
// left of every page: letters, digits and punctuation without quotes and backslashes.
std::string invoice_style(std::string_view size, std::string_view foot);

}  // namespace pennyweight
