// Conditions of a policy's rules: on labels, and names that may end in '*'.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/yaml_reader.h"
#include "policy/label_match.h"

namespace pennyweight {

// A list of {label: namespace, in: [kube-system, "nvidia-*"]}; not_in: […] and exists: true or
// false are the other forms. `at` gets where each of them stands, where it is not null.
std::vector<LabelMatch> read_conditions(YamlReader& yaml, const YamlNode& node,
                                        const std::string& what, std::vector<const YamlNode*>* at);

// A name; "*" is any, and comes out empty.
std::string read_pattern(YamlReader& yaml, const YamlNode& node, const std::string& what);

// A rule names a dimension, which is looked for once all are known.
struct DimensionUse {
  std::string dimension;
  int line;
  int column;
  std::string where;
};

// Why a dimension can't have this name: it could not be written in --by a,b or --filter a=b.
std::optional<std::string> refuse_dimension_name(std::string_view name);

}  // namespace pennyweight
