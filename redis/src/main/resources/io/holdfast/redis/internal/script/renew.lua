-- Sets the ends of held claims anew, each with its own lease. Never takes a lock.
--
-- KEYS    of a claim that holds alone the record, of a share ':claims' and ':held' of its lock; all in one slot on a cluster. See usual.lua
-- ARGV    id and lease in ms of each claim, in the order of the keys
-- Result  one number per claim: 1 renewed, 0 not held by this claim; a foreign key is not held
-- Cost    2 inner calls per claim that holds alone, O(1), for a run 3 to 6 more; 5 per share, O(log n) in the holders of its lock; and 1 or 2 for all

local call, try, sub, format = redis.call, redis.pcall, string.sub, string.format
local function written(micros)
  return format('%010d%06d', micros / 1000000, micros % 1000000)
end

-- A foreign key must not fail the others. Any other error concerns all of them.
local function read(...)
  local reply = try(...)
  if type(reply) == 'table' and reply.err then
    return not string.find(reply.err, 'WRONGTYPE', 1, true) and error(reply.err, 0)
  end
  return reply
end

local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local is_written = false

-- See record.lua. An odd end: the grant is confirmed.
local function renew_hold(key, id, lease)
  local record = read('GET', key)
  if not record or sub(record, 1, 2) ~= '1H' or sub(record, -#id - 1) ~= '\n' .. id or tonumber(sub(record, 4, 19)) <= now then
    return 0
  end
  local ends, token = written(now - now % 2 + 1 + lease * 1000), sub(record, 20, 35)
  local text, kept = sub(record, 1, 3) .. ends .. sub(record, 20), sub(ends > token and ends or token, 1, 10) + KEPT_SECONDS
  if try('SET', key, text, 'EXAT', kept).err then
    call('PEXPIRE', key, KEPT_MILLIS) -- a server without memory refuses SET as the first write, and accepts it as the second
    call('SET', key, text, 'EXAT', kept)
  end
  if string.match(record, ' (%d+)\n') ~= '1' then -- a run: its members keep their places while its lease is renewed
    local longest, is_short, parts = 2 * lease, false, {':queue', ':claims', ':held'}
    for _, part in ipairs(parts) do
      local left = try('PTTL', key .. part) -- may be at another master while their slot moves
      if type(left) == 'number' then
        longest, is_short = math.max(longest, left), is_short or left >= 0 and left < lease
      end
    end
    for _, part in ipairs(is_short and parts or {}) do -- all for the same time, see keep()
      try('PEXPIRE', key .. part, longest)
    end
  end
  return 1
end

-- See shared.lua.
local function renew_share(claims, held, id, lease)
  local ends = read('ZSCORE', held, id)
  if not ends or tonumber(ends) <= now or not read('HGET', claims, ' ' .. id) then
    return 0
  end
  if not is_written then
    call('ZREM', held, ' ') -- a server without memory refuses ZADD as the first write, and accepts it as the second
    is_written = true
  end
  call('ZADD', held, written(now - now % 2 + 1 + lease * 1000), id)
  for _, key in ipairs({held, claims}) do -- the server may read its clock anew for each: ':claims' ends last
    if call('PTTL', key) < lease + 1000 then
      call('PEXPIRE', key, lease + 1000)
    end
  end
  return 1
end

local answers, at = {}, 1
for i = 1, #ARGV / 2 do
  local key, id, lease = KEYS[at], ARGV[2 * i - 1], tonumber(ARGV[2 * i])
  if sub(key, -7) == ':claims' then
    answers[i], at = renew_share(key, KEYS[at + 1], id, lease), at + 2
  else
    answers[i], at = renew_hold(key, id, lease), at + 1
  end
end
return answers
