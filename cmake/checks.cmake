# The program, and the checks that are bigger than a room.
if(EXISTS ${PROJECT_SOURCE_DIR}/src/app/main.cc)
  add_executable(pennyweight ${PROJECT_SOURCE_DIR}/src/app/main.cc)
  target_link_libraries(pennyweight PRIVATE room_app)
endif()
add_test(NAME tidy COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/tidy.py
                           ${PROJECT_SOURCE_DIR} ${ROOMS_FILE})
