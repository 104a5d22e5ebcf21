// Outline: titled lists of names and values, for what is told step by step rather than in a table.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "report/table.h"

namespace pennyweight {

struct OutlineSection {
  std::string title;
  std::vector<std::pair<std::string, std::string>> facts;  // name, value
};

// "1. The bill line", and below it the facts, their values under one another; with a width,
// long ones go on in the next line.
std::string render_text(std::span<const OutlineSection> sections, const TextStyle& style);
// [{"title": …, "facts": [{"name": …, "value": …}]}]
std::string render_json(std::span<const OutlineSection> sections);

}  // namespace pennyweight
