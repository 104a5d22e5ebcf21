// InputFile and OutputFile: files named on a command line, with errors that say which file and why.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/files/decompress.h"
#include "core/hash.h"

namespace pennyweight {

inline constexpr const char* kStandardInput = "standard input";  // the name of "-"

// A file that is read from front to end in chunks. "-" is standard input. gzip and zstd are
// detected from the first bytes and unpacked.
class InputFile {
 public:
  // An Error where the file is missing, unreadable or a directory.
  static Result<InputFile> open(const std::string& path);

  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();

  // Fills `buffer` from the front and returns how many bytes, 0 at the end. An Error also where
  // compressed content is damaged or cut short.
  Result<std::size_t> read(std::span<char> buffer);
  // The rest of the file. An error past `bytes_max`.
  Result<std::string> read_rest(std::size_t bytes_max);

  const std::string& name() const { return name_; }
  std::uint64_t bytes_all() const { return bytes_all_; }    // 0 where that can't be known
  std::uint64_t bytes_read() const { return bytes_read_; }  // of bytes_all

 private:
  InputFile(int descriptor, std::string name, std::uint64_t bytes_all);
  Result<std::size_t> read_raw(std::span<char> buffer);
  // Reads the first bytes and finds out whether they are compressed.
  Result<void> begin();

  int descriptor_;
  std::string name_;
  std::uint64_t bytes_all_;
  std::uint64_t bytes_read_ = 0;
  bool begun_ = false;
  std::string ahead_;  // read by begin(), not yet handed out by read()
  std::unique_ptr<Decompressor> decompressor_;
};

// The fingerprint of a file's bytes, compressed or not. Standard input has none.
Result<Hash128> hash_of_file(const std::string& path);

Result<std::string> read_file(const std::string& path, std::size_t bytes_max);

// A file that is written under a temporary name in the same folder and renamed at the end: a reader
// sees all of it or nothing, and an earlier file stays until then. "-" is standard output.
class OutputFile {
 public:
  static Result<OutputFile> create(const std::string& path);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();  // without commit() nothing is left behind

  Result<void> write(std::string_view text);
  Result<void> commit();

 private:
  OutputFile(int descriptor, std::string path, std::string part)
      : descriptor_(descriptor), path_(std::move(path)), part_(std::move(part)) {}
  int descriptor_;
  std::string path_;
  std::string part_;  // empty for standard output
};

// The regular files of a folder, sorted by name, without hidden ones; with `deep` those of its
// subfolders too.
Result<std::vector<std::string>> files_of(const std::string& folder, bool deep = false);
// The paths that match a pattern with * and ?, sorted.
std::vector<std::string> files_matching(const std::string& pattern);

}  // namespace pennyweight
