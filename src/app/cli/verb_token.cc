// token: manages access tokens, with which programs act for a user.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "app/audit_events/audit_events.h"
#include "app/cli/open_accounts.h"
#include "app/cli/shared_options.h"
#include "app/cli/verb.h"
#include "core/try.h"
#include "server/access/scope_text.h"

namespace pennyweight {
namespace {

using access::Token;

struct TokenOptions {
  CLI::App* list = nullptr;
  CLI::App* add = nullptr;
  CLI::App* revoke = nullptr;
  std::string user;
  std::string name;
  std::vector<std::string> only;
  std::string scope = "everything";
  std::uint32_t days = 90;
  std::string expires;
  std::string id;
  TableOptions table;
};

std::string permission_list(const Token& token) {
  if (token.only.empty()) return "all of the role";
  std::string out;
  for (const access::Permission permission : token.only) {
    if (!out.empty()) out += ", ";
    out += to_text(permission);
  }
  return out;
}

std::string token_json(const Token& token) {
  return JsonObjectBuilder()
      .text("id", token.id)
      .text("name", token.name)
      .text("user", token.user)
      .text("only", permission_list(token))
      .text("scope", access::format_scope(token.scope))
      .text("expires_at", to_text(token.expires_at))
      .text("state", token.revoked ? "revoked" : "")
      .json();
}

std::string subject_of(const Token& token) { return fmt::format("token {}", token.id); }

std::string token_state(const Token& token, Instant now) {
  if (token.revoked) return "revoked";
  return token.expires_at <= now ? "over" : "good";
}

void describe_token(const access::Change& change, audit_log::Entry& entry) {
  entry.subject = subject_of(*change.token_after);
  if (change.token_before) entry.before = token_json(*change.token_before);
  entry.after = token_json(*change.token_after);
}

Table token_table(const std::vector<Token>& tokens, Instant now) {
  Table table;
  table.title = "Tokens";
  table.columns = {{"id", "id", ColumnKind::kId},
                   {"name", "name", ColumnKind::kText},
                   {"user", "user", ColumnKind::kText},
                   {"only", "permissions", ColumnKind::kText},
                   {"scope", "scope", ColumnKind::kText},
                   {"expires_at", "expires", ColumnKind::kText},
                   {"last_used", "last used", ColumnKind::kText},
                   {"state", "state", ColumnKind::kText}};
  for (const Token& token : tokens) {
    table.rows.push_back({token.id, token.name, token.user, permission_list(token),
                          access::format_scope(token.scope), to_text(token.expires_at),
                          token.last_used ? Cell(to_text(*token.last_used)) : Cell(),
                          token_state(token, now)});
  }
  return table;
}

Result<ExitCode> list(const TokenOptions& options, Context& context) {
  const auto accounts = TRY(open_accounts(context));
  if (!options.user.empty()) {
    std::ignore = TRY(find_user_by_name(*accounts, options.user));
  }
  const auto tokens = TRY(accounts->tokens(options.user));
  print_tables({token_table(tokens, context.clock.now())}, options.table, context);
  return ExitCode::kDone;
}

Result<Token> make_token(const TokenOptions& options, const Policy& policy, Instant now) {
  Token token;
  token.name = options.name;
  token.user = options.user;
  for (const std::string& word : options.only) {
    const auto permission = access::parse_permission(word);
    if (!permission) {
      return usage_error(fmt::format("--only: there is no permission '{}'", word));
    }
    token.only.push_back(*permission);
  }
  auto scope = TRY(parse_scope_option(options.scope, policy));
  token.scope = std::move(scope);
  token.expires_at = now + std::chrono::days(options.days);
  if (!options.expires.empty()) {
    const auto expires = parse_instant(options.expires);
    if (!expires) return usage_error("--expires: " + expires.error().message);
    token.expires_at = *expires;
  }
  return token;
}

Result<ExitCode> add(const TokenOptions& options, Context& context) {
  const auto wanted = TRY(make_token(options, context.config.policy, context.clock.now()));
  const auto accounts = TRY(open_accounts(context));
  const auto log = TRY(open_audit_log(context));
  api::RecordedChange change(*log, cli_author(), "token.add", describe_token);
  const auto made = TRY(change.finish(accounts->add_token(wanted, nullptr, change.recorder())));
  context.console.say(fmt::format("the secret of token {} of {}, shown only now, valid until {}:",
                                  made.token.id, made.token.user, to_text(made.token.expires_at)));
  context.console.print(made.secret + "\n");
  return ExitCode::kDone;
}

Result<ExitCode> revoke(const TokenOptions& options, Context& context) {
  const auto accounts = TRY(open_accounts(context));
  const auto tokens = TRY(accounts->tokens(""));
  const auto found = std::ranges::find(tokens, options.id, &Token::id);
  if (found == tokens.end()) {
    return fail(
        ErrorCode::kNotFound,
        fmt::format("there is no token '{}'; 'pennyweight token list' shows the ids", options.id));
  }
  if (found->revoked) {
    context.console.say(fmt::format("{} is revoked already", options.id));
    return ExitCode::kDone;
  }
  const auto log = TRY(open_audit_log(context));
  api::RecordedChange change(*log, cli_author(), "token.revoke", describe_token);
  TRY(change.finish(accounts->revoke_token(options.id, change.recorder())));
  context.console.say(fmt::format("{} is revoked", options.id));
  return ExitCode::kDone;
}

Result<ExitCode> run(const TokenOptions& options, Context& context) {
  if (options.add->parsed()) return add(options, context);
  if (options.revoke->parsed()) return revoke(options, context);
  return list(options, context);
}

}  // namespace

Verb declare_token(CLI::App& app) {
  const auto options = std::make_shared<TokenOptions>();
  CLI::App* command =
      app.add_subcommand("token", "Manage access tokens, with which programs act for a user");
  command->require_subcommand(1);
  command->footer(examples_footer("token"));

  options->list = command->add_subcommand("list", "List the tokens, without their secrets");
  options->list->add_option("--user", options->user, "Only tokens of this user");
  add_table_options(*options->list, options->table);
  options->list->footer(examples_footer("token"));

  options->add = command->add_subcommand("add", "Create a token, and show its secret once");
  options->add->add_option("USER", options->user, "The user it acts for")->required();
  options->add->add_option("--name", options->name, "What it is for")->required();
  options->add
      ->add_option("--only", options->only,
                   "Only these permissions of the user's role, separated by commas; default: all")
      ->delimiter(',');
  options->add->add_option("--scope", options->scope,
                           "Only this part of the user's scope: 'team=nlp', or 'everything'");
  options->add->add_option("--days", options->days, "How many days it is valid, at most 400")
      ->check(CLI::Range(1, 400))
      ->capture_default_str();
  options->add->add_option("--expires", options->expires, "When it expires; overrides --days");
  options->add->footer(examples_footer("token"));

  options->revoke = command->add_subcommand("revoke", "Revoke a token immediately");
  options->revoke->add_option("ID", options->id, "The id that 'token list' shows")->required();
  options->revoke->footer(examples_footer("token"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
