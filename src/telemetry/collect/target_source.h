// TargetSource: the targets that are there to be scraped. Lists and files are read here; Kubernetes
// has its own source.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "telemetry/collect/target.h"

namespace pennyweight::collect {

inline constexpr std::size_t kTargetFileBytesMax = 4u << 20;
inline constexpr std::size_t kTargetFilesMax = 1'000;  // of one pattern

class TargetSource {
 public:
  virtual ~TargetSource() = default;
  // The targets that are there now. Called again and again, by one thread at a time; after an Error
  // the earlier ones stay.
  virtual Result<std::vector<TargetGroup>> groups() = 0;
};

// A fixed list.
class StaticTargets final : public TargetSource {
 public:
  explicit StaticTargets(std::vector<TargetGroup> groups) : groups_(std::move(groups)) {}
  Result<std::vector<TargetGroup>> groups() override { return groups_; }

 private:
  std::vector<TargetGroup> groups_;
};

// Prometheus' file_sd: files of JSON or YAML, [{"targets": ["host:port"], "labels": {…}}], read
// again when their time or size changes. The last part of a path may contain one '*', and the name
// ends in .json, .yml or .yaml. A file that can't be read keeps its earlier targets, and one that
// is gone has none.
class FileTargets final : public TargetSource {
 public:
  explicit FileTargets(std::vector<std::string> patterns) : patterns_(std::move(patterns)) {}
  Result<std::vector<TargetGroup>> groups() override;
  // The problems of files in the last call of groups().
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  struct File {
    std::filesystem::file_time_type changed;
    std::uintmax_t bytes = 0;
    std::vector<TargetGroup> groups;
    std::string problem;
  };
  std::vector<std::string> patterns_;
  std::map<std::string, File> files_;
  std::vector<std::string> problems_;
};

// Parses such a file. `name` begins every message, and says whether it is JSON or YAML.
Result<std::vector<TargetGroup>> parse_target_file(std::string_view text, std::string_view name);

}  // namespace pennyweight::collect
