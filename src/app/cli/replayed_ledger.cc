#include "app/cli/replayed_ledger.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <system_error>
#include <tuple>

#include "app/context/context.h"
#include "app/run/allocate_month.h"
#include "core/try.h"
#include "reporting/queries/ledger_month.h"

namespace pennyweight {
namespace {

Result<void> import_facts(const ReplayedLedger& ledger, const std::string& path, Store& store) {
  const auto session = TRY(store.begin_import(
      {.format = "replay", .name = ledger.month, .file_hash = {}, .at = ledger.now}));
  TRY(session->append_nodes(ledger.facts.nodes));
  TRY(session->append_gpus(ledger.facts.gpus));
  TRY(session->append_holdings(ledger.facts.holdings));
  TRY(session->append_charges(ledger.facts.charges));
  const ImportOutcome outcome = TRY(session->commit());
  if (outcome.rejected == 0) return {};
  return fail(ErrorCode::kConflict,
              fmt::format("{} facts of the replay conflict in {}: {}", outcome.rejected, path,
                          outcome.conflict_rows.empty() ? std::string("no reason is known")
                                                        : outcome.conflict_rows.front().reason));
}

Result<void> write_complete(const ReplayedLedger& ledger, const std::string& path) {
  Config config = ledger.config;
  config.store_path = path;
  config.store_address.clear();
  const auto store = TRY(create_ledger(config));
  TRY(import_facts(ledger, path, *store));
  auto month = TRY(LedgerMonth::load(*store, ledger.month, config.join_rules));
  std::ignore = TRY(allocate_whole_month(*store, month,
                                         {.policy = config.policy,
                                          .catalog = ledger.catalog,
                                          .threads = ledger.threads,
                                          .join_rules = config.join_rules,
                                          .at = ledger.now,
                                          .changed = std::nullopt}));
  return {};
}

void remove_ledger(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  std::filesystem::remove(path + ".wal", ignored);
}

}  // namespace

Result<void> check_no_file(const std::string& path) {
  std::error_code problem;
  if (!std::filesystem::exists(path, problem) && !problem) return {};
  return usage_error(fmt::format(
      "--out {}: it is there already, and no ledger is written over; name a new file", path));
}

Result<void> write_replayed_ledger(const ReplayedLedger& ledger) {
  const std::string unfinished = ledger.path + ".unfinished";
  remove_ledger(unfinished);
  if (auto written = write_complete(ledger, unfinished); !written) {
    remove_ledger(unfinished);
    return written;
  }
  std::error_code problem;
  std::filesystem::rename(unfinished, ledger.path, problem);
  if (!problem) return {};
  remove_ledger(unfinished);
  return fail(ErrorCode::kIo, fmt::format("cannot write {}: {}", ledger.path, problem.message()));
}

}  // namespace pennyweight
