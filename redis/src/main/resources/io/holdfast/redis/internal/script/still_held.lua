-- Whether claims still hold their locks alone. Writes nothing, so no lease gets longer by it.
--
-- KEYS    the records, one per claim, all in one slot on a cluster; see record.lua
-- ARGV    the id of each claim, in the order of the keys
-- Result  one number per claim: 1 held, 0 not held by this claim, or a foreign key
-- Cost    1 inner call per claim and one for all, O(1) each

local sub = string.sub
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local answers = {}
for i, key in ipairs(KEYS) do
  local record = redis.pcall('GET', key)
  local is_ours = record and not record.err and sub(record, 1, 2) == '1H' and sub(record, -#ARGV[i] - 1) == '\n' .. ARGV[i]
  answers[i] = is_ours and tonumber(sub(record, 4, 19)) > now and 1 or 0
end
return answers
