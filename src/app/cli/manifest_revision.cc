#include "app/cli/manifest_revision.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/cli/manifest_paths.h"
#include "app/context/context.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "core/whole_count.h"
#include "ingest/manifests/document.h"
#include "ingest/schedulers/slurm/command.h"

namespace pennyweight {
namespace {

constexpr std::chrono::milliseconds kGitTimeout{60'000};

Result<std::string> run_git(const std::string& folder, std::vector<std::string> words) {
  words.insert(words.begin(), {"git", "-C", folder});
  slurm::Command command{.words = std::move(words), .environment = {}, .timeout = kGitTimeout};
  for (char** entry = environ; *entry != nullptr; ++entry) command.environment.emplace_back(*entry);
  return slurm::run_command(command);
}

// A file of a revision, by a line of `git ls-tree --long -z`: "100644 blob 8ab686
// 1234\tdeploy/a.yaml".
struct TrackedFile {
  std::string hash;
  std::string name;
  std::size_t bytes = 0;
};

// Nothing: it is a link, or the commit of a submodule.
std::optional<TrackedFile> read_tracked_file(std::string_view line) {
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos || !line.starts_with("100")) return std::nullopt;
  std::vector<std::string_view> words;
  std::string_view rest = line.substr(0, tab);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    if (end > 0) words.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (words.size() != 4 || words[1] != "blob") return std::nullopt;
  const auto bytes = parse_count(words[3], ~std::uint64_t{0} >> 1U);
  if (!bytes) return std::nullopt;
  return TrackedFile{std::string(words[2]), std::string(line.substr(tab + 1)),
                     static_cast<std::size_t>(*bytes)};
}

Result<std::vector<TrackedFile>> list_tracked(const std::string& folder, const std::string& commit,
                                              const std::string& only) {
  std::vector<std::string> words = {"ls-tree", "-z", "--long"};
  if (only.empty()) words.emplace_back("-r");
  words.push_back(commit);
  if (!only.empty()) words.insert(words.end(), {"--", only});
  const std::string listed = TRY(run_git(folder, std::move(words)));
  std::vector<TrackedFile> files;
  std::string_view rest = listed;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\0'), rest.size());
    if (auto file = read_tracked_file(rest.substr(0, end))) files.push_back(*std::move(file));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return files;
}

Result<std::string> find_commit(const std::string& folder, const std::string& revision) {
  auto found = run_git(
      folder, {"rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"});
  if (found) {
    while (found->ends_with('\n')) found->pop_back();
    return found;
  }
  return usage_error(
      fmt::format("--base: '{}' is no file or folder, and no revision that git knows in {}",
                  printable_text(revision, 120), printable_text(folder, 400)));
}

}  // namespace

Result<std::vector<manifests::ManifestFile>> read_manifest_revision(
    const std::string& revision, const std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  std::vector<manifests::ManifestFile> files;
  ManifestBudget budget;
  for (const std::string& path : paths) {
    if (path == "-") {
      return usage_error("--base: standard input has no other revision");
    }
    std::error_code ignored;
    const bool is_folder = fs::is_directory(path, ignored);
    const fs::path parent = fs::path(path).parent_path();
    const std::string folder = is_folder ? path : parent.empty() ? "." : parent.string();
    const std::string only = is_folder ? "" : fs::path(path).filename().string();
    const std::string commit = TRY(find_commit(folder, revision));
    const auto tracked = TRY(list_tracked(folder, commit, only));
    for (const TrackedFile& file : tracked) {
      if (is_folder && !is_manifest_path(file.name)) continue;
      const std::string name =
          is_folder ? (fs::path(path) / file.name).lexically_normal().string() : path;
      TRY(budget.add(name, file.bytes));
      std::string text = TRY(run_git(folder, {"cat-file", "blob", file.hash}));
      files.push_back({name, std::move(text), !is_folder});
    }
  }
  std::ranges::stable_sort(files, {}, &manifests::ManifestFile::name);
  return files;
}

}  // namespace pennyweight
