# bench/<name>.cc: a program bench_<name>. ctest runs each one small, for its answers, not its speed.
if(EXISTS ${PROJECT_SOURCE_DIR}/src/store/duckdb/duckdb_store.cc)
  add_executable(bench_import_focus ${PROJECT_SOURCE_DIR}/bench/import_focus.cc)
  target_link_libraries(bench_import_focus PRIVATE room_store_duckdb room_ingest_focus room_duckdb)
  add_test(NAME bench/import_focus
           COMMAND bench_import_focus --rows 3000 --folder ${PROJECT_BINARY_DIR}/bench/import_focus)
  add_executable(bench_bills ${PROJECT_SOURCE_DIR}/bench/bills.cc
                 ${PROJECT_SOURCE_DIR}/bench/bills_made.cc)
  target_link_libraries(bench_bills PRIVATE room_store_duckdb room_ingest_focus room_ingest_aws
                        room_ingest_azure room_ingest_gcp room_simulate_bills room_export
                        room_duckdb)
  add_test(NAME bench/bills
           COMMAND bench_bills --rows 1000 --folder ${PROJECT_BINARY_DIR}/bench/bills)
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
  add_executable(bench_ingest_load ${PROJECT_SOURCE_DIR}/bench/ingest_load.cc
                 ${PROJECT_SOURCE_DIR}/bench/ingest_fleet.cc)
  target_link_libraries(bench_ingest_load PRIVATE room_ingest_prometheus Threads::Threads)
  add_test(NAME bench/ingest
           COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/bench/ingest.py
                   $<TARGET_FILE:bench_ingest_load> --tiny --pennyweight $<TARGET_FILE:pennyweight>
                   --sql-tool $<TARGET_FILE:sql_tool>)
  set_tests_properties(bench/ingest PROPERTIES TIMEOUT 300)
  add_executable(bench_serve_ledger ${PROJECT_SOURCE_DIR}/bench/serve_ledger.cc)
  target_link_libraries(bench_serve_ledger PRIVATE room_store_duckdb)
  add_executable(bench_serve_direct ${PROJECT_SOURCE_DIR}/bench/serve_direct.cc)
  target_link_libraries(bench_serve_direct PRIVATE room_store_duckdb room_rollup)
  add_test(NAME bench/serve
           COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/bench/serve.py --tiny
                   --programs ${PROJECT_BINARY_DIR} --pennyweight $<TARGET_FILE:pennyweight>)
  set_tests_properties(bench/serve PROPERTIES TIMEOUT 300)
  # A file and one ClickHouse server say the same. Skipped where ClickHouse is not installed.
  add_test(NAME bench/scale
           COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/bench/scale.py
                   $<TARGET_FILE:pennyweight> --tiny --stores file,one)
  add_test(NAME bench/commits
           COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/bench/commits.py
                   $<TARGET_FILE:pennyweight> --tiny)
  set_tests_properties(bench/scale bench/commits PROPERTIES
                       LABELS real TIMEOUT 600 SKIP_RETURN_CODE 77)
  add_executable(bench_ingest_parts ${PROJECT_SOURCE_DIR}/bench/ingest_parts.cc
                 ${PROJECT_SOURCE_DIR}/bench/ingest_fleet.cc)
  target_link_libraries(bench_ingest_parts PRIVATE room_ingest_prometheus room_live)
  add_test(NAME bench/ingest_parts
           COMMAND bench_ingest_parts --gpus 50 --minutes 3
                   --folder ${PROJECT_BINARY_DIR}/bench/ingest_parts)
  add_executable(bench_exposition ${PROJECT_SOURCE_DIR}/bench/exposition.cc)
  target_link_libraries(bench_exposition PRIVATE room_ingest_prometheus)
  add_test(NAME bench/exposition COMMAND bench_exposition --gpus 40 --runs 1)
endif()
