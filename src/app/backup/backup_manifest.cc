#include "app/backup/backup_manifest.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <simdjson.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "core/base_encoding.h"
#include "core/check.h"
#include "core/crypto/sha256.h"
#include "core/files/disk.h"
#include "core/json_text.h"
#include "core/try.h"

namespace pennyweight {
namespace {

constexpr std::size_t kBlockBytes = 1u << 20;

// Passes on the first bytes of a file.
Result<void> read_all(const std::string& path, std::uint64_t bytes_max,
                      const std::function<Result<void>(std::string_view)>& sink) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return std::unexpected(io_error("read", path));
  std::string block(kBlockBytes, '\0');
  while (bytes_max > 0) {
    const auto got =
        ::read(file.number(), block.data(), std::min<std::uint64_t>(block.size(), bytes_max));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(io_error("read", path));
    if (got == 0) return {};
    bytes_max -= static_cast<std::uint64_t>(got);
    auto taken = sink(std::string_view(block).substr(0, static_cast<std::size_t>(got)));
    if (!taken) return taken;
  }
  return {};
}

bool stays_inside(std::string_view name) {
  return !name.empty() && name.front() != '/' && name.find("..") == std::string_view::npos &&
         name.find('\0') == std::string_view::npos && name.size() < 512;
}

}  // namespace

std::string write_manifest(const Manifest& manifest) {
  std::string out = "{\"format\": 1, \"at\": ";
  append_json_string(out, manifest.at);
  out += ", \"program_version\": ";
  append_json_string(out, manifest.program_version);
  out += ", \"files\": [";
  for (std::size_t i = 0; i < manifest.files.size(); ++i) {
    const BackupFile& file = manifest.files[i];
    out += i == 0 ? "\n  {\"name\": " : ",\n  {\"name\": ";
    append_json_string(out, file.name);
    out += fmt::format(", \"bytes\": {}, \"sha256\": \"{}\"}}", file.bytes, file.sha256);
  }
  return out + "\n]}\n";
}

Result<Manifest> read_manifest(std::string_view json) {
  const auto bad = fail(ErrorCode::kBadFile, "it is not the manifest of a backup");
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.parse(json.data(), json.size()).get(root) != simdjson::SUCCESS) return bad;
  std::int64_t format = 0;
  std::string_view at;
  std::string_view version;
  simdjson::dom::array files;
  if (root["format"].get(format) != simdjson::SUCCESS || root["at"].get(at) != simdjson::SUCCESS ||
      root["program_version"].get(version) != simdjson::SUCCESS ||
      root["files"].get(files) != simdjson::SUCCESS) {
    return bad;
  }
  if (format != 1) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("the backup has format {}; use the pennyweight that made it", format));
  }
  Manifest manifest{.at = std::string(at), .program_version = std::string(version), .files = {}};
  for (const simdjson::dom::element each : files) {
    std::string_view name;
    std::string_view sha256;
    BackupFile file;
    if (each["name"].get(name) != simdjson::SUCCESS ||
        each["bytes"].get(file.bytes) != simdjson::SUCCESS ||
        each["sha256"].get(sha256) != simdjson::SUCCESS || !stays_inside(name)) {
      return bad;
    }
    file.name = name;
    file.sha256 = sha256;
    manifest.files.push_back(std::move(file));
  }
  return manifest;
}

Result<BackupFile> describe_file(const std::string& path, const std::string& name) {
  Sha256 digest;
  BackupFile file{.name = name, .bytes = 0, .sha256 = {}};
  TRY(read_all(path, UINT64_MAX, [&](std::string_view bytes) -> Result<void> {
    file.bytes += bytes.size();
    digest.add(bytes);
    return {};
  }));
  file.sha256 = to_hex(digest.digest());
  return file;
}

namespace {

// A file that its owner alone can read.
class PrivateFile {
 public:
  static Result<PrivateFile> create(const std::string& path) {
    const int file =
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (file < 0) return std::unexpected(io_error("write", path));
    return PrivateFile(file, path);
  }
  Result<void> write(std::string_view bytes) const {
    if (!write_all(file_->number(), bytes)) return std::unexpected(io_error("write", path_));
    return {};
  }
  Result<void> finish() const {
    if (::fsync(file_->number()) != 0) return std::unexpected(io_error("write", path_));
    return {};
  }

 private:
  PrivateFile(int file, std::string path)
      : file_(std::make_unique<FileDescriptor>(file)), path_(std::move(path)) {}
  std::unique_ptr<FileDescriptor> file_;
  std::string path_;
};

}  // namespace

Result<void> copy_file(const std::string& from, const std::string& to, std::uint64_t bytes_max) {
  const auto file = TRY(PrivateFile::create(to));
  TRY(read_all(from, bytes_max, [&](std::string_view bytes) { return file.write(bytes); }));
  return file.finish();
}

Result<void> encrypt_file(const std::string& from, const std::string& to,
                          std::span<const age::Recipient> recipients) {
  const auto file = TRY(PrivateFile::create(to));
  auto encryptor = TRY(
      age::Encryptor::begin(recipients, [&](std::string_view bytes) { return file.write(bytes); }));
  TRY(read_all(from, UINT64_MAX, [&](std::string_view bytes) { return encryptor.add(bytes); }));
  TRY(encryptor.finish());
  return file.finish();
}

Result<void> decrypt_file(const std::string& from, const std::string& to,
                          std::span<const age::Identity> identities) {
  std::optional<PrivateFile> file;
  if (!to.empty()) {
    auto made = TRY(PrivateFile::create(to));
    file.emplace(std::move(made));
  }
  age::Decryptor decryptor(identities, [&](std::string_view bytes) -> Result<void> {
    return file ? file->write(bytes) : Result<void>();
  });
  auto read =
      read_all(from, UINT64_MAX, [&](std::string_view bytes) { return decryptor.add(bytes); });
  if (read) read = decryptor.finish();
  if (!read) return std::unexpected(read.error().during(from));
  return file ? file->finish() : Result<void>();
}

Result<void> write_private_file(const std::string& path, std::string_view bytes) {
  const auto file = TRY(PrivateFile::create(path));
  TRY(file.write(bytes));
  return file.finish();
}

}  // namespace pennyweight
