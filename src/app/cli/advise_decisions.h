// The commands of advise that decide: accept, dismiss, done, verify, reopen; and what came of it.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>

#include "app/cli/shared_options.h"
#include "app/context/context.h"
#include "insight/queries/advice_query.h"

namespace pennyweight {

// The ledger's advice, as selected by the options of `advise`.
struct OpenedAdvice {
  std::unique_ptr<Store> store;
  AdviceQuery query;
  Catalog catalog;
};
using OpenAdvice = std::function<Result<OpenedAdvice>(Context&)>;

struct DecisionVerbs;
std::shared_ptr<DecisionVerbs> declare_advise_decisions(CLI::App& advise);
// Whether one of them was asked for.
bool is_decision(const DecisionVerbs& verbs);
Result<ExitCode> run_decision(const DecisionVerbs& verbs, const OpenAdvice& open,
                              const TableOptions& table, Context& context);

}  // namespace pennyweight
