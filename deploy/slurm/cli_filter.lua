-- sbatch, srun and salloc say what a job costs before it is submitted, and what the guardrails would
-- say to it (CliFilterPlugins=lua). Only advice: what counts is job_submit.lua, since users may leave
-- this out. Put it into the folder of slurm.conf, beside pennyweight.lua, which has the settings.
local folder = debug.getinfo(1, "S").source:match("^@(.*/)") or "/etc/slurm/"
local pennyweight = dofile(folder .. "pennyweight.lua")

local NAMES = {
  "job-name", "account", "partition", "qos", "wckey", "comment", "constraint", "array", "time", "nodes",
  "ntasks", "ntasks-per-node", "ntasks-per-gpu", "cpus-per-task", "sockets-per-node", "mem", "mem-per-cpu",
  "mem-per-gpu", "cpus-per-gpu", "gres", "gpus", "gpus-per-node", "gpus-per-task", "gpus-per-socket",
}
-- What Slurm gives for an option that nobody has set; memory is then "unset" or "0".
local UNSET = { ["-1"] = true, ["-2"] = true, ["0"] = true, ["(null)"] = true, ["unset"] = true,
                ["4294967294"] = true, ["65534"] = true, ["NONE"] = true, ["no"] = true,
                ["1-0"] = true, ["2982616-04:14:00"] = true }

local function options_of(options)
  local stated = {}
  for _, name in ipairs(NAMES) do
    local value = options[name]
    local is_unset = UNSET[value] and not (name:match("^mem") and tonumber(value) and value ~= "0")
    if type(value) == "string" and not is_unset then
      stated[name] = value:gsub("gres:gpu:", ""):gsub("gres:", "")
    end
  end
  -- One task is what Slurm gives where none is stated, too; then --ntasks-per-gpu says how many.
  if stated["ntasks-per-gpu"] and stated.gpus and stated.ntasks == "1" then stated.ntasks = nil end
  if stated.gres then stated.gres = options.gres:gsub("gres:", "") end
  local exclusive = options.exclusive
  if exclusive == "exclusive" then stated.exclusive = exclusive end
  return stated
end

-- Telling somebody may fail; what is decided stays.
local function tell(log, format, text)
  pcall(log, "pennyweight: " .. format, text)
end

local function advise(options)
  -- Steps of a job that runs already were judged with it.
  if options.type == "srun" and os.getenv("SLURM_JOB_ID") then return slurm.SUCCESS end
  local stated = options_of(options)
  local answer = pennyweight.ask(pennyweight.question("advise", {}, stated))
  if not answer then return slurm.SUCCESS end -- slurmctld decides
  if answer.cost then tell(slurm.log_info, "it costs %s", answer.cost) end
  for _, warning in ipairs(answer.warnings) do tell(slurm.log_info, "%s", warning) end
  -- What is not stated has defaults that only slurmctld knows, and an approval is asked for by the
  -- submission itself.
  local is_whole = stated.time and stated.account and stated.partition
  local is_final = answer.decision == "denied" and is_whole
  if answer.allowed == "no" and is_final and pennyweight.refuses_early then
    tell(slurm.log_error, "%s", answer.message or "refused")
    return slurm.ERROR
  end
  return slurm.SUCCESS
end

function slurm_cli_setup_defaults(_, _) return slurm.SUCCESS end

function slurm_cli_pre_submit(options, _)
  local ran, result = pcall(advise, options)
  return ran and result or slurm.SUCCESS
end

function slurm_cli_post_submit(_, _, _) return slurm.SUCCESS end

return slurm.SUCCESS
