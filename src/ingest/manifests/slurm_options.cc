#include "ingest/manifests/slurm_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/plain_text.h"
#include "core/try.h"

namespace pennyweight::manifests {
namespace {

enum class SlurmArgument { kNone, kOptional, kRequired };

struct SlurmOption {
  std::string_view name;
  char letter;  // '\0': none
  SlurmArgument argument;
};

// The options of sbatch, srun and salloc: those that decide what a job gets, and all others, so
// that no value is taken for the script, and a name may be shortened as getopt_long(3) allows.
constexpr SlurmOption kSlurmOptions[] = {
    {"accel-bind", '\0', SlurmArgument::kRequired},
    {"account", 'A', SlurmArgument::kRequired},
    {"acctg-freq", '\0', SlurmArgument::kRequired},
    {"array", 'a', SlurmArgument::kRequired},
    {"batch", '\0', SlurmArgument::kRequired},
    {"bb", '\0', SlurmArgument::kRequired},
    {"bbf", '\0', SlurmArgument::kRequired},
    {"bcast", '\0', SlurmArgument::kOptional},
    {"bcast-exclude", '\0', SlurmArgument::kRequired},
    {"begin", 'b', SlurmArgument::kRequired},
    {"bell", '\0', SlurmArgument::kNone},
    {"chdir", 'D', SlurmArgument::kRequired},
    {"cluster", '\0', SlurmArgument::kRequired},
    {"cluster-constraint", '\0', SlurmArgument::kRequired},
    {"clusters", 'M', SlurmArgument::kRequired},
    {"comment", '\0', SlurmArgument::kRequired},
    {"compress", '\0', SlurmArgument::kOptional},
    {"constraint", 'C', SlurmArgument::kRequired},
    {"container", '\0', SlurmArgument::kRequired},
    {"container-id", '\0', SlurmArgument::kRequired},
    {"contiguous", '\0', SlurmArgument::kNone},
    {"core-spec", 'S', SlurmArgument::kRequired},
    {"cores-per-socket", '\0', SlurmArgument::kRequired},
    {"cpu-bind", '\0', SlurmArgument::kRequired},
    {"cpu-freq", '\0', SlurmArgument::kRequired},
    {"cpu_bind", '\0', SlurmArgument::kRequired},
    {"cpus-per-gpu", '\0', SlurmArgument::kRequired},
    {"cpus-per-task", 'c', SlurmArgument::kRequired},
    {"deadline", '\0', SlurmArgument::kRequired},
    {"delay-boot", '\0', SlurmArgument::kRequired},
    {"dependency", 'd', SlurmArgument::kRequired},
    {"disable-status", '\0', SlurmArgument::kNone},
    {"distribution", 'm', SlurmArgument::kRequired},
    {"epilog", '\0', SlurmArgument::kRequired},
    {"error", 'e', SlurmArgument::kRequired},
    {"exact", '\0', SlurmArgument::kNone},
    {"exclude", 'x', SlurmArgument::kRequired},
    {"exclusive", '\0', SlurmArgument::kOptional},
    {"export", '\0', SlurmArgument::kRequired},
    {"export-file", '\0', SlurmArgument::kRequired},
    {"external-launcher", '\0', SlurmArgument::kNone},
    {"extra", '\0', SlurmArgument::kRequired},
    {"extra-node-info", 'B', SlurmArgument::kRequired},
    {"get-user-env", '\0', SlurmArgument::kOptional},
    {"gid", '\0', SlurmArgument::kRequired},
    {"gpu-bind", '\0', SlurmArgument::kRequired},
    {"gpu-freq", '\0', SlurmArgument::kRequired},
    {"gpus", 'G', SlurmArgument::kRequired},
    {"gpus-per-node", '\0', SlurmArgument::kRequired},
    {"gpus-per-socket", '\0', SlurmArgument::kRequired},
    {"gpus-per-task", '\0', SlurmArgument::kRequired},
    {"gres", '\0', SlurmArgument::kRequired},
    {"gres-flags", '\0', SlurmArgument::kRequired},
    {"help", 'h', SlurmArgument::kNone},
    {"het-group", '\0', SlurmArgument::kRequired},
    {"hint", '\0', SlurmArgument::kRequired},
    {"hold", 'H', SlurmArgument::kNone},
    {"ignore-pbs", '\0', SlurmArgument::kNone},
    {"immediate", 'I', SlurmArgument::kOptional},
    {"input", 'i', SlurmArgument::kRequired},
    {"interactive", '\0', SlurmArgument::kNone},
    {"job-name", 'J', SlurmArgument::kRequired},
    {"jobid", '\0', SlurmArgument::kRequired},
    {"kill-command", '\0', SlurmArgument::kOptional},
    {"kill-on-bad-exit", 'K', SlurmArgument::kOptional},
    {"kill-on-invalid-dep", '\0', SlurmArgument::kRequired},
    {"label", 'l', SlurmArgument::kNone},
    {"licenses", 'L', SlurmArgument::kRequired},
    {"mail-type", '\0', SlurmArgument::kRequired},
    {"mail-user", '\0', SlurmArgument::kRequired},
    {"max-exit-timeout", '\0', SlurmArgument::kRequired},
    {"mcs-label", '\0', SlurmArgument::kRequired},
    {"mem", '\0', SlurmArgument::kRequired},
    {"mem-bind", '\0', SlurmArgument::kRequired},
    {"mem-per-cpu", '\0', SlurmArgument::kRequired},
    {"mem-per-gpu", '\0', SlurmArgument::kRequired},
    {"mem_bind", '\0', SlurmArgument::kRequired},
    {"mincores", '\0', SlurmArgument::kRequired},
    {"mincpus", '\0', SlurmArgument::kRequired},
    {"minsockets", '\0', SlurmArgument::kRequired},
    {"minthreads", '\0', SlurmArgument::kRequired},
    {"mpi", '\0', SlurmArgument::kRequired},
    {"msg-timeout", '\0', SlurmArgument::kRequired},
    {"multi-prog", '\0', SlurmArgument::kNone},
    {"network", '\0', SlurmArgument::kRequired},
    {"nice", '\0', SlurmArgument::kOptional},
    {"no-allocate", 'Z', SlurmArgument::kNone},
    {"no-bell", '\0', SlurmArgument::kNone},
    {"no-kill", 'k', SlurmArgument::kOptional},
    {"no-requeue", '\0', SlurmArgument::kNone},
    {"no-shell", '\0', SlurmArgument::kNone},
    {"nodefile", 'F', SlurmArgument::kRequired},
    {"nodelist", 'w', SlurmArgument::kRequired},
    {"nodes", 'N', SlurmArgument::kRequired},
    {"ntasks", 'n', SlurmArgument::kRequired},
    {"ntasks-per-core", '\0', SlurmArgument::kRequired},
    {"ntasks-per-gpu", '\0', SlurmArgument::kRequired},
    {"ntasks-per-node", '\0', SlurmArgument::kRequired},
    {"ntasks-per-socket", '\0', SlurmArgument::kRequired},
    {"ntasks-per-tres", '\0', SlurmArgument::kRequired},
    {"oom-kill-step", '\0', SlurmArgument::kRequired},
    {"open-mode", '\0', SlurmArgument::kRequired},
    {"output", 'o', SlurmArgument::kRequired},
    {"overcommit", 'O', SlurmArgument::kNone},
    {"overlap", '\0', SlurmArgument::kNone},
    {"oversubscribe", 's', SlurmArgument::kNone},
    {"parsable", '\0', SlurmArgument::kNone},
    {"partition", 'p', SlurmArgument::kRequired},
    {"power", '\0', SlurmArgument::kRequired},
    {"prefer", '\0', SlurmArgument::kRequired},
    {"preserve-env", 'E', SlurmArgument::kNone},
    {"priority", '\0', SlurmArgument::kRequired},
    {"profile", '\0', SlurmArgument::kRequired},
    {"prolog", '\0', SlurmArgument::kRequired},
    {"propagate", '\0', SlurmArgument::kOptional},
    {"pty", '\0', SlurmArgument::kOptional},
    {"qos", 'q', SlurmArgument::kRequired},
    {"quiet", 'Q', SlurmArgument::kNone},
    {"quit-on-interrupt", '\0', SlurmArgument::kNone},
    {"reboot", '\0', SlurmArgument::kNone},
    {"relative", 'r', SlurmArgument::kRequired},
    {"requeue", '\0', SlurmArgument::kNone},
    {"reservation", '\0', SlurmArgument::kRequired},
    {"resv-ports", '\0', SlurmArgument::kOptional},
    {"segment", '\0', SlurmArgument::kRequired},
    {"send-libs", '\0', SlurmArgument::kOptional},
    {"share", '\0', SlurmArgument::kNone},
    {"signal", '\0', SlurmArgument::kRequired},
    {"slurmd-debug", '\0', SlurmArgument::kRequired},
    {"sockets-per-node", '\0', SlurmArgument::kRequired},
    {"spread-job", '\0', SlurmArgument::kNone},
    {"stepmgr", '\0', SlurmArgument::kNone},
    {"switches", '\0', SlurmArgument::kRequired},
    {"task-epilog", '\0', SlurmArgument::kRequired},
    {"task-prolog", '\0', SlurmArgument::kRequired},
    {"tasks-per-node", '\0', SlurmArgument::kRequired},
    {"test-only", '\0', SlurmArgument::kNone},
    {"thread-spec", '\0', SlurmArgument::kRequired},
    {"threads", 'T', SlurmArgument::kRequired},
    {"threads-per-core", '\0', SlurmArgument::kRequired},
    {"time", 't', SlurmArgument::kRequired},
    {"time-min", '\0', SlurmArgument::kRequired},
    {"tmp", '\0', SlurmArgument::kRequired},
    {"tree-width", '\0', SlurmArgument::kRequired},
    {"tres-bind", '\0', SlurmArgument::kRequired},
    {"tres-per-task", '\0', SlurmArgument::kRequired},
    {"uid", '\0', SlurmArgument::kRequired},
    {"umask", '\0', SlurmArgument::kRequired},
    {"unbuffered", 'u', SlurmArgument::kNone},
    {"usage", '\0', SlurmArgument::kNone},
    {"use-min-nodes", '\0', SlurmArgument::kNone},
    {"verbose", 'v', SlurmArgument::kNone},
    {"version", 'V', SlurmArgument::kNone},
    {"wait", 'W', SlurmArgument::kOptional},
    {"wait-all-nodes", '\0', SlurmArgument::kRequired},
    {"wait-for-switch", '\0', SlurmArgument::kRequired},
    {"wckey", '\0', SlurmArgument::kRequired},
    {"whole", '\0', SlurmArgument::kNone},
    {"wrap", '\0', SlurmArgument::kRequired},
    {"x11", '\0', SlurmArgument::kOptional},
};

// Other names of an option.
constexpr std::pair<std::string_view, std::string_view> kSlurmSynonyms[] = {
    {"cluster", "clusters"}, {"share", "oversubscribe"}, {"tasks-per-node", "ntasks-per-node"}};

// The option of a long name, or of the beginning of one that begins no other; null: none is.
Result<const SlurmOption*> find_long(std::string_view name) {
  const SlurmOption* found = nullptr;
  for (const SlurmOption& option : kSlurmOptions) {
    if (option.name == name) return &option;
    if (!option.name.starts_with(name)) continue;
    if (found != nullptr) {
      return fail(ErrorCode::kBadValue,
                  fmt::format("'--{}' may be --{} or --{}, so Slurm refuses it",
                              printable_text(name, 60), found->name, option.name));
    }
    found = &option;
  }
  return found;
}

const SlurmOption* find_letter(char letter) {
  const auto* const at = std::ranges::find(kSlurmOptions, letter, &SlurmOption::letter);
  return at == std::end(kSlurmOptions) ? nullptr : at;
}

std::string_view slurm_option_name(std::string_view name) {
  for (const auto& [other, means] : kSlurmSynonyms) {
    if (other == name) return means;
  }
  return name;
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

Result<SlurmOptionWords> add_slurm_options(const std::vector<std::string>& words,
                                           SlurmOptions& options) {
  SlurmOptionWords read;
  for (; read.count < words.size(); ++read.count) {
    const std::string_view word = words[read.count];
    if (word == "--") {
      ++read.count;
      return read;
    }
    if (word.size() < 2 || word[0] != '-') return read;
    const SlurmOption* option = nullptr;
    std::string_view value;
    bool has_value = false;
    if (word[1] == '-') {
      const std::size_t equals = word.find('=');
      has_value = equals != std::string_view::npos;
      if (has_value) value = word.substr(equals + 1);
      const SlurmOption* const found =
          TRY(find_long(word.substr(2, has_value ? equals - 2 : std::string_view::npos)));
      option = found;
    } else {
      // Letters without a value may stand together: "-vH".
      std::size_t at = 1;
      option = find_letter(word[at]);
      while (option != nullptr && option->argument == SlurmArgument::kNone &&
             at + 1 < word.size()) {
        options.insert_or_assign(std::string(option->name), "");
        option = find_letter(word[++at]);
      }
      has_value = word.size() > at + 1;
      if (has_value) value = word.substr(word[at + 1] == '=' ? at + 2 : at + 1);
    }
    if (option == nullptr) {
      read.unknown.emplace_back(printable_text(word.substr(0, word.find('=')), 60));
      const bool may_have_value = word[1] != '-' || !has_value;
      const bool is_last = read.count + 1 >= words.size();
      if (!may_have_value || is_last || words[read.count + 1].starts_with('-')) continue;
      read.is_certain = false;
      ++read.count;
      continue;
    }
    if (!has_value && option->argument == SlurmArgument::kRequired) {
      if (read.count + 1 >= words.size()) return no_value(word);
      value = words[++read.count];
    }
    options.insert_or_assign(std::string(slurm_option_name(option->name)), std::string(value));
  }
  return read;
}

}  // namespace pennyweight::manifests
