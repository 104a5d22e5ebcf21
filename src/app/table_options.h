// The options that every verb with tables has.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "app/verb.h"
#include "questions/selection.h"
#include "report/table.h"

namespace pennyweight {

struct TableOptions {
  std::string format = "text";
  int digits = 2;
};

void add_table_options(CLI::App& command, TableOptions& options);
void add_date_options(CLI::App& command, DateOptions& dates);

void print_tables(const std::vector<Table>& tables, const TableOptions& options,
                  const Context& context);

}  // namespace pennyweight
