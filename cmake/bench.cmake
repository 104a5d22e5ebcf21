# bench/<name>.cc: a program bench_<name>. ctest runs each one small, for its answers, not its speed.
if(NOT FUZZ AND EXISTS ${PROJECT_SOURCE_DIR}/src/store/duckdb/duckdb_store.cc)
  add_executable(bench_import_focus ${PROJECT_SOURCE_DIR}/bench/import_focus.cc)
  target_link_libraries(bench_import_focus PRIVATE room_store_duckdb room_ingest_focus room_duckdb)
  add_test(NAME bench/import_focus
           COMMAND bench_import_focus --rows 3000 --folder ${PROJECT_BINARY_DIR}/bench/import_focus)
  add_executable(bench_store_append ${PROJECT_SOURCE_DIR}/bench/store_append.cc)
  target_link_libraries(bench_store_append PRIVATE room_store_duckdb)
  add_test(NAME bench/store_append
           COMMAND bench_store_append --rows 20000 --folder ${PROJECT_BINARY_DIR}/bench/store_append)
  add_executable(bench_store_usage ${PROJECT_SOURCE_DIR}/bench/store_usage.cc)
  target_link_libraries(bench_store_usage PRIVATE room_store_duckdb)
  add_test(NAME bench/store_usage
           COMMAND bench_store_usage --gpus 4 --folder ${PROJECT_BINARY_DIR}/bench/store_usage)
  add_executable(bench_allocate ${PROJECT_SOURCE_DIR}/bench/allocate.cc
                 ${PROJECT_SOURCE_DIR}/bench/allocate_sql.cc
                 ${PROJECT_SOURCE_DIR}/bench/allocate_world.cc)
  target_link_libraries(bench_allocate PRIVATE room_allocate room_duckdb)
  add_test(NAME bench/allocate COMMAND bench_allocate --gpus 300 --days 1 --hourly 1 --runs 1)
endif()
