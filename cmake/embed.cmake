# The tables that are part of the program, so that it stays one file.
embed(fleet gpu_catalog_csv ${PROJECT_SOURCE_DIR}/data/fleet/gpu_catalog.csv)
embed(fleet gpu_aliases_csv ${PROJECT_SOURCE_DIR}/data/fleet/gpu_aliases.csv)
embed(fleet mig_profiles_csv ${PROJECT_SOURCE_DIR}/data/fleet/mig_profiles.csv)
