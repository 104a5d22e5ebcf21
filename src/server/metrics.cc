#include "server/metrics.h"

#include <string>

namespace pennyweight::server {
namespace {

void append_escaped(std::string& text, std::string_view value, bool quote) {
  for (const char c : value) {
    if (c == '\\') {
      text += "\\\\";
    } else if (c == '\n') {
      text += "\\n";
    } else if (c == '"' && quote) {
      text += "\\\"";
    } else {
      text += c;
    }
  }
}

}  // namespace

void MetricsText::family(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  text_ += "# HELP " + name_ + ' ';
  append_escaped(text_, help, false);
  text_ += "\n# TYPE " + name_ + ' ';
  text_ += type;
  text_ += '\n';
}

void MetricsText::sample(const Labels& labels, std::uint64_t value) {
  sample(labels, std::to_string(value));
}

void MetricsText::sample(const Labels& labels, std::string_view value) {
  text_ += name_;
  char before = '{';
  for (const auto& [name, is] : labels) {
    text_ += before;
    text_ += name;
    text_ += "=\"";
    append_escaped(text_, is, true);
    text_ += '"';
    before = ',';
  }
  if (!labels.empty()) text_ += '}';
  text_ += ' ';
  text_ += value;
  text_ += '\n';
}

}  // namespace pennyweight::server
