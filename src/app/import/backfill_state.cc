#include "app/import/backfill_state.h"

#include <fmt/format.h>

#include "core/files/disk.h"
#include "core/whole_count.h"

namespace pennyweight {
namespace {

constexpr const char* kName = "backfill.state";
constexpr std::uint64_t kBytesMax = 4096;
constexpr std::string_view kHead = "pennyweight backfill 1\n";

// The text between `name` and the end of the line; removes the line.
std::optional<std::string_view> line_of(std::string_view& text, std::string_view name) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos || !text.starts_with(name)) return std::nullopt;
  const std::string_view value = text.substr(name.size(), end - std::min(end, name.size()));
  text.remove_prefix(end + 1);
  return value;
}

}  // namespace

std::string to_text(const BackfillState& state) {
  return fmt::format("{}generation {}\ndone {}\nfinished {}\n", kHead, state.generation,
                     to_text(state.done), state.finished ? 1 : 0);
}

Result<BackfillState> parse_backfill_state(std::string_view text) {
  const auto bad = [] {
    return fail(ErrorCode::kBadFile,
                "this is not the state of a backfill; move its folder away and start over: nothing "
                "that is in the ledger counts twice");
  };
  if (!text.starts_with(kHead)) return bad();
  text.remove_prefix(kHead.size());
  const auto generation = line_of(text, "generation ");
  const auto done = line_of(text, "done ");
  const auto finished = line_of(text, "finished ");
  if (!generation || !done || !finished || !text.empty()) return bad();
  const auto number = parse_count(*generation, (std::uint64_t{1} << 31) - 1);
  const auto at = parse_instant(*done);
  if (!number || !at || (*finished != "0" && *finished != "1")) return bad();
  return BackfillState{.generation = *number, .done = *at, .finished = *finished == "1"};
}

Result<std::optional<BackfillState>> load_backfill_state(const std::string& folder) {
  const std::string path = folder + "/" + kName;
  const auto text = read_raw_file(path, kBytesMax);
  if (!text) {
    if (text.error().code == ErrorCode::kNotFound) return std::nullopt;
    return std::unexpected(text.error());
  }
  const auto state = parse_backfill_state(*text);
  if (!state) return std::unexpected(state.error().during(path));
  return *state;
}

Result<void> save_backfill_state(const std::string& folder, const BackfillState& state) {
  return replace_file(folder + "/" + kName, to_text(state));
}

}  // namespace pennyweight
