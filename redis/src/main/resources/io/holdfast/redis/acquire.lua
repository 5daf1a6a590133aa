-- Takes the mutex for a claim, or keeps it, or gives the claim a place in the queue.
--
-- KEYS    see queue.lua
-- ARGV    1 id   2 lease ms   3 attempt   4 waiting: none, notify, queue, or 'queue N' for at most N waiters   5 token floor
--         6 claim time ms   7 the client's channel, empty for a claim that is not watched   8 secret of the client
--         9 1 to have an echo there
-- Result  {1, token, lease ms} acquired   {2, ms} queued, look again within   {3, ms} not available, look again within
--         {4, waiters} the queue is full; the claim was not put into it
--         error FOREIGN or WRONGTYPE: there is something else under a key of the lock; nothing was written
-- Cost    free lock that nobody waits for: 6 inner calls, O(1). Else O(log n) in the waiters, plus O(log n) for each waiter
--         that is served, set aside or found gone: once per waiter. At most 1 024 of them.

--#include grant.lua

local id, lease, attempt, waiting = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local floor, claim_ms, channel = tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7]

local function take(now)
  local token = next_token(now, floor)
  local text = save_token(token) -- first: on a server too old for PXAT nothing else is written
  hold(token == now and text or digits(now), text, id, ARGV[3], ARGV[2], channel, ARGV[2])
  return {1, token, lease}
end

-- A claim that has looked before may be aside, in KEYS[3].
if redis.call('EXISTS', KEYS[1], KEYS[2], KEYS[5], KEYS[6], attempt > 1 and KEYS[3] or KEYS[1]) == 0 then
  return take(micros()) -- before the functions below, which cost more to define
end

--#include push.lua
--#include queue.lua

if redis.call('EXISTS', KEYS[5]) == 1 then
  echo(channel, ARGV[9])
  return {3, min_ms(lease / 3, claim_ms)}
end

local holder = redis.pcall('HMGET', KEYS[1], 'id', 'token', 'attempt')
local foreign = is_wrong_type(holder) or (not holder.err and not (holder[1] and holder[2] and holder[3])
  and redis.call('EXISTS', KEYS[1]) == 1)
if foreign then
  return redis.error_reply('FOREIGN key under the lock')
elseif holder.err then
  return holder
end
if not holder[1] or holder[1] == id then
  refuse_foreign_keys()
end

if holder[1] == id then
  local token = tonumber(holder[2])
  if attempt < tonumber(holder[3]) then -- a late copy of an earlier look
    return {1, token, math.max(1, redis.call('PTTL', KEYS[1]))}
  end
  redis.call('PEXPIRE', KEYS[1], lease) -- first: a server without memory refuses SET and HSET as the first write
  if floor > token then
    token = floor
    save_token(token)
  end
  redis.call('HSET', KEYS[1], 'token', token, 'attempt', attempt, 'lease', lease, 'channel', channel)
  return {1, token, lease}
end

local now = micros()

-- No key of the queue may expire before its longest-leased waiter is stale. (PEXPIRE GT is not in 6.2.) Twice as long, so that it is
-- not to be done for each waiter. The other key may be older, and be kept longer.
local function keep(key, other)
  if redis.call('PTTL', key) < lease then
    redis.call('PEXPIRE', key, 2 * lease)
    if other and redis.call('PTTL', other) < 2 * lease then
      redis.call('PEXPIRE', other, 2 * lease)
    end
  end
end

local limit = string.match(waiting, '^queue (%d+)$')
if limit then
  waiting, limit = 'queue', tonumber(limit)
end

local entry, ticket = entry_of(id)
local late = entry and attempt < tonumber(string.match(entry, '^%d+'))
local full = waiting == 'queue' and not entry and is_full(now, limit)
local rank
if waiting == 'queue' and not late and not full then
  if ticket then
    redis.call('ZADD', KEYS[2], ticket, id)
  else
    rank = entry and redis.call('ZRANK', KEYS[2], id)
    if not rank then
      local last = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')[2]
      redis.call('ZADD', KEYS[2], math.max(now, tonumber(last or 0) + 1), id)
      rank = redis.call('ZCARD', KEYS[2]) - 1
      forget_some(now, rank, id)
    end
  end
  redis.call('HSET', KEYS[3], id, attempt .. ' ' .. lease .. ' ' .. digits(now) .. ' ' .. digits(floor) .. ' '
    .. ARGV[8] .. ' ' .. channel)
  keep(KEYS[2], KEYS[3])
end

if not holder[1] then
  rank = nil
  local served = serve(now, not late and id, claim_ms)
  local is_ours = not late and (served == id or not served)
  if is_ours then
    leave_queue(id)
    redis.call('ZREM', KEYS[6], channel .. ' ' .. id)
  end
  tell_next(claim_ms)
  if is_ours then
    return take(now)
  end
end

tell_next(claim_ms)
echo(channel, ARGV[9])
if full then
  return {4, redis.call('ZCARD', KEYS[2])}
end
local left = math.max(0, redis.call('PTTL', KEYS[1]))
rank = rank or redis.call('ZRANK', KEYS[2], id)
if rank then
  local pause = min_ms(left + 10 * (is_unfinished and 1 or rank + 1), lease / 3)
  return {2, rank < 2 and min_ms(pause, claim_ms) or pause}
end
if waiting == 'notify' and channel ~= '' then
  -- Until when, in whole milliseconds, and which look it was, for the release.
  redis.call('ZADD', KEYS[6], now - now % 1000 + lease * 1000 + math.min(attempt, 999), channel .. ' ' .. id)
  redis.call('ZREMRANGEBYRANK', KEYS[6], 0, -65) -- interest is a hint: at most 64 are told
  keep(KEYS[6])
end
return {3, min_ms(left + 10, lease / 3)}
