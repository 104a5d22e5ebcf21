// AnomalyBook: what people say of unusual days.
//
// A file beside the ledger, one verdict a line. One that is said anew, or is two years old, goes;
// the audit log keeps all. Several processes may use one book: each change takes a lock of the
// file.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/files/record_list.h"
#include "insight/anomalies/verdict.h"

namespace pennyweight {

// Any thread may use it.
class AnomalyBook {
 public:
  // The file need not exist.
  explicit AnomalyBook(std::string path);

  // In the order in which they were made. An Error where the file can't be read.
  Result<std::vector<AnomalyVerdict>> verdicts();
  // `record` is called before anything changes: an Error of it, and nothing does.
  Result<void> add(const AnomalyVerdict& verdict, const std::function<Result<void>()>& record);

 private:
  std::mutex mutex_;  // guards the following
  RecordList<AnomalyVerdict> list_;
};

}  // namespace pennyweight
