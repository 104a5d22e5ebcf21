#include "ingest/devices/nvidia_smi/instance_list.h"

#include <algorithm>
#include <array>

#include "core/ascii.h"
#include "core/limits.h"
#include "core/whole_count.h"

namespace pennyweight::nvidia_smi {
namespace {

// A row has seven: GPU, "MIG", profile, profile id, instance id, start and size.
constexpr std::size_t kWordsOfRow = 7;

std::optional<std::uint32_t> number_of(std::string_view word) {
  const auto number = parse_count(word, limits::kGpusPerNodeMax - 1);
  if (!number) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

// The words of a row, as many as there are; one more than kWordsOfRow where there are too many.
struct RowWords {
  std::array<std::string_view, kWordsOfRow + 1> words;
  std::size_t count = 0;
};

RowWords words_of_row(std::string_view text) {
  RowWords row;
  while (row.count <= kWordsOfRow) {
    const std::size_t begin = text.find_first_not_of(" \t|:");
    if (begin == std::string_view::npos) return row;
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find_first_of(" \t|:"), text.size());
    row.words[row.count++] = text.substr(0, end);
    text.remove_prefix(end);
  }
  return row;
}

}  // namespace

Result<std::optional<ListedInstance>> InstanceList::line(std::uint64_t number,
                                                         std::string_view text) {
  const std::string_view trimmed = ascii::trim(text);
  if (!trimmed.starts_with('|') && !trimmed.starts_with('+')) {
    is_inside_ = false;
    return std::nullopt;
  }
  // Not "GPU instance profiles:" (-lgip), nor "Compute instances:" (-lci), nor a part of the table
  // that nvidia-smi prints by itself.
  const std::string_view title = ascii::trim(trimmed, "| \t");
  if (title.ends_with(':') && !ascii::is_digit(title.front())) {
    is_inside_ = title == "GPU instances:";
    return std::nullopt;
  }
  if (!is_inside_) return std::nullopt;
  const RowWords row = words_of_row(trimmed);
  if (row.count == 0 || !number_of(row.words[0])) return std::nullopt;  // a rule, or a heading
  const auto& words = row.words;
  const bool is_whole = row.count == kWordsOfRow && words[1] == "MIG" && number_of(words[3]) &&
                        number_of(words[4]) && number_of(words[5]) && number_of(words[6]) &&
                        words[2].size() <= limits::kIdBytesMax;
  if (!is_whole) {
    return fail(ErrorCode::kBadValue,
                "a GPU instance of nvidia-smi mig -lgi can't be read; capture it once more");
  }
  return ListedInstance{.line = number,
                        .gpu_index = *number_of(words[0]),
                        .profile = std::string(words[2]),
                        .gpu_instance = *number_of(words[4]),
                        .start = *number_of(words[5]),
                        .size = *number_of(words[6]),
                        .text = std::string(text)};
}

}  // namespace pennyweight::nvidia_smi
