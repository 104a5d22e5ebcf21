// CopyNames: names for the copies that a scenario makes of a month's jobs.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "insight/what_if/replay_world.h"

namespace pennyweight::what_if {

// Names the copies of a job: "a~2", "a~3", whichever change makes them.
class CopyNames {
 public:
  explicit CopyNames(const ReplayWorld& world) {
    for (std::size_t i = 0; i < world.jobs.size(); ++i) {
      const std::string& name = world.jobs[i].name;
      originals_.emplace(world.origins[i].holding, Original{.name = name});
      if (name.find('~') != std::string::npos) taken_.insert(name);
    }
  }

  std::string next(const JobOrigin& origin) {
    Original& original = originals_.at(origin.holding);
    std::string name;
    do {  // a ledger that a replay wrote has such names already
      name = fmt::format("{}~{}", original.name, ++original.copies);
    } while (taken_.contains(name));
    return name;
  }

 private:
  struct Original {
    std::string name;
    std::uint64_t copies = 1;
  };
  std::unordered_map<std::uint32_t, Original> originals_;  // by holding
  std::unordered_set<std::string> taken_;
};

}  // namespace pennyweight::what_if
