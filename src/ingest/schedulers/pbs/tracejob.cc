#include "ingest/schedulers/pbs/tracejob.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/ascii.h"
#include "core/limits.h"
#include "core/try.h"
#include "ingest/schedulers/pbs/accounting.h"

namespace pennyweight::pbs {
namespace {

using accounting::mistake;
using accounting::Options;
using accounting::Read;
using accounting::Run;

constexpr std::string_view kJob = "Job: ";
constexpr char kEnded = 'E';
constexpr char kUpdate = 'u';
constexpr char kSuspension = 'z';
constexpr char kOther = 'S';
constexpr char kCut = '!';

// "02/11/2026 20:12:21  A    ": nothing where a line does not begin so.
std::optional<char> kind_of(std::string_view line) {
  if (!begins_with_stamp(line)) return std::nullopt;
  line.remove_prefix(kStampBytes);
  const std::size_t at = line.find_first_not_of(' ');
  if (at == 0 || at == std::string_view::npos || !ascii::is_letter(line[at])) return std::nullopt;
  if (at + 1 < line.size() && line[at + 1] != ' ') return std::nullopt;
  return line[at];
}

std::string_view first_word(std::string_view text) {
  return text.substr(0, std::min(text.find(' '), text.size()));
}

std::string_view last_word(std::string_view text) {
  const std::size_t blank = text.rfind(' ');
  return blank == std::string_view::npos ? text : text.substr(blank + 1);
}

bool is_name(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](char c) {
    return ascii::is_letter(c) || ascii::is_digit(c) || c == '_' || c == '.';
  });
}

// Keys whose values have no blanks, like those that are read: after one comes another "key=".
constexpr std::string_view kShown[] = {"qtime", "etime", "exec_host"};

// Whether a line's end may stand inside a word: `next` continues `text`. In quotes a blank and a
// cut look alike; there it is taken for a blank.
bool may_be_cut(std::string_view text, std::string_view next) {
  const std::string_view last = last_word(text), first = first_word(next);
  const bool begins_attribute = is_name(first.substr(0, first.find('='))) && first.contains('=');
  const std::size_t equals = last.find('=');
  if (equals == std::string_view::npos) return is_name(last) && begins_attribute;
  const std::string_view key = last.substr(0, equals), value = last.substr(equals + 1);
  return !begins_attribute && !value.starts_with('"') &&
         (is_read(key) || std::ranges::find(kShown, key) != std::end(kShown));
}

// Whether a record has an attribute.
bool has_attribute(std::string_view record, std::string_view key) {
  for (std::size_t at = record.find(key); at != std::string_view::npos;
       at = record.find(key, at + 1)) {
    if (at == 0 || record[at - 1] == ' ') return true;
  }
  return false;
}

// The type that the accounting log gives a record, as far as it matters. PBS states a start and an
// end of runs (E, R), and of reservations, which begin with their owner (B); a session and no end
// of jobs that gave vnodes up early (u, and e when they end); resources alone of suspended jobs
// (z).
char type_of(std::string_view record) {
  if (record.starts_with("resources_used.")) return kSuspension;
  if (record.starts_with("owner=") || !has_attribute(record, "start=")) return kOther;
  if (has_attribute(record, "end=")) return kEnded;
  return has_attribute(record, "session=") ? kUpdate : kOther;
}

Read<std::optional<Run>> read_entry(std::string_view record, const Options& options) {
  if (record.size() > kStampBytes + 1 && record[kStampBytes + 1] == kCut) {
    return mistake("",
                   "a line's end may have cut one of its values; run tracejob -w with more columns "
                   "than its lines have, or import the accounting log");
  }
  return read_record(record, options);
}

}  // namespace

TracejobReader::TracejobReader(accounting::Options options, accounting::Sinks sinks)
    : records_(read_entry, std::move(options), std::move(sinks)),
      lines_([this](const FedLine& line) { return read_line(line); }) {}

Result<void> TracejobReader::finish() {
  TRY(lines_.finish());
  TRY(end_entry());
  return records_.finish();
}

Result<void> TracejobReader::read_line(const FedLine& line) {
  if (line.text.starts_with(kJob)) {
    TRY(end_entry());
    job_ = ascii::trim(line.text.substr(kJob.size()));
    return {};
  }
  const auto kind = kind_of(line.text);
  if (!kind) {
    const bool continues = line.text.starts_with(' ') || line.text.starts_with('\t');
    if (entry_ && continues) append(ascii::trim(line.text));
    if (continues) return {};
    // A path is of a log that is not there. Anything else may be the rest of a line that was cut.
    if (entry_ && !line.text.starts_with('/')) entry_->is_cut = true;
    return end_entry();
  }
  TRY(end_entry());
  if (*kind != 'A') return {};
  const std::string_view rest = line.text.substr(line.text.find('A', kStampBytes) + 1);
  entry_ = Entry{.stamp = std::string(line.text.substr(0, kStampBytes)),
                 .text = std::string(ascii::trim(rest)),
                 .line = line.number};
  return {};
}

void TracejobReader::append(std::string_view more) {
  if (more.empty() || entry_->text.size() > limits::kRowBytesMax) return;
  entry_->is_cut = entry_->is_cut || may_be_cut(entry_->text, more);
  if (!entry_->text.empty()) entry_->text.push_back(' ');
  entry_->text.append(more);
}

Result<void> TracejobReader::end_entry() {
  if (!entry_) return {};
  const Entry entry = *std::exchange(entry_, std::nullopt);
  const char type = entry.is_cut ? kCut : type_of(entry.text);
  std::string record(static_cast<std::size_t>(entry.line - 1 - lines_given_), '\n');
  record.append(entry.stamp).append({';', type, ';'}).append(job_).push_back(';');
  record.append(entry.text).push_back('\n');
  lines_given_ = entry.line;
  return records_.feed(record);
}

bool is_tracejob(std::string_view beginning) {
  bool has_job = false, has_record = false;
  while (!beginning.empty() && !(has_job && has_record)) {
    const std::size_t end = std::min(beginning.find('\n'), beginning.size());
    const std::string_view line = beginning.substr(0, end);
    beginning.remove_prefix(std::min(end + 1, beginning.size()));
    has_job = has_job || line.starts_with(kJob);
    has_record = has_record || kind_of(line) == 'A';
  }
  return has_job && has_record;
}

}  // namespace pennyweight::pbs
