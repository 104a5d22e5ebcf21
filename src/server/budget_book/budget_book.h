// BudgetBook: the budgets that people set while the program runs, with all their versions.
//
// A file beside the ledger, one change a line, which is only ever added to: who set which budget
// when. Budgets of the configuration are not in it; where both have a budget of the
// same name, the configuration's counts. Several processes may use one book: each change takes a
// lock of the file.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/files/record_list.h"
#include "core/instant.h"
#include "insight/budgets/budget.h"

namespace pennyweight {

struct BudgetChange {
  std::uint64_t number = 0;  // from 1 on, of the whole book
  Instant at = {};
  std::string by;  // "ana"
  std::string name;
  std::optional<Budget> budget;  // nothing: it was removed
};

// One of the two at least.
struct BudgetReplacement {
  std::optional<Budget> before;
  std::optional<Budget> after;
  const std::string& name() const { return before ? before->name : after->name; }
};

// Any thread may use it.
class BudgetBook {
 public:
  // The file need not exist.
  explicit BudgetBook(std::string path);

  // Those that are set, by name. An Error where the file can't be read: a budget that is not known
  // would warn nobody.
  Result<std::vector<Budget>> budgets();
  // The configured ones and those of the book, whose names are not configured.
  Result<std::vector<Budget>> with(std::span<const Budget> configured);
  // Of one budget, the oldest first; of all with an empty name.
  Result<std::vector<BudgetChange>> history(std::string_view name);

  // Records changes elsewhere, all of them, before any is made: an Error, and nothing is changed.
  using Recorder = std::function<Result<void>(std::span<const BudgetReplacement>)>;
  // Sets budgets, all or none; one that is as it was already is left alone. Returns how many were
  // changed. `record` sees what each replaces, and may refuse them.
  Result<std::size_t> set(std::span<const Budget> budgets, const std::string& by, Instant at,
                          const Recorder& record);
  // kNotFound where there is none.
  Result<void> remove(const std::string& name, const std::string& by, Instant at,
                      const Recorder& record);

 private:
  Result<void> read();  // callers hold mutex_
  Result<void> append(std::string_view lines);
  void find_current();  // of the changes
  std::uint64_t last_number() const;

  std::mutex mutex_;  // guards the following
  RecordList<BudgetChange> changes_;
  std::map<std::string, Budget> current_;
};

}  // namespace pennyweight
