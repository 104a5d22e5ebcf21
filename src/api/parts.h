// Parts: what the API is made of. Whoever wires the server fills it in; all of it outlives the
// routes.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "api/machines.h"
#include "core/clock.h"
#include "core/error.h"

namespace pennyweight {
struct Config;
class Catalog;
class ExchangeRates;
struct LiveView;
class Store;
namespace access {
class Accounts;
namespace oidc {
class Provider;
}
}  // namespace access
namespace rollup {
class Rollup;
}
namespace trail {
class Trail;
}
}  // namespace pennyweight

namespace pennyweight::api {

struct Parts {
  const Config& config;
  const Catalog& catalog;
  Clock& clock;
  // Opens the ledger for one answer, and waits for its turn.
  std::function<Result<void>(const std::function<Result<void>(Store&)>&)> ledger;
  rollup::Rollup& rollup;
  access::Accounts& accounts;
  trail::Trail& trail;
  access::oidc::Provider* oidc = nullptr;  // null: not configured
  // What runs now; null before the first look.
  std::function<std::shared_ptr<const LiveView>()> live = {};
  // Exchange rates, as configured; an Error where there are none. Empty: there are none.
  std::function<Result<ExchangeRates>()> rates = {};
  std::string version = {};     // of the program
  std::string trail_path = {};  // the file of the trail, which a check reads as a whole
  Machines machines = {};       // who sends telemetry without an account
};

}  // namespace pennyweight::api
