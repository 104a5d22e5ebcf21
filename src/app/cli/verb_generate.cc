// generate: starts pennyweight-generate, the program that makes bills for demonstrations and tests.
// The verb is its old name, kept for compatibility.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/verb.h"

namespace pennyweight {
namespace {

constexpr const char* kProgram = "pennyweight-generate";

// In the folder of this program if it is there, else wherever PATH finds it.
std::string program_path() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return kProgram;
  const auto beside = self.parent_path() / kProgram;
  return std::filesystem::exists(beside, error) ? beside.string() : kProgram;
}

// Returns only if the other program can't be started.
Result<ExitCode> hand_over(std::vector<std::string> words) {
  if (const auto verb = std::ranges::find(words, "generate"); verb != words.end())
    words.erase(verb);
  words.insert(words.begin(), kProgram);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(program_path().c_str(), arguments.data());
  return fail(ErrorCode::kNotFound,
              fmt::format("cannot start {}: {}; it makes bills for demonstrations and tests, and "
                          "is installed beside pennyweight",
                          kProgram, std::strerror(errno)));
}

}  // namespace

Verb declare_generate(CLI::App& app, std::vector<std::string> words) {
  CLI::App* command =
      app.add_subcommand("generate", "Make a bill for demonstrations: pennyweight-generate");
  command->prefix_command();
  command->fallthrough(false);  // everything behind it is for the other program
  command->set_help_flag("");
  return {command,
          [words = std::move(words)](Context&) mutable { return hand_over(std::move(words)); }};
}

}  // namespace pennyweight
