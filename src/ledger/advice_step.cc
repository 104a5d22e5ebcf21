#include "ledger/advice_step.h"

#include <fmt/format.h>

#include <utility>

#include "core/enum_names.h"
#include "core/try.h"
#include "ledger/statement_record.h"

namespace pennyweight {
namespace {

constexpr EnumNames kAdviceActions = enum_names<AdviceAction>({
    {AdviceAction::kAccept, "accept"},
    {AdviceAction::kDismiss, "dismiss"},
    {AdviceAction::kDone, "done"},
    {AdviceAction::kVerify, "verify"},
    {AdviceAction::kReopen, "reopen"},
});
constexpr std::string_view kStepRecord = "advice";

Result<AdviceStep> read_step(StatementRecordReader& in) {
  const auto broken = []() -> Result<AdviceStep> {
    return fail(
        ErrorCode::kBadValue,
        "a record \"advice\" of a statement is not complete; the ledger was changed outside "
        "of pennyweight: restore a backup");
  };
  AdviceStep step;
  step.advice = in.text();
  const auto action = parse_advice_action(in.text());
  const auto at = parse_instant(in.text());
  step.by = in.text();
  step.reason = in.text();
  const std::string day = in.text();
  if (!action || !at) return broken();
  step.action = *action;
  step.at = *at;
  if (!day.empty()) {
    const auto read = parse_date(day);
    if (!read) return broken();
    step.day = *read;
  }
  for (std::string* text : {&step.month, &step.kind, &step.cluster, &step.subject, &step.change,
                            &step.workload, &step.work}) {
    *text = in.text();
  }
  const Currency currency = in.currency();
  for (Money* money : {&step.low, &step.expected, &step.high}) *money = in.money(currency);
  const std::uint64_t dimensions = in.count();
  for (std::uint64_t i = 0; i < dimensions && !in.failed(); ++i) {
    const std::string dimension = in.text();
    if (!step.owner.set(dimension, in.text())) return broken();
  }
  if (in.count() > 0) step.realised = in.money(currency);
  const std::uint64_t findings = in.count();
  for (std::uint64_t i = 0; i < findings && !in.failed(); ++i) step.findings.push_back(in.text());
  if (in.failed()) return broken();
  return step;
}

}  // namespace

std::string_view to_text(AdviceAction action) { return kAdviceActions.name(action); }
std::optional<AdviceAction> parse_advice_action(std::string_view text) {
  return kAdviceActions.parse(text);
}

std::string to_text(const AdviceStep& step) {
  std::string out;
  {
    StatementRecordWriter record(out, kStepRecord);
    record.text(step.advice)
        .text(to_text(step.action))
        .text(to_text(step.at))
        .text(step.by)
        .text(step.reason)
        .text(step.day ? to_text(*step.day) : std::string());
    for (const std::string& text : {step.month, step.kind, step.cluster, step.subject, step.change,
                                    step.workload, step.work}) {
      record.text(text);
    }
    record.text(step.expected.currency().text());
    for (const Money& money : {step.low, step.expected, step.high}) {
      record.text(to_text(money.amount()));
    }
    record.count(step.owner.entries().size());
    for (const auto& [dimension, value] : step.owner.entries()) {
      record.text(dimension).text(value);
    }
    record.count(step.realised ? 1 : 0);
    if (step.realised) record.text(to_text(step.realised->amount()));
    record.count(step.findings.size());
    for (const std::string& finding : step.findings) record.text(finding);
  }
  return out;
}

Result<std::optional<AdviceStep>> parse_advice_step(std::string_view statement) {
  while (!statement.empty()) {
    const std::size_t end = statement.find('\n');
    StatementRecordReader record(statement.substr(0, end));
    statement.remove_prefix(end == std::string_view::npos ? statement.size() : end + 1);
    if (record.text() != kStepRecord) continue;
    AdviceStep step = TRY(read_step(record));
    return step;
  }
  return std::nullopt;
}

}  // namespace pennyweight
