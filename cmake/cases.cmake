# Runs tests/cases/*.case.
add_executable(run_cases ${PROJECT_SOURCE_DIR}/tests/cases/run_cases.cc)
target_link_libraries(run_cases PRIVATE module_allocation GTest::gtest GTest::gtest_main)
target_compile_definitions(run_cases PRIVATE PROJECT_ROOT=".")
add_test(NAME cases COMMAND run_cases WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
add_test(NAME cases/index COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tests/cases/index_test.py
                                  ${PROJECT_SOURCE_DIR})
add_dependencies(module_checks run_cases)
# Runs tests/replays/*.case.
add_executable(run_replays ${PROJECT_SOURCE_DIR}/tests/replays/run_replays.cc)
target_link_libraries(run_replays PRIVATE module_insight_what_if GTest::gtest GTest::gtest_main)
target_compile_definitions(run_replays PRIVATE PROJECT_ROOT=".")
# What it does is done in other modules: as one that is cold (module.cmake).
target_compile_options(run_replays PRIVATE -Os)
add_test(NAME replays COMMAND run_replays WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
add_dependencies(module_checks run_replays)
