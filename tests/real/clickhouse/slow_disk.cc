// A slow disk, for a program that knows nothing of it: preloaded into a server, every call that
// touches a file waits for as many microseconds as the file named by PENNYWEIGHT_DISK_DELAY holds
// (a whole number in its first four bytes; 0 and no file: none). Sockets and pipes are not delayed,
// so the server goes on talking while its disk does not, which stopping the process can't do.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {

constexpr std::uint32_t kNone = 0;
constexpr std::uint32_t kMicrosecondsMax = 10'000'000;

const std::atomic<std::uint32_t>* delay_us() {
  static const std::atomic<std::uint32_t>* const there = [] {
    static const std::atomic<std::uint32_t> none{kNone};
    const char* name = std::getenv("PENNYWEIGHT_DISK_DELAY");
    const int file = name == nullptr ? -1 : open(name, O_RDONLY | O_CLOEXEC);
    void* mapped =
        file < 0 ? MAP_FAILED : mmap(nullptr, sizeof none, PROT_READ, MAP_SHARED, file, 0);
    return mapped == MAP_FAILED ? &none : static_cast<const std::atomic<std::uint32_t>*>(mapped);
  }();
  return there;
}

void wait_for_disk() {
  const std::uint32_t us = delay_us()->load(std::memory_order_relaxed);
  if (us == kNone || us > kMicrosecondsMax) return;
  const timespec time{.tv_sec = us / 1'000'000,
                      .tv_nsec = static_cast<long>(us % 1'000'000) * 1000};
  nanosleep(&time, nullptr);
}

void wait_for_disk_of(int file) {
  if (delay_us()->load(std::memory_order_relaxed) == kNone) return;
  struct stat what{};
  if (fstat(file, &what) == 0 && S_ISREG(what.st_mode)) wait_for_disk();
}

// The libc's own.
template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

ssize_t write(int file, const void* bytes, std::size_t count) {
  static const auto real = next<ssize_t (*)(int, const void*, std::size_t)>("write");
  wait_for_disk_of(file);
  return real(file, bytes, count);
}

ssize_t read(int file, void* bytes, std::size_t count) {
  static const auto real = next<ssize_t (*)(int, void*, std::size_t)>("read");
  wait_for_disk_of(file);
  return real(file, bytes, count);
}

int fsync(int file) {
  static const auto real = next<int (*)(int)>("fsync");
  wait_for_disk_of(file);
  return real(file);
}

int rename(const char* from, const char* to) noexcept {
  static const auto real = next<int (*)(const char*, const char*)>("rename");
  wait_for_disk();
  return real(from, to);
}

int mkdir(const char* path, mode_t mode) noexcept {
  static const auto real = next<int (*)(const char*, mode_t)>("mkdir");
  wait_for_disk();
  return real(path, mode);
}

int unlink(const char* path) noexcept {
  static const auto real = next<int (*)(const char*)>("unlink");
  wait_for_disk();
  return real(path);
}

}  // extern "C"
