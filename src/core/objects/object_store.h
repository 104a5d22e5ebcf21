// ObjectStore: lists and reads the objects of a bucket, a container or a folder, read-only.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/error.h"

namespace pennyweight::objects {

struct ObjectEntry {
  std::string key;  // from the bucket's root: "exports/2026-03/bill.csv.gz"
  std::uint64_t bytes = 0;
  std::string version;      // its ETag; of a file its size and time of change
  std::string modified_at;  // sorts as time does within a store
};

// How an object's bytes can be checked: what the store says of them.
struct ObjectChecksum {
  enum class Kind { kNone, kMd5, kSha256 };
  Kind kind = Kind::kNone;
  std::string digest;  // its bytes
};

class ObjectStore {
 public:
  virtual ~ObjectStore() = default;
  // What begins with the store's prefix, by key.
  virtual Result<std::vector<ObjectEntry>> list() = 0;
  // Passes the bytes from `offset` on to the sink, as long as it returns true. The checksum is of
  // the whole object. An Error where the object is not the listed version any more.
  virtual Result<ObjectChecksum> read(const ObjectEntry& entry, std::uint64_t offset,
                                      const std::function<bool(std::string_view)>& sink) = 0;
};

// A bucket of S3, or of anything that speaks S3; Google's by its XML API with an HMAC key.
struct S3Settings {
  std::string endpoint;  // "https://s3.eu-central-1.amazonaws.com"
  std::string region = "us-east-1";
  std::string bucket;
  std::string prefix;
  std::string access_key, secret_key;  // both empty: a public bucket
  std::string session_token = {};
  std::string ca_file = {};
};
// The clock must outlive the store.
std::unique_ptr<ObjectStore> open_s3(S3Settings settings, Clock& clock);

// A container of Azure Blob Storage, by a shared access signature or the account's key.
struct AzureSettings {
  std::string endpoint;  // "https://account.blob.core.windows.net"; of an emulator with the account
  std::string account;
  std::string container;
  std::string prefix;
  std::string sas = {};          // "sv=…&sig=…"
  std::string account_key = {};  // base64
  std::string ca_file = {};
};
// An Error where the account's key is not base64. The clock must outlive the store.
Result<std::unique_ptr<ObjectStore>> open_azure(AzureSettings settings, Clock& clock);

// The regular files under a folder, without hidden ones.
std::unique_ptr<ObjectStore> open_folder(std::string folder);

}  // namespace pennyweight::objects
