// Files that survive a crash: whole writes, synced folders, and contents replaced all or not at
// all.
//
// Everything that durability rests on goes through a Disk, so that a test can let each call of the
// operating system fail.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.h"

namespace pennyweight {

// The operating system's calls. As write(2), fdatasync(2), fsync(2) and ftruncate(2): -1 and errno
// on failure.
class Disk {
 public:
  virtual ~Disk() = default;
  virtual std::int64_t write(int file, const char* bytes, std::size_t size);
  virtual int sync_data(int file);
  virtual int sync(int file);
  virtual int truncate(int file, std::uint64_t size);
};
Disk& real_disk();

// Owns an open file's descriptor and closes it.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) : number_(number) {}
  ~FileDescriptor() { close(); }
  FileDescriptor(FileDescriptor&& other) noexcept;
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  void close();

 private:
  int number_ = -1;
};

// kIo: "cannot <doing> <path>: <what errno means>", with advice where the disk is full.
Error io_error(std::string_view doing, const std::string& path, int number = errno);

// Writes all of it, over short writes and interruptions. On failure (errno) some of it may have
// been written.
bool write_all(int file, std::string_view bytes, Disk& disk = real_disk());

// The folder that `path` lies in, "." where it names none.
std::string folder_of(const std::string& path);
// From here on the folder's entries survive a crash.
Result<void> sync_folder(const std::string& folder, Disk& disk = real_disk());

// The bytes as they lie there: read_file() of core/files/file.h unpacks what is compressed. An
// Error of kNotFound where there is no such file, of kLimit past `bytes_max`.
Result<std::string> read_raw_file(const std::string& path, std::uint64_t bytes_max);

// After success the file holds `bytes`, even after a crash; after failure, what it held before.
// Only its owner may read it.
Result<void> replace_file(const std::string& path, std::string_view bytes,
                          Disk& disk = real_disk());

}  // namespace pennyweight
