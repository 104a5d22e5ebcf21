#include "app/backup_manifest.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <simdjson.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <memory>
#include <system_error>

#include "core/check.h"
#include "report/json_text.h"

namespace pennyweight {
namespace {

constexpr std::size_t kBlockBytes = 1u << 20;

std::unexpected<Error> io_failure(std::string_view doing, const std::string& path) {
  return fail(ErrorCode::kIo,
              fmt::format("cannot {} {}: {}", doing, path, std::generic_category().message(errno)));
}

class Opened {
 public:
  Opened(const std::string& path, int how)
      : file_(::open(path.c_str(), how | O_CLOEXEC, S_IRUSR | S_IWUSR)) {}
  ~Opened() {
    if (file_ >= 0) ::close(file_);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  int number() const { return file_; }
  bool is_open() const { return file_ >= 0; }

 private:
  int file_;
};

// Hands on the first bytes of a file.
Result<void> read_all(const std::string& path, std::uint64_t bytes_max,
                      const std::function<Result<void>(std::string_view)>& sink) {
  const Opened file(path, O_RDONLY);
  if (!file.is_open()) return io_failure("read", path);
  std::string block(kBlockBytes, '\0');
  while (bytes_max > 0) {
    const auto got =
        ::read(file.number(), block.data(), std::min<std::uint64_t>(block.size(), bytes_max));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_failure("read", path);
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

Result<BackupFile> file_facts(const std::string& path, const std::string& name) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> state(EVP_MD_CTX_new(),
                                                                      &EVP_MD_CTX_free);
  CHECK(state && EVP_DigestInit_ex(state.get(), EVP_sha256(), nullptr) == 1,
        "SHA-256 is part of OpenSSL");
  BackupFile file{.name = name, .bytes = 0, .sha256 = {}};
  const auto read = read_all(path, UINT64_MAX, [&](std::string_view bytes) -> Result<void> {
    file.bytes += bytes.size();
    CHECK(EVP_DigestUpdate(state.get(), bytes.data(), bytes.size()) == 1, "it takes bytes");
    return {};
  });
  if (!read) return std::unexpected(read.error());
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  CHECK(EVP_DigestFinal_ex(state.get(), digest.data(), &size) == 1, "it gives a digest");
  for (unsigned i = 0; i < size; ++i) file.sha256 += fmt::format("{:02x}", digest[i]);
  return file;
}

Result<void> copy_file(const std::string& from, const std::string& to, std::uint64_t bytes_max) {
  const Opened file(to, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file.is_open()) return io_failure("write", to);
  auto copied = read_all(from, bytes_max, [&](std::string_view bytes) -> Result<void> {
    while (!bytes.empty()) {
      const auto written = ::write(file.number(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return io_failure("write", to);
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
  });
  if (!copied) return copied;
  if (::fsync(file.number()) != 0) return io_failure("write", to);
  return {};
}

}  // namespace pennyweight
