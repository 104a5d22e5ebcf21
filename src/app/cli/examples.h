// Reads the examples of --help from docs/guide/cli-examples.txt, which a test runs.
//
//   ## verb            begins a section
//   # words            a comment, shown
//   $ command          a command, shown
//   ? 1                the expected exit code, if not 0; not shown
//   > text             a line that the output must contain; not shown
#pragma once

#include <string>
#include <string_view>

namespace pennyweight {

namespace embedded {
std::string_view cli_examples();
}

// The comments and commands of one section, each line indented; empty where there is none.
std::string examples_section(std::string_view text, std::string_view verb);

}  // namespace pennyweight
