// What a provider's claims mean here: a user's name, role and scope.
#pragma once

#include <span>

#include "access/oidc/json_object.h"
#include "access/oidc/provider.h"
#include "access/oidc/settings.h"
#include "core/error.h"

namespace pennyweight::access::oidc {

// Whether some claim that the settings ask for is not among these.
bool lacks_claims(const JsonObject& claims, const Settings& settings);

// `sources` are the ID token's claims, and those of userinfo where it was asked; the first that has
// a claim speaks for it. REQUIRES: the first was verified, and the others are of the same subject.
// Errors: kConflict, in words for the person and his operator.
Result<Vouched> vouch(std::span<const JsonObject> sources, const Settings& settings);

}  // namespace pennyweight::access::oidc
