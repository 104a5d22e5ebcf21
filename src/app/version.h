// The program's version, as CMakeLists.txt has it (app/version_test.cc compares them).
#pragma once

namespace pennyweight {

inline constexpr const char* kProgramVersion = "0.1.0";

}  // namespace pennyweight
