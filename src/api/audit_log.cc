#include "api/audit_log.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <utility>

#include "access/accounts.h"
#include "api/answers.h"
#include "api/books.h"

namespace pennyweight::api {
namespace {

constexpr std::string_view kHead = "trail.head";
constexpr std::uint64_t kNumberMax = std::uint64_t{1} << 62;

// What an entry says was JSON when it was written; a log that was altered must not alter the
// answer.
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

Result<std::optional<trail::Head>> kept_head(access::Accounts& accounts) {
  const auto text = accounts.get(kHead);
  if (!text) return std::unexpected(text.error());
  if (!*text) return std::nullopt;
  auto head = trail::parse_head(**text);
  if (!head) return std::unexpected(head.error().during("the head that the accounts keep"));
  return *std::move(head);
}

Result<void> keep_head(access::Accounts& accounts, const trail::Head& head) {
  // What is kept and is no head tells nothing, and is replaced.
  const auto kept = kept_head(accounts);
  if (kept && *kept && (*kept)->number >= head.number) return {};
  return accounts.put(kHead, trail::write_head(head));
}

std::string actor_of(const access::Principal& who) {
  if (who.by != access::SignedInBy::kToken) return who.name;
  return fmt::format("token {} ({})", who.session, who.name);
}

Result<void> append(const Parts& parts, trail::Entry entry) {
  const auto head = parts.trail.append(std::move(entry));
  if (!head) return std::unexpected(head.error());
  return keep_head(parts.accounts, *head);
}

Result<void> append(const Parts& parts, const server::Request& request, std::string_view action,
                    std::string subject, std::string before, std::string after) {
  return append(parts, trail::Entry{.at = parts.clock.now(),
                                    .actor = actor_of(asker(request)),
                                    .peer = request.peer,
                                    .action = std::string(action),
                                    .subject = std::move(subject),
                                    .before = std::move(before),
                                    .after = std::move(after),
                                    .hash = {}});
}

server::Response get_audit(const Parts& parts, const server::Request& request) {
  Asked asked(request);
  const std::uint64_t before = asked.number("before", 1, kNumberMax).value_or(0);
  const std::size_t limit = asked.number("limit", 1, kPageMax).value_or(kPageDefault);
  const auto actor = asked.text("actor");
  const auto action = asked.text("action");
  if (auto no = asked.refused()) return *std::move(no);
  // One more than is shown tells whether there are more.
  auto entries = parts.trail.entries(before, limit + 1, [&](const trail::Entry& entry) {
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
  return list(*entries, next, [&](JsonWriter& out, const trail::Entry& entry) {
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

server::Response verify_audit(const Parts& parts, const server::Request& request) {
  Asked asked(request);
  if (auto no = asked.refused()) return *std::move(no);
  const auto known = kept_head(parts.accounts);
  if (!known) return refusal(known.error());
  const auto verdict = trail::verify(parts.trail_path, *known);
  if (!verdict) return refusal(verdict.error());
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
      .end_object();
  return json(out);
}

}  // namespace pennyweight::api
