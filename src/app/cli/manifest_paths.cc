#include "app/cli/manifest_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/files/file.h"
#include "core/try.h"
#include "ingest/manifests/document.h"

namespace pennyweight {
namespace {

constexpr std::size_t kManifestFilesMax = 20'000;
constexpr std::size_t kManifestBytesMax = 256U << 20U;  // of all files together
constexpr std::string_view kManifestEndings[] = {".yaml", ".yml",    ".json",
                                                 ".sh",   ".sbatch", ".slurm"};

bool is_manifest_name(const std::filesystem::path& path) {
  return std::ranges::find(kManifestEndings, path.extension().string()) !=
         std::end(kManifestEndings);
}

Result<std::vector<std::string>> files_of_folder(const std::string& folder) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    std::error_code ignored;
    const bool is_folder = at->is_directory(ignored);
    if (name.starts_with('.') || at->is_symlink(ignored)) {
      if (is_folder) at.disable_recursion_pending();
      continue;
    }
    if (is_folder || !is_manifest_name(at->path())) continue;
    files.push_back(at->path().string());
    if (files.size() > kManifestFilesMax) {
      return fail(ErrorCode::kLimit,
                  fmt::format("{}: more than {} files", folder, kManifestFilesMax));
    }
  }
  if (error) return fail(ErrorCode::kIo, fmt::format("{}: {}", folder, error.message()));
  std::ranges::sort(files);
  return files;
}

}  // namespace

bool is_manifest_path(const std::string& path) {
  const std::filesystem::path parts(path);
  return is_manifest_name(parts) && std::ranges::none_of(parts, [](const auto& part) {
           return part.string().starts_with('.');
         });
}

Result<void> ManifestBudget::add(const std::string& name, std::size_t bytes) {
  if (bytes > manifests::kFileBytesMax) {
    return fail(ErrorCode::kLimit,
                fmt::format("{}: more than {} bytes", name, manifests::kFileBytesMax));
  }
  bytes_ += bytes;
  if (bytes_ > kManifestBytesMax) {
    return fail(ErrorCode::kLimit,
                fmt::format("the files have more than {} bytes together", kManifestBytesMax));
  }
  if (++files_ > kManifestFilesMax) {
    return fail(ErrorCode::kLimit, fmt::format("more than {} files", kManifestFilesMax));
  }
  return {};
}

Result<std::vector<manifests::ManifestFile>> read_manifest_paths(
    const std::vector<std::string>& paths) {
  std::vector<manifests::ManifestFile> files;
  ManifestBudget budget;
  const auto add = [&](const std::string& path, bool is_named) -> Result<void> {
    auto input = TRY(InputFile::open(path));
    std::string text = TRY(input.read_rest(manifests::kFileBytesMax));
    TRY(budget.add(path, text.size()));
    files.push_back({input.name(), std::move(text), is_named});
    return {};
  };
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (path == "-" || !std::filesystem::is_directory(path, ignored)) {
      TRY(add(path, true));
      continue;
    }
    const auto found = TRY(files_of_folder(path));
    for (const std::string& file : found) TRY(add(file, false));
  }
  return files;
}

}  // namespace pennyweight
