// token: what programs sign in with, in the name of a user, for a time.
#include <fmt/format.h>

#include <algorithm>

#include "access/scope_text.h"
#include "app/open_accounts.h"
#include "app/table_options.h"
#include "app/told_changes.h"
#include "app/verb.h"

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

std::string permissions_of(const Token& token) {
  if (token.only.empty()) return "all of the role";
  std::string out;
  for (const access::Permission permission : token.only) {
    if (!out.empty()) out += ", ";
    out += to_text(permission);
  }
  return out;
}

std::string facts_of(const Token& token) {
  return ToldFacts()
      .text("id", token.id)
      .text("name", token.name)
      .text("user", token.user)
      .text("only", permissions_of(token))
      .text("scope", access::format_scope(token.scope))
      .text("expires_at", to_text(token.expires_at))
      .text("state", token.revoked ? "revoked" : "")
      .json();
}

std::string subject_of(const Token& token) { return fmt::format("token {}", token.id); }

std::string state_of(const Token& token, Instant now) {
  if (token.revoked) return "revoked";
  return token.expires_at <= now ? "over" : "good";
}

Table table_of(const std::vector<Token>& tokens, Instant now) {
  Table table;
  table.title = "Tokens";
  table.columns = {{"id", "id", ColumnKind::kId},
                   {"name", "name", ColumnKind::kText},
                   {"user", "user", ColumnKind::kText},
                   {"only", "may", ColumnKind::kText},
                   {"scope", "of what he sees", ColumnKind::kText},
                   {"expires_at", "until", ColumnKind::kText},
                   {"last_used", "last used", ColumnKind::kText},
                   {"state", "state", ColumnKind::kText}};
  for (const Token& token : tokens) {
    table.rows.push_back({token.id, token.name, token.user, permissions_of(token),
                          access::format_scope(token.scope), to_text(token.expires_at),
                          token.last_used ? Cell(to_text(*token.last_used)) : Cell(),
                          state_of(token, now)});
  }
  return table;
}

Result<ExitCode> list(const TokenOptions& options, Context& context) {
  const auto accounts = open_accounts(context);
  if (!accounts) return std::unexpected(accounts.error());
  if (!options.user.empty()) {
    if (const auto user = user_called(**accounts, options.user); !user) {
      return std::unexpected(user.error());
    }
  }
  const auto tokens = (*accounts)->tokens(options.user);
  if (!tokens) return std::unexpected(tokens.error());
  print_tables({table_of(*tokens, context.clock.now())}, options.table, context);
  return ExitCode::kDone;
}

Result<Token> token_of(const TokenOptions& options, const Policy& policy, Instant now) {
  Token token;
  token.name = options.name;
  token.user = options.user;
  for (const std::string& word : options.only) {
    const auto permission = access::parse_permission(word);
    if (!permission) {
      return wrong_usage(fmt::format("--only: there is no permission '{}'", word));
    }
    token.only.push_back(*permission);
  }
  auto scope = scope_of_option(options.scope, policy);
  if (!scope) return std::unexpected(scope.error());
  token.scope = *std::move(scope);
  token.expires_at = now + std::chrono::days(options.days);
  if (!options.expires.empty()) {
    const auto expires = parse_instant(options.expires);
    if (!expires) return wrong_usage("--expires: " + expires.error().message);
    token.expires_at = *expires;
  }
  return token;
}

Result<ExitCode> add(const TokenOptions& options, Context& context) {
  const auto wanted = token_of(options, context.config.policy, context.clock.now());
  if (!wanted) return std::unexpected(wanted.error());
  const auto accounts = open_accounts(context);
  if (!accounts) return std::unexpected(accounts.error());
  const auto made = (*accounts)->add_token(*wanted);
  if (!made) return std::unexpected(made.error());
  context.console.say(
      fmt::format("the secret of token {} of {}, shown only now, good until {}:", made->token.id,
                  made->token.user, to_text(made->token.expires_at)));
  context.console.print(made->secret + "\n");
  if (const auto told =
          tell_change(context, "token.add", subject_of(made->token), "", facts_of(made->token));
      !told) {
    return std::unexpected(told.error());
  }
  return ExitCode::kDone;
}

Result<ExitCode> revoke(const TokenOptions& options, Context& context) {
  const auto accounts = open_accounts(context);
  if (!accounts) return std::unexpected(accounts.error());
  const auto tokens = (*accounts)->tokens("");
  if (!tokens) return std::unexpected(tokens.error());
  const auto found = std::ranges::find(*tokens, options.id, &Token::id);
  if (found == tokens->end()) {
    return fail(
        ErrorCode::kNotFound,
        fmt::format("there is no token '{}'; 'pennyweight token list' has their ids", options.id));
  }
  if (found->revoked) {
    context.console.say(fmt::format("{} is revoked already", options.id));
    return ExitCode::kDone;
  }
  if (const auto done = (*accounts)->revoke_token(options.id); !done) {
    return std::unexpected(done.error());
  }
  Token after = *found;
  after.revoked = true;
  if (const auto told = tell_change(context, "token.revoke", subject_of(after), facts_of(*found),
                                    facts_of(after));
      !told) {
    return std::unexpected(told.error());
  }
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
      app.add_subcommand("token", "Give programs tokens to ask in the name of a user");
  command->require_subcommand(1);
  command->footer(examples_of("token"));

  options->list = command->add_subcommand("list", "Which tokens there are; never their secrets");
  options->list->add_option("--user", options->user, "Of this user alone");
  add_table_options(*options->list, options->table);
  options->list->footer(examples_of("token"));

  options->add = command->add_subcommand("add", "Make a token, and show its secret once");
  options->add->add_option("USER", options->user, "For whom it speaks")->required();
  options->add->add_option("--name", options->name, "What it is for")->required();
  options->add
      ->add_option("--only", options->only,
                   "These permissions of his role, separated by commas; without: all of them")
      ->delimiter(',');
  options->add->add_option("--scope", options->scope,
                           "Of what he sees, only this: 'team=nlp', or 'everything'");
  options->add->add_option("--days", options->days, "How long it is good, at most 400 days")
      ->check(CLI::Range(1, 400))
      ->capture_default_str();
  options->add->add_option("--expires", options->expires, "Until when it is good, over --days");
  options->add->footer(examples_of("token"));

  options->revoke = command->add_subcommand("revoke", "End a token, at once");
  options->revoke->add_option("ID", options->id, "As 'token list' has it")->required();
  options->revoke->footer(examples_of("token"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
