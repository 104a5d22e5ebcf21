// A verb of the command line: what it takes, and what it does once that has been read.
//
// Every verb has a file of its own, verb_<name>.cc, and is thin: it opens the ledger, asks the
// rooms, and prints a table.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/console.h"
#include "app/wall_clock.h"
#include "config/config.h"
#include "core/error.h"
#include "ledger/store.h"

namespace pennyweight {

struct ClickhouseOptions;

enum class ExitCode {
  kDone = 0,
  kSaysNo = 1,      // the data or the check says no
  kWrongUsage = 2,  // the command line or the configuration is wrong
};

// What every verb may use.
struct Context {
  Config config;
  Console console;
  WallClock clock;
};

struct Verb {
  CLI::App* command;  // owned by the parent App
  std::function<Result<ExitCode>(Context&)> run;
};

Verb declare_import(CLI::App& app);
Verb declare_allocate(CLI::App& app);
Verb declare_work(CLI::App& app);
Verb declare_report(CLI::App& app);
Verb declare_compare(CLI::App& app);
Verb declare_reconcile(CLI::App& app);
Verb declare_explain(CLI::App& app);
Verb declare_export(CLI::App& app);
Verb declare_generate(CLI::App& app);
Verb declare_doctor(CLI::App& app);
Verb declare_policy(CLI::App& app);
Verb declare_close(CLI::App& app);
Verb declare_restatements(CLI::App& app);
Verb declare_invoice(CLI::App& app);
Verb declare_price(CLI::App& app);
Verb declare_audit(CLI::App& app);
Verb declare_units(CLI::App& app);
Verb declare_top(CLI::App& app);
Verb declare_serve(CLI::App& app);
Verb declare_backfill(CLI::App& app);
Verb declare_backup(CLI::App& app);
Verb declare_restore(CLI::App& app);
Verb declare_move(CLI::App& app);
Verb declare_sweep(CLI::App& app);
Verb declare_user(CLI::App& app);
Verb declare_token(CLI::App& app);

// The "Examples:" of a verb's --help: its section of docs/guide/cli-examples.txt, which
// tests/cli/examples.py runs line by line.
std::string examples_of(std::string_view verb);

// The configured ledger. `open_ledger` refuses one that is not there yet, `create_ledger` makes it.
Result<std::unique_ptr<Store>> open_ledger(const Config& config);
Result<std::unique_ptr<Store>> create_ledger(const Config& config);
// Whether it is on ClickHouse instead of in a file, and its name for people, without passwords.
bool is_on_clickhouse(const Config& config);
// How it is opened there, with a seed that no other program has.
Result<ClickhouseOptions> cluster_options(const Config& config);
std::string ledger_name(const Config& config);

// An Error of wrong usage, which ends the program with exit code 2.
std::unexpected<Error> wrong_usage(std::string message);
// What a question says of words that mean nothing (kBadValue) is wrong usage where they come from a
// command line; every other error stays what it is.
std::unexpected<Error> as_usage(Error error);

}  // namespace pennyweight
