#include "server/api/accounts_proof.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/try.h"
#include "server/access/scope_text.h"
#include "server/api/recorded_change.h"
#include "server/api/tokens.h"
#include "server/api/users.h"

namespace pennyweight::api {
namespace {

using audit_log::Entry;
using simdjson::dom::element;

struct LoggedUser {
  std::uint64_t entry = 0;  // the last one about the user
  std::string role, scope;
  bool disabled = false;
};

struct LoggedToken {
  std::string user;
  bool revoked = false;
};

std::string text_field(const element& object, const char* name) {
  std::string_view text;
  return object[name].get_string().get(text) == simdjson::SUCCESS ? std::string(text) : "";
}

// A scope as the API writes it, a list, or as the command line does, a text.
std::string scope_field(const element& object) {
  simdjson::dom::array parts;
  if (object["scope"].get_array().get(parts) != simdjson::SUCCESS) {
    const std::string text = text_field(object, "scope");
    return text.empty() ? access::format_scope({}) : text;
  }
  std::vector<SummaryFilter> scope;
  for (const element part : parts) {
    SummaryFilter filter{.dimension = text_field(part, "dimension"), .values = {}};
    simdjson::dom::array values;
    if (part["values"].get_array().get(values) == simdjson::SUCCESS) {
      for (const element value : values) {
        std::string_view text;
        if (value.get_string().get(text) == simdjson::SUCCESS) filter.values.emplace_back(text);
      }
    }
    scope.push_back(std::move(filter));
  }
  return access::format_scope(scope);
}

bool is_disabled(const element& object) {
  bool disabled = false;
  if (object["disabled"].get_bool().get(disabled) == simdjson::SUCCESS) return disabled;
  return text_field(object, "state") == "disabled";
}

// What the entries of a log say about users and tokens.
class LoggedAccounts {
 public:
  explicit LoggedAccounts(std::set<std::uint64_t> undone) : undone_(std::move(undone)) {}

  void take(const Entry& entry) {
    if (undone_.contains(entry.number)) return;
    if (entry.action.starts_with("user.")) take_user(entry);
    if (entry.action.starts_with("token.")) take_token(entry);
  }

  const std::map<std::string, LoggedUser>& users() const { return users_; }
  const std::map<std::string, LoggedToken>& tokens() const { return tokens_; }

 private:
  void take_user(const Entry& entry) {
    constexpr std::string_view kUser = "user ";
    if (!entry.subject.starts_with(kUser)) return;
    const std::string name = entry.subject.substr(kUser.size());
    if (entry.action == "user.remove" || entry.action == kUserLostAction) {
      users_.erase(name);
      std::erase_if(tokens_, [&](const auto& token) { return token.second.user == name; });
    } else if (entry.action == "user.add" || entry.action == "user.change" ||
               entry.action == kUserFoundAction) {
      element object;
      if (parser_.parse(simdjson::padded_string(entry.after)).get(object) != simdjson::SUCCESS) {
        return;
      }
      users_[name] = {.entry = entry.number,
                      .role = text_field(object, "role"),
                      .scope = scope_field(object),
                      .disabled = is_disabled(object)};
    } else if (entry.action == "user.password" || entry.action == "user.password_reset") {
      element object;
      std::uint64_t revoked = 0;
      if (parser_.parse(simdjson::padded_string(entry.after)).get(object) == simdjson::SUCCESS &&
          object["tokens_revoked"].get_uint64().get(revoked) == simdjson::SUCCESS && revoked > 0) {
        for (auto& [id, token] : tokens_) token.revoked |= token.user == name;
      }
    }
  }

  // "token t_1a2b of ana"; from the command line also "token t_1a2b".
  void take_token(const Entry& entry) {
    constexpr std::string_view kToken = "token ";
    if (!entry.subject.starts_with(kToken)) return;
    const std::string id =
        entry.subject.substr(kToken.size(), entry.subject.find(' ', kToken.size()) - kToken.size());
    element facts;
    LoggedToken& token = tokens_[id];
    if (parser_.parse(simdjson::padded_string(entry.after)).get(facts) == simdjson::SUCCESS) {
      token.user = text_field(facts, "user");
    }
    if (entry.action == "token.revoke") token.revoked = true;
    if (entry.action != kTokenFoundAction) return;
    element object;
    bool revoked = false;
    if (parser_.parse(simdjson::padded_string(entry.after)).get(object) == simdjson::SUCCESS &&
        object["revoked"].get_bool().get(revoked) == simdjson::SUCCESS) {
      token.revoked = revoked;
    }
  }

  std::set<std::uint64_t> undone_;
  std::map<std::string, LoggedUser> users_;
  std::map<std::string, LoggedToken> tokens_;
  simdjson::dom::parser parser_;
};

std::string_view state_word(bool disabled) { return disabled ? "blocked" : "not blocked"; }

// What differs; empty: nothing.
std::string user_difference(const access::User& user, const LoggedUser* logged) {
  if (logged == nullptr) {
    return fmt::format("user {} ({}) is in the accounts, and no entry made them", user.name,
                       access::to_text(user.role));
  }
  const std::string scope = access::format_scope(user.scope);
  if (access::to_text(user.role) != logged->role) {
    return fmt::format("user {} has the role {}, and entry {} says {}", user.name,
                       access::to_text(user.role), logged->entry, logged->role);
  }
  if (scope != logged->scope) {
    return fmt::format("user {} has the scope {}, and entry {} says {}", user.name, scope,
                       logged->entry, logged->scope);
  }
  if (user.disabled != logged->disabled) {
    return fmt::format("user {} is {}, and entry {} says {}", user.name, state_word(user.disabled),
                       logged->entry, state_word(logged->disabled));
  }
  return "";
}

std::string token_difference(const access::Token& token, const LoggedToken* logged) {
  if (logged == nullptr) {
    return fmt::format(
        "token {} of {} is in the accounts, and no entry of the audit log created it", token.id,
        token.user);
  }
  if (logged->user != token.user) {
    return fmt::format("token {} belongs to {}, but the audit log says that it was created for {}",
                       token.id, token.user, logged->user);
  }
  if (logged->revoked && !token.revoked) {
    return fmt::format("token {} of {} was revoked, and works again", token.id, token.user);
  }
  return "";
}

template <class Key, class Value>
const Value* find_in(const std::map<Key, Value>& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

}  // namespace

Result<std::vector<AccountsDifference>> compare_accounts_with_log(access::Accounts& accounts,
                                                                  const std::string& path) {
  // The accounts first: entries come before their changes, so the log has at least theirs. What the
  // log has beyond them may be under way, and is looked at again.
  const auto users = TRY(accounts.users());
  const auto tokens = TRY(accounts.tokens(""));
  std::set<std::uint64_t> undone;
  TRY(audit_log::for_each_entry(path, [&](const Entry& entry) {
    if (const auto number = undone_number(entry)) undone.insert(*number);
  }));
  LoggedAccounts logged(std::move(undone));
  TRY(audit_log::for_each_entry(path, [&](const Entry& entry) { logged.take(entry); }));
  const auto users_now = TRY(accounts.users());
  const auto tokens_now = TRY(accounts.tokens(""));

  std::vector<AccountsDifference> differences;
  std::set<std::string> names;
  for (const access::User& user : users) {
    names.insert(user.name);
    std::string text = user_difference(user, find_in(logged.users(), user.name));
    // Changed while the log was read.
    const auto now = std::ranges::find(users_now, user.name, &access::User::name);
    if (text.empty() || now == users_now.end() || user_text(*now) != user_text(user)) continue;
    differences.push_back({.text = std::move(text),
                           .record = {.action = std::string(kUserFoundAction),
                                      .subject = "user " + user.name,
                                      .after = user_text(user)}});
  }
  for (const access::User& user : users_now) names.insert(user.name);
  for (const auto& [name, user] : logged.users()) {
    if (names.contains(name)) continue;
    differences.push_back(
        {.text =
             fmt::format("user {} of entry {} is not in the accounts, and no entry removed them",
                         name, user.entry),
         .record = {.action = std::string(kUserLostAction), .subject = "user " + name}});
  }
  for (const access::Token& token : tokens) {
    std::string text = token_difference(token, find_in(logged.tokens(), token.id));
    const auto now = std::ranges::find(tokens_now, token.id, &access::Token::id);
    if (text.empty() || now == tokens_now.end() || now->revoked != token.revoked) continue;
    differences.push_back(
        {.text = std::move(text),
         .record = {.action = std::string(kTokenFoundAction),
                    .subject = fmt::format("token {} of {}", token.id, token.user),
                    .after = token_text(token)}});
  }
  return differences;
}

}  // namespace pennyweight::api
