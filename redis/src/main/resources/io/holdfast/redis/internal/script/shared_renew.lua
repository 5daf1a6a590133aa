-- Sets the expiry of held read, write and semaphore claims anew, each with its own lease. Never creates.
--
-- KEYS    of each claim P{name}:K and P{name}:K:holders, see shared_queue.lua; all in one slot on a cluster
-- ARGV    id and lease in ms of each claim, in the order of the keys; of a claim that is adopted, its token at the end: with another one it is not held
-- Result  one number per claim: 1 renewed, 0 not held by this claim; a foreign key is not held
-- Cost    2 inner calls, and at most 7 per claim; O(log n) each in the holders of its lock

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])

local answers, is_written, adopted = {}, false, ARGV[#KEYS + 1]
for i = 1, #KEYS / 2 do
  local holders, notes, id, lease = KEYS[2 * i - 1], KEYS[2 * i], ARGV[2 * i - 1], tonumber(ARGV[2 * i])
  -- pcall: one foreign key must not fail the others. Any other error concerns all of them.
  local expiry = redis.pcall('ZSCORE', holders, id)
  if type(expiry) == 'table' and not string.find(expiry.err, 'WRONGTYPE', 1, true) then
    return expiry
  end
  local note = type(expiry) == 'string' and tonumber(expiry) > now and redis.pcall('HGET', notes, id)
  local held = type(note) == 'string' and (not adopted or string.match(note, '^%S+ %d+ (%d+) ') == adopted)
  if held then
    if not is_written then
      redis.call('ZREM', holders, ' ') -- a server without memory refuses ZADD as the first write, and accepts it as the second
      is_written = true
    end
    redis.call('ZADD', holders, string.format('%.0f', now - now % 2 + 1 + lease * 1000), id) -- odd: see record.lua
    for _, key in ipairs({holders, notes}) do
      if redis.call('PTTL', key) < lease + 1000 then -- a second more, see shared_queue.lua
        redis.call('PEXPIRE', key, lease + 1000)
      end
    end
  end
  answers[i] = held and 1 or 0
end
return answers
