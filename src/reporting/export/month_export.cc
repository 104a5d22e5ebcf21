#include "reporting/export/month_export.h"

#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

#include "core/try.h"
#include "reporting/export/allocated_rows.h"
#include "reporting/export/share_owners.h"
#include "reporting/export/share_spool.h"

namespace pennyweight {
namespace {

// A folder for temporary files; the destructor removes it.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& beside) : path_(beside + ".spill") {}
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string folder(const char* name) const { return path_ + "/" + name; }
  Result<void> create() const {
    std::error_code code;
    std::filesystem::create_directories(path_, code);
    if (code) return fail(ErrorCode::kIo, "cannot write " + path_ + ": " + code.message());
    return {};
  }

 private:
  std::string path_;
};

Result<void> spool_shares(Store& store, const AllocationMethod& method, std::uint32_t scope,
                          const std::vector<std::string>& by, ShareSpool& spool) {
  auto workloads = TRY(store.dimensions_of(method.run.scope));
  ShareCollector collector(scope, ShareOwners(std::move(workloads), by),
                           [&](const ChargeShare& share) { return spool.append(share); });
  Result<void> collected;
  TRY(store.scan_postings(method.run.scope, [&](std::span<const Posting> postings) {
    for (const Posting& posting : postings) {
      collected = collector.add(posting);
      if (!collected) return false;
    }
    return true;
  }));
  if (!collected) return collected;
  return collector.finish();
}

struct MergeCounts {
  std::uint64_t charges = 0;
  std::uint64_t unallocated = 0;
  std::uint64_t retired = 0;
};

Result<void> note_columns(Store& store, const std::string& month, FocusTable& table) {
  Result<void> noted;
  TRY(store.scan_charges(month, [&](std::span<const Charge> charges) {
    noted = table.note(charges);
    return noted.has_value();
  }));
  if (!noted) return noted;
  table.fix_columns();
  return {};
}

// Merges charges, by id, with their shares, by charge id.
class ShareMerger {
 public:
  ShareMerger(AllocatedRows& rows, ShareSpool& spool, FocusFile& file, const Interval& period,
              bool with_transfers)
      : rows_(rows), spool_(spool), file_(file), period_(period), with_transfers_(with_transfers) {}

  Result<void> begin() { return advance(); }
  Result<void> write(const Charge& charge) {
    while (!next_shares_.empty() && next_shares_.front().charge < charge.id) {
      TRY(write_without_charge());
    }
    ++counts_.charges;
    const auto sink = [this](const FocusRow& row) { return file_.append(row); };
    if (next_shares_.empty() || next_shares_.front().charge != charge.id) {
      ++counts_.unallocated;
      return rows_.write(charge, {}, sink);
    }
    TRY(rows_.write(charge, next_shares_, sink));
    return advance();
  }
  Result<void> finish() {
    while (!next_shares_.empty()) {
      TRY(write_without_charge());
    }
    return {};
  }
  const MergeCounts& counts() const { return counts_; }

 private:
  Result<void> advance() {
    auto next = TRY(spool_.next());
    next_shares_ = std::move(next);
    return {};
  }
  Result<void> write_without_charge() {
    if (!is_transfer(next_shares_)) {
      ++counts_.retired;
    } else if (with_transfers_) {
      TRY(rows_.write_transfer(next_shares_, period_,
                               [this](const FocusRow& row) { return file_.append(row); }));
    }
    return advance();
  }

  AllocatedRows& rows_;
  ShareSpool& spool_;
  FocusFile& file_;
  Interval period_;
  bool with_transfers_;
  std::vector<ChargeShare> next_shares_;
  MergeCounts counts_;
};

Result<void> scan_charges(Store& store, const std::string& month,
                          const std::function<Result<void>(const Charge&)>& write) {
  Result<void> written;
  TRY(store.scan_charges(month, [&](std::span<const Charge> charges) {
    for (const Charge& charge : charges) {
      written = write(charge);
      if (!written) return false;
    }
    return true;
  }));
  return written;
}

std::vector<RunDescription> describe_runs(std::span<const AllocationMethod> methods) {
  std::vector<RunDescription> runs;
  for (const AllocationMethod& method : methods) {
    runs.push_back({.method_id = method.id,
                    .cluster = method.run.scope.cluster.text(),
                    .basis = method.basis,
                    .policy_version = to_text(method.run.policy_version),
                    .number = method.run.number});
  }
  return runs;
}

void note_findings(const AllocatedRows& rows, MonthExport& result) {
  result.filled = rows.defaults().filled();
  result.emptied = rows.rules().emptied();
  result.parted = rows.parted();
}

// As billed is as allocated without shares.
Result<void> write_billed(Store& store, const MonthExportOptions& options, FocusTable& table,
                          FocusFile& file, MonthExport& result) {
  AllocatedRows rows(table, {});
  TRY(scan_charges(store, options.month, [&](const Charge& charge) -> Result<void> {
    ++result.charges;
    return rows.write(charge, {}, [&](const FocusRow& row) { return file.append(row); });
  }));
  note_findings(rows, result);
  return {};
}

Result<void> write_allocated(Store& store, const MonthExportOptions& options,
                             std::span<const AllocationMethod> methods,
                             const std::string& temp_directory, FocusTable& table, FocusFile& file,
                             MonthExport& result) {
  auto spool = TRY(ShareSpool::create(temp_directory));
  for (std::uint32_t scope = 0; scope < methods.size(); ++scope) {
    TRY(spool_shares(store, methods[scope], scope, options.by, spool));
  }
  TRY(spool.sort());
  AllocatedRows rows(table, describe_runs(methods));
  ShareMerger merger(rows, spool, file, options.period, options.with_transfers);
  TRY(merger.begin());
  TRY(scan_charges(store, options.month,
                   [&](const Charge& charge) { return merger.write(charge); }));
  TRY(merger.finish());
  result.charges = merger.counts().charges;
  result.unallocated = merger.counts().unallocated;
  result.retired = merger.counts().retired;
  note_findings(rows, result);
  return {};
}

}  // namespace

Result<MonthExport> export_month(Store& store, const MonthExportOptions& options,
                                 std::span<const AllocationMethod> methods) {
  FocusTable table(
      options.version, Fidelity::kConformant,
      options.is_allocated
          ? allocation_columns(options.version, options.with_transfers)
          : std::vector<FocusColumn>{{std::string(kOriginChargeId), FocusType::kString}});
  TRY(note_columns(store, options.month, table));
  const TemporaryFolder temporary(options.path);
  TRY(temporary.create());
  auto file = TRY(
      FocusFile::create(options.path, options.format, table.columns(), temporary.folder("rows")));
  MonthExport result;
  result.columns = table.columns();
  if (options.is_allocated) {
    TRY(write_allocated(store, options, methods, temporary.folder("shares"), table, file, result));
  } else {
    TRY(write_billed(store, options, table, file, result));
  }
  if (result.charges == 0) {
    return fail(ErrorCode::kNotFound, "the ledger has no bill lines of " + options.month);
  }
  TRY(file.finish());
  result.rows = file.rows();
  result.unreadable = table.unreadable();
  result.rounded = table.rounded();
  result.replaced = table.replaced();
  return result;
}

}  // namespace pennyweight
