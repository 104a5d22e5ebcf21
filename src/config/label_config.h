// The section `labels:` of the configuration: which labels a workload must have, and which values
// count.
#pragma once

#include "config/config_key.h"
#include "config/yaml_reader.h"
#include "reporting/coverage/label_policy.h"

namespace pennyweight {

inline constexpr std::size_t kRequiredLabelsMax = 100;

// Without `required` it is default_label_policy().
LabelPolicy read_label_config(YamlReader& reader, const YamlNode& node);

ConfigKeys label_config_keys();

}  // namespace pennyweight
