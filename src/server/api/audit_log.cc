#include "server/api/audit_log.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <utility>

#include "core/try.h"
#include "server/access/accounts.h"
#include "server/api/accounts_proof.h"
#include "server/api/answers.h"
#include "server/api/route_helpers.h"

namespace pennyweight::api {
namespace {

constexpr std::string_view kHead = access::kAuditHeadText;
constexpr std::uint64_t kNumberMax = std::uint64_t{1} << 62;

// `before` and `after` were valid JSON when written; an altered log must not break the answer.
class Values {
 public:
  void write(JsonWriter& out, std::string_view name, const std::string& json) {
    simdjson::dom::element element;
    if (json.empty()) {
      out.raw_field(name, "null");
    } else if (parser_.parse(simdjson::padded_string(json)).get(element) == simdjson::SUCCESS) {
      out.raw_field(name, simdjson::minify(element));
    } else {
      out.field(name, json);
    }
  }

 private:
  simdjson::dom::parser parser_;
};

}  // namespace

std::string accepted_text(const audit_log::Entry& entry) {
  return fmt::format(
      "entry {} of {} by {}: another log was accepted in place of the recorded one: {}",
      entry.number, pennyweight::to_text(entry.at), entry.actor, entry.after);
}

Result<std::optional<audit_log::Head>> load_known_head(access::Accounts& accounts) {
  const auto text = accounts.get(kHead);
  if (!text) return std::unexpected(text.error());
  if (!*text) return std::nullopt;
  auto head = audit_log::parse_head(**text);
  if (!head)
    return std::unexpected(head.error().during("the audit log's head in the accounts file"));
  return *std::move(head);
}

Result<void> save_known_head(access::Accounts& accounts, const audit_log::Head& head) {
  // A stored text that is not a head is worthless and replaced.
  const auto stored = load_known_head(accounts);
  if (stored && *stored && (*stored)->number >= head.number) return {};
  return accounts.put(kHead, audit_log::write_head(head));
}

Result<void> check_known_head(access::Accounts& accounts, audit_log::AuditLog& log,
                              const std::string& log_path, const std::string& accounts_path) {
  const auto known = TRY(load_known_head(accounts));
  if (!known) return {};
  const bool is_there = TRY(log.has(*known));
  if (is_there) return {};
  return fail(
      ErrorCode::kConflict,
      fmt::format("the audit log {} lacks entry {}, which the accounts {} refer to: one of the two "
                  "was replaced or truncated. Restore the right one, or record the loss for good "
                  "with 'pennyweight audit accept --reason TEXT'",
                  log_path, audit_log::write_head(*known), accounts_path));
}

std::string actor_name(const access::Principal& who) {
  if (who.by != access::SignedInBy::kToken) return who.name;
  return fmt::format("token {} ({})", who.session, who.name);
}

Author author_of(const server::Request& request) {
  return {.actor = actor_name(principal_of(request)), .peer = request.peer};
}

Result<void> append(const Services& services, audit_log::Entry entry) {
  const auto head = TRY(services.audit_log.append(std::move(entry)));
  return save_known_head(services.accounts, head);
}

Result<void> append(const Services& services, const server::Request& request,
                    std::string_view action, std::string subject, std::string before,
                    std::string after) {
  return append(services, audit_log::Entry{.at = services.clock.now(),
                                           .actor = actor_name(principal_of(request)),
                                           .peer = request.peer,
                                           .action = std::string(action),
                                           .subject = std::move(subject),
                                           .before = std::move(before),
                                           .after = std::move(after),
                                           .hash = {}});
}

server::Response get_audit(const Services& services, const server::Request& request) {
  QueryParams params(request);
  const std::uint64_t before = params.number("before", 1, kNumberMax).value_or(0);
  const std::size_t limit = params.number("limit", 1, kPageMax).value_or(kPageDefault);
  const auto actor = params.text("actor");
  const auto action = params.text("action");
  if (auto problem = params.problem()) return *std::move(problem);
  // One more than requested, to know whether there are more.
  auto entries = services.audit_log.entries(before, limit + 1, [&](const audit_log::Entry& entry) {
    return (!actor || actor->empty() || entry.actor == *actor) &&
           (!action || action->empty() || entry.action == *action);
  });
  if (!entries) return refusal(entries.error());
  std::optional<std::string> next;
  if (entries->size() > limit) {
    entries->resize(limit);
    next = std::to_string(entries->back().number);
  }
  Values values;
  return list(*entries, next, [&](JsonWriter& out, const audit_log::Entry& entry) {
    out.begin_object()
        .field("number", entry.number)
        .field("at", entry.at)
        .field("actor", entry.actor)
        .field("peer", entry.peer)
        .field("action", entry.action)
        .field("subject", entry.subject);
    values.write(out, "before", entry.before);
    values.write(out, "after", entry.after);
    out.field("hash", entry.hash).end_object();
  });
}

server::Response verify_audit(const Services& services, const server::Request& request) {
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  // A log that is not the kept one takes no further line; what is wrong with it is told below.
  static_cast<void>(settle_lines(services.accounts, services.audit_log));
  const auto known = load_known_head(services.accounts);
  if (!known) return refusal(known.error());
  auto verdict = audit_log::verify(services.audit_files, *known);
  if (!verdict) return refusal(verdict.error());
  std::vector<std::string> differences;
  if (verdict->whole) {
    const auto found = compare_accounts_with_log(services.accounts, services.audit_files.log);
    if (!found) return refusal(found.error());
    for (const AccountsDifference& difference : *found) differences.push_back(difference.text);
  }
  std::vector<std::string> accepted;
  for (const audit_log::Entry& entry : verdict->accepted) accepted.push_back(accepted_text(entry));
  if (verdict->whole && (!accepted.empty() || !differences.empty())) {
    verdict->whole = false;
    verdict->reason = accepted.empty() ? differences.front() : accepted.front();
    verdict->bad_line = accepted.empty() ? 0 : verdict->accepted.front().number;
  }
  JsonWriter out;
  out.begin_object()
      .field("whole", verdict->whole)
      .key("head")
      .begin_object()
      .field("number", verdict->head.number)
      .field("hash", verdict->head.hash)
      .end_object()
      .field("bad_line", verdict->bad_line == 0 ? std::nullopt : std::optional(verdict->bad_line))
      .field("reason", verdict->whole ? std::nullopt : std::optional(verdict->reason))
      .texts("accepted", accepted)
      .texts("differences", differences)
      .end_object();
  return json(out);
}

}  // namespace pennyweight::api
