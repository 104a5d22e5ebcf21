// Outline: titled lists of names and values, for explanations that go step by step.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "reporting/table.h"

namespace pennyweight {

struct OutlineSection {
  std::string title;
  std::vector<std::pair<std::string, std::string>> facts;  // name, value
};

// "1. The bill line", then the facts with their values aligned. With a width, long values wrap.
std::string render_text(std::span<const OutlineSection> sections, const TextStyle& style);
// [{"title": …, "facts": [{"name": …, "value": …}]}]
std::string render_json(std::span<const OutlineSection> sections);

}  // namespace pennyweight
