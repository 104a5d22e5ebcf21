#include "app/doors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "api/audit_log.h"
#include "app/told_changes.h"

namespace pennyweight {
namespace {

namespace oidc = access::oidc;

constexpr const char* kFirstPassword = "first-admin-password";

oidc::Settings settings_of(const OpenIdConfig& config) {
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

// Readable by its owner alone.
Result<void> write_private(const std::string& path, const std::string& text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return fail(ErrorCode::kIo, "cannot write " + path);
  const bool whole = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const bool kept = ::fsync(file) == 0;
  if (::close(file) != 0 || !whole || !kept) return fail(ErrorCode::kIo, "cannot write " + path);
  return {};
}

// The file has done its service once the password in it is no longer one.
Result<void> forget_first_password(access::Accounts& accounts, const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return {};
  const auto admin = accounts.find_user("admin");
  if (!admin) return std::unexpected(admin.error());
  if (!*admin || !(*admin)->must_change_password) std::filesystem::remove(path, ignored);
  return {};
}

Result<void> let_in_the_first(Doors& doors, const Config& config, Log& log) {
  const std::string path = (std::filesystem::path(live_folder(config)) / kFirstPassword).string();
  if (auto done = forget_first_password(*doors.accounts, path); !done) return done;
  const auto users = doors.accounts->users();
  if (!users) return std::unexpected(users.error());
  if (!users->empty()) return {};
  if (!is_loopback(config.live.serve.host)) {
    return fail(ErrorCode::kConfig,
                fmt::format("nobody can sign in yet, and serve.listen is {}: make an admin first "
                            "with 'pennyweight user add admin --role admin', or start once on "
                            "127.0.0.1",
                            config.live.serve.host));
  }
  const auto password = doors.accounts->create_first_admin();
  if (!password) return std::unexpected(password.error());
  if (!*password) return {};
  if (auto done = write_private(path, **password + "\n"); !done) return done;
  const auto told = doors.trail->append({.at = {},
                                         .actor = "system",
                                         .peer = {},
                                         .action = "user.add",
                                         .subject = "user admin",
                                         .before = {},
                                         .after = R"({"name": "admin", "role": "admin"})",
                                         .hash = {}});
  if (!told) return std::unexpected(told.error());
  if (auto kept = api::keep_head(*doors.accounts, *told); !kept) return kept;
  log.info("first_admin", {{"user", "admin"}, {"one_time_password_in", path}});
  return {};
}

}  // namespace

std::string live_folder(const Config& config) {
  return config.live.serve.data.empty() ? config.store_path + ".live" : config.live.serve.data;
}

std::string accounts_path(const Config& config) {
  return (std::filesystem::path(live_folder(config)) / "accounts.sqlite").string();
}

Result<Doors> open_doors(const Config& config, Clock& clock, Log& log) {
  Doors doors;
  auto accounts = access::Accounts::open({.path = accounts_path(config)}, clock);
  if (!accounts) return std::unexpected(accounts.error());
  doors.accounts = *std::move(accounts);
  auto trail = trail::Trail::open(trail_path(config), clock);
  if (!trail) return std::unexpected(trail.error());
  doors.trail = *std::move(trail);
  if (!config.live.serve.openid.issuer.empty()) {
    auto provider = oidc::Provider::open(settings_of(config.live.serve.openid), clock);
    if (!provider) return std::unexpected(provider.error().during("serve.openid"));
    doors.openid = *std::move(provider);
  }
  if (auto done = let_in_the_first(doors, config, log); !done) {
    return std::unexpected(done.error());
  }
  return doors;
}

}  // namespace pennyweight
