// A text as a QR code, for a page: SVG without a style or a script, so that the strictest content
// security policy shows it. Black on white in either theme, since cameras want it so.
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"

namespace pennyweight::access {

// `label` is what a screen reader says. An Error where the text does not fit into a QR code.
Result<std::string> qr_svg(const std::string& text, std::string_view label);

}  // namespace pennyweight::access
