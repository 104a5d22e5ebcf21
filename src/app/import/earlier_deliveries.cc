#include "app/import/earlier_deliveries.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "app/import/delivery_doubles.h"
#include "app/import/gradual_loss.h"
#include "app/import/share_names.h"
#include "core/try.h"
#include "ledger/account_in_scope.h"
#include "ledger/delivery.h"
#include "reporting/money_text.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

std::set<Hash128> lines_of(const std::vector<DeliveredFile>& files) {
  std::set<Hash128> lines;
  for (const DeliveredFile& file : files) {
    if (file.rows > 0) lines.insert(file.lines);
  }
  return lines;
}

std::string text_of(const ImportRecord& import) {
  return fmt::format("import {}, {}", import.number, import.source.name);
}

}  // namespace

Result<EarlierDeliveries> EarlierDeliveries::of(Store& store) {
  EarlierDeliveries earlier;
  const auto imports = TRY(store.imports());
  for (const ImportRecord& import : imports) {
    earlier.records_.emplace(import.number, import);
    if (import.statement.empty()) continue;
    auto statement = TRY(parse_bill_statement(import.statement));
    earlier.statements_.emplace_back(import.number, std::move(statement));
  }
  return earlier;
}

const ImportRecord* EarlierDeliveries::find(std::uint64_t number) const {
  const auto found = records_.find(number);
  return found == records_.end() ? nullptr : &found->second;
}

std::string_view EarlierDeliveries::form_of(std::uint64_t number) const {
  const auto found = std::ranges::find(statements_, number, &Statement::first);
  return found == statements_.end() ? std::string_view() : found->second.form;
}

std::optional<bool> EarlierDeliveries::came_with(const LineGroupKey& group,
                                                 const std::set<std::string>& sub_accounts) const {
  for (auto at = statements_.rbegin(); at != statements_.rend(); ++at) {
    bool has_group = false, has_other = false;
    for (const DeliveredShare& share : at->second.delivered) {
      const std::string sub_account = account_in_scope(share.sub_account, group.cloud);
      if (account_scope_of_statement(share.account, group.cloud) != group.account) continue;
      if (sub_account == group.sub_account && share.part == group.part) has_group = true;
      if (!sub_account.empty() && sub_accounts.contains(sub_account)) {
        has_other = true;
      }
    }
    if (has_group) return has_other;
  }
  return std::nullopt;
}

bool EarlierDeliveries::is_replacement(std::uint64_t number) const {
  const ImportRecord* record = find(number);
  return record != nullptr && record->source.style == DeliveryStyle::kReplacement;
}

void add_older_delivery(const DeliveredLines& covered, const DeliveredLines& delivered,
                        const std::vector<DeliveredFile>& files, const EarlierDeliveries& earlier,
                        std::vector<std::string>& needs_confirm) {
  const std::set<Hash128> lines = lines_of(files);
  if (lines.empty()) return;
  const ShareNames names(delivered);
  std::set<GroupName> groups;
  for (const auto& [key, group] : delivered.groups()) groups.insert(group_name(key));
  const ImportRecord* newer = nullptr;
  const auto& statements = earlier.statements();
  for (auto at = statements.rbegin(); at != statements.rend(); ++at) {
    const auto& [number, statement] = *at;
    if (!earlier.is_replacement(number)) continue;
    // One of a single sub account is a part of the bill and no newer version of it.
    std::set<GroupName> of_import;
    for (const DeliveredShare& share : statement.delivered) of_import.insert(names.name_of(share));
    if (!std::ranges::includes(of_import, groups)) continue;
    if (lines_of(statement.files) != lines) {
      if (newer == nullptr) newer = earlier.find(number);
      continue;
    }
    if (newer == nullptr) return;  // it is the last one
    needs_confirm.push_back(fmt::format(
        "it is line for line what {} brought, and {} has replaced that since: an older version of "
        "the bill, with {}, would take the place of a newer one, with {}",
        text_of(*earlier.find(number)), text_of(*newer), text_of_total(delivered),
        text_of_total(covered)));
    return;
  }
}

namespace {

bool is_more_than_allowed(const GradualLoss& loss, const DeliveryGuard& guard) {
  if (loss.lost <= 0) return false;
  if (guard.amount_max && loss.lost > guard.amount_max->ticks()) return true;
  return loss.lost > loss.size / 100 * static_cast<std::int64_t>(guard.percent_max);
}

constexpr std::size_t kNamedMax = 5;

std::string text_of_imports(const std::set<std::uint64_t>& imports,
                            const EarlierDeliveries& earlier) {
  if (imports.size() > kNamedMax) return counted(imports.size(), "import");
  std::vector<std::string> texts;
  for (const std::uint64_t number : imports) texts.push_back(text_of(*earlier.find(number)));
  return fmt::format("{}", fmt::join(texts, " and "));
}

// "; gone are 2 sub accounts: a, b".
std::string text_of_gone(const std::vector<std::string>& gone) {
  if (gone.empty()) return "";
  std::string text = fmt::format("; gone {} {}: ", gone.size() == 1 ? "is" : "are",
                                 counted(gone.size(), "sub account"));
  for (std::size_t i = 0; i < gone.size() && i < kNamedMax; ++i) {
    text += (i == 0 ? "" : ", ") + gone[i];
  }
  return gone.size() > kNamedMax ? text + ", …" : text;
}

// Of one cost. Whether it was too much.
bool add_loss_of_cost(Money Costs::* cost, std::string_view what, const DeliveredLines& covered,
                      const DeliveredLines& delivered, const EarlierDeliveries& earlier,
                      const DeliveryGuard& guard, std::vector<std::string>& needs_confirm) {
  bool is_any = false;
  for (const GradualLoss& loss : losses_with(cost, covered, delivered, earlier)) {
    if (!is_more_than_allowed(loss, guard)) continue;
    is_any = true;
    needs_confirm.push_back(fmt::format(
        "with the deliveries before it, it takes {}{} away from {}, {}, of which {} "
        "brought {}{}",
        exact_money(Money::from_ticks(loss.lost, loss.currency)), what, loss.account.substr(0, 7),
        loss.account.substr(8), text_of_imports(loss.imports, earlier),
        exact_money(Money::from_ticks(loss.brought, loss.currency)), text_of_gone(loss.gone)));
  }
  return is_any;
}

}  // namespace

void add_loss_of_many(const DeliveredLines& covered, const DeliveredLines& delivered,
                      const EarlierDeliveries& earlier, const DeliveryGuard& guard,
                      std::vector<std::string>& needs_confirm) {
  if (add_loss_of_cost(&Costs::billed, "", covered, delivered, earlier, guard, needs_confirm)) {
    return;
  }
  add_loss_of_cost(&Costs::effective, " of effective cost", covered, delivered, earlier, guard,
                   needs_confirm);
}

}  // namespace pennyweight
