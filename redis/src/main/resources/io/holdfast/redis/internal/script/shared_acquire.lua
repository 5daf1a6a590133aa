-- Takes a read, write or semaphore lock for a claim, or keeps it, or gives the claim a place in the queue. Makes a reader of the writer whose claim
-- asks for reading. A reader never becomes a writer.
--
-- KEYS    see shared_queue.lua
-- ARGV    1 id   2 lease ms   3 attempt   4 waiting: none, notify, queue, or queue:N for at most N waiters   5 token floor
--         6 claim time ms
--         7 the client's channel, empty for a claim that is not watched   8 kind: read, write, semaphore, or semaphore:N to take N permits
--         9 permits: the number of permits of the semaphore, as the claim knows it
--         10 secret of the client
-- Result  {1, token, lease ms} acquired   {2, ms} queued, next attempt within   {3, ms} not available, next attempt within
--         {4, waiters} the queue is full; the claim was not put into it
--         error FOREIGN or WRONGTYPE: there is a foreign value under a key of the lock; nothing was written
-- Cost    lock without a holder and without waiters: 8 inner calls, 9 for several permits, O(1). Else O(log n) in the holders and waiters, plus O(log n)
--         for each holder whose lease is over, and for each waiter that is served, set aside or found gone: once per
--         waiter. At most 1 024 of them, of which 256 are served.

local format = string.format
--#include digits.lua

-- The usual way: the lock has no holder and no waiter. After an earlier attempt the claim itself may be aside, in KEYS[3].
if redis.call('EXISTS', KEYS[1], KEYS[2], KEYS[5], KEYS[6], ARGV[3] ~= '1' and KEYS[3] or KEYS[1]) == 0 then
  local time, ms = redis.call('TIME'), tonumber(ARGV[2])
  local now = time[1] * 1000000 + time[2]
  local last = tonumber(redis.call('GET', KEYS[4]) or 0) or error('FOREIGN value in the token counter')
  local token = math.max(last + 1, now, tonumber(ARGV[5]))
  local number, since = digits(token), digits(now)
  redis.call('SET', KEYS[4], number, 'EXAT', format('%d', token / 1000000 + KEPT_SECONDS)) -- first: on a server too old for EXAT nothing else is written
  redis.call('ZADD', KEYS[1], digits(now - now % 2 + 1 + ms * 1000), ARGV[1]) -- odd: see record.lua
  local permits = string.match(ARGV[8], ':(%d+)$')
  if permits then
    redis.call('ZADD', KEYS[1], '-' .. digits(permits - 1), '') -- see shared_queue.lua
  end
  redis.call('HSET', KEYS[7], ARGV[1], ARGV[8] .. ' ' .. ARGV[3] .. ' ' .. number .. ' ' .. ARGV[2] .. ' ' .. since .. ' ' .. ARGV[7])
  redis.call('PEXPIRE', KEYS[1], ms + 1000) -- see shared_queue.lua
  redis.call('PEXPIRE', KEYS[7], ms + 1000)
  return {1, token, ms}
end

--#include push.lua
--#include shared_queue.lua

local id, lease, waiting, floor, claim_ms = ARGV[1], tonumber(ARGV[2]), ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
local request = {word = ARGV[8], kind = string.match(ARGV[8], '^%a+'), taken = taken_by(ARGV[8]), permits = tonumber(ARGV[9]),
  attempt = tonumber(ARGV[3]), lease = ARGV[2], channel = ARGV[7]}

local now = micros()
local taken

local function take()
  taken = next_token(now, floor)
  save_token(taken) -- first: on a server too old for PXAT nothing else is written
  hold(now, id, request, taken, lease)
end

if redis.call('EXISTS', KEYS[5]) == 1 then
  return {3, min_ms(lease / 3, claim_ms)}
end
refuse_foreign_keys()
if not settle(now, claim_ms, request.channel) then
  return redis.error_reply('FOREIGN key under the lock')
end

-- The state of this claim. If a later attempt of it was here before this one, this one only gets an answer.
local function standing()
  local word, attempt, token, since = string.match(redis.call('HGET', KEYS[7], id) or '', '^(%S+) (%d+) (%d+) %d+ (%d+) ')
  return tonumber(attempt), tonumber(token), tonumber(since), word
end
local seen, token, since, held_as = standing()
local held_kind = held_as and string.match(held_as, '^%a+')
local entry, ticket = entry_of(id)
if not seen and (not entry or ticket) then
  trust_again(request.channel)
end
local queued = not seen and waiter(entry)
local late = request.attempt < (seen or queued and queued.attempt or 0)

local function keep_hold()
  if floor > token then
    token = floor
    if floor > stored_token() then
      save_token(floor)
    end
  end
  redis.call('ZREM', KEYS[1], ' ') -- a server without memory refuses ZADD as the first write, and accepts it as the second
  save_holder(now, id, request, token, lease, since)
end

-- The claim holds the other side of a read/write lock.
local other_side = token and held_kind ~= request.kind
if other_side and (late or request.kind ~= 'read') then
  serve(now, claim_ms)
  tell_next(claim_ms)
  return {3, min_ms(lease / 3, claim_ms)}
elseif other_side then
  keep_hold() -- first: the readers at the head join the claim
  mode = request.kind
end

local function save_place()
  redis.call('HSET', KEYS[3], id, request.word .. ' ' .. request.permits .. ' ' .. request.attempt .. ' ' .. lease .. ' '
    .. digits(now) .. ' ' .. digits(floor) .. ' ' .. ARGV[10] .. ' ' .. request.channel)
  keep(KEYS[2], lease, KEYS[3])
end

local function enqueue()
  local last = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')[2]
  redis.call('ZADD', KEYS[2], digits(math.max(now, tonumber(last or 0) + 1)), id)
  forget_some(now, redis.call('ZCARD', KEYS[2]) - 1, id)
  save_place()
  tell_next(claim_ms)
end

local limit = string.match(waiting, '^queue:(%d+)$')
if limit then
  waiting, limit = 'queue', tonumber(limit)
end

if queued and not late then
  if ticket and waiting == 'queue' then
    redis.call('ZADD', KEYS[2], ticket, id)
  end
  save_place()
end
local blocked = serve(now, claim_ms, not late and id, take)
if not (token or queued or blocked) and admits(request) then
  take()
end

tell_next(claim_ms)
if taken then
  redis.call('ZREM', KEYS[6], request.channel .. ' ' .. id)
  return {1, taken, lease}
elseif late then
  seen, token = standing() -- the claim may have been served just now
  if token then
    return {1, token, min_ms((redis.call('ZSCORE', KEYS[1], id) - now) / 1000, lease)}
  end
elseif other_side then
  if not blocked then
    tell_interested(now)
  end
  return {1, token, lease}
elseif token then
  request.word = held_as -- it has taken its permits
  keep_hold()
  return {1, token, lease}
elseif waiting == 'queue' and not queued then
  if is_full(now, limit) then
    tell_next(claim_ms)
    return {4, redis.call('ZCARD', KEYS[2])}
  end
  enqueue()
elseif waiting ~= 'queue' and queued then
  leave_queue(id)
  serve(now, claim_ms)
  tell_next(claim_ms)
end

local at = surplus > 0 and 1 or 0 -- behind ''
local soonest, ends = unpack(redis.call('ZRANGE', KEYS[1], at, at, 'WITHSCORES'))
local left = math.max(0, (tonumber(ends or 0) - now) / 1000)
local rank = redis.call('ZRANK', KEYS[2], id)
if not rank and queued and not late and waiting == 'queue' then -- the queue expired before its entries
  enqueue()
  rank = redis.call('ZRANK', KEYS[2], id)
end
if rank then
  -- While a grant is not confirmed, each waiter that sends an attempt sends another one soon after it ends: see mutex_acquire.lua.
  local turns = rank + 1
  if rank > 3 and soonest then
    local channel, granted = unconfirmed(redis.call('HGET', KEYS[7], soonest) or '', ends)
    turns = channel and (not queued or now - granted > claim_ms * 125) and rank % 16 + 1 or turns
  end
  local pause = min_ms(left + 10 * (is_unfinished and 1 or turns), lease / 3)
  return {2, rank < 2 and min_ms(pause, claim_ms) or pause}
end
if waiting == 'notify' and request.channel ~= '' then
  -- The end of the interest, in whole milliseconds, and the number of the attempt, for the release.
  local wanted = now - now % 1000 + lease * 1000 + math.min(request.attempt, 999)
  redis.call('ZADD', KEYS[6], digits(wanted), request.channel .. ' ' .. id)
  redis.call('ZREMRANGEBYRANK', KEYS[6], 0, -65) -- interest is a hint: at most 64 claims get one
  keep(KEYS[6], lease)
end
return {3, min_ms(left + 10, lease / 3)}
