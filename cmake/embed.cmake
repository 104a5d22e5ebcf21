# Tables and pages that are part of the program, so that it stays one file.
embed(core/gpu gpu_catalog_csv ${PROJECT_SOURCE_DIR}/data/fleet/gpu_catalog.csv)
embed(core/gpu gpu_aliases_csv ${PROJECT_SOURCE_DIR}/data/fleet/gpu_aliases.csv)
embed(core/gpu xid_codes_csv ${PROJECT_SOURCE_DIR}/data/fleet/xid_codes.csv)
embed(core/gpu mig_profiles_csv ${PROJECT_SOURCE_DIR}/data/fleet/mig_profiles.csv)
embed(allocation/pricing rates_csv ${PROJECT_SOURCE_DIR}/data/prices/rates.csv)
embed(allocation/pricing instance_types_csv ${PROJECT_SOURCE_DIR}/data/prices/instance_types.csv)
embed(allocation/pricing host_unit_rates_csv ${PROJECT_SOURCE_DIR}/data/prices/host_unit_rates.csv)
embed(app/cli cli_examples ${PROJECT_SOURCE_DIR}/docs/guide/cli-examples.txt)
embed(config policy_schema_json ${PROJECT_SOURCE_DIR}/docs/schema/policy.schema.json)

# The OpenAPI document, merged from its parts.
file(GLOB openapi_parts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/api/openapi/*.yaml)
add_custom_command(
  OUTPUT ${PROJECT_BINARY_DIR}/openapi.json
  COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/openapi.py
          ${PROJECT_SOURCE_DIR}/docs/api/openapi ${PROJECT_BINARY_DIR}/openapi.json
  DEPENDS ${openapi_parts} ${PROJECT_SOURCE_DIR}/tools/openapi.py)
embed(server/api openapi_json ${PROJECT_BINARY_DIR}/openapi.json)
# The pages, bundled into one file with everything that a browser requests.
find_program(NODE node REQUIRED)
file(GLOB_RECURSE web_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/src/*)
add_custom_command(
  OUTPUT ${PROJECT_BINARY_DIR}/dashboard.pack
  COMMAND ${NODE} ${PROJECT_SOURCE_DIR}/web/build.mjs ${PROJECT_BINARY_DIR}/dashboard.pack
  DEPENDS ${web_sources} ${PROJECT_SOURCE_DIR}/web/build.mjs ${PROJECT_SOURCE_DIR}/package-lock.json)
embed(server/dashboard dashboard_pack ${PROJECT_BINARY_DIR}/dashboard.pack)
