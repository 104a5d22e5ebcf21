// The program's version. CMakeLists.txt states it too; app/context/version_test.cc compares them.
#pragma once

namespace pennyweight {

inline constexpr const char* kProgramVersion = "0.1.0";

}  // namespace pennyweight
