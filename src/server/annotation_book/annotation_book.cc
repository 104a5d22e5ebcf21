#include "server/annotation_book/annotation_book.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/files/file_lock.h"
#include "core/json_text.h"
#include "core/try.h"

namespace pennyweight {
namespace {

constexpr std::uint64_t kAnnotationBookBytesMax = 8u << 20;
// Scripts of pages read numbers without loss up to here, which is past the year 200,000.
constexpr std::uint64_t kIdMax = std::uint64_t{1} << 52;

std::string annotation_line(const Annotation& one) {
  std::string filters;
  for (const std::string& filter : one.filters) {
    filters += (filters.empty() ? "" : ", ") + json_string(filter);
  }
  return fmt::format(
      "{{\"id\": {}, \"at\": {}, \"who\": {}, \"first\": {}, \"last\": {}, \"filters\": [{}], "
      "\"for_everyone\": {}, \"text\": {}}}\n",
      one.id, json_string(to_text(one.at)), json_string(one.who), json_string(to_text(one.first)),
      json_string(to_text(one.last)), filters, one.for_everyone, json_string(one.text));
}

Result<Annotation> parse_annotation(std::string_view line) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  const simdjson::padded_string padded(line);
  Annotation one;
  bool is_sound = parser.parse(padded).get(object) == simdjson::SUCCESS;
  const auto text = [&](std::string_view name) {
    std::string_view value;
    is_sound = is_sound && object[name].get(value) == simdjson::SUCCESS;
    return std::string(value);
  };
  const std::string at = text("at");
  const std::string first = text("first");
  const std::string last = text("last");
  one.who = text("who");
  one.text = text("text");
  simdjson::dom::array filters;
  is_sound = is_sound && object["id"].get(one.id) == simdjson::SUCCESS && one.id <= kIdMax &&
             object["for_everyone"].get(one.for_everyone) == simdjson::SUCCESS &&
             object["filters"].get(filters) == simdjson::SUCCESS;
  if (is_sound) {
    for (const simdjson::dom::element filter : filters) {
      std::string_view value;
      is_sound = is_sound && filter.get(value) == simdjson::SUCCESS;
      one.filters.emplace_back(value);
    }
  }
  if (!is_sound) return fail(ErrorCode::kBadFile, "this is no annotation");
  one.at = TRY(parse_instant(at));
  one.first = TRY(parse_date(first));
  one.last = TRY(parse_date(last));
  return one;
}

}  // namespace

AnnotationBook::AnnotationBook(std::string path)
    : list_(std::move(path), kAnnotationBookBytesMax, parse_annotation) {}

Result<std::vector<Annotation>> AnnotationBook::annotations() {
  const std::lock_guard lock(mutex_);
  std::ignore = TRY(list_.read());
  return list_.records();
}

Result<Annotation> AnnotationBook::add(Annotation annotation, const Record& record) {
  const std::lock_guard lock(mutex_);
  const FileLock others = TRY(FileLock::beside(list_.path()));
  std::ignore = TRY(list_.read());
  const auto of_author = std::ranges::count(list_.records(), annotation.who, &Annotation::who);
  if (static_cast<std::size_t>(of_author) >= kAnnotationsOfAuthorMax) {
    return fail(ErrorCode::kConflict,
                fmt::format("{} has written {} annotations, which is all that one person may; "
                            "remove some that nobody needs any more",
                            annotation.who, of_author));
  }
  annotation.id = static_cast<std::uint64_t>(annotation.at.time_since_epoch().count());
  for (const Annotation& one : list_.records()) {
    annotation.id = std::max(annotation.id, one.id + 1);
  }
  const std::string text = list_.with(annotation_line(annotation));
  if (!list_.has_room_for(text)) {
    return fail(
        ErrorCode::kConflict,
        fmt::format("{} is full; remove annotations that nobody needs any more", list_.path()));
  }
  TRY(record(annotation));
  std::ignore = TRY(list_.replace(text));
  return annotation;
}

Result<void> AnnotationBook::remove(std::uint64_t id, const Record& record) {
  const std::lock_guard lock(mutex_);
  const FileLock others = TRY(FileLock::beside(list_.path()));
  std::ignore = TRY(list_.read());
  const auto found = std::ranges::find(list_.records(), id, &Annotation::id);
  if (found == list_.records().end()) {
    return fail(ErrorCode::kNotFound, fmt::format("there is no annotation {}", id));
  }
  TRY(record(*found));
  std::string text;
  for (const Annotation& one : list_.records()) {
    if (one.id != id) text += annotation_line(one);
  }
  std::ignore = TRY(list_.replace(text));
  return {};
}

}  // namespace pennyweight
