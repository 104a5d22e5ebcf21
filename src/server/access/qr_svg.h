// Draws a text as a QR code in SVG, without style or script, so that it works under the strictest
// content security policy. Black on white in either theme, as cameras need it.
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"

namespace pennyweight::access {

// `label` is for screen readers. An Error: the text does not fit into a QR code.
Result<std::string> qr_svg(const std::string& text, std::string_view label);

}  // namespace pennyweight::access
