// Replays the seeds of one fuzzer: each file of its corpus once, under any compiler, so that what
// fuzzing found stays found. With FUZZ (clang) every fuzzer is a program of libFuzzer's instead.
//
// usage: fuzz_replay FUZZER CORPUS_FOLDER
#include "tests/fuzz/replay.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

namespace {

// A parser without seeds is a parser whose fuzzer starts from nothing and replays nothing.
constexpr std::size_t kSeedsMin = 5;

std::vector<std::filesystem::path> files_of(const std::filesystem::path& folder) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.is_regular_file(error)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 || !fuzzers().contains(argv[1])) {
    std::fprintf(stderr, "usage: %s FUZZER CORPUS_FOLDER, where FUZZER is one of\n", argv[0]);
    for (const auto& [name, entry] : fuzzers()) std::fprintf(stderr, "  %s\n", name.data());
    return 2;
  }
  const FuzzEntry entry = fuzzers().at(argv[1]);
  const auto files = files_of(argv[2]);
  if (files.size() < kSeedsMin) {
    std::fprintf(stderr, "%s holds %zu seeds; a fuzzer needs at least %zu\n", argv[2], files.size(),
                 kSeedsMin);
    return 1;
  }
  for (const auto& file : files) {
    // Named before it runs, so that a crash says which input it was.
    std::printf("%s\n", file.filename().c_str());
    std::fflush(stdout);
    std::ifstream in(file, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    if (!in.good() && !in.eof()) {
      std::fprintf(stderr, "cannot read %s\n", file.c_str());
      return 1;
    }
    entry(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  std::printf("%zu inputs replayed\n", files.size());
  return 0;
}
