# The tables that are part of the program, so that it stays one file.
embed(fleet gpu_catalog_csv ${PROJECT_SOURCE_DIR}/data/fleet/gpu_catalog.csv)
embed(fleet gpu_aliases_csv ${PROJECT_SOURCE_DIR}/data/fleet/gpu_aliases.csv)
embed(fleet mig_profiles_csv ${PROJECT_SOURCE_DIR}/data/fleet/mig_profiles.csv)
embed(pricing rates_csv ${PROJECT_SOURCE_DIR}/data/prices/rates.csv)
embed(pricing instance_types_csv ${PROJECT_SOURCE_DIR}/data/prices/instance_types.csv)
embed(pricing host_unit_rates_csv ${PROJECT_SOURCE_DIR}/data/prices/host_unit_rates.csv)
embed(app cli_examples ${PROJECT_SOURCE_DIR}/docs/guide/cli-examples.txt)
embed(config policy_schema_json ${PROJECT_SOURCE_DIR}/docs/schema/policy.schema.json)
