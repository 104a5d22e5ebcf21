#include "app/import/incomplete_delivery.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/try.h"
#include "ledger/bill_statement.h"
#include "ledger/refused_delivery.h"
#include "reporting/money_text.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

BillStatement record_of(const IncompleteDelivery& delivery, const BillStatement& read) {
  BillStatement record;
  record.form = read.form;
  record.delivery = delivery.manifest;
  record.part = delivery.part;
  record.parts = delivery.parts;
  record.passed_over.emplace(kIncompleteDelivery, read.in_files());
  record.delivered = read.delivered;
  // So that nobody takes these shares for those of a delivery that was imported.
  for (DeliveredShare& share : record.delivered) {
    share.part = part_label(record.delivery, record.part, record.parts);
  }
  record.notes.push_back(delivery.fault);
  return record;
}

bool shares_account(const BillStatement& a, const BillStatement& b) {
  return std::ranges::any_of(a.delivered, [&](const DeliveredShare& share) {
    return std::ranges::find(b.delivered, share.account, &DeliveredShare::account) !=
           b.delivered.end();
  });
}

Result<void> keep(Store& store, const InputFormat& format, const BillStatement& record,
                  Instant now) {
  const std::string text = to_text(record);
  const auto imports = TRY(store.imports());
  // Tried again, and nothing came for these accounts in between.
  for (auto import = imports.rbegin(); import != imports.rend(); ++import) {
    if (import->statement.empty()) continue;
    if (import->statement == text) return {};
    const auto other = TRY(parse_bill_statement(import->statement));
    if (!other.passed_over.contains(std::string(kIncompleteDelivery)) &&
        shares_account(other, record)) {
      break;
    }
  }
  const auto session = TRY(store.begin_import({.format = format.name,
                                               .name = record.delivery,
                                               .file_hash = {},
                                               .at = now,
                                               .style = DeliveryStyle::kGuarded,
                                               .reason = record.notes.front()}));
  std::ignore =
      TRY(session->commit_on({.also_replaced = {}, .statement = text, .accepts_rejected = true}));
  return {};
}

// What the files say; those that are not whole too, where they can be read. Nothing: they are no
// bill, or none can be read.
std::optional<FileImport> read_what_came(Store& store, const IncompleteDelivery& delivery,
                                         const ImportOptions& options, const Config& config,
                                         const Console& console, Clock& clock) {
  std::vector<std::string> all = delivery.here;
  all.insert(all.end(), delivery.cut.begin(), delivery.cut.end());
  for (const std::vector<std::string>& files : {all, delivery.here, delivery.cut}) {
    if (files.empty()) continue;
    auto read = import_files(store, files, options, config, console, clock);
    if (read && read->format->bill != nullptr) return *std::move(read);
  }
  return std::nullopt;
}

}  // namespace

Error refuse_incomplete(Store& store, const IncompleteDelivery& delivery, ImportOptions options,
                        const Config& config, const Console& console, Clock& clock) {
  Error error{ErrorCode::kBadFile,
              fmt::format("{}: {} names {} parts of the delivery, and all of them must come "
                          "together; nothing was imported",
                          delivery.fault, delivery.manifest, delivery.parts)};
  const bool is_preview = std::exchange(options.preview, true);
  options.incomplete.reset();
  options.expected.clear();
  const auto read = read_what_came(store, delivery, options, config, console, clock);
  // Only accounts tell which month lacks its delivery, and which later one ends that.
  if (!read || read->statement.delivered.empty()) {
    error.message += "; no charge of it can be read, so the ledger does not remember this";
    return error;
  }
  const std::size_t count = delivery.here.size() + delivery.cut.size();
  error.message += fmt::format("; the {} {} here {} {}{}, and what is missing is not known", count,
                               count == 1 ? "part" : "parts", count == 1 ? "holds" : "hold",
                               billed_text(read->statement.in_files()),
                               delivery.cut.empty() ? "" : " as far as it can be read");
  constexpr std::size_t kAccountsSaid = 5;
  std::size_t said = 0;
  for (const AccountEffect& account : read->effect.accounts) {
    if (account.lines_before + account.lines_beside == 0) continue;
    Costs there = account.before;
    if (!add_costs(there, account.beside)) continue;
    if (said++ >= kAccountsSaid) break;
    error.message += fmt::format("; earlier deliveries of {}, {} stay, with {} billed",
                                 account.month, account.account, exact_money(there.billed));
  }
  if (is_preview) return error;
  const auto kept = keep(store, *read->format, record_of(delivery, read->statement), clock.now());
  if (!kept) error.message += fmt::format("; this could not be recorded: {}", kept.error().message);
  return error;
}

}  // namespace pennyweight
