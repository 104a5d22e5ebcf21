#include "app/cli/replayed_ledger.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "app/context/context.h"
#include "app/run/allocate_month.h"
#include "core/billing_period.h"
#include "core/files/disk.h"
#include "core/try.h"
#include "reporting/queries/ledger_month.h"

namespace pennyweight {
namespace {

// The replayed charge with what its bill line says besides. Unit prices are of the cost that was:
// where it is another one, they are not known.
Charge complete_charge(const Charge& replayed, const BillLines& lines) {
  const auto line = lines.find(replayed.id.hash.high);
  if (line == lines.end()) return replayed;
  Charge charge = line->second;
  if (charge.costs != replayed.costs) {
    charge.list_unit_price.reset();
    charge.contracted_unit_price.reset();
  }
  charge.pricing_quantity = replayed.pricing_quantity;
  charge.pricing_unit = replayed.pricing_unit;
  charge.consumed_quantity = replayed.consumed_quantity;
  if (charge.charge_period != replayed.charge_period) {
    charge.charge_period = replayed.charge_period;  // of a part of it
    charge.pricing_quantity.reset();
    charge.consumed_quantity.reset();
  }
  charge.commitment_discount_id = replayed.commitment_discount_id;
  charge.commitment_discount_category = replayed.commitment_discount_category;
  charge.commitment_discount_type = replayed.commitment_discount_type;
  charge.commitment_discount_status = replayed.commitment_discount_status;
  charge.pricing_category = replayed.pricing_category;
  charge.costs = replayed.costs;
  charge.resource_id = replayed.resource_id;
  charge.resource_name = replayed.resource_name;
  charge.id = replayed.id;
  charge.source = replayed.source;
  charge.import_number = replayed.import_number;
  charge.booked_month = replayed.booked_month;
  charge.takes_back = replayed.takes_back;
  return charge;
}

Result<void> import_charges(const ReplayedLedger& ledger, ImportSession& session) {
  constexpr std::size_t kBatch = 8'192;
  std::vector<Charge> batch;
  for (const Charge& charge : ledger.facts.charges) {
    batch.push_back(complete_charge(charge, ledger.lines));
    if (batch.size() < kBatch) continue;
    TRY(session.append_charges(batch));
    batch.clear();
  }
  return session.append_charges(batch);
}

Result<void> import_facts(const ReplayedLedger& ledger, const std::string& path, Store& store) {
  const auto session = TRY(store.begin_import(
      {.format = "replay", .name = ledger.month, .file_hash = {}, .at = ledger.now}));
  TRY(session->append_nodes(ledger.facts.nodes));
  TRY(session->append_gpus(ledger.facts.gpus));
  TRY(session->append_holdings(ledger.facts.holdings));
  TRY(import_charges(ledger, *session));
  const ImportOutcome outcome = TRY(session->commit());
  if (outcome.rejected == 0) return {};
  return fail(ErrorCode::kConflict,
              fmt::format("{} facts of the replay conflict in {}: {}", outcome.rejected, path,
                          outcome.conflict_rows.empty() ? std::string("no reason is known")
                                                        : outcome.conflict_rows.front().reason));
}

struct Sums {
  Money billed;
  Money effective;
  bool operator==(const Sums&) const = default;
};

void add_charges(std::span<const Charge> charges, std::map<Currency, Sums>& sums) {
  for (const Charge& charge : charges) {
    const Costs& costs = charge.costs;
    const auto [sum, is_new] =
        sums.try_emplace(costs.currency(), Sums{costs.billed, costs.effective});
    if (is_new) continue;
    sum->second.billed += costs.billed;
    sum->second.effective += costs.effective;
  }
}

// Every cost of the replay is booked in its month, and nothing else is.
Result<void> check_costs(const ReplayedLedger& ledger, const LedgerMonth& month) {
  std::map<Currency, Sums> replayed;
  add_charges(ledger.facts.charges, replayed);
  std::map<Currency, Sums> written;
  for (const ClusterId& cluster : month.clusters()) add_charges(month.charges(cluster), written);
  if (written == replayed) return {};
  return fail(ErrorCode::kConflict,
              fmt::format("the ledger of {} would not have the costs of its replay; nothing was "
                          "written",
                          ledger.month));
}

Result<void> write_complete(const ReplayedLedger& ledger, const std::string& path) {
  Config config = ledger.config;
  config.store_path = path;
  config.store_address.clear();
  const auto store = TRY(create_ledger(config));
  TRY(import_facts(ledger, path, *store));
  auto month = TRY(LedgerMonth::load(*store, ledger.month, config.join_rules));
  TRY(check_costs(ledger, month));
  std::ignore = TRY(allocate_whole_month(*store, month,
                                         {.policy = ledger.policy,
                                          .catalog = ledger.catalog,
                                          .threads = ledger.threads,
                                          .join_rules = config.join_rules,
                                          .at = ledger.now,
                                          .changed = std::nullopt}));
  return {};
}

// A folder of our own beside the ledger that is to be: nobody else writes there, and it goes away
// with whatever is in it.
class WorkFolder {
 public:
  static Result<WorkFolder> create(const std::string& path) {
    std::string name = path + ".unfinished-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) return std::unexpected(io_error("write", path));
    return WorkFolder(std::move(name));
  }
  WorkFolder(WorkFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  WorkFolder& operator=(WorkFolder&&) = delete;
  ~WorkFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  explicit WorkFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Moves a file, and never over another one.
int rename_to_new(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  // A file system that doesn't know it: a second name, which fails where there is a file too.
  return ::link(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

Result<void> there_already(const std::string& path) {
  return usage_error(fmt::format(
      "--out {}: it is there already, and no ledger is written over; name a new file", path));
}

}  // namespace

Result<BillLines> read_bill_lines(Store& store, const std::string& month) {
  BillLines lines;
  TRY(store.scan_charges(month, [&](std::span<const Charge> batch) {
    for (const Charge& charge : batch) lines.try_emplace(charge.id.hash.high, charge);
    return true;
  }));
  return lines;
}

Result<void> check_new_ledger(const std::string& path) {
  for (const std::string& name : {path, path + ".wal"}) {
    std::error_code problem;
    const auto found = std::filesystem::symlink_status(name, problem);
    if (found.type() == std::filesystem::file_type::not_found) continue;
    if (std::filesystem::status_known(found)) return there_already(name);
    return usage_error(fmt::format("--out {}: {}", path, problem.message()));
  }
  // Made and removed again: whether a ledger can be written there is known before the replay.
  auto folder = WorkFolder::create(path);
  if (folder) return {};
  return usage_error(
      fmt::format("--out {}: {}; name a file in a folder that is there and may be "
                  "written to",
                  path, folder.error().message));
}

Result<void> check_booked_month(const std::string& month, std::span<const Charge> charges) {
  const auto is_of_another = [&](const Charge& charge) {
    return BillingPeriod::containing(charge.billing_period.begin(), TimeZone::utc()).text() !=
           month;
  };
  const auto others = std::ranges::count_if(charges, is_of_another);
  if (others == 0) return {};
  const Charge& first = *std::ranges::find_if(charges, is_of_another);
  return usage_error(fmt::format(
      "--out: {} of {} bill lines of {} are of another billing month, such as {}, and were booked "
      "in it since theirs was closed. A new ledger has no closed months, and its bill of {} would "
      "be short of them; replay without --out",
      others, charges.size(), month,
      BillingPeriod::containing(first.billing_period.begin(), TimeZone::utc()).text(), month));
}

Result<void> write_replayed_ledger(const ReplayedLedger& ledger) {
  const WorkFolder folder = TRY(WorkFolder::create(ledger.path));
  const std::string unfinished = folder.path() + "/ledger.duckdb";
  TRY(write_complete(ledger, unfinished));
  const int problem = rename_to_new(unfinished, ledger.path);
  if (problem == EEXIST) return there_already(ledger.path);
  if (problem != 0) return std::unexpected(io_error("write", ledger.path, problem));
  return {};
}

}  // namespace pennyweight
