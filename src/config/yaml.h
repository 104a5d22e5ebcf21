// YamlNode and parse_yaml(): YAML as a tree in which every value has its line and column.
//
// It is stricter than YAML: a key occurs once, there is one document, and anchors, aliases and tags
// are refused. With aliases a small file can stand for a huge one, and a configuration needs none
// of these.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"

namespace pennyweight {

struct YamlNode {
  enum class Kind { kNull, kScalar, kSequence, kMapping };
  struct Entry;

  Kind kind = Kind::kNull;
  int line = 1;  // 1-based
  int column = 1;
  std::string scalar;
  std::vector<YamlNode> items;  // of a sequence
  std::vector<Entry> entries;   // of a mapping, in order
};

struct YamlNode::Entry {
  std::string key;
  int line = 1;
  int column = 1;
  YamlNode value;
};

// Every message begins with `name`: "pennyweight.yaml:3:7: …". An empty document is null.
Result<YamlNode> parse_yaml(std::string_view text, std::string_view name);

// "a mapping", "a list", "a text", "nothing": for messages.
std::string_view describe(YamlNode::Kind kind);

}  // namespace pennyweight
