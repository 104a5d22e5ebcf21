// TargetSource: who is there to be scraped. Lists and files here; Kubernetes by its own source.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "collect/target.h"
#include "core/error.h"

namespace pennyweight::collect {

inline constexpr std::size_t kTargetFileBytesMax = 4u << 20;
inline constexpr std::size_t kTargetFilesMax = 1'000;  // of one pattern

class TargetSource {
 public:
  virtual ~TargetSource() = default;
  // Who is there now; asked again and again, by one thread at a time. After an Error those of
  // before stay.
  virtual Result<std::vector<TargetGroup>> groups() = 0;
};

// Always the same.
class StaticTargets final : public TargetSource {
 public:
  explicit StaticTargets(std::vector<TargetGroup> groups) : groups_(std::move(groups)) {}
  Result<std::vector<TargetGroup>> groups() override { return groups_; }

 private:
  std::vector<TargetGroup> groups_;
};

// Prometheus' file_sd: files of JSON or YAML, [{"targets": ["host:port"], "labels": {…}}], read
// again when their time or size changes. The last part of a path may hold one '*', and the name
// ends in .json, .yml or .yaml. A file that can't be read keeps what it said before, and one that
// is gone says nothing more.
class FileTargets final : public TargetSource {
 public:
  explicit FileTargets(std::vector<std::string> patterns) : patterns_(std::move(patterns)) {}
  Result<std::vector<TargetGroup>> groups() override;
  // What was wrong with files when groups() was asked last, a text each.
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

// The text of such a file. `name` stands in front of every message and tells JSON from YAML.
Result<std::vector<TargetGroup>> parse_target_file(std::string_view text, std::string_view name);

}  // namespace pennyweight::collect
