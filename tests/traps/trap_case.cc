#include "trap_case.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "core/instant.h"

namespace pennyweight::traps {
namespace {

std::pair<std::string, std::string> cut(const std::string& text, char at) {
  const std::size_t position = text.find(at);
  if (position == std::string::npos) throw std::runtime_error("expected KEY" + std::string(1, at));
  return {text.substr(0, position), text.substr(position + 1)};
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

telemetry::OutcomeRule rule_of(const std::vector<std::string>& words) {
  telemetry::OutcomeRule rule;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto [key, value] = cut(words[i], '=');
    if (key == "metric") {
      rule.metric = value;
    } else if (key == "measure") {
      rule.measure = value;
    } else if (key == "per") {
      rule.per = std::stoull(value);
    } else if (key == "keep") {
      std::istringstream in(value);
      for (std::string name; std::getline(in, name, ',');) rule.keep.push_back(name);
    } else if (key == "where") {
      const auto [name, wanted] = cut(value, ':');
      rule.where.push_back({name, wanted});
    } else {
      throw std::runtime_error("an outcome has no " + key);
    }
  }
  return rule;
}

class Reader {
 public:
  TrapCase read(std::istream& in) {
    for (std::string line; std::getline(in, line);) {
      ++number_;
      try {
        take(line);
      } catch (const std::exception& error) {
        throw std::runtime_error(fmt::format("line {}: {}", number_, error.what()));
      }
      if (case_.expected.empty()) case_.given += line + "\n";
    }
    return std::move(case_);
  }

 private:
  void take(const std::string& line) {
    if (line.empty() || line.starts_with('#')) return;
    if (line.starts_with("  ")) return indented(line);
    const auto words = words_of(line);
    open_ = nullptr;
    if (words[0] == "target") {
      for (std::size_t i = 1; i < words.size(); ++i) {
        if (words[i] == "honor_labels") {
          case_.honor_labels = true;
        } else {
          case_.target.push_back(label(words[i]));
        }
      }
    } else if (words[0] == "option") {
      const auto [key, value] = cut(words.at(1), '=');
      if (key == "host_usage" && (value == "cadvisor" || value == "resource")) {
        case_.options.host_usage = value == "cadvisor" ? telemetry::HostUsageSource::kCadvisor
                                                       : telemetry::HostUsageSource::kResource;
        return;
      }
      if (key != "cluster_label") throw std::runtime_error("there is no option " + key);
      case_.options.cluster_label = value;
    } else if (words[0] == "outcome") {
      case_.options.outcomes.push_back(rule_of(words));
    } else if (words[0] == "at" || words[0] == "ends") {
      const auto at = parse_instant("2026-03-01T" + words.at(1) + "Z");
      if (!at) throw std::runtime_error(at.error().message);
      Scrape scrape{.at_ms = unix_ms(*at), .ends = words[0] == "ends", .text = {}, .sender = {}};
      for (std::size_t i = 2; i < words.size(); ++i) scrape.sender.push_back(label(words[i]));
      case_.scrapes.push_back(std::move(scrape));
      open_ = &case_.scrapes.back().text;
    } else if (words[0] == "meaning" || words[0] == "readings" || words[0] == "rows") {
      case_.expected.push_back({words[0], ""});
      open_ = &case_.expected.back().lines;
    } else {
      throw std::runtime_error("no block begins with '" + words[0] + "'");
    }
  }

  void indented(const std::string& line) {
    if (open_ == nullptr) throw std::runtime_error("an indented line outside of a block");
    const bool sample = case_.expected.empty();
    *open_ += sample ? line.substr(line.find_first_not_of(' ')) : line;
    if (sample && case_.scrapes.back().ends) *open_ += " NaN";
    *open_ += "\n";
  }

  static prometheus::Label label(const std::string& word) {
    auto [key, value] = cut(word, '=');
    return {std::move(key), std::move(value)};
  }

  TrapCase case_{.options = {.cluster = ClusterId("c")}};
  std::string* open_ = nullptr;
  int number_ = 0;
};

}  // namespace

TrapCase read_case(const std::filesystem::path& file) {
  std::ifstream in(file);
  return Reader().read(in);
}

}  // namespace pennyweight::traps
