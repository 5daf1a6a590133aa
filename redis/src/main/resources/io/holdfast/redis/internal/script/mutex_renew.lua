-- Sets the end of held mutexes anew, each with its own lease. Never takes one.
--
-- KEYS    the records, one per claim, all in one slot on a cluster; see record.lua
-- ARGV    id and lease in ms of each claim, in the order of the keys
-- Result  one number per claim: 1 renewed, 0 not held by this claim; a foreign key is not held
-- Cost    2 inner calls per claim and one for all, O(1) each

local sub, format = string.sub, string.format
local HOUR = 3600000000
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local answers = {}
for i, key in ipairs(KEYS) do
  local id, lease = ARGV[2 * i - 1], ARGV[2 * i]
  -- pcall: one foreign key must not fail the others. Any other error concerns all of them.
  local record = redis.pcall('GET', key)
  if record and record.err then
    if not string.find(record.err, 'WRONGTYPE', 1, true) then
      return record
    end
    record = false
  end
  local before = record and sub(record, 1, 1) == 'H' and sub(record, -#id - 1) == '\n' .. id and tonumber(sub(record, 3, 18))
  local held = before and before > now
  if held then
    local ends = now + lease * 1000
    local text = format('%010d%06d', ends / 1000000, ends % 1000000)
    -- The key expires two hours after the end that a SET wrote. In the same hour the new end is enough.
    if math.floor(ends / HOUR) ~= math.floor(before / HOUR) or redis.pcall('SETRANGE', key, 2, text) ~= #record then
      local token = sub(record, 19, 34)
      local kept = math.floor(tonumber(text > token and text or token) / 1000) + 7200000
      redis.call('PEXPIRE', key, 7200000) -- a server without memory refuses SET as the first write, and accepts it as the second
      redis.call('SET', key, sub(record, 1, 2) .. text .. sub(record, 19), 'PXAT', kept)
    end
  end
  answers[i] = held and 1 or 0
end
return answers
