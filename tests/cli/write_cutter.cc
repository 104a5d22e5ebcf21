// Loaded before the program's libraries with LD_PRELOAD: kills the program within a chosen write.
//
// CUT_NAME is a part of the names of the files that count. Their writes and removals are counted
// from 0, and CUT_LOG names the file that lists them: number, call, file, offset (-1 at the end),
// bytes. In the call CUT_AT only the first CUT_BYTES are written, then the program is killed, as
// SIGKILL may end a write at the end of any page.
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

long option(const char* name, long otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atol(text);
}

std::atomic<long> calls = 0;

// How many of `bytes` are to be written, all unless this is the call to die in.
long count_call(const char* call, std::string_view file, long offset, long bytes) {
  const char* wanted = std::getenv("CUT_NAME");
  if (wanted == nullptr || file.find(wanted) == std::string_view::npos) return bytes;
  const long number = calls++;
  static const int log = [] {
    const char* path = std::getenv("CUT_LOG");
    return path == nullptr ? -1 : ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  }();
  if (log >= 0) {
    std::array<char, 600> line;
    const int size = std::snprintf(line.data(), line.size(), "%ld %s %.*s %ld %ld\n", number, call,
                                   static_cast<int>(file.size()), file.data(), offset, bytes);
    ::syscall(SYS_write, log, line.data(), size);
  }
  return number == option("CUT_AT", -1) ? std::min(bytes, option("CUT_BYTES", 0)) : bytes;
}

[[noreturn]] void die() {
  while (true) ::kill(::getpid(), SIGKILL);
}

ssize_t write_some(const char* call, int file, const void* bytes, std::size_t size, long offset) {
  std::array<char, 512> name;
  const std::string_view path = [&]() -> std::string_view {
    std::array<char, 64> link;
    std::snprintf(link.data(), link.size(), "/proc/self/fd/%d", file);
    const ssize_t length = ::readlink(link.data(), name.data(), name.size());
    return {name.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
  }();
  const auto whole = static_cast<long>(size);
  const long wanted = count_call(call, path.substr(path.rfind('/') + 1), offset, whole);
  const auto write = [&]() -> ssize_t {
    return offset < 0 ? ::syscall(SYS_write, file, bytes, wanted)
                      : ::syscall(SYS_pwrite64, file, bytes, wanted, offset);
  };
  if (wanted == whole) return write();
  if (wanted > 0) write();
  die();
}

int remove_one(const char* path) {
  if (count_call("remove", path, -1, 1) == 0) die();
  return static_cast<int>(::syscall(SYS_unlink, path));
}

}  // namespace

// The C library's names, which its headers have declared in a way of their own.
extern "C" {
ssize_t cut_pwrite(int file, const void* bytes, std::size_t size, long offset) __asm__("pwrite");
ssize_t cut_pwrite(int file, const void* bytes, std::size_t size, long offset) {
  return write_some("pwrite", file, bytes, size, offset);
}
ssize_t cut_pwrite64(int file, const void* bytes, std::size_t size,
                     long offset) __asm__("pwrite64");
ssize_t cut_pwrite64(int file, const void* bytes, std::size_t size, long offset) {
  return write_some("pwrite", file, bytes, size, offset);
}
ssize_t cut_write(int file, const void* bytes, std::size_t size) __asm__("write");
ssize_t cut_write(int file, const void* bytes, std::size_t size) {
  return write_some("write", file, bytes, size, -1);
}
int cut_remove(const char* path) __asm__("remove");
int cut_remove(const char* path) { return remove_one(path); }
int cut_unlink(const char* path) __asm__("unlink");
int cut_unlink(const char* path) { return remove_one(path); }
}
