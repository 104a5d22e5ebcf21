// Disk: the few calls of the operating system on which durability rests, so that a test can let
// each of them fail; and files that are there whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.h"

namespace pennyweight::journal {

// The real ones. As write(2), fdatasync(2), fsync(2) and ftruncate(2): -1 and errno on failure.
class Disk {
 public:
  virtual ~Disk() = default;
  virtual std::int64_t write(int file, const char* bytes, std::size_t size);
  virtual int sync_data(int file);
  virtual int sync(int file);
  virtual int truncate(int file, std::uint64_t size);
};
Disk& real_disk();

// Owns a descriptor.
class File {
 public:
  File() = default;
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File();
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  int descriptor() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

// kIo with what was done, the path, and what the operating system says (errno).
Error io_error(std::string_view doing, const std::string& path);

// All of it, over short writes and interruptions. On failure a part may have been written.
bool write_all(Disk& disk, int file, std::string_view bytes);
// The directory's entries survive a crash from here on.
Result<void> sync_folder(Disk& disk, const std::string& folder);
Result<std::string> read_file(const std::string& path, std::uint64_t bytes_max);

// After success the file holds `bytes`, also after a crash; after failure, what it held before.
Result<void> write_file_durably(Disk& disk, const std::string& folder, const std::string& name,
                                std::string_view bytes);

}  // namespace pennyweight::journal
