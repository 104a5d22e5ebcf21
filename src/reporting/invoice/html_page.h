// The style sheet and the text escaping that all HTML invoices share.
#pragma once

#include <string>
#include <string_view>

namespace pennyweight {

// Escapes text for HTML content or a quoted attribute. Control characters and bytes that are not
// UTF-8 become \xNN. A change of the writing direction ends with the element, since the style sheet
// isolates it.
std::string html_text(std::string_view text);

// The style sheet for screen and print. `size` is a CSS page size, `footer` the text at the bottom
// left of every page. REQUIRES: the footer has no quotes and no backslashes.
std::string invoice_style(std::string_view size, std::string_view footer);

}  // namespace pennyweight
