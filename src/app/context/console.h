// Console: the verbs' output to the terminal.
//
// Results go to standard output; messages, warnings and progress to standard error. Colours,
// truncation to the width and progress appear only on a terminal, so a pipe always gets the same
// bytes.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"
#include "reporting/table.h"

namespace pennyweight {

enum class ColourMode { kAuto, kAlways, kNever };

class Console {
 public:
  // Inspects the terminal, NO_COLOR, TERM and the locale once.
  static Console detect(ColourMode colour, bool quiet);

  // To standard output.
  void print(std::string_view text) const;
  // To standard error; not with --quiet.
  void say(std::string_view text) const;
  // "pennyweight: warning: …", "pennyweight: …" to standard error, always.
  void warn(std::string_view text) const;
  void complain(const Error& error) const;

  TextStyle style(std::optional<int> money_digits) const;
  // `text` in bold, where standard output has colours.
  std::string bold(std::string_view text) const;
  bool shows_progress() const { return shows_progress_; }
  const std::optional<std::size_t>& width() const { return width_; }
  std::string describe() const;  // for doctor: "a terminal of 120 columns, with colours"

 private:
  bool out_is_terminal_ = false;
  bool shows_progress_ = false;
  bool colour_ = false;
  bool unicode_ = true;
  bool quiet_ = false;
  std::optional<std::size_t> width_;
};

// A progress line on standard error that overwrites itself: "jobs.txt  61 %  12.4 MB  310,000 rows
// 95,000/s". Writes nothing unless standard error is a terminal.
class Progress {
 public:
  Progress(const Console& console, std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Cheap enough to call for every batch; it redraws ten times a second.
  void update(std::uint64_t bytes_done, std::uint64_t bytes_all, std::uint64_t rows);

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;
  const Console& console_;
  std::string what_;
  SteadyTime begun_;
  SteadyTime shown_;
  bool visible_ = false;
};

}  // namespace pennyweight
