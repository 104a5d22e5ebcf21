// user: manages who may sign in, with which role and scope.
#include <fmt/format.h>

#include <algorithm>

#include "app/audit_events/audit_events.h"
#include "app/cli/open_accounts.h"
#include "app/cli/shared_options.h"
#include "app/cli/verb.h"
#include "core/files/file.h"
#include "core/try.h"
#include "reporting/number_format.h"
#include "server/access/password.h"
#include "server/access/scope_text.h"

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
std::string user_json(const User& user) {
  return JsonObjectBuilder()
      .text("name", user.name)
      .text("display_name", user.display_name)
      .text("email", user.email)
      .text("role", to_text(user.role))
      .text("scope", access::format_scope(user.scope))
      .text("openid", user.subject)
      .text("state", user.disabled ? "disabled" : "")
      .json();
}

void describe_user(const access::Change& change, audit_log::Entry& entry) {
  entry.subject =
      subject_of(change.user_after ? change.user_after->name : change.user_before->name);
  if (change.user_before) entry.before = user_json(*change.user_before);
  if (change.user_after) entry.after = user_json(*change.user_after);
}

std::string sign_in_method(const User& user) {
  if (!user.subject.empty()) return user.local ? "password, OpenID Connect" : "OpenID Connect";
  return user.local ? "password" : "tokens";
}

std::string user_state(const User& user) {
  if (user.disabled) return "disabled";
  return user.must_change_password ? "must change password" : "active";
}

Table user_table(const std::vector<User>& users) {
  Table table;
  table.title = "Users";
  table.columns = {{"name", "name", ColumnKind::kId},
                   {"display_name", "display name", ColumnKind::kText},
                   {"role", "role", ColumnKind::kText},
                   {"scope", "scope", ColumnKind::kText},
                   {"signs_in_by", "signs in by", ColumnKind::kText},
                   {"second_factor", "second factor", ColumnKind::kText},
                   {"state", "state", ColumnKind::kText},
                   {"last_sign_in", "last sign-in", ColumnKind::kText}};
  for (const User& user : users) {
    table.rows.push_back({user.name, user.display_name, std::string(to_text(user.role)),
                          access::format_scope(user.scope), sign_in_method(user),
                          std::string(user.has_totp ? "yes" : "no"), user_state(user),
                          user.last_sign_in ? Cell(to_text(*user.last_sign_in)) : Cell()});
  }
  return table;
}

Result<access::Role> parse_role_option(const std::string& text) {
  const auto role = access::parse_role(text);
  if (!role) return usage_error("--role: viewer, team_lead, finance, operator, admin or client");
  return *role;
}

// The single line of a file, or of standard input.
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
  bool one_time;  // generated here, and shown
};

Result<Password> choose_password(const UserOptions& options) {
  if (!options.password_file.empty()) {
    auto read = TRY(read_password(options.password_file));
    return Password{std::move(read), false};
  }
  auto made = TRY(access::one_time_password());
  return Password{std::move(made), true};
}

// Prints only the password on standard output, so that a script can read it.
void show_one_time(const Password& password, std::string_view name, const Context& context) {
  if (!password.one_time) return;
  context.console.say(
      fmt::format("the one-time password of {}, shown only now, to be changed at the first "
                  "sign-in:",
                  name));
  context.console.print(password.text + "\n");
}

Result<void> remark_on_admins(Accounts& accounts, const Context& context) {
  const auto users = TRY(accounts.users());
  const bool has_admin = std::ranges::any_of(users, [](const User& user) {
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
  const auto accounts = TRY(open_accounts(context));
  const auto users = TRY(accounts->users());
  print_tables({user_table(users)}, options.table, context);
  return ExitCode::kDone;
}

Result<ExitCode> add(const UserOptions& options, Context& context) {
  if (options.no_password && !options.password_file.empty()) {
    return usage_error("--no-password and --password-file can't be combined");
  }
  const auto role = TRY(parse_role_option(options.role));
  const auto scope = TRY(parse_scope_option(options.scope, context.config.policy));
  User user;
  user.name = options.name;
  user.display_name = options.display_name;
  user.email = options.email;
  user.role = role;
  user.scope = scope;
  user.subject = options.openid;
  Password password{"", false};
  if (!options.no_password && (options.openid.empty() || !options.password_file.empty())) {
    auto chosen = TRY(choose_password(options));
    password = std::move(chosen);
  }
  const auto accounts = TRY(create_accounts(context));
  const auto log = TRY(open_audit_log(context));
  api::RecordedChange change(*log, cli_author(), "user.add", describe_user);
  const auto added = TRY(
      change.finish(accounts->add_user(user, password.text, password.one_time, change.recorder())));
  show_one_time(password, added.name, context);
  TRY(remark_on_admins(*accounts, context));
  return ExitCode::kDone;
}

Result<ExitCode> change(const UserOptions& options, Context& context) {
  const auto given = [&](const char* option) { return options.change->count(option) > 0; };
  if (options.enable && options.disable) {
    return usage_error("--enable and --disable can't be combined");
  }
  const auto accounts = TRY(open_accounts(context));
  const auto before = TRY(find_user_by_name(*accounts, options.name));
  User user = before;
  if (given("--role")) {
    const auto role = TRY(parse_role_option(options.role));
    user.role = role;
  }
  if (given("--scope")) {
    auto scope = TRY(parse_scope_option(options.scope, context.config.policy));
    user.scope = std::move(scope);
  }
  if (given("--display-name")) user.display_name = options.display_name;
  if (given("--email")) user.email = options.email;
  if (given("--openid")) user.subject = options.openid;
  if (options.enable) user.disabled = false;
  if (options.disable) user.disabled = true;
  if (user_json(user) == user_json(before)) {
    context.console.say(fmt::format("nothing changes for {}", options.name));
    return ExitCode::kDone;
  }
  const auto log = TRY(open_audit_log(context));
  api::RecordedChange change(*log, cli_author(), "user.change", describe_user);
  std::ignore = TRY(change.finish(accounts->change_user(user, change.recorder())));
  context.console.say(fmt::format("{} is changed", options.name));
  return ExitCode::kDone;
}

Result<ExitCode> remove(const UserOptions& options, Context& context) {
  const auto accounts = TRY(open_accounts(context));
  std::ignore = TRY(find_user_by_name(*accounts, options.name));
  const auto log = TRY(open_audit_log(context));
  api::RecordedChange change(*log, cli_author(), "user.remove", describe_user);
  TRY(change.finish(accounts->remove_user(options.name, change.recorder())));
  context.console.say(fmt::format("{} is removed, with all sessions and tokens", options.name));
  return ExitCode::kDone;
}

Result<ExitCode> set_password(const UserOptions& options, Context& context) {
  const auto accounts = TRY(open_accounts(context));
  const auto password = choose_password(options);
  if (!password) return std::unexpected(password.error());
  const auto log = TRY(open_audit_log(context));
  std::uint64_t revoked = 0;
  api::RecordedChange change(
      *log, cli_author(), "user.password",
      [&](const access::Change& made, audit_log::Entry& entry) {
        revoked = made.tokens_revoked;
        entry.subject = subject_of(options.name);
        entry.after = JsonObjectBuilder()
                          .text("password", password->one_time ? "a one-time one" : "a new one")
                          .count("tokens_revoked", revoked)
                          .json();
      });
  TRY(change.finish(accounts->set_password(options.name, password->text, password->one_time, "",
                                           change.recorder())));
  show_one_time(*password, options.name, context);
  if (revoked > 0) {
    context.console.say(fmt::format("{} of {} {} revoked as well", counted(revoked, "token"),
                                    options.name, revoked == 1 ? "is" : "are"));
  }
  return ExitCode::kDone;
}

Result<ExitCode> turn_totp_off(const UserOptions& options, Context& context) {
  const auto accounts = TRY(open_accounts(context));
  const auto before = find_user_by_name(*accounts, options.name);
  if (!before) return std::unexpected(before.error());
  if (!before->has_totp) {
    TRY(accounts->remove_totp(options.name));  // one that was never confirmed
    context.console.say(fmt::format("{} has no second factor", options.name));
    return ExitCode::kDone;
  }
  const auto log = TRY(open_audit_log(context));
  api::RecordedChange change(
      *log, cli_author(), "user.totp_off", [&](const access::Change&, audit_log::Entry& entry) {
        entry.subject = subject_of(options.name);
        entry.before = JsonObjectBuilder().text("second_factor", "yes").json();
      });
  TRY(change.finish(accounts->remove_totp(options.name, change.recorder())));
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
  part->add_option("NAME", options.name, "The user's name: a-z, 0-9 and . _ @ -")->required();
  part->footer(examples_footer("user"));
  return part;
}

void add_properties(CLI::App& part, UserOptions& options) {
  part.add_option("--role", options.role, "viewer, team_lead, finance, operator, admin or client");
  part.add_option("--scope", options.scope,
                  "What the user may see: 'team=nlp,cv; cluster=a', or 'everything'");
  part.add_option("--display-name", options.display_name, "Such as 'Ana Lima'");
  part.add_option("--email", options.email, "The user's e-mail address");
  part.add_option("--openid", options.openid,
                  "The user's identity in OpenID Connect: 'ISSUER SUBJECT'; empty: none");
}

void add_password_file(CLI::App& part, UserOptions& options) {
  part.add_option("--password-file", options.password_file,
                  "A file with the password on one line; - for standard input. Without it, a "
                  "one-time password is generated and shown");
}

}  // namespace

Verb declare_user(CLI::App& app) {
  const auto options = std::make_shared<UserOptions>();
  CLI::App* command =
      app.add_subcommand("user", "Manage who may sign in, with which role and scope");
  command->require_subcommand(1);
  command->footer(examples_footer("user"));

  options->list = command->add_subcommand("list", "List the users");
  add_table_options(*options->list, options->table);
  options->list->footer(examples_footer("user"));

  options->add = declare_part(*command, *options, "add", "Add a user");
  add_properties(*options->add, *options);
  add_password_file(*options->add, *options);
  options->add->add_flag("--no-password", options->no_password,
                         "A user for tokens only, who can't sign in");

  options->change = declare_part(
      *command, *options, "change",
      "Change the named properties; ends the user's sessions if the permissions change");
  add_properties(*options->change, *options);
  options->change->add_flag("--disable", options->disable, "Block the user from signing in");
  options->change->add_flag("--enable", options->enable, "Let the user sign in again");

  options->remove = declare_part(*command, *options, "remove",
                                 "Remove a user, with all sessions, tokens and views");
  options->password = declare_part(*command, *options, "password",
                                   "Set a password; ends the user's sessions and lockout");
  add_password_file(*options->password, *options);
  options->totp_off = declare_part(*command, *options, "totp-off",
                                   "Remove the second factor, for example after a phone is lost");
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
