#include "core/files/record_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/files/disk.h"

namespace pennyweight {

Result<std::string> read_record_file(const std::string& path, std::uint64_t bytes_max) {
  auto text = read_raw_file(path, bytes_max);
  if (!text && text.error().code == ErrorCode::kNotFound) return std::string();
  return text;
}

Result<void> read_records(const std::string& path, std::string_view text, std::size_t begin,
                          std::string_view remedy,
                          const std::function<Result<void>(std::string_view line)>& read) {
  auto number = std::ranges::count(text.substr(0, begin), '\n');
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    ++number;
    if (const auto done = read(text.substr(begin, end - begin)); !done) {
      return std::unexpected(
          done.error().during(fmt::format("{}:{} can't be read; {}", path, number, remedy)));
    }
    begin = end + 1;
  }
  return {};
}

bool is_whole_records(std::string_view text) { return text.empty() || text.back() == '\n'; }

std::string with_records(std::string_view text, std::string_view lines) {
  return fmt::format("{}{}{}", text, is_whole_records(text) ? "" : "\n", lines);
}

}  // namespace pennyweight
