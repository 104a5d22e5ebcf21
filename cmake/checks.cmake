# The program, and the checks that are bigger than a room.
if(EXISTS ${PROJECT_SOURCE_DIR}/src/app/main.cc)
  add_executable(pennyweight ${PROJECT_SOURCE_DIR}/src/app/main.cc)
  target_link_libraries(pennyweight PRIVATE room_app)
endif()

add_test(NAME tidy COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/tidy.py
                           ${PROJECT_SOURCE_DIR} ${ROOMS_FILE})
add_test(NAME tidy_self_test COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tests/tidy_test.py)
# Code that must not compile.
add_test(NAME compile_fail
         COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tests/compile_fail/check.py
                 ${PROJECT_SOURCE_DIR}/tests/compile_fail/types.cc
                 ${CMAKE_CXX_COMPILER} -std=c++23 -I${PROJECT_SOURCE_DIR}/src)

# Every other folder of tests/ that wants to be run says how in a CMakeLists.txt of its own.
file(GLOB test_folders CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*/CMakeLists.txt)
foreach(file IN LISTS test_folders)
  get_filename_component(folder ${file} DIRECTORY)
  add_subdirectory(${folder})
endforeach()
