#include "ingest/manifests/slurm_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/plain_text.h"

namespace pennyweight::manifests {
namespace {

enum class SlurmArgument { kNone, kOptional, kRequired };

struct SlurmOption {
  std::string_view name;
  char letter;  // '\0': none
  SlurmArgument argument;
};

// Those that decide what a job gets, and those whose value must not be taken for the script.
constexpr SlurmOption kSlurmOptions[] = {
    {"account", 'A', SlurmArgument::kRequired},
    {"array", 'a', SlurmArgument::kRequired},
    {"begin", 'b', SlurmArgument::kRequired},
    {"chdir", 'D', SlurmArgument::kRequired},
    {"clusters", 'M', SlurmArgument::kRequired},
    {"comment", '\0', SlurmArgument::kRequired},
    {"constraint", 'C', SlurmArgument::kRequired},
    {"cpus-per-gpu", '\0', SlurmArgument::kRequired},
    {"cpus-per-task", 'c', SlurmArgument::kRequired},
    {"dependency", 'd', SlurmArgument::kRequired},
    {"distribution", 'm', SlurmArgument::kRequired},
    {"error", 'e', SlurmArgument::kRequired},
    {"exclude", 'x', SlurmArgument::kRequired},
    {"exclusive", '\0', SlurmArgument::kOptional},
    {"export", '\0', SlurmArgument::kRequired},
    {"gpu-bind", '\0', SlurmArgument::kRequired},
    {"gpu-freq", '\0', SlurmArgument::kRequired},
    {"gpus", 'G', SlurmArgument::kRequired},
    {"gpus-per-node", '\0', SlurmArgument::kRequired},
    {"gpus-per-socket", '\0', SlurmArgument::kRequired},
    {"gpus-per-task", '\0', SlurmArgument::kRequired},
    {"gres", '\0', SlurmArgument::kRequired},
    {"hint", '\0', SlurmArgument::kRequired},
    {"input", 'i', SlurmArgument::kRequired},
    {"job-name", 'J', SlurmArgument::kRequired},
    {"licenses", 'L', SlurmArgument::kRequired},
    {"mail-type", '\0', SlurmArgument::kRequired},
    {"mail-user", '\0', SlurmArgument::kRequired},
    {"mem", '\0', SlurmArgument::kRequired},
    {"mem-per-cpu", '\0', SlurmArgument::kRequired},
    {"mem-per-gpu", '\0', SlurmArgument::kRequired},
    {"mincpus", '\0', SlurmArgument::kRequired},
    {"mpi", '\0', SlurmArgument::kRequired},
    {"nodelist", 'w', SlurmArgument::kRequired},
    {"nodes", 'N', SlurmArgument::kRequired},
    {"ntasks", 'n', SlurmArgument::kRequired},
    {"ntasks-per-core", '\0', SlurmArgument::kRequired},
    {"ntasks-per-gpu", '\0', SlurmArgument::kRequired},
    {"ntasks-per-node", '\0', SlurmArgument::kRequired},
    {"ntasks-per-socket", '\0', SlurmArgument::kRequired},
    {"open-mode", '\0', SlurmArgument::kRequired},
    {"output", 'o', SlurmArgument::kRequired},
    {"partition", 'p', SlurmArgument::kRequired},
    {"qos", 'q', SlurmArgument::kRequired},
    {"reservation", '\0', SlurmArgument::kRequired},
    {"signal", '\0', SlurmArgument::kRequired},
    {"sockets-per-node", '\0', SlurmArgument::kRequired},
    {"time", 't', SlurmArgument::kRequired},
    {"time-min", '\0', SlurmArgument::kRequired},
    {"tmp", '\0', SlurmArgument::kRequired},
    {"tres-per-task", '\0', SlurmArgument::kRequired},
    {"wckey", '\0', SlurmArgument::kRequired},
};

const SlurmOption* find_long(std::string_view name) {
  const auto* const at = std::ranges::find(kSlurmOptions, name, &SlurmOption::name);
  return at == std::end(kSlurmOptions) ? nullptr : at;
}

const SlurmOption* find_letter(char letter) {
  const auto* const at = std::ranges::find(kSlurmOptions, letter, &SlurmOption::letter);
  return at == std::end(kSlurmOptions) ? nullptr : at;
}

std::unexpected<Error> no_value(std::string_view word) {
  return fail(ErrorCode::kBadValue,
              fmt::format("'{}' has no value behind it", printable_text(word, 60)));
}

}  // namespace

Result<std::vector<std::string>> shell_words(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool is_word = false;
  char quote = '\0';
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != '\0') {
      if (c == quote) {
        quote = '\0';
      } else if (c == '\\' && quote == '"' && i + 1 < line.size()) {
        word.push_back(line[++i]);
      } else {
        word.push_back(c);
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      is_word = true;
    } else if (c == '\\' && i + 1 < line.size()) {
      word.push_back(line[++i]);
      is_word = true;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      if (is_word) words.push_back(std::exchange(word, ""));
      is_word = false;
    } else if (c == '#' && !is_word) {
      break;
    } else {
      word.push_back(c);
      is_word = true;
    }
  }
  if (quote != '\0') return fail(ErrorCode::kBadValue, "a quote has no end in this line");
  if (is_word) words.push_back(std::move(word));
  return words;
}

Result<void> add_slurm_options(const std::vector<std::string>& words, SlurmOptions& options) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word.size() < 2 || word[0] != '-') return {};
    const SlurmOption* option = nullptr;
    std::string_view value;
    bool has_value = false;
    if (word[1] == '-') {
      const std::size_t equals = word.find('=');
      has_value = equals != std::string_view::npos;
      if (has_value) value = word.substr(equals + 1);
      option = find_long(word.substr(2, has_value ? equals - 2 : std::string_view::npos));
    } else {
      option = find_letter(word[1]);
      has_value = word.size() > 2;
      if (has_value) value = word.substr(word[2] == '=' ? 3 : 2);
    }
    if (option == nullptr) continue;
    if (!has_value && option->argument == SlurmArgument::kRequired) {
      if (i + 1 >= words.size()) return no_value(word);
      value = words[++i];
    }
    options.insert_or_assign(std::string(option->name), std::string(value));
  }
  return {};
}

}  // namespace pennyweight::manifests
