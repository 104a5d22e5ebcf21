// Runs a fuzzer's entry point once over every file of its corpus, under any compiler: what fuzzing
// found stays found. With FUZZ (clang) libFuzzer's own main takes the place of this one.
//
// usage: <room>_<x>_fuzz CORPUS_FOLDER
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

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

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
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s CORPUS_FOLDER\n", argv[0]);
    return 2;
  }
  const auto files = files_of(argv[1]);
  if (files.size() < kSeedsMin) {
    std::fprintf(stderr, "%s holds %zu seeds; a fuzzer needs at least %zu\n", argv[1], files.size(),
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
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  std::printf("%zu inputs replayed\n", files.size());
  return 0;
}
