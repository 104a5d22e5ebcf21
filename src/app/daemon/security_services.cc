#include "app/daemon/security_services.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "app/audit_events/audit_events.h"
#include "app/context/paths.h"
#include "core/try.h"
#include "server/api/audit_log.h"
#include "server/api/recorded_change.h"
#include "server/api/users.h"

namespace pennyweight {
namespace {

namespace oidc = access::oidc;

constexpr const char* kFirstPassword = "first-admin-password";

oidc::Settings make_settings(const OpenIdConfig& config) {
  oidc::Settings settings{.name = config.name,
                          .issuer = config.issuer,
                          .client_id = config.client_id,
                          .client_secret_file = config.client_secret_file,
                          .redirect_url = config.redirect_url,
                          .scopes = config.scopes,
                          .ca_file = config.ca_file,
                          .user_claims = config.user_claims,
                          .role_claim = config.role_claim,
                          .roles = config.roles,
                          .default_role = config.default_role,
                          .scope_claim = config.scope_claim,
                          .scope_rules = {},
                          .unscoped_roles = config.unscoped_roles};
  for (const auto& rule : config.scope_rules) {
    settings.scope_rules.push_back({.match = rule.match, .dimension = rule.dimension});
  }
  return settings;
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

// Writes a file that only its owner can read.
Result<void> write_private(const std::string& path, const std::string& text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return fail(ErrorCode::kIo, "cannot write " + path);
  const bool whole = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const bool kept = ::fsync(file) == 0;
  if (::close(file) != 0 || !whole || !kept) return fail(ErrorCode::kIo, "cannot write " + path);
  return {};
}

std::string first_password_path(const Config& config) {
  return (std::filesystem::path(live_folder(config)) / kFirstPassword).string();
}

Result<void> create_first_admin(SecurityServices& security, const Config& config, Log& log) {
  const std::string path = first_password_path(config);
  TRY(forget_first_password(*security.accounts, config));
  const auto users = security.accounts->users();
  if (!users) return std::unexpected(users.error());
  if (!users->empty()) return {};
  if (!is_loopback(config.live.serve.host)) {
    return fail(ErrorCode::kConfig,
                fmt::format("nobody can sign in yet, and serve.listen is {}: make an admin first "
                            "with 'pennyweight user add admin --role admin', or start once on "
                            "127.0.0.1",
                            config.live.serve.host));
  }
  api::RecordedChange change(*security.audit_log, {.actor = "system"}, "user.add",
                             [](const access::Change& made, audit_log::Entry& entry) {
                               entry.subject = "user " + made.user_after->name;
                               entry.after = api::user_text(*made.user_after);
                             });
  const auto password =
      TRY(change.finish(security.accounts->create_first_admin(change.recorder())));
  if (!password) return {};
  TRY(write_private(path, *password + "\n"));
  log.info("first_admin", {{"user", "admin"}, {"one_time_password_in", path}});
  return {};
}

}  // namespace

access::AccountsOptions accounts_options(const Config& config) {
  access::AccountsOptions options{.path = accounts_path(config)};
  options.vouched_for = std::chrono::duration_cast<std::chrono::hours>(
      std::chrono::milliseconds(config.live.serve.openid.tokens_last_ms));
  return options;
}

Result<void> forget_first_password(access::Accounts& accounts, const Config& config) {
  const std::string path = first_password_path(config);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return {};
  const auto admin = TRY(accounts.find_user("admin"));
  if (!admin || !admin->must_change_password) std::filesystem::remove(path, ignored);
  return {};
}

Result<SecurityServices> open_security_services(const Config& config, Clock& clock, Log& log) {
  SecurityServices security;
  security.audit_log = TRY(audit_log::AuditLog::open(audit_log_files(config), clock));
  security.accounts = TRY(access::Accounts::open(accounts_options(config), clock));
  TRY(api::check_known_head(*security.accounts, *security.audit_log, audit_log_path(config),
                            accounts_path(config)));
  TRY(api::settle_lines(*security.accounts, *security.audit_log));
  if (!config.live.serve.openid.issuer.empty()) {
    auto provider = oidc::Provider::open(make_settings(config.live.serve.openid), clock);
    if (!provider) return std::unexpected(provider.error().during("serve.openid"));
    security.openid = *std::move(provider);
  }
  TRY(create_first_admin(security, config, log));
  return security;
}

}  // namespace pennyweight
