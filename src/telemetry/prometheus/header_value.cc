#include "telemetry/prometheus/header_value.h"

#include <algorithm>

#include "core/ascii.h"
#include "core/plain_text.h"

namespace pennyweight::prometheus {

std::string printable(std::string_view text) { return printable_text(text, 100); }

std::string media_type(std::string_view content_type) {
  return ascii::lower_case(ascii::trim(content_type.substr(0, content_type.find(';'))));
}

std::optional<std::string> parameter(std::string_view content_type, std::string_view name) {
  std::size_t at = content_type.find(';');
  while (at != std::string_view::npos) {
    const std::size_t end = content_type.find(';', at + 1);
    const std::string_view part = content_type.substr(
        at + 1, end == std::string_view::npos ? std::string_view::npos : end - at - 1);
    const std::size_t equals = part.find('=');
    if (equals != std::string_view::npos &&
        ascii::lower_case(ascii::trim(part.substr(0, equals))) == name) {
      std::string_view value = ascii::trim(part.substr(equals + 1));
      if (value.size() >= 2 && value.starts_with('"') && value.ends_with('"')) {
        value = value.substr(1, value.size() - 2);
      }
      return std::string(value);
    }
    at = end;
  }
  return std::nullopt;
}

}  // namespace pennyweight::prometheus
