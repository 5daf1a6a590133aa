-- Sets the end of held mutexes anew, each with its own lease. Never takes one.
--
-- KEYS    the records, one per claim, all in one slot on a cluster; see record.lua
-- ARGV    id and lease in ms of each claim, in the order of the keys
-- Result  one number per claim: 1 renewed, 0 not held by this claim; a foreign key is not held
-- Cost    2 inner calls per claim and one for all, O(1) each; for a run 3 to 6 more

local sub, format = string.sub, string.format
local function written(micros)
  return format('%010d%06d', micros / 1000000, micros % 1000000)
end

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
  local held = record and sub(record, 1, 2) == '1H' and sub(record, -#id - 1) == '\n' .. id and tonumber(sub(record, 4, 19)) > now
  if held then -- an odd end: the grant is confirmed, see record.lua
    local ends, token = written(now - now % 2 + 1 + lease * 1000), sub(record, 20, 35)
    local text, kept = sub(record, 1, 3) .. ends .. sub(record, 20), sub(ends > token and ends or token, 1, 10) + KEPT_SECONDS
    if redis.pcall('SET', key, text, 'EXAT', kept).err then
      redis.call('PEXPIRE', key, KEPT_MILLIS) -- a server without memory refuses SET as the first write, and accepts it as the second
      redis.call('SET', key, text, 'EXAT', kept)
    end
    if string.match(record, ' (%d+)\n') ~= '1' then -- a run: its members keep their places while its lease is renewed
      for _, part in ipairs({':queue', ':claims', ':held'}) do
        local left = redis.pcall('PTTL', key .. part) -- may be at another master while their slot moves
        if type(left) == 'number' and left >= 0 and left < lease + 0 then
          redis.pcall('PEXPIRE', key .. part, 2 * lease)
        end
      end
    end
  end
  answers[i] = held and 1 or 0
end
return answers
