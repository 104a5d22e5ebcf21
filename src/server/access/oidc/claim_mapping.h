// Maps a provider's claims to a user's name, role and scope.
#pragma once

#include <span>

#include "core/error.h"
#include "server/access/oidc/json_object.h"
#include "server/access/oidc/provider.h"
#include "server/access/oidc/settings.h"

namespace pennyweight::access::oidc {

// Whether a claim that the settings use is missing.
bool lacks_claims(const JsonObject& claims, const Settings& settings);

// `sources` are the claims of the ID token and, if fetched, of userinfo; the first one that has a
// claim counts. REQUIRES: the first is verified, and the others are about the same subject. A
// person without role or scope is identified all the same (ExternalIdentity::not_entitled). Errors:
// kConflict, in words for the person and the operator: no usable name.
Result<ExternalIdentity> map_claims(std::span<const JsonObject> sources, const Settings& settings);

}  // namespace pennyweight::access::oidc
