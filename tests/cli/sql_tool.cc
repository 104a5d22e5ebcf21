// sql_tool FILE STATEMENT: runs SQL on a ledger's file, to corrupt it on purpose.
#include <cstdio>

#include "core/duckdb/database.h"

int main(int argc, char** argv) {
  using namespace pennyweight::duckdb;
  if (argc != 3) return 2;
  auto database = Database::open({.path = argv[1]});
  if (!database) {
    std::fprintf(stderr, "%s\n", database.error().message.c_str());
    return 1;
  }
  auto connection = database->connect();
  if (!connection) return 1;
  const auto changed = connection->change(argv[2]);
  if (!changed) {
    std::fprintf(stderr, "%s\n", changed.error().message.c_str());
    return 1;
  }
  std::printf("%llu\n", static_cast<unsigned long long>(*changed));
  return 0;
}
