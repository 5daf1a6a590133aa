-- Ends a claim whatever its standing: a held mutex goes to the first living waiter, a place in the queue is given up.
--
-- KEYS    see queue.lua
-- ARGV    1 id   2 attempt: looks sent so far   3 claim time ms   4 tombstone ms, 0 for none
--         5 1 when a look of this claim got no answer, else 0   6 the client's channel
-- Result  1 when this request ended a held claim, else 0; also 0 for a foreign key in place of the lock's
--         error FOREIGN or WRONGTYPE: there is something else under another key; nothing was written
-- Cost    held, and nobody waits: 3 inner calls, O(1). Else O(log n) in the waiters, plus O(log n) for each waiter that is
--         served, set aside or found gone, at most 1 024, plus a PUBLISH for each that is served or comes to the head, and for
--         each of at most 64 claims that want a hint. Measured: docs/reference/redis-script-cost.md

local id, attempt, claim_ms = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])

local holder = redis.pcall('HMGET', KEYS[1], 'id', 'attempt')
local held = holder[1] == id
local is_wanted = redis.call('EXISTS', KEYS[2], KEYS[6]) > 0
local is_usual = held and ARGV[5] == '0' and attempt <= tonumber(holder[2])
if is_usual and not is_wanted then
  redis.call('DEL', KEYS[1])
  return 1 -- before the functions below, which cost more to define
end

--#include grant.lua
--#include push.lua
--#include queue.lua

local foreign = is_wrong_type(holder)
if holder.err and not foreign then
  return holder
end
if is_wanted and not is_usual then
  refuse_foreign_keys()
end

-- The last look of this claim that was seen here; nil for none.
local seen
if held then
  seen = tonumber(holder[2])
else
  local entry = entry_of(id)
  if entry then
    seen = tonumber(string.match(entry, '^%d+'))
    local rank = redis.call('ZRANK', KEYS[2], id)
    leave_queue(id)
    moved = rank and rank < 2 and 1 or 0
  end
  local wanted = redis.call('ZSCORE', KEYS[6], ARGV[6] .. ' ' .. id)
  if wanted then
    redis.call('ZREM', KEYS[6], ARGV[6] .. ' ' .. id)
    seen = tonumber(wanted) % 1000 -- see acquire.lua; from the thousandth on it is not known
  end
end

-- A look that is still under way, or was lost to sight on another connection, must find that its claim has ended.
if ARGV[4] ~= '0' and (ARGV[5] == '1' or not seen or seen < attempt) then
  redis.call('PEXPIRE', KEYS[5], ARGV[4]) -- a server without memory refuses SET as the first write, and accepts it as the second
  redis.call('SET', KEYS[5], '1', 'PX', ARGV[4])
end

if held and not is_wanted then
  redis.call('DEL', KEYS[1])
elseif is_wanted and (held or redis.call('EXISTS', KEYS[1]) == 0) then
  local now = micros()
  if not serve(now, false, claim_ms, held) then
    local interested = redis.call('ZRANGEBYSCORE', KEYS[6], now, '+inf')
    redis.call('DEL', KEYS[1])
    for _, member in ipairs(interested) do
      local to, whom = string.match(member, '^(%S*) (.*)$')
      publish(to, 'C ' .. whom)
    end
    redis.call('DEL', KEYS[6])
  end
end
tell_next(claim_ms)
return held and 1 or 0
