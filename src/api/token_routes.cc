#include "api/token_routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "access/accounts.h"
#include "api/answers.h"
#include "api/audit_log.h"
#include "api/books.h"
#include "api/guard.h"
#include "config/config.h"
#include "questions/selection.h"

namespace pennyweight::api {
namespace {

using access::Permission;
using access::Token;
using server::problem;
using server::Request;
using server::Response;

constexpr std::string_view kList = "tokens";
constexpr std::string_view kEverybody = "*";

std::string token_text(const Token& token) {
  JsonWriter out;
  out.begin_object()
      .field("id", token.id)
      .field("name", token.name)
      .field("user", token.user)
      .key("only")
      .begin_list();
  for (const Permission permission : token.only) out.value(access::to_text(permission));
  out.end_list()
      .scope("scope", token.scope)
      .field("created_at", token.created_at)
      .field("expires_at", token.expires_at)
      .field("last_used", token.last_used)
      .field("revoked", token.revoked)
      .end_object();
  return out.text();
}

// Whether tokens of that user are his affair; else what is answered.
std::optional<Response> refuse_others(const Request& request, std::string_view user) {
  const access::Principal& who = asker(request);
  if (user == who.name || may_here(who, Permission::kManageUsers)) return std::nullopt;
  return problem(403, "Forbidden", "Tokens of others need manage_users.");
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
      body.wrong("only", fmt::format("there is no permission '{}'", word));
    }
  }
  // An empty list reads as "nothing", and would be taken for "everything".
  if (only.empty()) body.wrong("only", "some permissions, or leave it out for all of the role");
  return only;
}

}  // namespace

Response get_tokens(const Parts& parts, const Request& request) {
  Asked asked(request);
  const Page page = asked.page(kList);
  const std::string user = asked.text("user").value_or(asker(request).name);
  if (user.empty()) asked.wrong("user", "a name, or * for everybody's");
  if (auto no = asked.refused()) return *std::move(no);
  if (auto no = refuse_others(request, user)) return *std::move(no);
  auto tokens = parts.accounts.tokens(user == kEverybody ? "" : user);
  if (!tokens) return refusal(tokens.error());
  const auto part =
      page_of(kList, page, *std::move(tokens), [](const Token& token) { return token.id; });
  return list(part.entries, part.next,
              [](JsonWriter& out, const Token& token) { out.raw(token_text(token)); });
}

Response add_token(const Parts& parts, const Request& request) {
  Asked asked(request);
  JsonBody body(request);
  const access::Principal& who = asker(request);
  Token token;
  token.name = body.need("name");
  token.user = body.text("user").value_or(who.name);
  token.only = take_only(body);
  token.scope = body.scope("scope").value_or(std::vector<SummaryFilter>());
  if (const auto known = check_dimensions_of(token.scope, parts.config.policy); !known) {
    body.wrong("scope", known.error().message);
  }
  const auto expires_at = body.instant("expires_at");
  if (!expires_at) body.wrong("expires_at", "it is missing: a token ends");
  if (auto no = asked.refused()) return *std::move(no);
  if (auto no = body.refused()) return *std::move(no);
  token.expires_at = *expires_at;
  if (auto no = refuse_others(request, token.user)) return *std::move(no);
  const auto made = parts.accounts.add_token(token, &who);
  if (!made) {
    return made.error().code == ErrorCode::kUnsupported
               ? problem(403, "Forbidden", made.error().message)
               : refusal(made.error());
  }
  const std::string text = token_text(made->token);
  const auto told =
      append(parts, request, "token.add",
             fmt::format("token {} of {}", made->token.id, made->token.user), "", text);
  if (!told) return not_recorded(told.error());
  JsonWriter out;
  out.begin_object().raw_field("token", text).field("secret", made->secret).end_object();
  return json(out, 201);
}

Response revoke_token(const Parts& parts, const Request& request) {
  Asked asked(request);
  if (auto no = asked.refused()) return *std::move(no);
  const access::Principal& who = asker(request);
  const std::string id = request.param("id");
  const auto tokens =
      parts.accounts.tokens(may_here(who, Permission::kManageUsers) ? "" : who.name);
  if (!tokens) return refusal(tokens.error());
  const auto found = std::ranges::find(*tokens, id, &Token::id);
  if (found == tokens->end()) return not_found(fmt::format("there is no token {}", id));
  if (auto revoked = parts.accounts.revoke_token(id); !revoked) return refusal(revoked.error());
  Token after = *found;
  after.revoked = true;
  const auto told =
      append(parts, request, "token.revoke", fmt::format("token {} of {}", id, found->user),
             token_text(*found), token_text(after));
  if (!told) return not_recorded(told.error());
  return {.status = 204};
}

}  // namespace pennyweight::api
