// Reads the conditions of a policy's rules: on labels, and on names that may end in '*'.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/policy/label_match.h"
#include "config/yaml_reader.h"

namespace pennyweight {

// Reads a list of {label: namespace, in: [kube-system, "nvidia-*"]}; not_in: […] and exists: true
// or false are the other forms. `at`, unless null, gets the place of each condition.
std::vector<LabelMatch> read_conditions(YamlReader& yaml, const YamlNode& node,
                                        const std::string& what, std::vector<const YamlNode*>* at);

// Reads a name; "*" means any name and is returned as an empty one.
std::string read_pattern(YamlReader& yaml, const YamlNode& node, const std::string& what);

// A dimension that a rule names, and where. It is checked once all dimensions are read.
struct DimensionUse {
  std::string dimension;
  int line;
  int column;
  std::string where;
};

// Why a dimension can't have this name, so that --by a,b and --filter a=b can name every dimension.
std::optional<std::string> refuse_dimension_name(std::string_view name);

}  // namespace pennyweight
