-- The tables of a ledger of version 2, as the first programs made them.
CREATE TABLE charges (
  charge_id UUID, natural_key UUID, import_number UBIGINT, source_line UBIGINT,
  billing_month VARCHAR, billing_account_id VARCHAR, billing_account_name VARCHAR,
  sub_account_id VARCHAR, sub_account_name VARCHAR, billing_period_start TIMESTAMP_MS,
  billing_period_end TIMESTAMP_MS, charge_period_start TIMESTAMP_MS,
  charge_period_end TIMESTAMP_MS, invoice_id VARCHAR, invoice_issuer_name VARCHAR,
  service_provider_name VARCHAR, charge_category VARCHAR, is_correction BOOLEAN,
  charge_frequency VARCHAR, charge_description VARCHAR, service_category VARCHAR,
  service_subcategory VARCHAR, service_name VARCHAR, region_id VARCHAR, availability_zone VARCHAR,
  resource_id VARCHAR, resource_name VARCHAR, resource_type VARCHAR, sku_id VARCHAR,
  sku_meter VARCHAR, sku_price_id VARCHAR, sku_price_details VARCHAR, instance_type VARCHAR,
  tags MAP(VARCHAR, VARCHAR), currency VARCHAR, billed_cost DECIMAL(38,18),
  effective_cost DECIMAL(38,18), list_cost DECIMAL(38,18), contracted_cost DECIMAL(38,18),
  pricing_category VARCHAR, pricing_quantity DECIMAL(38,18), pricing_unit VARCHAR,
  list_unit_price DECIMAL(38,18), contracted_unit_price DECIMAL(38,18),
  consumed_quantity DECIMAL(38,18), consumed_unit VARCHAR, commitment_discount_id VARCHAR,
  commitment_discount_category VARCHAR, commitment_discount_type VARCHAR,
  commitment_discount_status VARCHAR, capacity_reservation_id VARCHAR,
  capacity_reservation_status VARCHAR, cluster VARCHAR, pool VARCHAR, other_columns VARCHAR);
CREATE TABLE holdings (
  holding_id UUID, content UUID, import_number UBIGINT, source_line UBIGINT, cluster VARCHAR,
  workload VARCHAR, attempt VARCHAR, held_from TIMESTAMP_MS, held_to TIMESTAMP_MS, ended BOOLEAN,
  suspended_ms UBIGINT, device VARCHAR, gpu_model VARCHAR, placement VARCHAR, cpu_milli UBIGINT,
  memory_bytes UBIGINT, claim VARCHAR, gpu_group VARCHAR, is_reservation BOOLEAN,
  labels MAP(VARCHAR, VARCHAR));
CREATE TABLE nodes (
  node_id UUID, content UUID, import_number UBIGINT, source_line UBIGINT, cluster VARCHAR,
  name VARCHAR, provider_id VARCHAR, instance_type VARCHAR, region VARCHAR, pool VARCHAR,
  gpu_model VARCHAR, gpu_count UINTEGER, shard_count UINTEGER, mps_count UINTEGER, sharing VARCHAR,
  gpu_replicas UINTEGER, replicas_renamed BOOLEAN, cpu_milli UBIGINT, memory_bytes UBIGINT,
  valid_from TIMESTAMP_MS, valid_to TIMESTAMP_MS);
CREATE TABLE gpus (
  gpu_id UUID, content UUID, import_number UBIGINT, source_line UBIGINT, cluster VARCHAR,
  node VARCHAR, uuid VARCHAR, gpu_index UINTEGER, model VARCHAR, memory_bytes UBIGINT,
  mig_instances STRUCT(id VARCHAR, profile VARCHAR)[], valid_from TIMESTAMP_MS,
  valid_to TIMESTAMP_MS);
CREATE TABLE usages (
  usage_id UUID, content UUID, import_number UBIGINT, source_line UBIGINT, cluster VARCHAR,
  node VARCHAR, gpu VARCHAR, mig_instance VARCHAR, mig_profile VARCHAR, model VARCHAR,
  observed_at TIMESTAMP_MS, gpu_util_ppm UBIGINT, engine_active_ppm UBIGINT, sm_active_ppm UBIGINT,
  memory_used_bytes UBIGINT, memory_total_bytes UBIGINT, power_milliwatts UBIGINT,
  energy_millijoules UBIGINT, workload VARCHAR, of_workload BOOLEAN);
CREATE TABLE outages (
  outage_id UUID, content UUID, import_number UBIGINT, source_line UBIGINT, cluster VARCHAR,
  node VARCHAR, gpu VARCHAR, out_from TIMESTAMP_MS, out_to TIMESTAMP_MS, reason VARCHAR);
CREATE TABLE corrections (
  correction_id UUID, content UUID, import_number UBIGINT, source_line UBIGINT, cluster VARCHAR,
  name VARCHAR, booked_from TIMESTAMP_MS, booked_to TIMESTAMP_MS, moved_from MAP(VARCHAR, VARCHAR),
  moved_to MAP(VARCHAR, VARCHAR), currency VARCHAR, amount DECIMAL(38,18), reason VARCHAR,
  author VARCHAR);
CREATE TABLE postings (
  run_id UBIGINT, charge_id UUID, kind VARCHAR, component VARCHAR, posted_from TIMESTAMP_MS,
  posted_to TIMESTAMP_MS, day DATE, node VARCHAR, gpu VARCHAR, workload VARCHAR, holding_id UUID,
  weight HUGEINT, currency VARCHAR, billed_cost DECIMAL(38,18), effective_cost DECIMAL(38,18),
  list_cost DECIMAL(38,18), contracted_cost DECIMAL(38,18), gpu_time HUGEINT, memory_time HUGEINT,
  observed_time HUGEINT);
CREATE TABLE runs (
  run_id UBIGINT, cluster VARCHAR, month VARCHAR, number UBIGINT, is_current BOOLEAN,
  policy VARCHAR, policy_version UUID, catalog_version UUID, time_zone VARCHAR,
  program_version VARCHAR, made_at TIMESTAMP_MS, postings UBIGINT, postings_digest UUID,
  dimensions_digest UUID, postings_sum UUID);
CREATE TABLE run_dimensions (run_id UBIGINT, workload VARCHAR, dimension VARCHAR, value VARCHAR);
CREATE TABLE imports (
  number UBIGINT, format VARCHAR, name VARCHAR, file_hash UUID, imported_at TIMESTAMP_MS,
  charges UBIGINT, holdings UBIGINT, nodes UBIGINT, gpus UBIGINT, usages UBIGINT,
  outages UBIGINT, corrections UBIGINT, rejected UBIGINT);
CREATE TABLE rejected_rows (
  row_id UUID, import_number UBIGINT, file VARCHAR, line UBIGINT, column_name VARCHAR,
  reason VARCHAR, row_text VARCHAR);
CREATE VIEW current_postings AS
  SELECT r.cluster, r.month, p.* FROM postings p JOIN runs r USING (run_id) WHERE r.is_current;
CREATE TABLE schema_version (version UBIGINT);
INSERT INTO schema_version VALUES (2);
