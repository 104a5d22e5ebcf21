#include "server/api/tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "config/config.h"
#include "reporting/queries/selection.h"
#include "server/access/accounts.h"
#include "server/api/answers.h"
#include "server/api/audit_log.h"
#include "server/api/endpoints.h"
#include "server/api/guard.h"
#include "server/api/route_helpers.h"

namespace pennyweight::api {

std::string token_text(const access::Token& token) {
  JsonWriter out;
  out.begin_object()
      .field("id", token.id)
      .field("name", token.name)
      .field("user", token.user)
      .key("only")
      .begin_list();
  for (const access::Permission permission : token.only) out.value(access::to_text(permission));
  out.end_list()
      .scope("scope", token.scope)
      .field("created_at", token.created_at)
      .field("expires_at", token.expires_at)
      .field("last_used", token.last_used)
      .field("revoked", token.revoked)
      .end_object();
  return out.text();
}

namespace {

using access::Permission;
using access::Token;
using server::problem;
using server::Request;
using server::Response;

constexpr std::string_view kTokenList = "tokens";
constexpr std::string_view kEverybody = "*";

void describe_token(const access::Change& change, audit_log::Entry& entry) {
  entry.subject = fmt::format("token {} of {}", change.token_after->id, change.token_after->user);
  if (change.token_before) entry.before = token_text(*change.token_before);
  entry.after = token_text(*change.token_after);
}

// Checks that the principal may manage tokens of a user; otherwise returns the answer.
std::optional<Response> refuse_others(const Request& request, std::string_view user) {
  const access::Principal& who = principal_of(request);
  if (user == who.name || may_access(who, Permission::kManageUsers)) return std::nullopt;
  return problem(403, "Forbidden", "Tokens of other users need the permission manage_users.");
}

std::vector<Permission> take_only(JsonBody& body) {
  std::vector<Permission> only;
  const auto words = body.texts("only");
  if (!words) return only;
  for (const std::string& word : *words) {
    const auto permission = access::parse_permission(word);
    if (permission) {
      only.push_back(*permission);
    } else {
      body.reject("only", fmt::format("unknown permission '{}'", word));
    }
  }
  // An empty list reads like "nothing" but would mean "everything".
  if (only.empty()) body.reject("only", "list permissions, or leave it out for all of the role");
  return only;
}

}  // namespace

Response get_tokens(const Services& services, const Request& request) {
  QueryParams params(request);
  const Page page = params.page(kTokenList);
  const std::string user = params.text("user").value_or(principal_of(request).name);
  if (user.empty()) params.reject("user", "must be a name, or * for all users");
  if (auto problem = params.problem()) return *std::move(problem);
  if (auto problem = refuse_others(request, user)) return *std::move(problem);
  auto tokens = services.accounts.tokens(user == kEverybody ? "" : user);
  if (!tokens) return refusal(tokens.error());
  const auto part =
      cut_page(kTokenList, page, *std::move(tokens), [](const Token& token) { return token.id; });
  return list(part.entries, part.next,
              [](JsonWriter& out, const Token& token) { out.raw(token_text(token)); });
}

Response add_token(const Services& services, const Request& request) {
  QueryParams params(request);
  JsonBody body(request);
  const access::Principal& who = principal_of(request);
  Token token;
  token.name = body.required("name");
  token.user = body.text("user").value_or(who.name);
  token.only = take_only(body);
  token.scope = body.scope("scope").value_or(std::vector<SummaryFilter>());
  if (const auto known = check_scope_dimensions(token.scope, services.config.policy); !known) {
    body.reject("scope", known.error().message);
  }
  const auto expires_at = body.instant("expires_at");
  if (!expires_at) body.reject("expires_at", "missing: every token expires");
  if (auto problem = params.problem()) return *std::move(problem);
  if (auto problem = body.problem()) return *std::move(problem);
  token.expires_at = *expires_at;
  if (auto problem = refuse_others(request, token.user)) return *std::move(problem);
  RecordedChange change(services.audit_log, author_of(request), "token.add", describe_token);
  const auto made = change.finish(services.accounts.add_token(token, &who, change.recorder()));
  if (!made) {
    return made.error().code == ErrorCode::kUnsupported
               ? problem(403, "Forbidden", made.error().message)
               : refusal(made.error());
  }
  JsonWriter out;
  out.begin_object()
      .raw_field("token", token_text(made->token))
      .field("secret", made->secret)
      .end_object();
  return json(out, 201);
}

Response revoke_token(const Services& services, const Request& request) {
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  const access::Principal& who = principal_of(request);
  const std::string id = request.param("id");
  const auto tokens =
      services.accounts.tokens(may_access(who, Permission::kManageUsers) ? "" : who.name);
  if (!tokens) return refusal(tokens.error());
  const auto found = std::ranges::find(*tokens, id, &Token::id);
  if (found == tokens->end()) return not_found(fmt::format("there is no token {}", id));
  RecordedChange change(services.audit_log, author_of(request), "token.revoke", describe_token);
  const auto revoked = change.finish(services.accounts.revoke_token(id, change.recorder()));
  return revoked ? Response{.status = 204} : refusal(revoked.error());
}

}  // namespace pennyweight::api
