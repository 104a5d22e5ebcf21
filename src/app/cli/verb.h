// A verb of the command line: its options, and what it runs.
//
// Every verb has a file of its own, verb_<name>.cc, and is thin: it opens the ledger, calls the
// modules, and prints tables.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/context/context.h"

namespace pennyweight {

struct Verb {
  CLI::App* command;  // owned by the parent App
  std::function<Result<ExitCode>(Context&)> run;
};

Verb declare_import(CLI::App& app);
Verb declare_pull(CLI::App& app);
Verb declare_allocate(CLI::App& app);
Verb declare_work(CLI::App& app);
Verb declare_report(CLI::App& app);
Verb declare_compare(CLI::App& app);
Verb declare_replay(CLI::App& app);
Verb declare_reconcile(CLI::App& app);
Verb declare_explain(CLI::App& app);
Verb declare_export(CLI::App& app);
// `words`: the whole command line, which is passed on to pennyweight-generate.
Verb declare_generate(CLI::App& app, std::vector<std::string> words);
Verb declare_doctor(CLI::App& app);
Verb declare_policy(CLI::App& app);
Verb declare_close(CLI::App& app);
Verb declare_restatements(CLI::App& app);
Verb declare_invoice(CLI::App& app);
Verb declare_price(CLI::App& app);
Verb declare_audit(CLI::App& app);
Verb declare_units(CLI::App& app);
Verb declare_usage(CLI::App& app);
Verb declare_top(CLI::App& app);
Verb declare_serve(CLI::App& app);
Verb declare_backfill(CLI::App& app);
Verb declare_backup(CLI::App& app);
Verb declare_restore(CLI::App& app);
Verb declare_move(CLI::App& app);
Verb declare_sweep(CLI::App& app);
Verb declare_user(CLI::App& app);
Verb declare_token(CLI::App& app);
Verb declare_forecast(CLI::App& app);
Verb declare_budget(CLI::App& app);
Verb declare_anomalies(CLI::App& app);
Verb declare_alerts(CLI::App& app);
Verb declare_advise(CLI::App& app);
Verb declare_catalog(CLI::App& app);
Verb declare_estimate(CLI::App& app);
Verb declare_guard(CLI::App& app);
Verb declare_approvals(CLI::App& app);
Verb declare_compliance(CLI::App& app);

// The examples of a verb's --help: its section of docs/guide/cli-examples.txt, which
// tests/cli/examples.py runs.
std::string examples_footer(std::string_view verb);

}  // namespace pennyweight
