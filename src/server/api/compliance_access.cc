#include "server/api/compliance_access.h"

#include <algorithm>
#include <array>
#include <deque>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "core/plain_text.h"
#include "core/try.h"
#include "server/audit_log/audit_log.h"

namespace pennyweight::api {
namespace {

constexpr std::size_t kShownMax = 300;

bool is_sign_in(std::string_view action) {
  constexpr std::array<std::string_view, 4> kBeginnings = {"sign_", "session.", "openid",
                                                           "signed_in"};
  return std::ranges::any_of(
      kBeginnings, [&](std::string_view beginning) { return action.starts_with(beginning); });
}

// Whether a scope shows something of a client: none of its filters is about the client's dimension
// and leaves all of its values out.
bool shows_client(const std::vector<SummaryFilter>& scope, const guardrails::ClientTerms& terms) {
  return std::ranges::all_of(scope, [&](const SummaryFilter& filter) {
    if (filter.dimension != terms.dimension) return true;
    return std::ranges::any_of(filter.values, [&](const std::string& value) {
      if (terms.values.empty()) return value == terms.name;
      return std::ranges::find(terms.values, value) != terms.values.end();
    });
  });
}

// How much of a client a scope shows, without the values of the scope, which may name others.
std::string seen_text(const std::vector<SummaryFilter>& scope,
                      const guardrails::ClientTerms& terms) {
  if (scope.empty()) return "everything";
  const bool shows_all = std::ranges::all_of(scope, [&](const SummaryFilter& filter) {
    if (filter.dimension != terms.dimension) return false;
    const auto is_shown = [&](const std::string& value) {
      return std::ranges::find(filter.values, value) != filter.values.end();
    };
    return terms.values.empty() ? is_shown(terms.name)
                                : std::ranges::all_of(terms.values, is_shown);
  });
  return shows_all ? "all of the client" : "a part of the client";
}

// Whether somebody sees anything of the client. A customer sees statements only, and those of one
// dimension.
bool sees_client(const access::User& user, const guardrails::ClientTerms& terms,
                 std::string_view statements_by) {
  if (user.disabled || !shows_client(user.scope, terms)) return false;
  if (user.role != access::Role::kClient) return true;
  return user.scope.size() == 1 && user.scope.front().dimension == statements_by &&
         terms.dimension == statements_by;
}

// Of one client's own report: only what was done to accounts that see it, and to the month.
bool is_about_client(const audit_log::Entry& entry, const Compliance& compliance) {
  if (entry.subject == "month " + compliance.month) return true;
  return std::ranges::any_of(compliance.access, [&](const ComplianceAccess& one) {
    return entry.subject == "user " + one.who;
  });
}

}  // namespace

Result<void> add_access(const ComplianceQuery& query, access::Accounts& accounts,
                        std::string_view statements_by, Instant now, Compliance& compliance) {
  const auto users = TRY(accounts.users());
  const auto tokens = TRY(accounts.tokens(""));
  for (const guardrails::ClientTerms& terms : query.clients) {
    if (!query.client.empty() && terms.name != query.client) continue;
    for (const access::User& user : users) {
      if (!sees_client(user, terms, statements_by)) continue;
      compliance.access.push_back({.client = terms.name,
                                   .who = printable_text(user.name, kShownMax),
                                   .role = std::string(access::to_text(user.role)),
                                   .sees = seen_text(user.scope, terms)});
      for (const access::Token& token : tokens) {
        const bool works = token.user == user.name && !token.revoked && token.expires_at > now;
        if (!works || !shows_client(token.scope, terms)) continue;
        std::vector<SummaryFilter> scope = user.scope;
        scope.insert(scope.end(), token.scope.begin(), token.scope.end());
        compliance.access.push_back({.client = terms.name,
                                     .who = "token " + printable_text(token.name, kShownMax) +
                                            " of " + printable_text(user.name, kShownMax),
                                     .role = std::string(access::to_text(user.role)),
                                     .sees = seen_text(scope, terms)});
      }
    }
  }
  compliance.has_access = true;
  return {};
}

Result<void> add_changes(const ComplianceQuery& query, const std::string& audit_log,
                         const TimeZone& zone, Compliance& compliance) {
  const auto month = TRY(BillingPeriod::parse(query.month, zone));
  const Interval period = month.to_interval();
  std::deque<ComplianceChange> last;
  std::uint64_t count = 0;
  const auto read = audit_log::for_each_entry(audit_log, [&](const audit_log::Entry& entry) {
    if (entry.at < period.begin() || entry.at >= period.end() || is_sign_in(entry.action)) return;
    if (!query.client.empty() && !is_about_client(entry, compliance)) return;
    ++count;
    last.push_back({.at = pennyweight::to_text(entry.at),
                    .who = printable_text(entry.actor, kShownMax),
                    .action = printable_text(entry.action, kShownMax),
                    .subject = printable_text(entry.subject, kShownMax)});
    if (last.size() > kComplianceChangesMax) last.pop_front();
  });
  if (!read && read.error().code != ErrorCode::kNotFound) return std::unexpected(read.error());
  compliance.changes.assign(std::make_move_iterator(last.begin()),
                            std::make_move_iterator(last.end()));
  compliance.changes_in_month = count;
  compliance.has_changes = true;
  compliance.has_all_changes = query.client.empty();
  return {};
}

}  // namespace pennyweight::api
