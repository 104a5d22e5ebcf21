-- Slurm asks pennyweight before it takes a job (JobSubmitPlugins=lua): refuses what the guardrails
-- refuse, with the reason and the way out, and adds what they add. Put it into the folder of
-- slurm.conf, beside pennyweight.lua, which has the settings.
local folder = debug.getinfo(1, "S").source:match("^@(.*/)") or "/etc/slurm/"
local pennyweight = dofile(folder .. "pennyweight.lua")

-- The numbers of a job by their width: what is not set is 2^bits - 2, and "infinite" 2^bits - 1. Of
-- memory Slurm may leave out the highest bit of what is not set.
local BITS = {
  time_limit = 32, default_time = 32, max_time = 32, min_nodes = 32, max_nodes = 32, num_tasks = 32,
  min_cpus = 32, max_cpus = 32, cpus_per_task = 16, pn_min_cpus = 16, ntasks_per_node = 16,
  ntasks_per_tres = 16, sockets_per_node = 16, shared = 16, min_mem_per_node = 64,
  min_mem_per_cpu = 64,
}
local INFINITE_TIME = 4294967295

local function is_number(value, field)
  if type(value) ~= "number" then return false end
  local bits = BITS[field]
  if bits == 64 then return value < 2.0 ^ 62 end
  return value < 2.0 ^ bits - 2
end

-- nil: not set, infinite, or zero.
local function number(record, field)
  local value = record[field]
  if not is_number(value, field) or value <= 0 then return nil end
  return string.format("%.0f", value)
end

-- "gres:gpu:a100:2,gres:shard:1" as users write it. Of one resource: "a100:2" or "2"; nil where there
-- is none of it.
local function gres(text, resource)
  if not text or text == "" then return nil end
  local parts = {}
  for part in text:gmatch("[^,]+") do
    part = part:gsub("^gres[:/]", "")
    if resource then part = part == resource and "1" or part:match("^" .. resource .. "[:=](.*)$") end
    parts[#parts + 1] = part
  end
  return #parts > 0 and table.concat(parts, ",") or nil
end

local function nodes(job)
  local least, most = number(job, "min_nodes"), number(job, "max_nodes")
  if not least then return most end
  if not most or most == least then return least end
  return least .. "-" .. most
end

-- The partitions of a job: what it names, or the default one.
local function partitions_of(job, partitions)
  if job.partition and job.partition ~= "" then return job.partition end
  for name, partition in pairs(partitions or {}) do
    if partition.flag_default == 1 then return name end
  end
  return nil
end

-- How many minutes Slurm gives to a job without a time: the most of any of its partitions. nil where
-- one has no limit, or is not known.
local function partition_minutes(names, partitions)
  local most
  for name in (names or ""):gmatch("[^,]+") do
    local partition = (partitions or {})[name]
    if not partition then return nil end
    -- A default that is infinite is one.
    local default = partition.default_time
    local limit = number(partition, "default_time")
    if not limit and default ~= INFINITE_TIME then limit = number(partition, "max_time") end
    if not limit then return nil end
    if not most or tonumber(limit) > tonumber(most) then most = limit end
  end
  return most
end

local function time_of(job)
  if job.time_limit == INFINITE_TIME then return "UNLIMITED" end
  return number(job, "time_limit")
end

local function options_of(job, partition)
  local memory = number(job, "min_mem_per_node")
  local per_cpu = number(job, "min_mem_per_cpu")
  local of_gpus = gres(job.mem_per_tres, "gpu")
  return {
    ["job-name"] = job.name,
    account = job.account or job.default_account,
    partition = partition,
    qos = job.qos,
    wckey = job.wckey,
    comment = job.comment,
    constraint = job.features,
    array = job.array_inx,
    time = time_of(job),
    nodes = nodes(job),
    ntasks = number(job, "num_tasks"),
    ["ntasks-per-node"] = number(job, "ntasks_per_node"),
    ["ntasks-per-gpu"] = number(job, "ntasks_per_tres"),
    ["cpus-per-task"] = number(job, "cpus_per_task"),
    ["sockets-per-node"] = number(job, "sockets_per_node"),
    exclusive = job.shared == 0 and "exclusive" or nil,
    mem = memory and memory .. "M",
    ["mem-per-cpu"] = per_cpu and per_cpu .. "M",
    ["mem-per-gpu"] = of_gpus and of_gpus .. "M",
    ["cpus-per-gpu"] = gres(job.cpus_per_tres, "gpu"),
    gres = gres(job.tres_per_node),
    gpus = gres(job.tres_per_job, "gpu"),
    ["gpus-per-task"] = gres(job.tres_per_task, "gpu"),
    ["gpus-per-socket"] = gres(job.tres_per_socket, "gpu"),
  }
end

-- Telling somebody may fail; what is decided stays.
local function tell(text)
  pcall(slurm.log_user, "pennyweight: %s", text)
end

local function refuse(text)
  tell(text)
  return slurm.ERROR
end

-- Changes what the rules change; each was missing.
local function change(job, set)
  for field, value in pairs(set) do
    if field == "time_limit" then
      job.time_limit = tonumber(value)
    elseif field == "qos" or field == "account" or field == "partition" or field == "wckey"
      or field == "comment" then
      job[field] = value
    end
  end
end

-- The comment without its pair approval=TOKEN, which is nobody's business once it is used.
local function without_token(comment)
  local kept = {}
  local separator = comment:find(";", 1, true) and ";" or ","
  for pair in comment:gmatch("[^" .. separator .. "]+") do
    if not pair:match("^%s*approval%s*=") then kept[#kept + 1] = pair end
  end
  return table.concat(kept, separator)
end

local function without_answer(why)
  local shown = pennyweight.one_line(why)
  pcall(slurm.log_error, "pennyweight: %s", shown)
  if pennyweight.without_answer == "open" then return slurm.SUCCESS end
  return refuse("the guardrails can't be asked now (" .. shown
    .. "), and nothing is admitted without them; try again later, or tell your administrators")
end

-- What the guardrails say of the job; true: its user is never asked about.
local function answer_about(job, partitions)
  local user = job.user_name or string.format("%.0f", job.user_id)
  if pennyweight.exempt_users[user] then return true end
  local names = partitions_of(job, partitions)
  local fields = { { "user", user } }
  local limit = partition_minutes(names, partitions)
  if limit then fields[#fields + 1] = { "partition_minutes", limit } end
  return pennyweight.ask(pennyweight.question("submit", fields, options_of(job, names)))
end

local function change_as_answered(job, set)
  change(job, set)
  if job.comment then job.comment = without_token(job.comment) end
end

function slurm_job_submit(job, partitions, _)
  local ran, answer, why = pcall(answer_about, job, partitions)
  if not ran then return without_answer(answer) end
  if answer == true then return slurm.SUCCESS end
  if not answer then return without_answer(why) end
  -- From here on it is decided, and no error admits what was not admitted.
  for _, warning in ipairs(answer.warnings) do tell(warning) end
  if answer.allowed ~= "yes" then return refuse(answer.message or "refused") end
  local changed, problem = pcall(change_as_answered, job, answer.set)
  if changed then return slurm.SUCCESS end
  pcall(slurm.log_error, "pennyweight: %s", pennyweight.one_line(problem))
  return refuse("the job can't be changed as the guardrails change it; tell your administrators")
end

-- What is queued is what was judged, and its user may not change it: neither to more nor to nothing,
-- which is Slurm's default. Only root may. A time limit can only be lowered, which Slurm sees to.
local JUDGED = {
  "min_nodes", "max_nodes", "num_tasks", "min_cpus", "max_cpus", "pn_min_cpus", "cpus_per_task",
  "ntasks_per_node", "ntasks_per_tres", "sockets_per_node", "min_mem_per_node", "min_mem_per_cpu",
  "shared", "tres_per_node", "tres_per_job", "tres_per_task", "tres_per_socket", "cpus_per_tres",
  "mem_per_tres", "array_inx", "name", "partition", "features", "account", "qos", "wckey", "comment",
}

-- The first field that a modification would change; nil: none.
local function judged_change(job, record, uid)
  if uid == 0 or pennyweight.exempt_users[record.user_name or ""] then return nil end
  for _, field in ipairs(JUDGED) do
    local value = job[field]
    if type(value) == "string" or is_number(value, field) then return field end
  end
  return nil
end

function slurm_job_modify(job, record, _, uid)
  local ran, field = pcall(judged_change, job, record, uid)
  if not ran then
    pcall(slurm.log_error, "pennyweight: %s", pennyweight.one_line(field))
    return pennyweight.without_answer == "open" and slurm.SUCCESS or slurm.ERROR
  end
  if not field then return slurm.SUCCESS end
  -- Slurm takes no message for the user here.
  pcall(slurm.log_info, "pennyweight: job %s of %s stays as the guardrails judged it (%s)",
    tostring(record.job_id), tostring(record.user_name), field)
  return slurm.ERROR
end

slurm.log_info("pennyweight: jobs are asked about at %s", pennyweight.socket)
return slurm.SUCCESS
