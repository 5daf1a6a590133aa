-- Ends a claim of a read/write lock or a semaphore whatever its standing: what gets free goes to the first living waiters,
-- a place in the queue is given up.
--
-- KEYS    see shared_queue.lua
-- ARGV    1 id   2 attempt: number of attempts sent so far   3 claim time ms   4 tombstone ms, 0 for none
--         5 1 if an attempt of this claim got no answer, else 0   6 the client's channel
-- Result  1 if this request ended a held claim, else 0; also 0 for a foreign key in place of the lock's
--         error FOREIGN or WRONGTYPE: there is a foreign value under another key; nothing was written
-- Cost    held by this claim, without waiters: 6 inner calls, O(log n) in the holders. Else O(log n) in the holders and waiters, plus
--         O(log n) for each holder whose lease is over, and for each waiter that is served, passed over or found gone, plus
--         a PUBLISH for each that is served or comes to the head, and for each of at most 64 claims that want a hint.
--         Measured: docs/reference/redis-script-cost.md

-- The usual way: the claim holds the lock, or one permit, each attempt of it was answered, and there are no waiters.
local is_wanted = redis.call('EXISTS', KEYS[2], KEYS[6]) > 0
if not is_wanted and ARGV[5] == '0' then
  local ends, time = redis.pcall('ZSCORE', KEYS[1], ARGV[1]), redis.call('TIME')
  if type(ends) == 'string' and tonumber(ends) > time[1] * 1000000 + time[2] then
    local attempt = tonumber(string.match(redis.call('HGET', KEYS[7], ARGV[1]) or '', '^%a+ (%d+) '))
    if attempt and (attempt >= tonumber(ARGV[2]) or ARGV[4] == '0') then
      redis.call('ZREM', KEYS[1], ARGV[1])
      redis.call('HDEL', KEYS[7], ARGV[1])
      return 1
    end
  end
end

local format = string.format
--#include digits.lua
--#include push.lua
--#include shared_queue.lua

local id, attempt, claim_ms = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local now = micros()

if is_wanted then
  refuse_foreign_keys()
end

-- The last attempt of this claim that was seen here, even if its lease is over; nil for none.
local entry = redis.call('HGET', KEYS[7], id) or ''
local seen = tonumber(string.match(entry, '^%S+ (%d+) '))
local ended = settle(now, claim_ms, ARGV[6])
local held = ended and redis.call('ZREM', KEYS[1], id) == 1
if held then
  redis.call('HDEL', KEYS[7], id)
  count = count - taken_by(entry)
  add_surplus(1 - taken_by(entry))
elseif not seen then
  local waiting = entry_of(id)
  is_wanted = trust_again(ARGV[6]) or is_wanted
  local claim = waiter(waiting)
  if claim then
    seen = claim.attempt
    local rank = redis.call('ZRANK', KEYS[2], id)
    leave_queue(id)
    moved = rank and rank < 2 and 1 or 0
  end
  local wanted = redis.call('ZSCORE', KEYS[6], ARGV[6] .. ' ' .. id)
  if wanted then
    redis.call('ZREM', KEYS[6], ARGV[6] .. ' ' .. id)
    seen = tonumber(wanted) % 1000 -- see shared_acquire.lua; from the thousandth on it is not known
  end
end

-- An attempt of this claim may still be under way, or may have gone unseen over another connection. It must find that
-- its claim has ended.
if ARGV[4] ~= '0' and (ARGV[5] == '1' or not seen or seen < attempt) then
  redis.call('PEXPIRE', KEYS[5], ARGV[4]) -- a server without memory refuses SET as the first write, and accepts it as the second
  redis.call('SET', KEYS[5], '1', 'PX', ARGV[4])
end

if ended and is_wanted then
  local blocked = serve(now, claim_ms)
  if (seen or ended > 0) and not blocked and (count == 0 or mode ~= 'write') then
    tell_interested(now)
  end
end
tell_next(claim_ms, now - tonumber(string.match(entry, '^%S+ %d+ %d+ %d+ (%d+) ') or now))
return held and 1 or 0
