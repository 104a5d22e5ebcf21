# Each bench/<name>.cc is a program bench_<name>. ctest runs each with a small input, to check its answer
# and not its speed.
add_executable(bench_import_focus ${PROJECT_SOURCE_DIR}/bench/import_focus.cc)
target_link_libraries(bench_import_focus PRIVATE module_ledger_store_duckdb module_ingest_bills_focus module_core_duckdb)
add_test(NAME bench/import_focus
         COMMAND bench_import_focus --rows 3000 --folder ${PROJECT_BINARY_DIR}/bench/import_focus)
add_executable(bench_bills ${PROJECT_SOURCE_DIR}/bench/bills.cc
               ${PROJECT_SOURCE_DIR}/bench/bills_made.cc)
target_link_libraries(bench_bills PRIVATE module_ledger_store_duckdb module_ingest_bills_focus module_ingest_bills_aws
                      module_ingest_bills_azure module_ingest_bills_gcp module_testing_generate_bills module_reporting_export
                      module_core_duckdb)
add_test(NAME bench/bills
         COMMAND bench_bills --rows 1000 --folder ${PROJECT_BINARY_DIR}/bench/bills)
add_executable(bench_store_append ${PROJECT_SOURCE_DIR}/bench/store_append.cc)
target_link_libraries(bench_store_append PRIVATE module_ledger_store_duckdb)
add_test(NAME bench/store_append
         COMMAND bench_store_append --rows 20000 --folder ${PROJECT_BINARY_DIR}/bench/store_append)
add_executable(bench_store_usage ${PROJECT_SOURCE_DIR}/bench/store_usage.cc)
target_link_libraries(bench_store_usage PRIVATE module_ledger_store_duckdb)
add_test(NAME bench/store_usage
         COMMAND bench_store_usage --gpus 4 --folder ${PROJECT_BINARY_DIR}/bench/store_usage)
add_executable(bench_advise ${PROJECT_SOURCE_DIR}/bench/advise.cc)
target_link_libraries(bench_advise PRIVATE module_insight_queries module_ledger_store_duckdb module_core_duckdb)
add_test(NAME bench/advise
         COMMAND bench_advise --gpus 80 --days 8 --folder ${PROJECT_BINARY_DIR}/bench/advise)
add_executable(bench_allocate ${PROJECT_SOURCE_DIR}/bench/allocate.cc
               ${PROJECT_SOURCE_DIR}/bench/allocate_sql.cc
               ${PROJECT_SOURCE_DIR}/bench/allocate_world.cc)
target_link_libraries(bench_allocate PRIVATE module_allocation module_core_duckdb)
add_test(NAME bench/allocate COMMAND bench_allocate --gpus 300 --days 1 --hourly 1 --runs 1)
add_executable(bench_ingest_load ${PROJECT_SOURCE_DIR}/bench/ingest_load.cc
               ${PROJECT_SOURCE_DIR}/bench/ingest_fleet.cc)
target_link_libraries(bench_ingest_load PRIVATE module_telemetry_prometheus Threads::Threads)
add_test(NAME bench/ingest
         COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/bench/ingest.py
                 $<TARGET_FILE:bench_ingest_load> --tiny --pennyweight $<TARGET_FILE:pennyweight>
                 --sql-tool $<TARGET_FILE:sql_tool>)
set_tests_properties(bench/ingest PROPERTIES TIMEOUT 300)
# Without kills and rotations.
add_test(NAME bench/admission
         COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/bench/admission.py $<TARGET_FILE:pennyweight>
                 --calm --seconds 1 --rate 40)
# Beside VictoriaMetrics; skipped without it.
add_test(NAME bench/real_rate
         COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/bench/real_rate.py --tiny
                 --pennyweight $<TARGET_FILE:pennyweight> --sql-tool $<TARGET_FILE:sql_tool>)
set_tests_properties(bench/real_rate PROPERTIES LABELS real TIMEOUT 300 SKIP_RETURN_CODE 77)
add_executable(bench_serve_ledger ${PROJECT_SOURCE_DIR}/bench/serve_ledger.cc)
target_link_libraries(bench_serve_ledger PRIVATE module_ledger_store_duckdb)
add_executable(bench_serve_direct ${PROJECT_SOURCE_DIR}/bench/serve_direct.cc)
target_link_libraries(bench_serve_direct PRIVATE module_ledger_store_duckdb module_reporting_rollup)
add_test(NAME bench/serve
         COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/bench/serve.py --tiny
                 --programs ${PROJECT_BINARY_DIR} --pennyweight $<TARGET_FILE:pennyweight>)
set_tests_properties(bench/serve PROPERTIES TIMEOUT 300)
# Checks that a file and one ClickHouse server give the same answers. Skipped without ClickHouse.
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
target_link_libraries(bench_ingest_parts PRIVATE module_telemetry_prometheus module_telemetry_live)
add_test(NAME bench/ingest_parts
         COMMAND bench_ingest_parts --gpus 50 --minutes 3
                 --folder ${PROJECT_BINARY_DIR}/bench/ingest_parts)
add_executable(bench_forecast ${PROJECT_SOURCE_DIR}/bench/forecast.cc)
target_link_libraries(bench_forecast PRIVATE module_insight_forecast Threads::Threads)
add_test(NAME bench/forecast COMMAND bench_forecast --simulated 3 --speed 5)
add_executable(bench_exposition ${PROJECT_SOURCE_DIR}/bench/exposition.cc)
target_link_libraries(bench_exposition PRIVATE module_telemetry_prometheus)
add_test(NAME bench/exposition COMMAND bench_exposition --gpus 40 --runs 1)
add_executable(bench_replay ${PROJECT_SOURCE_DIR}/bench/replay.cc)
target_link_libraries(bench_replay PRIVATE module_insight_replay)
add_test(NAME bench/replay COMMAND bench_replay --jobs 500,2000 --gpus 160)
