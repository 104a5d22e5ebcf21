-- Slurm asks pennyweight before it takes a job (JobSubmitPlugins=lua): refuses what the guardrails
-- refuse, with the reason and the way out, and adds what they add. Put it into the folder of
-- slurm.conf, beside pennyweight.lua, which has the settings.
local folder = debug.getinfo(1, "S").source:match("^@(.*/)") or "/etc/slurm/"
local pennyweight = dofile(folder .. "pennyweight.lua")

-- Numbers that are not set; of 16, 32 and 64 bits, and "infinite".
local ABSENT = {
  [65534] = true, [4294967294] = true, [18446744073709551614] = true,
  [65535] = true, [4294967295] = true, [18446744073709551615] = true,
}

local function number(value)
  if type(value) ~= "number" or ABSENT[value] or value <= 0 then return nil end
  return string.format("%.0f", value)
end

-- "gres:gpu:a100:2,gres:shard:1" as users write it. Of one resource: "a100:2" or "2".
local function gres(text, resource)
  if not text or text == "" then return nil end
  local parts = {}
  for part in text:gmatch("[^,]+") do
    part = part:gsub("^gres[:/]", "")
    if resource then
      if part == resource then
        part = "1"
      else
        part = part:match("^" .. resource .. "[:=](.*)$") or part
      end
    end
    parts[#parts + 1] = part
  end
  return table.concat(parts, ",")
end

local function nodes(job)
  local least, most = number(job.min_nodes), number(job.max_nodes)
  if not least then return most end
  if not most or most == least then return least end
  return least .. "-" .. most
end

-- The partition of a job that names none, and the limit that Slurm gives to one without a time.
local function partition_of(job, partitions)
  local names = job.partition
  if not names or names == "" then
    for name, partition in pairs(partitions or {}) do
      if partition.flag_default == 1 then return name, partition end
    end
    return nil, nil
  end
  return names, partitions and partitions[names:match("^[^,]+")]
end

local function options_of(job, partition)
  local memory = number(job.min_mem_per_node)
  local per_cpu = number(job.min_mem_per_cpu)
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
    time = number(job.time_limit),
    nodes = nodes(job),
    ntasks = number(job.num_tasks),
    ["ntasks-per-node"] = number(job.ntasks_per_node),
    ["cpus-per-task"] = number(job.cpus_per_task),
    ["sockets-per-node"] = number(job.sockets_per_node),
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

local function refuse(text)
  slurm.log_user("pennyweight: " .. text)
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
  slurm.log_error("pennyweight: %s", tostring(why))
  if pennyweight.without_answer == "closed" then
    return refuse("the guardrails can't be asked now (" .. tostring(why)
      .. "), and nothing is admitted without them; try again later, or tell your administrators")
  end
  return slurm.SUCCESS
end

local function submit(job, partitions)
  local user = job.user_name or tostring(job.user_id)
  if pennyweight.exempt_users[user] then return slurm.SUCCESS end
  local name, partition = partition_of(job, partitions)
  local fields = { { "user", user } }
  local limit = partition and (number(partition.default_time) or number(partition.max_time))
  if limit then fields[#fields + 1] = { "partition_minutes", limit } end
  local answer, why = pennyweight.ask(pennyweight.question("submit", fields, options_of(job, name)))
  if not answer then return without_answer(why) end
  for _, warning in ipairs(answer.warnings) do slurm.log_user("pennyweight: " .. warning) end
  if answer.allowed == "no" then return refuse(answer.message or "refused") end
  change(job, answer.set)
  if job.comment then job.comment = without_token(job.comment) end
  return slurm.SUCCESS
end

function slurm_job_submit(job, partitions, _)
  local ran, result = pcall(submit, job, partitions)
  if ran then return result end
  return without_answer(result)
end

-- What is queued is what was judged: its size may not be changed by its user. Operators may.
local SIZES = {
  "min_nodes", "max_nodes", "num_tasks", "min_cpus", "max_cpus", "pn_min_cpus", "cpus_per_task",
  "ntasks_per_node", "min_mem_per_node", "min_mem_per_cpu", "tres_per_node", "tres_per_job",
  "tres_per_task", "tres_per_socket", "array_inx", "account", "qos", "wckey", "comment",
}

function slurm_job_modify(job, record, _, uid)
  if uid == 0 or pennyweight.exempt_users[record.user_name or ""] then return slurm.SUCCESS end
  for _, field in ipairs(SIZES) do
    local value = job[field]
    local is_set = (type(value) == "string" and value ~= "") or number(value)
    if is_set then
      -- Slurm takes no message for the user here.
      slurm.log_info("pennyweight: job %s of %s stays as the guardrails judged it (%s)",
        tostring(record.job_id), tostring(record.user_name), field)
      return slurm.ERROR
    end
  end
  return slurm.SUCCESS
end

slurm.log_info("pennyweight: jobs are asked about at %s", pennyweight.socket)
return slurm.SUCCESS
