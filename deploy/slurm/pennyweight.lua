-- What job_submit.lua and cli_filter.lua share: the settings, and how they ask pennyweight's `serve`.
-- Put it beside them, in the folder of slurm.conf. It needs lua-socket (Debian: lua-socket).
--
-- A question is lines of key=value with an empty line at their end, and so is the answer; see
-- docs/guide/guardrails.md.
local M = {}

-- The settings. -----------------------------------------------------------------------------------

-- guardrails.slurm.socket of pennyweight's configuration.
M.socket = "/run/pennyweight/slurm.sock"
-- How long slurmctld waits for an answer. It does nothing else meanwhile.
M.seconds_max = 0.5
-- What becomes of a job when nobody answers in time: "open" admits it, "closed" refuses it.
M.without_answer = "open"
-- Users whose jobs are never asked about, such as {root = true}. Health checks of nodes run as root.
M.exempt_users = {}
-- Whether sbatch, srun and salloc refuse at once what slurmctld would refuse later. They do so where
-- time, account and partition are stated; slurmctld alone knows their defaults.
M.refuses_early = true

-- -------------------------------------------------------------------------------------------------

local ESCAPES = { ["\\"] = "\\\\", ["\n"] = "\\n", ["\r"] = "\\r" }
local PLAIN = { ["\\"] = "\\", n = "\n", r = "\r" }

local function escaped(value)
  return (tostring(value):gsub("[\\\n\r]", ESCAPES):gsub("%z", ""))
end

-- nil for what nobody writes.
local function unescaped(value)
  local is_known = true
  local plain = value:gsub("\\(.?)", function(letter)
    is_known = is_known and PLAIN[letter] ~= nil
    return PLAIN[letter]
  end)
  return is_known and plain or nil
end

-- For logs, which have one line a message.
function M.one_line(text)
  return (tostring(text):gsub("%c", " "))
end

-- The lines of a question. `options`: names of sbatch(1) and their values; nil and "" are left out.
function M.question(call, fields, options)
  local lines = { "call=" .. call }
  for _, pair in ipairs(fields) do lines[#lines + 1] = pair[1] .. "=" .. escaped(pair[2]) end
  for name, value in pairs(options) do
    if value ~= nil and tostring(value) ~= "" then
      lines[#lines + 1] = "option." .. name .. "=" .. escaped(value)
    end
  end
  return table.concat(lines, "\n") .. "\n\n"
end

local function connected()
  local loaded, unix = pcall(require, "socket.unix")
  if not loaded then return nil, "lua-socket is not installed" end
  local made = type(unix) == "table" and unix.stream or unix
  local socket = made()
  socket:settimeout(M.seconds_max, "t")
  local ok, why = socket:connect(M.socket)
  if not ok then
    socket:close()
    return nil, M.socket .. ": " .. tostring(why)
  end
  return socket
end

-- One line of an answer, into the table. Its reason where it can't be read.
local function read_line(line, answer)
  local key, text = line:match("^([^=]+)=(.*)$")
  local value = key and unescaped(text)
  if not value then return "an answer that can't be read" end
  local field = key:match("^set%.(.+)$")
  if key == "warning" then
    answer.warnings[#answer.warnings + 1] = value
    return nil
  end
  local values = field and answer.set or answer
  if values[field or key] ~= nil then
    if key == "allowed" then answer.allowed = "no" end
    return "an answer that says " .. key .. " twice"
  end
  values[field or key] = value
  return nil
end

-- The answer as a table: allowed ("yes" or "no"), decision, message, cost, warnings (a list), set (a
-- table of fields). nil and the reason where nobody answers.
function M.ask(question)
  local socket, why = connected()
  if not socket then return nil, why end
  local sent, problem = socket:send(question)
  if not sent then
    socket:close()
    return nil, tostring(problem)
  end
  local answer = { set = {}, warnings = {} }
  local unreadable
  while true do
    local line, ended = socket:receive("*l")
    if not line then
      unreadable = ended == "timeout" and "no answer in time" or "no whole answer: " .. tostring(ended)
      break
    end
    if line == "" then break end
    unreadable = read_line(line, answer)
    if unreadable then break end
  end
  socket:close()
  -- Once it says no, nothing that follows admits the job.
  if answer.allowed == "no" then
    answer.message = answer.message or unreadable
    return answer
  end
  if unreadable then return nil, unreadable end
  if answer.error then return nil, answer.error end
  if answer.allowed ~= "yes" then return nil, "an answer without a decision" end
  return answer
end

return M
