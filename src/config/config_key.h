// ConfigKey: the documentation of one key of the configuration. Each reader lists its keys beside
// the code that reads them, and a test compares both.
#pragma once

#include <string>
#include <vector>

namespace pennyweight {

struct ConfigKey {
  std::string key;   // "serve.limits.body"; a list is "bills[]", a name that the user chooses NAME
  std::string type;  // what may stand there: "path", "duration", "slurm, kubernetes"
  std::string fallback;  // what counts without it; empty: nothing
  std::string meaning;   // one or two sentences
};
using ConfigKeys = std::vector<ConfigKey>;

}  // namespace pennyweight
