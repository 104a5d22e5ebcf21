#include "app/cli/replay_files.h"

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <limits>
#include <string_view>
#include <system_error>
#include <vector>

#include "app/cli/replay_charts.h"
#include "app/context/context.h"
#include "core/files/file.h"
#include "core/try.h"
#include "insight/queries/replayed_runs.h"
#include "reporting/export/table_parquet.h"

namespace pennyweight {
namespace {

class ReplayFolder {
 public:
  explicit ReplayFolder(std::string path) : path_(std::move(path)) {}

  Result<void> add_text(std::string_view name, const std::string& text) {
    auto file = TRY(OutputFile::create(fmt::format("{}/{}", path_, name)));
    TRY(file.write(text));
    TRY(file.commit());
    ++files_;
    return {};
  }

  // REQUIRES: all have the same columns.
  Result<void> add_tables(std::string_view name, const std::vector<Table>& tables) {
    if (tables.empty()) return {};
    TRY(add_text(fmt::format("{}.csv", name), render_csv(tables)));
    TRY(write_parquet(tables, fmt::format("{}/{}.parquet", path_, name)));
    ++files_;
    return {};
  }

  std::size_t files() const { return files_; }

 private:
  std::string path_;
  std::size_t files_ = 0;
};

}  // namespace

Result<void> check_new_folder(const std::string& path) {
  std::error_code problem;
  std::filesystem::create_directories(path, problem);
  if (problem) return usage_error(fmt::format("--files {}: {}", path, problem.message()));
  const bool is_empty = std::filesystem::is_empty(path, problem);
  if (problem) return usage_error(fmt::format("--files {}: {}", path, problem.message()));
  if (is_empty) return {};
  return usage_error(fmt::format("--files {}: the folder has files already; name a new one", path));
}

Result<std::size_t> write_replay_files(const std::string& folder, const WhatIfQuery& query,
                                       const WhatIfMonth& month, const what_if::WhatIf& result,
                                       const WhatIfTables& tables) {
  ReplayFolder files(folder);
  for (const auto& [name, table] : named_tables(tables)) {
    if (name == "gantt") continue;  // whole, below
    TRY(files.add_tables(name, {*table}));
  }
  TRY(files.add_tables("costs", tables.costs));
  TRY(files.add_tables("tier-costs", tables.tier_costs));
  TRY(files.add_tables(
      "gantt", {gantt_table(query, month, result, std::numeric_limits<std::size_t>::max())}));
  TRY(files.add_tables("workloads", {workload_table(query, month, result)}));
  TRY(files.add_text("over-time.svg", over_time_svg(month, result)));
  TRY(files.add_text("waits.svg", waits_svg(month, result)));
  TRY(files.add_text("gantt.svg", gantt_svg(month, result, query.by)));
  return files.files();
}

}  // namespace pennyweight
