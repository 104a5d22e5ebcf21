// user: who may sign in, in which role, and how far he sees.
#include <fmt/format.h>

#include <algorithm>

#include "access/password.h"
#include "access/scope_text.h"
#include "app/file.h"
#include "app/open_accounts.h"
#include "app/table_options.h"
#include "app/told_changes.h"
#include "app/verb.h"

namespace pennyweight {
namespace {

using access::Accounts;
using access::User;

struct UserOptions {
  CLI::App* list = nullptr;
  CLI::App* add = nullptr;
  CLI::App* change = nullptr;
  CLI::App* remove = nullptr;
  CLI::App* password = nullptr;
  CLI::App* totp_off = nullptr;
  std::string name;
  std::string display_name;
  std::string email;
  std::string role = "viewer";
  std::string scope = "everything";
  std::string openid;
  std::string password_file;
  bool no_password = false;
  bool disable = false;
  bool enable = false;
  TableOptions table;
};

std::string subject_of(std::string_view name) { return fmt::format("user {}", name); }

// For the audit log, before and after a change.
std::string facts_of(const User& user) {
  return ToldFacts()
      .text("name", user.name)
      .text("display_name", user.display_name)
      .text("email", user.email)
      .text("role", to_text(user.role))
      .text("scope", access::format_scope(user.scope))
      .text("openid", user.subject)
      .text("state", user.disabled ? "disabled" : "")
      .json();
}

std::string way_in(const User& user) {
  if (!user.subject.empty()) return user.local ? "password, OpenID Connect" : "OpenID Connect";
  return user.local ? "password" : "tokens";
}

std::string state_of(const User& user) {
  if (user.disabled) return "disabled";
  return user.must_change_password ? "must change password" : "active";
}

Table table_of(const std::vector<User>& users) {
  Table table;
  table.title = "Users";
  table.columns = {{"name", "name", ColumnKind::kId},
                   {"display_name", "display name", ColumnKind::kText},
                   {"role", "role", ColumnKind::kText},
                   {"scope", "sees", ColumnKind::kText},
                   {"signs_in_by", "signs in by", ColumnKind::kText},
                   {"second_factor", "second factor", ColumnKind::kText},
                   {"state", "state", ColumnKind::kText},
                   {"last_sign_in", "last sign-in", ColumnKind::kText}};
  for (const User& user : users) {
    table.rows.push_back({user.name, user.display_name, std::string(to_text(user.role)),
                          access::format_scope(user.scope), way_in(user),
                          std::string(user.has_totp ? "yes" : "no"), state_of(user),
                          user.last_sign_in ? Cell(to_text(*user.last_sign_in)) : Cell()});
  }
  return table;
}

Result<access::Role> role_of_option(const std::string& text) {
  const auto role = access::parse_role(text);
  if (!role) return wrong_usage("--role: viewer, team_lead, finance, operator or admin");
  return *role;
}

// The one line of a file, or of standard input.
Result<std::string> read_password(const std::string& path) {
  auto text = read_file(path, access::kPasswordBytesMax + 2);
  if (!text) return text;
  if (text->ends_with('\n')) text->pop_back();
  if (text->ends_with('\r')) text->pop_back();
  if (text->empty()) return fail(ErrorCode::kBadValue, "the password is empty");
  return text;
}

struct Password {
  std::string text;
  bool one_time;  // made here, and shown
};

Result<Password> password_of(const UserOptions& options) {
  if (!options.password_file.empty()) {
    auto read = read_password(options.password_file);
    if (!read) return std::unexpected(read.error());
    return Password{*std::move(read), false};
  }
  auto made = access::one_time_password();
  if (!made) return std::unexpected(made.error());
  return Password{*std::move(made), true};
}

// The password alone on standard output, so that a script can take it.
void show_one_time(const Password& password, std::string_view name, const Context& context) {
  if (!password.one_time) return;
  context.console.say(
      fmt::format("the one-time password of {}, shown only now, to be changed at the first "
                  "sign-in:",
                  name));
  context.console.print(password.text + "\n");
}

Result<void> remark_on_admins(Accounts& accounts, const Context& context) {
  const auto users = accounts.users();
  if (!users) return std::unexpected(users.error());
  const bool has_admin = std::ranges::any_of(*users, [](const User& user) {
    return user.role == access::Role::kAdmin && !user.disabled && user.scope.empty();
  });
  if (!has_admin) {
    context.console.warn(
        "there is no admin who sees everything; make one with 'pennyweight user add NAME --role "
        "admin'");
  }
  return {};
}

Result<ExitCode> list(const UserOptions& options, Context& context) {
  const auto accounts = open_accounts(context);
  if (!accounts) return std::unexpected(accounts.error());
  const auto users = (*accounts)->users();
  if (!users) return std::unexpected(users.error());
  print_tables({table_of(*users)}, options.table, context);
  return ExitCode::kDone;
}

Result<ExitCode> add(const UserOptions& options, Context& context) {
  if (options.no_password && !options.password_file.empty()) {
    return wrong_usage("--no-password and --password-file exclude one another");
  }
  const auto role = role_of_option(options.role);
  if (!role) return std::unexpected(role.error());
  const auto scope = scope_of_option(options.scope, context.config.policy);
  if (!scope) return std::unexpected(scope.error());
  User user;
  user.name = options.name;
  user.display_name = options.display_name;
  user.email = options.email;
  user.role = *role;
  user.scope = *scope;
  user.subject = options.openid;
  Password password{"", false};
  if (!options.no_password && (options.openid.empty() || !options.password_file.empty())) {
    auto chosen = password_of(options);
    if (!chosen) return std::unexpected(chosen.error());
    password = *std::move(chosen);
  }
  const auto accounts = create_accounts(context);
  if (!accounts) return std::unexpected(accounts.error());
  const auto added = (*accounts)->add_user(user, password.text, password.one_time);
  if (!added) return std::unexpected(added.error());
  show_one_time(password, added->name, context);
  if (const auto told =
          tell_change(context, "user.add", subject_of(added->name), "", facts_of(*added));
      !told) {
    return std::unexpected(told.error());
  }
  if (const auto done = remark_on_admins(**accounts, context); !done) {
    return std::unexpected(done.error());
  }
  return ExitCode::kDone;
}

Result<ExitCode> change(const UserOptions& options, Context& context) {
  const auto given = [&](const char* option) { return options.change->count(option) > 0; };
  if (options.enable && options.disable) {
    return wrong_usage("--enable and --disable exclude one another");
  }
  const auto accounts = open_accounts(context);
  if (!accounts) return std::unexpected(accounts.error());
  const auto before = user_called(**accounts, options.name);
  if (!before) return std::unexpected(before.error());
  User user = *before;
  if (given("--role")) {
    const auto role = role_of_option(options.role);
    if (!role) return std::unexpected(role.error());
    user.role = *role;
  }
  if (given("--scope")) {
    auto scope = scope_of_option(options.scope, context.config.policy);
    if (!scope) return std::unexpected(scope.error());
    user.scope = *std::move(scope);
  }
  if (given("--display-name")) user.display_name = options.display_name;
  if (given("--email")) user.email = options.email;
  if (given("--openid")) user.subject = options.openid;
  if (options.enable) user.disabled = false;
  if (options.disable) user.disabled = true;
  if (facts_of(user) == facts_of(*before)) {
    context.console.say(fmt::format("nothing of {} changes", options.name));
    return ExitCode::kDone;
  }
  const auto after = (*accounts)->change_user(user);
  if (!after) return std::unexpected(after.error());
  if (const auto told = tell_change(context, "user.change", subject_of(after->name),
                                    facts_of(*before), facts_of(*after));
      !told) {
    return std::unexpected(told.error());
  }
  context.console.say(fmt::format("{} is changed", options.name));
  return ExitCode::kDone;
}

Result<ExitCode> remove(const UserOptions& options, Context& context) {
  const auto accounts = open_accounts(context);
  if (!accounts) return std::unexpected(accounts.error());
  const auto before = user_called(**accounts, options.name);
  if (!before) return std::unexpected(before.error());
  if (const auto removed = (*accounts)->remove_user(options.name); !removed) {
    return std::unexpected(removed.error());
  }
  if (const auto told =
          tell_change(context, "user.remove", subject_of(options.name), facts_of(*before), "");
      !told) {
    return std::unexpected(told.error());
  }
  context.console.say(fmt::format("{} is removed, and his sessions and tokens", options.name));
  return ExitCode::kDone;
}

Result<ExitCode> set_password(const UserOptions& options, Context& context) {
  const auto accounts = open_accounts(context);
  if (!accounts) return std::unexpected(accounts.error());
  const auto password = password_of(options);
  if (!password) return std::unexpected(password.error());
  if (const auto set = (*accounts)->set_password(options.name, password->text, password->one_time);
      !set) {
    return std::unexpected(set.error());
  }
  show_one_time(*password, options.name, context);
  const std::string facts =
      ToldFacts().text("password", password->one_time ? "a one-time one" : "a new one").json();
  if (const auto told = tell_change(context, "user.password", subject_of(options.name), "", facts);
      !told) {
    return std::unexpected(told.error());
  }
  return ExitCode::kDone;
}

Result<ExitCode> turn_totp_off(const UserOptions& options, Context& context) {
  const auto accounts = open_accounts(context);
  if (!accounts) return std::unexpected(accounts.error());
  const auto before = user_called(**accounts, options.name);
  if (!before) return std::unexpected(before.error());
  // One that was begun and never confirmed goes too.
  if (const auto removed = (*accounts)->remove_totp(options.name); !removed) {
    return std::unexpected(removed.error());
  }
  if (!before->has_totp) {
    context.console.say(fmt::format("{} has no second factor", options.name));
    return ExitCode::kDone;
  }
  if (const auto told = tell_change(context, "user.totp_off", subject_of(options.name),
                                    ToldFacts().text("second_factor", "yes").json(), "");
      !told) {
    return std::unexpected(told.error());
  }
  context.console.say(fmt::format("{} signs in without a second factor now", options.name));
  return ExitCode::kDone;
}

Result<ExitCode> run(const UserOptions& options, Context& context) {
  if (options.add->parsed()) return add(options, context);
  if (options.change->parsed()) return change(options, context);
  if (options.remove->parsed()) return remove(options, context);
  if (options.password->parsed()) return set_password(options, context);
  if (options.totp_off->parsed()) return turn_totp_off(options, context);
  return list(options, context);
}

CLI::App* declare_part(CLI::App& user, UserOptions& options, const char* name, const char* what) {
  CLI::App* part = user.add_subcommand(name, what);
  part->add_option("NAME", options.name, "Of the user: a-z, 0-9 and . _ @ -")->required();
  part->footer(examples_of("user"));
  return part;
}

void add_properties(CLI::App& part, UserOptions& options) {
  part.add_option("--role", options.role, "viewer, team_lead, finance, operator or admin");
  part.add_option("--scope", options.scope,
                  "What he sees: 'team=nlp,cv; cluster=a', or 'everything'");
  part.add_option("--display-name", options.display_name, "Such as 'Ana Lima'");
  part.add_option("--email", options.email, "His address");
  part.add_option("--openid", options.openid,
                  "Whom OpenID Connect knows him as: 'ISSUER SUBJECT'; empty: nobody");
}

void add_password_file(CLI::App& part, UserOptions& options) {
  part.add_option("--password-file", options.password_file,
                  "His password, on one line; - for standard input. Without: a one-time password "
                  "is made and shown");
}

}  // namespace

Verb declare_user(CLI::App& app) {
  const auto options = std::make_shared<UserOptions>();
  CLI::App* command =
      app.add_subcommand("user", "Say who may sign in, in which role, and how far he sees");
  command->require_subcommand(1);
  command->footer(examples_of("user"));

  options->list = command->add_subcommand("list", "Who there is");
  add_table_options(*options->list, options->table);
  options->list->footer(examples_of("user"));

  options->add = declare_part(*command, *options, "add", "Add a user");
  add_properties(*options->add, *options);
  add_password_file(*options->add, *options);
  options->add->add_flag("--no-password", options->no_password,
                         "Nobody signs in as him; his tokens speak for him");

  options->change =
      declare_part(*command, *options, "change",
                   "Change what is named; ends his sessions where he may other things");
  add_properties(*options->change, *options);
  options->change->add_flag("--disable", options->disable, "Let him in no more");
  options->change->add_flag("--enable", options->enable, "Let him in again");

  options->remove =
      declare_part(*command, *options, "remove", "Remove him, his sessions, tokens and views");
  options->password = declare_part(*command, *options, "password",
                                   "Give him a password; ends his sessions and his lock-out");
  add_password_file(*options->password, *options);
  options->totp_off = declare_part(*command, *options, "totp-off",
                                   "Take his second factor away: for a telephone that is lost");
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
