#include "server/approval_book/approval_json.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <utility>

#include "config/budget_config.h"
#include "core/json_text.h"
#include "core/try.h"

namespace pennyweight {
namespace {

using guardrails::Approval;
using guardrails::ApprovalDecision;
using guardrails::ApprovalRequest;
using guardrails::ApprovalUse;
using simdjson::dom::object;

std::unexpected<Error> wrong_event() {
  return fail(ErrorCode::kBadFile, "this is no event of an approval");
}

std::string text_member(std::string_view name, std::string_view value) {
  return fmt::format("{}: {}", json_string(name), json_string(value));
}

std::string text_list(const std::vector<std::string>& texts) {
  std::string list = "[";
  for (const std::string& text : texts) list += (list.size() > 1 ? ", " : "") + json_string(text);
  return list + "]";
}

// {"known": {"team": "nlp"}, "unknown": ["client"], "unset": []}
std::string owner_object(const PlannedDimensions& owner) {
  std::string known;
  for (const auto& [dimension, value] : owner.known.entries()) {
    known += (known.empty() ? "" : ", ") + text_member(dimension, value);
  }
  return fmt::format(R"({{"known": {{{}}}, "unknown": {}, "unset": {}}})", known,
                     text_list(owner.unknown), text_list(owner.unset));
}

Result<std::string> event_text(const object& from, std::string_view name) {
  std::string_view text;
  if (from[name].get(text) != simdjson::SUCCESS) return wrong_event();
  return std::string(text);
}

Result<Instant> event_time(const object& from, std::string_view name) {
  const std::string text = TRY(event_text(from, name));
  return parse_instant(text);
}

Result<std::vector<std::string>> event_texts(const object& from, std::string_view name) {
  simdjson::dom::array list;
  if (from[name].get(list) != simdjson::SUCCESS) return wrong_event();
  std::vector<std::string> texts;
  for (const auto item : list) {
    std::string_view text;
    if (item.get(text) != simdjson::SUCCESS) return wrong_event();
    texts.emplace_back(text);
  }
  return texts;
}

Result<PlannedDimensions> parse_owner(const simdjson::dom::element& from) {
  object owner;
  object known;
  if (from.get(owner) != simdjson::SUCCESS || owner["known"].get(known) != simdjson::SUCCESS) {
    return wrong_event();
  }
  PlannedDimensions dimensions;
  for (const auto field : known) {
    std::string_view value;
    if (field.value.get(value) != simdjson::SUCCESS) return wrong_event();
    TRY(dimensions.known.set(field.key, value));
  }
  dimensions.unknown = TRY(event_texts(owner, "unknown"));
  dimensions.unset = TRY(event_texts(owner, "unset"));
  return dimensions;
}

Result<ApprovalRequest> parse_request(const object& from) {
  ApprovalRequest request;
  request.id = TRY(event_text(from, "id"));
  request.at = TRY(event_time(from, "at"));
  request.by = TRY(event_text(from, "by"));
  request.source = TRY(event_text(from, "source"));
  request.workload = TRY(event_text(from, "workload"));
  request.content = TRY(event_text(from, "content"));
  request.rules = TRY(event_texts(from, "rules"));
  request.because = TRY(event_text(from, "because"));
  request.reason = TRY(event_text(from, "reason"));
  request.name_space = TRY(event_text(from, "namespace"));
  request.cost_of = TRY(event_text(from, "cost_of"));
  request.alternatives = TRY(event_texts(from, "alternatives"));
  simdjson::dom::element cost;
  if (from["cost"].get(cost) != simdjson::SUCCESS) return wrong_event();
  if (!cost.is_null()) {
    const std::string text = TRY(event_text(from, "cost"));
    request.cost = TRY(parse_amount(text));
  }
  object labels;
  if (from["labels"].get(labels) != simdjson::SUCCESS) return wrong_event();
  for (const auto field : labels) {
    std::string_view value;
    if (field.value.get(value) != simdjson::SUCCESS) return wrong_event();
    request.labels.emplace(field.key, value);
  }
  simdjson::dom::element owners;
  if (from["owners"].get(owners) != simdjson::SUCCESS) return request;  // of an earlier version
  simdjson::dom::array list;
  if (owners.get(list) != simdjson::SUCCESS) return wrong_event();
  for (const auto item : list) {
    PlannedDimensions owner = TRY(parse_owner(item));
    request.owners.push_back(std::move(owner));
  }
  return request;
}

Result<ApprovalDecision> parse_decision_event(const object& from) {
  ApprovalDecision decision;
  decision.at = TRY(event_time(from, "at"));
  decision.by = TRY(event_text(from, "by"));
  decision.note = TRY(event_text(from, "note"));
  decision.until = TRY(event_time(from, "until"));
  if (from["approves"].get(decision.approves) != simdjson::SUCCESS ||
      from["once"].get(decision.is_once) != simdjson::SUCCESS) {
    return wrong_event();
  }
  std::string_view on_behalf;
  if (from["for"].get(on_behalf) == simdjson::SUCCESS) decision.on_behalf = on_behalf;
  return decision;
}

}  // namespace

std::string request_members(const ApprovalRequest& request) {
  std::string text = text_member("id", request.id);
  const auto add = [&](std::string_view name, std::string_view value) {
    text += ", " + text_member(name, value);
  };
  add("at", to_text(request.at));
  add("by", request.by);
  add("source", request.source);
  add("workload", request.workload);
  add("content", request.content);
  text += ", \"rules\": " + text_list(request.rules);
  add("because", request.because);
  add("reason", request.reason);
  add("namespace", request.name_space);
  text += ", \"labels\": {";
  for (const auto& [key, value] : request.labels) {
    text += (text.ends_with('{') ? "" : ", ") + text_member(key, value);
  }
  text += "}, \"cost\": ";
  text += request.cost ? json_string(fmt::format("{} {}", to_text(request.cost->amount()),
                                                 request.cost->currency().text()))
                       : "null";
  add("cost_of", request.cost_of);
  text += ", \"alternatives\": " + text_list(request.alternatives);
  // Requests of before stay what was signed.
  if (request.owners.empty()) return text;
  std::string owners;
  for (const PlannedDimensions& owner : request.owners) {
    owners += (owners.empty() ? "" : ", ") + owner_object(owner);
  }
  return text + fmt::format(", \"owners\": [{}]", owners);
}

std::string request_event(const ApprovalRequest& request) {
  return "{\"event\": \"request\", " + request_members(request) + "}\n";
}

std::string decision_event(std::string_view id, const ApprovalDecision& decision) {
  const std::string on_behalf =
      decision.on_behalf.empty() ? "" : ", " + text_member("for", decision.on_behalf);
  return fmt::format(
      "{{\"event\": \"decision\", {}, {}, {}, \"approves\": {}, {}, {}, \"once\": {}{}}}\n",
      text_member("id", id), text_member("at", to_text(decision.at)),
      text_member("by", decision.by), decision.approves, text_member("note", decision.note),
      text_member("until", to_text(decision.until)), decision.is_once, on_behalf);
}

std::string use_event(std::string_view id, const ApprovalUse& use) {
  return fmt::format("{{\"event\": \"use\", {}, {}, {}}}\n", text_member("id", id),
                     text_member("at", to_text(use.at)), text_member("by", use.by));
}

Result<void> apply_event(std::string_view line, std::vector<Approval>& approvals,
                         std::map<std::string, std::size_t, std::less<>>& by_id) {
  simdjson::dom::parser parser;
  object event;
  const simdjson::padded_string padded(line);
  if (parser.parse(padded).get(event) != simdjson::SUCCESS) return wrong_event();
  const std::string kind = TRY(event_text(event, "event"));
  const std::string id = TRY(event_text(event, "id"));
  if (kind == "request") {
    ApprovalRequest request = TRY(parse_request(event));
    if (!by_id.emplace(id, approvals.size()).second) return wrong_event();
    approvals.push_back({.request = std::move(request)});
    return {};
  }
  const auto known = by_id.find(id);
  if (known == by_id.end()) return wrong_event();
  Approval& approval = approvals[known->second];
  if (kind == "decision") {
    ApprovalDecision decision = TRY(parse_decision_event(event));
    approval.decisions.push_back(std::move(decision));
    return {};
  }
  if (kind != "use") return wrong_event();
  ApprovalUse use;
  use.at = TRY(event_time(event, "at"));
  use.by = TRY(event_text(event, "by"));
  approval.uses.push_back(std::move(use));
  return {};
}

}  // namespace pennyweight
