// pennyweight-generate, the program.
#include "app/cli/program.h"
#include "testing/generate/tool/verb_bill.h"

int main(int argc, char** argv) {
  using namespace pennyweight;
  return run_program(
      argc, argv,
      {.name = "pennyweight-generate",
       .purpose = "pennyweight-generate makes bills for demonstrations and tests.",
       .declare = [](CLI::App& app) -> std::vector<Verb> { return {declare_bill(app)}; }});
}
