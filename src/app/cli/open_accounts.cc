#include "app/cli/open_accounts.h"

#include <fmt/format.h>

#include <filesystem>

#include "app/context/paths.h"
#include "app/daemon/security_services.h"
#include "reporting/queries/selection.h"
#include "server/access/scope_text.h"

namespace pennyweight {

Result<std::unique_ptr<access::Accounts>> open_accounts(Context& context) {
  const std::string path = accounts_path(context.config);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return fail(ErrorCode::kNotFound,
                fmt::format("there are no accounts {} yet; 'pennyweight user add NAME --role "
                            "admin' creates them, and so does 'pennyweight serve'",
                            path));
  }
  return access::Accounts::open({.path = path}, context.clock);
}

Result<std::unique_ptr<access::Accounts>> create_accounts(Context& context) {
  const std::string path = accounts_path(context.config);
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failed);
  if (failed) {
    return fail(ErrorCode::kIo,
                fmt::format("cannot create the folder of {}: {}", path, failed.message()));
  }
  return access::Accounts::open({.path = path}, context.clock);
}

Result<access::User> find_user_by_name(access::Accounts& accounts, std::string_view name) {
  auto found = accounts.find_user(name);
  if (!found) return std::unexpected(found.error());
  if (!*found) return fail(ErrorCode::kNotFound, fmt::format("there is no user '{}'", name));
  return **std::move(found);
}

Result<std::vector<SummaryFilter>> parse_scope_option(const std::string& text,
                                                      const Policy& policy) {
  auto scope = access::parse_scope(text);
  if (!scope) return usage_error("--scope: " + scope.error().message);
  if (const auto known = check_scope_dimensions(*scope, policy); !known) {
    return usage_error("--scope: " + known.error().message);
  }
  return scope;
}

}  // namespace pennyweight
