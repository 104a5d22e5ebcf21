#include "app/context/console.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "reporting/number_format.h"

namespace pennyweight {
namespace {

constexpr std::string_view kEraseLine = "\r\x1b[K";

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = variable(name);
    if (value.empty()) continue;
    return value.find("UTF-8") != std::string_view::npos ||
           value.find("utf8") != std::string_view::npos;
  }
  return false;
}

void write_all(std::FILE* stream, std::string_view text) {
  // Flush standard output first, so that the order is right where both go to one terminal.
  if (stream == stderr) std::fflush(stdout);
  std::fwrite(text.data(), 1, text.size(), stream);
}

}  // namespace

Console Console::detect(ColourMode colour, bool quiet) {
  Console console;
  console.quiet_ = quiet;
  console.out_is_terminal_ = isatty(STDOUT_FILENO) == 1;
  const bool dumb = variable("TERM") == "dumb";
  console.shows_progress_ = !quiet && !dumb && isatty(STDERR_FILENO) == 1;
  console.colour_ =
      colour == ColourMode::kAlways || (colour == ColourMode::kAuto && console.out_is_terminal_ &&
                                        !dumb && variable("NO_COLOR").empty());
  console.unicode_ = !console.out_is_terminal_ || locale_is_utf8();
  winsize size{};
  if (console.out_is_terminal_ && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    console.width_ = size.ws_col;
  }
  return console;
}

void Console::print(std::string_view text) const { write_all(stdout, text); }

void Console::say(std::string_view text) const {
  if (!quiet_) write_all(stderr, fmt::format("{}\n", text));
}

void Console::warn(std::string_view text) const {
  write_all(stderr, fmt::format("pennyweight: warning: {}\n", printable(text)));
}

void Console::complain(const Error& error) const {
  write_all(stderr, fmt::format("pennyweight: {}\n", printable(error.message)));
}

TextStyle Console::style(std::optional<int> money_digits) const {
  return {.money_digits = money_digits, .width = width_, .colour = colour_, .unicode = unicode_};
}

std::string Console::bold(std::string_view text) const {
  return colour_ ? fmt::format("\x1b[1m{}\x1b[0m", text) : std::string(text);
}

std::string Console::describe() const {
  if (!out_is_terminal_) return "not a terminal: no colours, no truncation";
  return fmt::format("a terminal of {} columns, {} colours, {}", width_.value_or(0),
                     colour_ ? "with" : "without", unicode_ ? "UTF-8" : "ASCII only");
}

Progress::Progress(const Console& console, std::string what)
    : console_(console), what_(std::move(what)), begun_(std::chrono::steady_clock::now()) {
  shown_ = begun_;
}

Progress::~Progress() {
  if (visible_) write_all(stderr, kEraseLine);
}

void Progress::update(std::uint64_t bytes_done, std::uint64_t bytes_all, std::uint64_t rows) {
  if (!console_.shows_progress()) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - shown_ < std::chrono::milliseconds(100)) return;
  shown_ = now;
  visible_ = true;
  const auto elapsed_ms = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(now - begun_).count());
  std::string line = fmt::format("{}{}", kEraseLine, what_);
  if (bytes_all > 0) line += fmt::format("  {} %", 100 * bytes_done / bytes_all);
  line += fmt::format("  {} MB  {} rows  {} rows/s", bytes_done / 1'000'000,
                      format_count(rows, Thousands::kSeparated),
                      format_count(rows * 1000 / elapsed_ms, Thousands::kSeparated));
  write_all(stderr, line);
}

}  // namespace pennyweight
