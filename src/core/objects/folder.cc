// A folder of this machine as an object store, for exports that something else brings.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <utility>

#include "core/objects/object_store.h"
#include "core/objects/remote.h"

namespace pennyweight::objects {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kCopyBytes = 1u << 20;

class FolderStore : public ObjectStore {
 public:
  explicit FolderStore(std::string folder) : folder_(std::move(folder)) {}

  Result<std::vector<ObjectEntry>> list() override {
    std::error_code problem;
    if (!fs::is_directory(folder_, problem)) {
      return fail(ErrorCode::kNotFound, folder_ + " is not a folder");
    }
    std::vector<ObjectEntry> all;
    fs::recursive_directory_iterator at(folder_, problem), end;
    for (; !problem && at != end; at.increment(problem)) {
      const bool is_hidden = at->path().filename().string().starts_with('.');
      if (is_hidden && at->is_directory(problem)) at.disable_recursion_pending();
      if (is_hidden || !at->is_regular_file(problem)) continue;
      const std::string key = at->path().lexically_relative(folder_).string();
      auto entry = describe(key);
      if (entry) all.push_back(*std::move(entry));
    }
    if (problem) {
      return fail(ErrorCode::kIo,
                  fmt::format("{} can't be listed: {}", folder_, problem.message()));
    }
    std::ranges::sort(all, {}, &ObjectEntry::key);
    return all;
  }

  Result<ObjectChecksum> read(const ObjectEntry& entry, std::uint64_t offset,
                              const std::function<bool(std::string_view)>& sink) override {
    const fs::path path = fs::path(folder_) / entry.key;
    std::ifstream file(path, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    if (!file) return fail(ErrorCode::kIo, path.string() + " can't be read");
    std::vector<char> chunk(kCopyBytes);
    while (file) {
      file.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
      const auto count = static_cast<std::size_t>(file.gcount());
      if (count == 0 || !sink({chunk.data(), count})) break;
    }
    const auto now = describe(entry.key);
    if (!now || now->version != entry.version) return changed(entry, folder_);
    return ObjectChecksum{};
  }

 private:
  Result<ObjectEntry> describe(const std::string& key) const {
    std::error_code problem;
    const fs::path path = fs::path(folder_) / key;
    const auto bytes = fs::file_size(path, problem);
    if (problem) return fail(ErrorCode::kIo, path.string() + ": " + problem.message());
    const auto time = fs::last_write_time(path, problem);
    if (problem) return fail(ErrorCode::kIo, path.string() + ": " + problem.message());
    const std::string at = fmt::format("{:020}", time.time_since_epoch().count());
    return ObjectEntry{
        .key = key, .bytes = bytes, .version = fmt::format("{}-{}", bytes, at), .modified_at = at};
  }

  std::string folder_;
};

}  // namespace

std::unique_ptr<ObjectStore> open_folder(std::string folder) {
  return std::make_unique<FolderStore>(std::move(folder));
}

}  // namespace pennyweight::objects
