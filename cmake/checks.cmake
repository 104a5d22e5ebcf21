# The programs, and the checks that are bigger than a module.
add_executable(pennyweight ${PROJECT_SOURCE_DIR}/src/app/cli/main.cc)
target_link_libraries(pennyweight PRIVATE module_app_cli)
# The program that makes bills for demonstrations and tests.
add_executable(pennyweight_generate ${PROJECT_SOURCE_DIR}/testing/generate/tool/main.cc)
set_target_properties(pennyweight_generate PROPERTIES OUTPUT_NAME pennyweight-generate)
target_link_libraries(pennyweight_generate PRIVATE module_testing_generate_tool)

add_test(NAME tidy COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/tidy.py
                           ${PROJECT_SOURCE_DIR} ${MODULES_FILE})
add_test(NAME tidy_self_test COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tests/tidy_test.py)
# Code that must not compile.
add_test(NAME compile_fail
         COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tests/compile_fail/check.py
                 ${PROJECT_SOURCE_DIR}/tests/compile_fail/types.cc
                 ${CMAKE_CXX_COMPILER} -std=c++23 -I${PROJECT_SOURCE_DIR}/src)

# Every other folder of tests/ that has tests declares them in a CMakeLists.txt of its own.
file(GLOB test_folders CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*/CMakeLists.txt)
foreach(file IN LISTS test_folders)
  get_filename_component(folder ${file} DIRECTORY)
  add_subdirectory(${folder})
endforeach()
# What the tests of modules need, without the program, the benchmarks and the simulator: for CI's run under sanitizers.
get_property(checks GLOBAL PROPERTY module_checks)
add_custom_target(module_checks DEPENDS ${checks} run_traps)
