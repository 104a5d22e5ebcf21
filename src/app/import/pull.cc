#include "app/import/pull.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "app/import/delivery_manifest.h"
#include "app/import/input_format.h"
#include "app/import/pull_deliveries.h"
#include "core/files/file.h"
#include "core/try.h"

namespace pennyweight {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSecretBytesMax = 16u << 10;
constexpr std::size_t kPulledManifestBytesMax = 16u << 20;
constexpr std::size_t kStateBytesMax = 64u << 20;

// The first line of a file, else of the environment's variable; empty: neither is there.
Result<std::string> pull_secret(const std::string& file, const char* variable) {
  if (!file.empty()) {
    const auto text = TRY(read_file(file, kSecretBytesMax));
    std::string line = text.substr(0, text.find_first_of("\r\n"));
    if (line.empty()) return fail(ErrorCode::kConfig, "the file " + file + " is empty");
    return line;
  }
  const char* set = std::getenv(variable);
  return std::string(set == nullptr ? "" : set);
}

// "bucket/prefix" of "s3://bucket/prefix".
struct SourceAddress {
  std::string scheme, first, rest;
};
SourceAddress split_address(const std::string& from) {
  SourceAddress parts;
  const std::size_t scheme = from.find("://");
  if (scheme == std::string::npos) return {.scheme = "", .first = from, .rest = ""};
  parts.scheme = from.substr(0, scheme);
  const std::string path = from.substr(scheme + 3);
  const std::size_t slash = std::min(path.find('/'), path.size());
  parts.first = path.substr(0, slash);
  parts.rest = path.substr(std::min(slash + 1, path.size()));
  return parts;
}

// Bytes on their way to a digest.
class Digest {
 public:
  explicit Digest(const EVP_MD* kind) : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    EVP_DigestInit_ex(context_.get(), kind, nullptr);
  }
  void add(std::string_view bytes) { EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()); }
  std::string bytes() {
    unsigned char out[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    EVP_DigestFinal_ex(context_.get(), out, &size);
    return {reinterpret_cast<const char*>(out), size};
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

Result<bool> has_checksum(const fs::path& file, const objects::ObjectChecksum& checksum) {
  if (checksum.kind == objects::ObjectChecksum::Kind::kNone) return true;
  Digest digest(checksum.kind == objects::ObjectChecksum::Kind::kMd5 ? EVP_md5() : EVP_sha256());
  std::ifstream in(file, std::ios::binary);
  if (!in) return fail(ErrorCode::kIo, file.string() + " can't be read");
  std::vector<char> chunk(1u << 20);
  while (in) {
    in.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    digest.add({chunk.data(), static_cast<std::size_t>(in.gcount())});
  }
  return digest.bytes() == checksum.digest;
}

Result<void> write_all(int file, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count <= 0) {
      return fail(ErrorCode::kIo,
                  fmt::format("{} can't be written; is the disk full?", path.string()));
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

// A file descriptor that closes itself.
class OpenFile {
 public:
  OpenFile(const fs::path& path, int flags) : descriptor_(::open(path.c_str(), flags, 0600)) {}
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int get() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

class SourcePull {
 public:
  SourcePull(const PullConfig& source, objects::ObjectStore& store, const Config& config,
             const ImportDelivery& import_delivery, const std::function<bool()>& is_stopping,
             const PullDecisions& decisions)
      : source_(source),
        store_(store),
        import_delivery_(import_delivery),
        is_stopping_(is_stopping),
        decisions_(decisions),
        folder_(fs::path(config.store_path + ".pulled") / source.name) {}

  Result<PullOutcome> run() {
    std::error_code problem;
    fs::create_directories(folder_, problem);
    if (problem) {
      return fail(ErrorCode::kIo, fmt::format("the folder {} can't be made: {}", folder_.string(),
                                              problem.message()));
    }
    const OpenFile lock(folder_ / ".lock", O_RDWR | O_CREAT | O_CLOEXEC);
    if (!lock || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
      return fail(
          ErrorCode::kConflict,
          fmt::format("another program is pulling '{}'; try again when it is done", source_.name));
    }
    TRY(read_state());
    const auto listing = TRY(store_.list());
    for (const objects::ObjectEntry& entry : listing) {
      TRY(check_key(entry.key));
    }
    const auto manifests = TRY(fetch_manifests(listing));
    const auto deliveries = TRY(group_objects(listing, manifests));
    for (const PulledDelivery& delivery : deliveries) {
      if (stops()) break;
      if (auto done = take(delivery); !done) {
        outcome_.refused.push_back(done.error().during(source_.name + ": " + delivery.name));
      }
    }
    return std::move(outcome_);
  }

 private:
  // A key becomes a path below our folder, and nowhere else.
  static Result<void> check_key(const std::string& key) {
    for (const fs::path& part : fs::path(key)) {
      const std::string text = part.string();
      if (text == ".." || text == "." || text == "/" || text.find('\0') != std::string::npos) {
        return fail(ErrorCode::kBadValue,
                    fmt::format("the object '{}' can't be a file's name; leave it out with a "
                                "longer prefix",
                                key));
      }
    }
    return {};
  }

  bool stops() const { return is_stopping_ && is_stopping_(); }

  fs::path path_of(const std::string& key) const { return folder_ / "files" / key; }
  fs::path state_path() const { return folder_ / "imported"; }

  // A line for each delivery: ImportedDelivery, a tab, its name.
  Result<void> read_state() {
    std::error_code problem;
    if (!fs::exists(state_path(), problem)) return {};
    const auto text = TRY(read_file(state_path().string(), kStateBytesMax));
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string_view line(text.data() + at, end - at);
      const std::size_t tab = line.find('\t');
      if (tab != std::string_view::npos) {
        imported_[std::string(line.substr(tab + 1))] = ImportedDelivery::parse(line.substr(0, tab));
      }
      at = end + 1;
    }
    return {};
  }

  Result<void> remember(const PulledDelivery& delivery) {
    imported_[delivery.name] = ImportedDelivery::of(delivery);
    std::string text;
    for (const auto& [name, imported] : imported_) text += imported.to_text() + "\t" + name + "\n";
    auto file = TRY(OutputFile::create(state_path().string()));
    TRY(file.write(text));
    return file.commit();
  }

  Result<std::map<std::string, std::string>> fetch_manifests(
      const std::vector<objects::ObjectEntry>& listing) {
    std::map<std::string, std::string> texts;
    for (const objects::ObjectEntry& entry : listing) {
      if (!is_manifest(entry.key)) continue;
      if (entry.bytes > kPulledManifestBytesMax) {
        return fail(ErrorCode::kLimit,
                    fmt::format("the manifest {} has {} bytes; at most {} are read", entry.key,
                                entry.bytes, kPulledManifestBytesMax));
      }
      std::string& text = texts[entry.key];
      std::ignore = TRY(store_.read(entry, 0, [&](std::string_view bytes) {
        text += bytes;
        return text.size() <= kPulledManifestBytesMax;
      }));
    }
    return texts;
  }

  Result<void> take(const PulledDelivery& delivery) {
    const auto known = imported_.find(delivery.name);
    if (known != imported_.end() && known->second.is_unchanged(delivery)) {
      ++outcome_.unchanged;
      // An earlier program remembered no parts.
      return known->second.parts.empty() && !decisions_.preview ? remember(delivery)
                                                                : Result<void>();
    }
    if (!delivery.missing.empty()) return refuse(delivery);
    if (delivery.parts.empty()) {
      ++outcome_.unchanged;
      return {};
    }
    std::vector<std::string> files;
    for (const objects::ObjectEntry& part : delivery.parts) {
      TRY(fetch(part));
      files.push_back(path_of(part.key).string());
    }
    TRY(import_files_of(delivery, files));
    if (decisions_.preview) return {};  // what was fetched stays for the pull itself
    TRY(remember(delivery));
    std::error_code problem;  // what stays only takes room
    for (const std::string& file : files) {
      fs::remove(file, problem);
      fs::remove(file + ".version", problem);
    }
    return {};
  }

  // A delivery of which parts are missing is not imported, and the ledger remembers it, so that its
  // month is not closed. What was fetched stays for the next pull.
  Result<void> refuse(const PulledDelivery& delivery) {
    IncompleteDelivery incomplete{
        .manifest = delivery.name,
        .parts = delivery.missing.size() + delivery.parts.size(),
        .part = 1,
        .here = {},
        .cut = {},
        .fault = fmt::format("{} {} missing", fmt::join(delivery.missing, ", "),
                             delivery.missing.size() == 1 ? "is" : "are")};
    if (delivery.parts.empty()) {
      return fail(ErrorCode::kBadFile, incomplete.fault + "; nothing of the delivery is there");
    }
    for (const objects::ObjectEntry& part : delivery.parts) {
      TRY(fetch(part));
      incomplete.here.push_back(path_of(part.key).string());
    }
    const std::vector<std::string> files = incomplete.here;
    return import_files_of(delivery, files, std::move(incomplete));
  }

  // Files of several formats in one folder are a delivery for each.
  Result<void> import_files_of(const PulledDelivery& delivery,
                               const std::vector<std::string>& files,
                               std::optional<IncompleteDelivery> incomplete = {}) {
    ImportOptions options;
    options.incomplete = std::move(incomplete);
    options.cluster = source_.cluster;
    options.confirm = decisions_.confirm;
    options.not_double = decisions_.not_double;
    options.allow_aside = decisions_.allow_aside;
    options.preview = decisions_.preview;
    if (!source_.format.empty()) {
      options.format = find_input_format(source_.format);
      if (options.format == nullptr) {
        return fail(
            ErrorCode::kConfig,
            fmt::format("pull[].format '{}' is not a format that import knows", source_.format));
      }
    }
    std::vector<std::pair<const InputFormat*, std::vector<std::string>>> by_format;
    for (const std::string& file : files) {
      const InputFormat* const format = TRY(detect_file_format(file, options));
      const auto group =
          std::ranges::find(by_format, format, &decltype(by_format)::value_type::first);
      if (group != by_format.end()) {
        group->second.push_back(file);
      } else {
        by_format.emplace_back(format, std::vector{file});
      }
    }
    for (auto& [format, paths] : by_format) {
      options.format = format;
      auto imported = TRY(import_delivery_(paths, options));
      outcome_.imports.push_back({delivery.name, paths, std::move(imported)});
    }
    return {};
  }

  // Has the object as a whole and checked file, fetching what is missing of it.
  Result<void> fetch(const objects::ObjectEntry& entry) {
    const fs::path path = path_of(entry.key);
    const fs::path part = path.string() + ".part";
    const fs::path version = path.string() + ".version";  // of the part, or of the whole file
    std::error_code problem;
    fs::create_directories(path.parent_path(), problem);
    if (problem) return fail(ErrorCode::kIo, path.string() + ": " + problem.message());
    std::string have;
    if (auto text = read_file(version.string(), kSecretBytesMax)) have = *text;
    const bool is_version = have == entry.version;
    if (is_version && fs::exists(path, problem) && fs::file_size(path, problem) == entry.bytes) {
      return {};
    }
    if (!is_version) {
      fs::remove(part, problem);
      auto file = TRY(OutputFile::create(version.string()));
      TRY(file.write(entry.version));
      TRY(file.commit());
    }
    const auto checksum = TRY(fetch_rest(entry, part));
    const auto bytes = fs::file_size(part, problem);
    if (problem || bytes != entry.bytes) {
      fs::remove(part, problem);
      return fail(
          ErrorCode::kBadFile,
          fmt::format("{} has {} bytes, but the listing says {}; the next pull fetches it again",
                      entry.key, bytes, entry.bytes));
    }
    const bool is_right = TRY(has_checksum(part, checksum));
    if (!is_right) {
      fs::remove(part, problem);
      return fail(ErrorCode::kBadFile,
                  fmt::format("{} is damaged: its checksum differs from the one that the store "
                              "states; the next pull fetches it again",
                              entry.key));
    }
    fs::rename(part, path, problem);
    if (problem) return fail(ErrorCode::kIo, path.string() + ": " + problem.message());
    return {};
  }

  Result<objects::ObjectChecksum> fetch_rest(const objects::ObjectEntry& entry,
                                             const fs::path& part) {
    std::error_code problem;
    std::uint64_t offset = fs::file_size(part, problem);
    if (problem || offset >= entry.bytes) {  // a whole part is checked anew, from its beginning
      offset = 0;
      fs::remove(part, problem);
    }
    const OpenFile file(part, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC);
    if (!file) return fail(ErrorCode::kIo, part.string() + " can't be written");
    Result<void> written;
    auto checksum = store_.read(entry, offset, [&](std::string_view bytes) {
      outcome_.bytes += bytes.size();
      written = write_all(file.get(), bytes, part);
      return written.has_value() && !stops();
    });
    if (!written) return std::unexpected(written.error());
    if (::fsync(file.get()) != 0) return fail(ErrorCode::kIo, part.string() + " can't be written");
    return checksum;
  }

  const PullConfig& source_;
  objects::ObjectStore& store_;
  const ImportDelivery& import_delivery_;
  const std::function<bool()>& is_stopping_;
  const PullDecisions& decisions_;
  fs::path folder_;
  std::map<std::string, ImportedDelivery> imported_;  // by the name of the delivery
  PullOutcome outcome_;
};

}  // namespace

Result<std::unique_ptr<objects::ObjectStore>> open_source(const PullConfig& source, Clock& clock) {
  const SourceAddress address = split_address(source.from);
  if (address.scheme.empty()) return objects::open_folder(source.from);
  if (address.scheme == "azure") {
    const std::size_t slash = std::min(address.rest.find('/'), address.rest.size());
    objects::AzureSettings settings{
        .endpoint = source.endpoint.empty()
                        ? fmt::format("https://{}.blob.core.windows.net", address.first)
                        : source.endpoint,
        .account = address.first,
        .container = address.rest.substr(0, slash),
        .prefix = address.rest.substr(std::min(slash + 1, address.rest.size())),
        .ca_file = source.ca_file};
    auto sas = TRY(pull_secret(source.sas_file, "AZURE_STORAGE_SAS_TOKEN"));
    settings.sas = std::move(sas);
    if (settings.sas.empty()) {
      auto key = TRY(pull_secret(source.account_key_file, "AZURE_STORAGE_KEY"));
      settings.account_key = std::move(key);
    }
    if (settings.container.empty()) {
      return fail(ErrorCode::kConfig, source.from + " names no container");
    }
    return objects::open_azure(std::move(settings), clock);
  }
  const bool is_google = address.scheme == "gs";
  const std::string region = !source.region.empty() ? source.region
                             : is_google            ? "auto"
                                                    : "us-east-1";
  objects::S3Settings settings{.endpoint = !source.endpoint.empty() ? source.endpoint
                                           : is_google
                                               ? "https://storage.googleapis.com"
                                               : fmt::format("https://s3.{}.amazonaws.com", region),
                               .region = region,
                               .bucket = address.first,
                               .prefix = address.rest,
                               .access_key = {},
                               .secret_key = {},
                               .ca_file = source.ca_file};
  auto access = TRY(pull_secret(source.access_key_file, "AWS_ACCESS_KEY_ID"));
  auto secret = TRY(pull_secret(source.secret_key_file, "AWS_SECRET_ACCESS_KEY"));
  settings.access_key = std::move(access);
  settings.secret_key = std::move(secret);
  if (settings.access_key.empty() != settings.secret_key.empty()) {
    return fail(ErrorCode::kConfig,
                "an access key needs its secret, and a secret its access key: "
                "pull[].access_key_file and secret_key_file, or the environment's "
                "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
  }
  if (source.access_key_file.empty()) {
    if (const char* token = std::getenv("AWS_SESSION_TOKEN"); token != nullptr) {
      settings.session_token = token;
    }
  }
  return objects::open_s3(std::move(settings), clock);
}

Result<PullOutcome> pull(const PullConfig& source, objects::ObjectStore& store,
                         const Config& config, const ImportDelivery& import_delivery,
                         const std::function<bool()>& is_stopping, const PullDecisions& decisions) {
  auto outcome = SourcePull(source, store, config, import_delivery, is_stopping, decisions).run();
  if (!outcome) return std::unexpected(outcome.error().during("pull " + source.name));
  return outcome;
}

}  // namespace pennyweight
