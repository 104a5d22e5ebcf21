# module(name [COLD] [DEPS module…] [LIBS library…] [TEST_DEPS module…] [TEST_LIBS library…] [TESTS_ONLY])
# makes one library of the folder src/<name>, or of <name> if it begins with testing/. TEST_DEPS and
# TEST_LIBS are what its tests and fuzzers need besides.
#   x.cc, x.h      the library module_<name>
#   x_test.cc      all together the program <name>_test, which ctest runs as <name>
#   x_fuzz.cc      each a fuzzer, <name>_x_fuzz; without FUZZ one program, fuzz_replay, replays the
#                  seeds of all fuzzers
#   main.cc        not in the library: it is for a program of the module's own
# The target module_checks builds these tests and fuzzers, without the programs that other tests need.
# COLD: its code runs once a command, a request or an event, and calls other modules for whatever
# takes time. It is optimised less (-Og), which compiles in half the time.
# TESTS_ONLY: no other module may depend on it.
set(MODULES_FILE ${PROJECT_BINARY_DIR}/modules.txt)
file(WRITE ${MODULES_FILE} "")

# The headers that nearly every source includes, compiled once: for the optimised libraries, for the
# cold ones, and for the tests. A source still includes what it uses; a precompiled header only makes that cheap.
set(standard_headers
    <algorithm> <array> <bit> <charconv> <chrono> <compare> <cstddef> <cstdint> <cstring> <filesystem>
    <fstream> <functional> <iterator> <limits> <map> <memory> <mutex> <numeric> <optional> <set> <span>
    <sstream> <string> <string_view> <thread> <tuple> <unordered_map> <utility> <variant> <vector>
    <fmt/format.h>)
file(WRITE ${PROJECT_BINARY_DIR}/precompiled.cc "")
add_library(precompiled OBJECT ${PROJECT_BINARY_DIR}/precompiled.cc)
target_link_libraries(precompiled PRIVATE fmt::fmt)
target_precompile_headers(precompiled PRIVATE ${standard_headers})
add_library(precompiled_cold OBJECT ${PROJECT_BINARY_DIR}/precompiled.cc)
target_link_libraries(precompiled_cold PRIVATE fmt::fmt)
target_precompile_headers(precompiled_cold PRIVATE ${standard_headers})
add_library(precompiled_test OBJECT ${PROJECT_BINARY_DIR}/precompiled.cc)
target_link_libraries(precompiled_test PRIVATE fmt::fmt GTest::gtest GTest::gmock rapidcheck)
target_precompile_headers(precompiled_test PRIVATE ${standard_headers}
                          <gtest/gtest.h> <gmock/gmock.h> <rapidcheck/gtest.h>)
if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
  set(cold_options -Og)
  target_compile_options(precompiled_cold PRIVATE ${cold_options})
  # What is tested is optimised. The tests themselves need not be, and compile in half the time.
  set(test_options -O0 -g0 -U_FORTIFY_SOURCE)  # which needs optimisation
  target_compile_options(precompiled_test PRIVATE ${test_options})
elseif(SANITIZE)
  # Tests are watched as the modules are, since the linker keeps one copy of what a header has inline.
  set(test_options -g0)
  if(FUZZ)
    list(APPEND test_options -fno-sanitize=fuzzer-no-link)
  endif()
  target_compile_options(precompiled_test PRIVATE ${test_options})
endif()

function(module name)
  cmake_parse_arguments(MODULE "COLD;TESTS_ONLY" "" "DEPS;LIBS;TEST_DEPS;TEST_LIBS" ${ARGN})
  string(REPLACE "/" "_" id ${name})
  set(deps)
  foreach(dep IN LISTS MODULE_DEPS)
    string(REPLACE "/" "_" dep_id ${dep})
    if(NOT TARGET module_${dep_id})
      message(FATAL_ERROR "${name} depends on ${dep}, which is not declared before it: a cycle or a typo")
    endif()
    if(${dep} IN_LIST MODULES_FOR_TESTS)
      message(FATAL_ERROR "${name} depends on ${dep}, which is TESTS_ONLY")
    endif()
    if(dep MATCHES "^testing/" AND NOT name MATCHES "^testing/")
      message(FATAL_ERROR "${name} depends on ${dep}; the product must not depend on testing/")
    endif()
    list(APPEND deps module_${dep_id})
  endforeach()
  set(test_deps)
  foreach(dep IN LISTS MODULE_TEST_DEPS)
    string(REPLACE "/" "_" dep_id ${dep})
    list(APPEND test_deps module_${dep_id})
  endforeach()
  list(JOIN MODULE_DEPS " " dep_names)
  list(JOIN MODULE_TEST_DEPS " " test_dep_names)
  file(APPEND ${MODULES_FILE} "${name}: ${dep_names}: ${test_dep_names}\n")

  if(MODULE_TESTS_ONLY)
    set(MODULES_FOR_TESTS ${MODULES_FOR_TESTS} ${name} PARENT_SCOPE)
  endif()

  set(folder ${PROJECT_SOURCE_DIR}/src/${name})
  set(includes ${PROJECT_SOURCE_DIR}/src)
  if(name MATCHES "^testing/")
    set(folder ${PROJECT_SOURCE_DIR}/${name})
    list(APPEND includes ${PROJECT_SOURCE_DIR})
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cc)
  set(tests ${sources})
  set(fuzzers ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cc$")
  list(FILTER sources EXCLUDE REGEX "(_test|_fuzz|/main)\\.cc$")
  if(sources)
    add_library(module_${id} STATIC ${sources})
    if(MODULE_COLD)
      target_precompile_headers(module_${id} REUSE_FROM precompiled_cold)
      target_compile_options(module_${id} PRIVATE ${cold_options})
    else()
      target_precompile_headers(module_${id} REUSE_FROM precompiled)
    endif()
    set_target_properties(module_${id} PROPERTIES UNITY_BUILD ${UNITY} UNITY_BUILD_BATCH_SIZE 16)
    if(UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # GCC warns where a class has members of types in an anonymous namespace, unless both are in the
      # source itself; in a unity build every source is included.
      target_compile_options(module_${id} PRIVATE -Wno-subobject-linkage)
    endif()
    set(scope PUBLIC)
  else()
    add_library(module_${id} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(module_${id} ${scope} ${includes})
  target_link_libraries(module_${id} ${scope} ${deps} ${MODULE_LIBS})

  if(tests)
    add_executable(${id}_test ${tests})
    target_precompile_headers(${id}_test REUSE_FROM precompiled_test)
    target_include_directories(${id}_test PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${id}_test PRIVATE module_${id} ${test_deps} GTest::gtest GTest::gmock
                          GTest::gtest_main rapidcheck ${MODULE_TEST_LIBS})
    target_compile_options(${id}_test PRIVATE ${test_options})
    # Most of what a small test costs is reading the precompiled header.
    set_target_properties(${id}_test PROPERTIES UNITY_BUILD ${UNITY} UNITY_BUILD_BATCH_SIZE 12)
    if(UNITY)
      target_compile_options(${id}_test PRIVATE -Wno-shadow)  # of what another test has by `using`
    endif()
    # Relative paths, so that every clone compiles the same bytes; tests run at the top of the tree.
    target_compile_definitions(${id}_test PRIVATE TEST_DATA="tests/data" PROJECT_ROOT=".")
    add_test(NAME ${name} COMMAND ${id}_test WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_property(GLOBAL APPEND PROPERTY module_checks ${id}_test)
  endif()
  foreach(fuzzer IN LISTS fuzzers)
    get_filename_component(base ${fuzzer} NAME_WE)
    set(target ${id}_${base})
    set(corpus ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${target})
    if(FUZZ)
      add_executable(${target} ${fuzzer})
      set_property(GLOBAL APPEND PROPERTY module_checks ${target})
      target_precompile_headers(${target} REUSE_FROM precompiled)
      target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
      target_link_libraries(${target} PRIVATE module_${id} ${test_deps})
      target_link_options(${target} PRIVATE -fsanitize=fuzzer)
      add_test(NAME fuzz_replay/${target} COMMAND ${target} -runs=0 ${corpus})
      # A short run from the seeds, for script/fuzz; FUZZ_SECONDS makes it longer.
      add_test(NAME fuzz/${target} COMMAND ${PROJECT_SOURCE_DIR}/tests/fuzz/run $<TARGET_FILE:${target}> ${corpus})
      set_tests_properties(fuzz/${target} PROPERTIES LABELS fuzz)
    else()
      # Every fuzzer's entry point has the same name; in fuzz_replay each needs a name of its own.
      set_property(GLOBAL APPEND PROPERTY replayed_fuzzers ${target})
      add_library(${target} OBJECT ${fuzzer})
      target_precompile_headers(${target} REUSE_FROM precompiled_test)
      target_compile_options(${target} PRIVATE ${test_options})
      target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
      target_compile_definitions(${target} PRIVATE LLVMFuzzerTestOneInput=${target})
      target_link_libraries(${target} PUBLIC module_${id} ${test_deps} PRIVATE GTest::gtest)
      add_test(NAME fuzz_replay/${target} COMMAND fuzz_replay ${target} ${corpus})
    endif()
  endforeach()
endfunction()

# Makes the program that replays the seeds of every fuzzer. Call it after the last module.
function(fuzz_replay)
  if(FUZZ)
    return()
  endif()
  get_property(fuzzers GLOBAL PROPERTY replayed_fuzzers)
  set(declared "")
  set(listed "")
  foreach(fuzzer IN LISTS fuzzers)
    string(APPEND declared "extern \"C\" int ${fuzzer}(const std::uint8_t*, std::size_t);\n")
    string(APPEND listed "    {\"${fuzzer}\", ${fuzzer}},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/fuzzers.cc @ONLY CONTENT
"// The fuzzers of this build, by name.
#include <map>

#include \"tests/fuzz/replay.h\"

@declared@
const std::map<std::string_view, FuzzEntry>& fuzzers() {
  static const std::map<std::string_view, FuzzEntry> all = {
@listed@  };
  return all;
}
")
  add_executable(fuzz_replay ${PROJECT_SOURCE_DIR}/tests/fuzz/replay.cc ${PROJECT_BINARY_DIR}/fuzzers.cc)
  target_include_directories(fuzz_replay PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(fuzz_replay PRIVATE ${fuzzers})
endfunction()

# embed(module symbol file) compiles a file into the program, so that the program stays one file. The
# function `std::string_view symbol()` of namespace pennyweight::embedded returns its bytes; the module
# declares it in a header of its own.
function(embed module symbol file)
  string(REPLACE "/" "_" id ${module})
  set(base ${PROJECT_BINARY_DIR}/embedded/${symbol})
  file(WRITE ${base}.S.in
"    .section .rodata
    .balign 16
    .global pennyweight_embedded_${symbol}
    .global pennyweight_embedded_${symbol}_end
pennyweight_embedded_${symbol}:
    .incbin \"${file}\"
pennyweight_embedded_${symbol}_end:
    .byte 0
    .section .note.GNU-stack,\"\",%progbits
")
  configure_file(${base}.S.in ${base}.S COPYONLY)
  file(WRITE ${base}.cc.in
"#include <string_view>
extern \"C\" const char pennyweight_embedded_${symbol}[];
extern \"C\" const char pennyweight_embedded_${symbol}_end[];
namespace pennyweight::embedded {
std::string_view ${symbol}();
std::string_view ${symbol}() {
  return {pennyweight_embedded_${symbol},
          static_cast<std::size_t>(pennyweight_embedded_${symbol}_end - pennyweight_embedded_${symbol})};
}
}  // namespace pennyweight::embedded
")
  configure_file(${base}.cc.in ${base}.cc COPYONLY)
  set_source_files_properties(${base}.S PROPERTIES OBJECT_DEPENDS ${file})
  target_sources(module_${id} PRIVATE ${base}.S ${base}.cc)
endfunction()
