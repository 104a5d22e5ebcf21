# How everything is compiled: warnings are errors; presets choose sanitizers; ccache and lld are used
# where present.
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-fpch-preprocess)  # ccache needs it to recognise a precompiled header
endif()
add_compile_options(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 sees overflows in std::string's own code that are not there (GCC bugs 105329, 105651), the
  # more so the more it inlines. clang and the sanitizers look for real ones.
  add_compile_options(-Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # clang reports GCC 12's own std::stable_sort, which calls a function that GCC 12 deprecates.
  add_compile_options(-Wno-deprecated-declarations)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
  # Line tables are enough for a stack trace, and halve the size of the objects.
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Quick")
  set(CMAKE_CXX_FLAGS_QUICK "-O0 -g0")
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1")
endif()

set(SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize= takes them")
if(SANITIZE)
  add_compile_options(-fsanitize=${SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${SANITIZE})
  add_compile_definitions(PENNYWEIGHT_SANITIZED)  # for tests that take many times as long then
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # With sanitizers GCC 12 reports std::regex's own members as uninitialised (GCC bug 105562).
    add_compile_options(-Wno-maybe-uninitialized)
  endif()
endif()
option(COVERAGE "Instrument for gcov" OFF)
if(COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()
# What users run notices a smashed stack, a jump to where no function begins, and a copy that is
# larger than its target. Sanitizers see more, and their checks exclude these.
set(HARDENED OFF)
if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo" AND NOT SANITIZE AND NOT COVERAGE)
  set(HARDENED ON)
  string(APPEND CMAKE_CXX_FLAGS_RELWITHDEBINFO
         " -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fstack-clash-protection")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    string(APPEND CMAKE_CXX_FLAGS_RELWITHDEBINFO " -fcf-protection")
  endif()
endif()
# Once a program has started, nothing that says where calls go can be written, and no stack is run.
add_link_options(-Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)

option(FUZZ "Build the fuzzers with libFuzzer (clang)" OFF)
if(FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  # Paths relative to the tree, so that every clone finds the same objects.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
      CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()
# lld links in a quarter of the time. GCC finds it only as "ld.lld" in a folder that -B names.
find_program(LLD NAMES ld.lld-19 ld.lld)
if(LLD AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_link_options(--ld-path=${LLD})
elseif(LLD)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/linker)
  file(CREATE_LINK ${LLD} ${PROJECT_BINARY_DIR}/linker/ld.lld SYMBOLIC)
  add_link_options(-B${PROJECT_BINARY_DIR}/linker -fuse-ld=lld)
endif()
