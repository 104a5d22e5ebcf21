// The examples of --help, out of the text that a test runs (docs/guide/cli-examples.txt).
//
//   ## verb            begins a section
//   # words            a comment, shown
//   $ command          a command, shown
//   ? 1                the exit code it must have, where that is not 0; not shown
//   > text             a line its output must have; not shown
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
