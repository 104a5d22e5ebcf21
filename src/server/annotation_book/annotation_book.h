// AnnotationBook: what people write beside the costs of some days, such as "moved to cluster b".
//
// A file beside the ledger, one annotation a line. What is removed goes; the audit log keeps all.
// Several processes may use one book: each change takes a lock of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "core/date.h"
#include "core/error.h"
#include "core/files/record_list.h"
#include "core/instant.h"

namespace pennyweight {

struct Annotation {
  std::uint64_t id = 0;  // the instant at which it was written, in milliseconds; unique in the book
  Date first = {}, last = {};             // the days that it is about, both included
  std::vector<std::string> filters = {};  // the costs that it is about: "team=nlp"; none: all
  // Also shown to those who don't see all the costs that it is about.
  bool for_everyone = false;
  std::string text = {};
  std::string who = {};
  Instant at = {};

  bool operator==(const Annotation&) const = default;
};

// One person may have so many, so that nobody fills the book for all.
inline constexpr std::size_t kAnnotationsOfAuthorMax = 2'000;
inline constexpr std::size_t kAnnotationTextBytesMax = 500;

// Any thread may use it.
class AnnotationBook {
 public:
  // Called before anything changes, with the annotation as it is or was kept: an Error of it, and
  // nothing does.
  using Record = std::function<Result<void>(const Annotation&)>;

  // The file need not exist.
  explicit AnnotationBook(std::string path);

  // In the order in which they were written. An Error where the file can't be read.
  Result<std::vector<Annotation>> annotations();
  // Its id is chosen here. An Error of kConflict where its author has too many or the file is full.
  Result<Annotation> add(Annotation annotation, const Record& record);
  // An Error of kNotFound where there is none with that id.
  Result<void> remove(std::uint64_t id, const Record& record);

 private:
  std::mutex mutex_;  // guards the following
  RecordList<Annotation> list_;
};

}  // namespace pennyweight
