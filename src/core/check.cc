#include "core/check.h"

#include <string>

namespace pennyweight {

void check_failed(const char* condition, const char* why, const char* file, int line) {
  throw InvariantError(std::string(file) + ":" + std::to_string(line) + ": " + condition + ": " +
                       why);
}

}  // namespace pennyweight
