# The tables that are part of the program, so that it stays one file.
embed(fleet gpu_catalog_csv ${PROJECT_SOURCE_DIR}/data/fleet/gpu_catalog.csv)
embed(fleet gpu_aliases_csv ${PROJECT_SOURCE_DIR}/data/fleet/gpu_aliases.csv)
embed(fleet mig_profiles_csv ${PROJECT_SOURCE_DIR}/data/fleet/mig_profiles.csv)
embed(pricing rates_csv ${PROJECT_SOURCE_DIR}/data/prices/rates.csv)
embed(pricing instance_types_csv ${PROJECT_SOURCE_DIR}/data/prices/instance_types.csv)
embed(pricing host_unit_rates_csv ${PROJECT_SOURCE_DIR}/data/prices/host_unit_rates.csv)
embed(app cli_examples ${PROJECT_SOURCE_DIR}/docs/guide/cli-examples.txt)
embed(config policy_schema_json ${PROJECT_SOURCE_DIR}/docs/schema/policy.schema.json)

# What the API says of itself: its parts, merged.
if(EXISTS ${PROJECT_SOURCE_DIR}/src/api/openapi.cc)
  file(GLOB openapi_parts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/api/openapi/*.yaml)
  add_custom_command(
    OUTPUT ${PROJECT_BINARY_DIR}/openapi.json
    COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/openapi.py
            ${PROJECT_SOURCE_DIR}/docs/api/openapi ${PROJECT_BINARY_DIR}/openapi.json
    DEPENDS ${openapi_parts} ${PROJECT_SOURCE_DIR}/tools/openapi.py)
  embed(api openapi_json ${PROJECT_BINARY_DIR}/openapi.json)
endif()
# The pages, bundled: one file with all that a browser asks for.
if(EXISTS ${PROJECT_SOURCE_DIR}/src/dashboard/pack.cc)
  find_program(NODE node REQUIRED)
  file(GLOB_RECURSE web_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/src/*)
  add_custom_command(
    OUTPUT ${PROJECT_BINARY_DIR}/dashboard.pack
    COMMAND ${NODE} ${PROJECT_SOURCE_DIR}/web/build.mjs ${PROJECT_BINARY_DIR}/dashboard.pack
    DEPENDS ${web_sources} ${PROJECT_SOURCE_DIR}/web/build.mjs ${PROJECT_SOURCE_DIR}/package-lock.json)
  embed(dashboard dashboard_pack ${PROJECT_BINARY_DIR}/dashboard.pack)
endif()
