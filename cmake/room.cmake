# room(name [DEPS room…] [LIBS library…] [TEST_LIBS library…] [TESTS_ONLY]): the folder src/<name>,
# one library; TEST_LIBS are what its tests alone need.
#   x.cc, x.h      the library room_<name>
#   x_test.cc      all together one program, <name>_test, run by ctest as <name>
#   x_fuzz.cc      a fuzzer each, <name>_x_fuzz; without FUZZ it can only replay its corpus
#   main.cc        not in the library: a program of the room's own
# TESTS_ONLY: no other room may depend on it.
set(ROOMS_FILE ${PROJECT_BINARY_DIR}/rooms.txt)
file(WRITE ${ROOMS_FILE} "")

if(NOT FUZZ)
  # What gives a fuzzer a main() where libFuzzer does not.
  add_library(fuzz_replay OBJECT ${PROJECT_SOURCE_DIR}/tests/fuzz/replay.cc)
endif()

function(room name)
  cmake_parse_arguments(ROOM "TESTS_ONLY" "" "DEPS;LIBS;TEST_LIBS" ${ARGN})
  string(REPLACE "/" "_" id ${name})
  set(deps)
  foreach(dep IN LISTS ROOM_DEPS)
    string(REPLACE "/" "_" dep_id ${dep})
    if(NOT TARGET room_${dep_id})
      message(FATAL_ERROR "${name} depends on ${dep}, which is declared after it: a cycle or a typo")
    endif()
    if(${dep} IN_LIST ROOMS_FOR_TESTS)
      message(FATAL_ERROR "${name} depends on ${dep}, which is for tests only")
    endif()
    list(APPEND deps room_${dep_id})
  endforeach()
  list(JOIN ROOM_DEPS " " dep_names)
  file(APPEND ${ROOMS_FILE} "${name}: ${dep_names}\n")

  if(ROOM_TESTS_ONLY)
    set(ROOMS_FOR_TESTS ${ROOMS_FOR_TESTS} ${name} PARENT_SCOPE)
  endif()

  set(folder ${PROJECT_SOURCE_DIR}/src/${name})
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cc)
  set(tests ${sources})
  set(fuzzers ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cc$")
  list(FILTER sources EXCLUDE REGEX "(_test|_fuzz|/main)\\.cc$")
  if(sources)
    add_library(room_${id} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(room_${id} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(room_${id} ${scope} ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(room_${id} ${scope} ${deps} ${ROOM_LIBS})

  if(tests)
    add_executable(${id}_test ${tests})
    target_link_libraries(${id}_test PRIVATE room_${id} GTest::gtest GTest::gmock GTest::gtest_main rapidcheck
                          ${ROOM_TEST_LIBS})
    if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
      # What is tested is optimised; the tests themselves need not be, and take half as long to build.
      target_compile_options(${id}_test PRIVATE -O0)
    endif()
    # Relative, so that every clone compiles the same bytes: tests run at the top of the tree.
    target_compile_definitions(${id}_test PRIVATE TEST_DATA="tests/data" PROJECT_ROOT=".")
    add_test(NAME ${name} COMMAND ${id}_test WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  endif()
  foreach(fuzzer IN LISTS fuzzers)
    get_filename_component(base ${fuzzer} NAME_WE)
    set(target ${id}_${base})
    set(corpus ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${target})
    add_executable(${target} ${fuzzer})
    target_link_libraries(${target} PRIVATE room_${id})
    if(FUZZ)
      target_link_options(${target} PRIVATE -fsanitize=fuzzer)
      add_test(NAME fuzz_replay/${target} COMMAND ${target} -runs=0 ${corpus})
      # A short run from the seeds, for script/fuzz; FUZZ_SECONDS=600 for real.
      add_test(NAME fuzz/${target} COMMAND ${PROJECT_SOURCE_DIR}/tests/fuzz/run $<TARGET_FILE:${target}> ${corpus})
      set_tests_properties(fuzz/${target} PROPERTIES LABELS fuzz)
    else()
      target_link_libraries(${target} PRIVATE fuzz_replay)
      add_test(NAME fuzz_replay/${target} COMMAND ${target} ${corpus})
    endif()
  endforeach()
endfunction()

# embed(room symbol file): the bytes of a file as `const std::string_view symbol()` of namespace
# pennyweight::embedded, declared by the room in a header of its own. The program stays one file.
function(embed room symbol file)
  string(REPLACE "/" "_" id ${room})
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
  target_sources(room_${id} PRIVATE ${base}.S ${base}.cc)
endfunction()
