// What all verbs and `serve` share: configuration, terminal, clock, and opening the ledger.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "app/context/console.h"
#include "app/context/wall_clock.h"
#include "config/config.h"
#include "core/error.h"
#include "ledger/store.h"

namespace pennyweight {

struct ClickhouseOptions;

enum class ExitCode {
  kDone = 0,
  kCheckFailed = 1,  // a check failed, or the data is wrong
  kUsageError = 2,   // the command line or the configuration is wrong
};

struct Context {
  Config config;
  Console console;
  WallClock clock;
  std::uint64_t audit_events = 0;  // recorded so far
};

// Open the configured ledger. If there is none yet, open_ledger() fails and create_ledger() creates
// it.
Result<std::unique_ptr<Store>> open_ledger(const Config& config);
Result<std::unique_ptr<Store>> create_ledger(const Config& config);
// Whether the ledger is on ClickHouse instead of in a file.
bool is_on_clickhouse(const Config& config);
// The options for a ledger on ClickHouse, with a seed that no other process has.
Result<ClickhouseOptions> clickhouse_options(const Config& config);
// The ledger's name for people, without passwords.
std::string ledger_name(const Config& config);

// An error of wrong usage, which ends the program with exit code 2.
std::unexpected<Error> usage_error(std::string message);
// Turns the kBadValue of a query into wrong usage, for parameters that come from the command line.
// Every other error stays what it is.
std::unexpected<Error> as_usage_error(Error error);

}  // namespace pennyweight
