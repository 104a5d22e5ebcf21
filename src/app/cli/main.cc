// pennyweight, the program.
#include <sys/stat.h>

#include <string>
#include <vector>

#include "app/cli/program.h"

int main(int argc, char** argv) {
  using namespace pennyweight;
  // What is written is for the owner and the group at most: bills, names, and copies of both.
  ::umask(::umask(0) | S_IRWXO | S_IWGRP);
  const std::vector<std::string> words(argv + 1, argv + argc);
  return run_program(
      argc, argv,
      {.name = "pennyweight",
       .purpose = "pennyweight attributes every cent of a GPU bill to who caused it.",
       .declare = [&words](CLI::App& app) -> std::vector<Verb> {
         return {declare_import(app),       declare_allocate(app),   declare_report(app),
                 declare_compare(app),      declare_replay(app),     declare_reconcile(app),
                 declare_explain(app),      declare_export(app),     declare_generate(app, words),
                 declare_doctor(app),       declare_policy(app),     declare_close(app),
                 declare_restatements(app), declare_invoice(app),    declare_price(app),
                 declare_audit(app),        declare_serve(app),      declare_top(app),
                 declare_units(app),        declare_usage(app),      declare_backfill(app),
                 declare_user(app),         declare_token(app),      declare_backup(app),
                 declare_restore(app),      declare_work(app),       declare_sweep(app),
                 declare_move(app),         declare_forecast(app),   declare_budget(app),
                 declare_anomalies(app),    declare_alerts(app),     declare_advise(app),
                 declare_pull(app),         declare_estimate(app),   declare_guard(app),
                 declare_approvals(app),    declare_compliance(app), declare_catalog(app)};
       }});
}
