#include "core/duckdb/checkpoint_rescue.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "core/hash.h"
#include "core/try.h"

namespace pennyweight::duckdb {
namespace {

// A file begins with three headers of 4096 bytes: one of the file, and those of the last two
// checkpoints. Its blocks follow.
constexpr std::uint64_t kHeaderBytes = std::uint64_t{3} * 4096;
constexpr std::string_view kMagic = "pennyweight rescue 1\n";

std::string rescue_path(const std::string& path) { return path + ".rescue"; }

void add_number(std::string& bytes, std::uint64_t number) {
  std::array<char, sizeof number> raw;
  std::memcpy(raw.data(), &number, sizeof number);
  bytes.append(raw.data(), raw.size());
}

// REQUIRES: `bytes` holds a number at `at`.
std::uint64_t number_at(std::string_view bytes, std::size_t at) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

// Appends `size` bytes of the file from `offset`, or as many as there are.
bool read_at(int file, std::uint64_t offset, std::uint64_t size, std::string& bytes) {
  const std::size_t before = bytes.size();
  bytes.resize(before + size);
  std::uint64_t got = 0;
  while (got < size) {
    const auto read =
        ::pread(file, bytes.data() + before + got, size - got, static_cast<off_t>(offset + got));
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) return false;
    if (read == 0) break;
    got += static_cast<std::uint64_t>(read);
  }
  bytes.resize(before + got);
  return true;
}

bool write_at(int file, std::uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    offset += static_cast<std::uint64_t>(written);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// As DuckDB locks a file. False while another process has it open.
bool lock_whole(int file, short how) {
  struct flock lock = {};
  lock.l_type = how;
  lock.l_whence = SEEK_SET;
  return ::fcntl(file, F_SETLK, &lock) == 0;
}

// Whether a block was written to its end: its first number is a checksum of the others, as DuckDB
// reckons it (`Checksum` of its src/common/checksum.cpp).
bool is_whole(std::string_view block) {
  constexpr std::size_t kNumber = sizeof(std::uint64_t);
  if (block.size() < kNumber || block.size() % kNumber != 0) return false;
  std::uint64_t sum = 5381;
  for (std::size_t at = kNumber; at < block.size(); at += kNumber) {
    sum ^= number_at(block, at) * 0xbf58476d1ce4e5b9ULL;
  }
  return sum == number_at(block, 0);
}

struct SavedBlock {
  std::uint64_t offset = 0;  // in the file
  std::string_view bytes;
};

// What PATH.rescue holds: kMagic, the size of a block, how many blocks, the headers, then each
// block's offset and bytes, and the hash of all of that.
class SavedBlocks {
 public:
  static Result<SavedBlocks> read(const std::string& path) {
    std::string bytes = TRY(read_raw_file(path, std::numeric_limits<std::uint64_t>::max()));
    constexpr std::size_t kFixed = kMagic.size() + 2 * sizeof(std::uint64_t) + kHeaderBytes;
    constexpr std::size_t kHash = 2 * sizeof(std::uint64_t);
    const auto damaged = fail(ErrorCode::kBadFile,
                              path + " is damaged; keep a copy of it, remove it, and try again");
    if (bytes.size() < kFixed + kHash || !bytes.starts_with(kMagic)) return damaged;
    const std::size_t end = bytes.size() - kHash;
    const Hash128 hash = hash_of(std::string_view(bytes).substr(0, end));
    if (hash != Hash128{number_at(bytes, end), number_at(bytes, end + sizeof(std::uint64_t))}) {
      return damaged;
    }
    return SavedBlocks(std::move(bytes));
  }
  std::string_view headers() const {
    return std::string_view(bytes_).substr(kMagic.size() + 2 * sizeof(std::uint64_t), kHeaderBytes);
  }
  std::uint64_t size() const { return number_at(bytes_, kMagic.size() + sizeof(std::uint64_t)); }
  SavedBlock block(std::uint64_t index) const {
    const std::uint64_t block_bytes = number_at(bytes_, kMagic.size());
    const std::size_t at = kMagic.size() + 2 * sizeof(std::uint64_t) + kHeaderBytes +
                           index * (sizeof(std::uint64_t) + block_bytes);
    return {number_at(bytes_, at),
            std::string_view(bytes_).substr(at + sizeof(std::uint64_t), block_bytes)};
  }

 private:
  explicit SavedBlocks(std::string bytes) : bytes_(std::move(bytes)) {}
  std::string bytes_;
};

}  // namespace

Result<void> CheckpointRescue::recover(const std::string& path) {
  const std::string rescue = rescue_path(path);
  if (::access(rescue.c_str(), F_OK) != 0) return {};
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  const bool writes = file.is_open();
  if (!writes) file = FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  // DuckDB itself says what is wrong with a file that can't be opened or is locked.
  if (!file.is_open() || !lock_whole(file.number(), writes ? F_WRLCK : F_RDLCK)) return {};
  const auto saved = SavedBlocks::read(rescue);
  if (!saved) {
    if (saved.error().code == ErrorCode::kNotFound) return {};  // another process was faster
    return std::unexpected(saved.error());
  }
  std::string headers;
  if (!read_at(file.number(), 0, kHeaderBytes, headers)) {
    return std::unexpected(io_error("read", path));
  }
  // A block that was written to its end has the pieces of the last checkpoint as they were. So what
  // is whole stays, and a copy that was left beside another file does no harm.
  std::vector<SavedBlock> torn;
  if (headers == saved->headers()) {
    for (std::uint64_t index = 0; index < saved->size(); ++index) {
      const SavedBlock block = saved->block(index);
      std::string there;
      if (!read_at(file.number(), block.offset, block.bytes.size(), there)) {
        return std::unexpected(io_error("read", path));
      }
      if (!is_whole(there)) torn.push_back(block);
    }
  }
  if (!writes) {
    if (torn.empty()) return {};
    return fail(ErrorCode::kIo, "a program was killed while it wrote into it, and its blocks in " +
                                    rescue +
                                    " must be put back: open it once as a user who may "
                                    "write it");
  }
  for (const SavedBlock& block : torn) {
    if (!write_at(file.number(), block.offset, block.bytes)) {
      return std::unexpected(io_error("write", path));
    }
  }
  if (!torn.empty() && real_disk().sync_data(file.number()) != 0) {
    return std::unexpected(io_error("sync", path));
  }
  ::unlink(rescue.c_str());
  return {};
}

Result<CheckpointRescue> CheckpointRescue::open(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return std::unexpected(io_error("open", path));
  return CheckpointRescue(path, std::move(file));
}

Result<void> CheckpointRescue::save(std::span<const std::uint64_t> blocks,
                                    std::uint64_t block_bytes) {
  std::string bytes(kMagic);
  bytes.reserve(kMagic.size() + kHeaderBytes + (blocks.size() + 1) * (block_bytes + 64));
  add_number(bytes, block_bytes);
  add_number(bytes, blocks.size());
  bool good = read_at(file_.number(), 0, kHeaderBytes, bytes);
  for (const std::uint64_t block : blocks) {
    const std::uint64_t offset = kHeaderBytes + block * block_bytes;
    add_number(bytes, offset);
    const std::size_t before = bytes.size();
    good = good && read_at(file_.number(), offset, block_bytes, bytes) &&
           bytes.size() == before + block_bytes;
  }
  if (!good) return std::unexpected(io_error("read", path_));
  const Hash128 hash = hash_of(bytes);
  add_number(bytes, hash.high);
  add_number(bytes, hash.low);
  return replace_file(rescue_path(path_), bytes);
}

void CheckpointRescue::drop() { ::unlink(rescue_path(path_).c_str()); }

}  // namespace pennyweight::duckdb
