-- Holders and queue of one read/write lock or one semaphore: what shared_acquire.lua and shared_release.lua share.
-- Included by them, never run alone.
--
-- KEYS of both scripts, all with the hash tag {name}; P is the caller's prefix, K is rw or semaphore:
--   1  P{name}:K           ZSET  holding ids by expiry: each ends alone. '' comes first, if any holder has more than one permit: its score is
--                                below zero, by the number of permits beyond one for each holder
--   2  P{name}:K:queue     ZSET  waiting ids by ticket: max(last ticket + 1, server time)
--   3  P{name}:K:waiters   HASH  id -> "kind permits attempt lease asked floor secret channel", of the waiters in the queue; aside: see
--                                waiters.lua. permits: of the semaphore, as the claim knows it
--   4  P{name}:K:token     STRING  the last granted token; expires KEPT_SECONDS after the time in it, see record.lua
--   5  P{name}:K:gone:<id> STRING  tombstone: this claim was released while an attempt of it was under way
--   6  P{name}:K:interest  ZSET  "channel id" of the claims that want a hint when an attempt may succeed, by end of interest
--   7  P{name}:K:holders   HASH  id -> "kind attempt token lease since channel", of the holders
-- kind is read, write, semaphore, or semaphore:N for a claim that takes N permits, if N is not 1. Times are the server's, in microseconds: below 2^53 until 2255, exact in Lua.
-- Keys 1 and 7, and keys 2 and 3, expire together, after the last entry that can matter.

local function micros()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000000 + tonumber(time[2])
end

local function min_ms(a, b)
  return math.max(1, math.floor(math.min(a, b)))
end

-- (PEXPIRE GT is not in 6.2.)
local function keep(key, ms, other)
  if redis.call('PTTL', key) < ms then
    redis.call('PEXPIRE', key, ms)
  end
  if other then
    keep(other, ms)
  end
end

local last_token -- read at most once per run
local function stored_token()
  if not last_token then
    last_token = tonumber(redis.call('GET', KEYS[4]) or 0) or error('FOREIGN value in the token counter')
  end
  return last_token
end

local function save_token(token)
  redis.call('SET', KEYS[4], digits(token), 'PXAT', digits(math.floor(token / 1000) + KEPT_MILLIS))
  last_token = token
end

local function next_token(now, floor)
  return math.max(stored_token() + 1, now, floor)
end

-- The holders, as far as they decide on the next one: a writer holds alone, so one holder's kind is that of all. The
-- number of taken permits: one for each holder, and the surplus.
local count, surplus, mode = 0, 0, false

local function taken_by(entry)
  return tonumber(string.match(entry, '^%a+:(%d+)') or 1)
end

-- Adds the surplus of a holder, or takes it off if the number is negative.
local function add_surplus(permits)
  if permits ~= 0 then
    surplus = surplus + permits
    if surplus > 0 then
      redis.call('ZADD', KEYS[1], '-' .. digits(surplus), '')
    else
      redis.call('ZREM', KEYS[1], '')
    end
  end
end

local function admits(claim)
  if claim.kind == 'semaphore' then
    return count + claim.taken <= claim.permits
  end
  return count == 0 or (claim.kind == 'read' and mode == 'read')
end

-- Fails if there is a foreign value under a key, before anything is written. settle() checks the lock's own key.
local function refuse_foreign_keys()
  redis.call('ZSCORE', KEYS[2], '')
  redis.call('HGET', KEYS[3], '')
  stored_token()
  redis.call('ZSCORE', KEYS[6], '')
end

local keys = KEYS -- the name in waiters.lua

-- The lease and the time of the last attempt in an entry of KEYS[3].
local LEASE_AND_ASKED = '^%S+ %d+ %d+ (%d+) (%d+) '

--#include waiters.lua

-- Whether a holder has not confirmed the grant that was pushed to it: see record.lua. Returns its channel and the time of the grant.
local function unconfirmed(entry, ends)
  local lease, since, channel = string.match(entry, '^%S+ %d+ %d+ (%d+) (%d+) (%S+)$')
  if lease and ends % 2 == 0 and ends - since < lease * 1000 then
    return channel, tonumber(since)
  end
end

-- Ends the holders whose lease is over, and reads the others. One run ends at most MOST_ENDED; the rest counts as
-- holding until the next run. Returns how many it ended; nil for a foreign value under the key, which stays untouched:
-- a holder of this library is in KEYS[7] as well. Before it ends a holder that has not confirmed its grant, it sets the waiters of that client
-- aside, unless the client has sent this very call.
local MOST_ENDED = 4096

-- The channels of the holders that are over and have not confirmed their grants, with the time of the last of these grants.
local function unconfirmed_clients(now, own_channel)
  local over, clients = redis.call('ZRANGEBYSCORE', KEYS[1], 0, digits(now), 'WITHSCORES', 'LIMIT', 0, MOST_ENDED), {}
  for first = 1, #over, 1024 do
    local ids = {}
    for i = first, math.min(first + 1023, #over), 2 do
      table.insert(ids, over[i])
    end
    for i, entry in ipairs(redis.call('HMGET', KEYS[7], unpack(ids))) do
      local channel, since = unconfirmed(entry or '', over[first + 2 * i - 1])
      if channel and channel ~= own_channel then
        clients[channel] = math.max(clients[channel] or 0, since)
      end
    end
  end
  return clients
end

local function settle(now, claim_ms, own_channel)
  local ended, is_over, is_asked = 0, false, false
  while true do
    local first = redis.pcall('ZRANGE', KEYS[1], 0, 1, 'WITHSCORES')
    local id, ends, beyond = first[1], first[2], 0
    if id == '' then
      id, ends, beyond = first[3], first[4], -tonumber(first[2])
    end
    if first.err and string.find(first.err, 'WRONGTYPE', 1, true) then
      return nil
    elseif first.err then
      error(first.err, 0)
    elseif not first[1] then
      return ended
    end
    local holder = id and redis.call('HGET', KEYS[7], id)
    if not holder then
      return nil
    end
    surplus, is_over = beyond, tonumber(ends) <= now and ended < MOST_ENDED
    if is_over and not is_asked and unconfirmed(holder, ends) then
      is_asked = true -- of all of them at once, so the queue is read once
      is_over = set_aside_unconfirmed(unconfirmed_clients(now, own_channel), claim_ms)
    end
    if not is_over then
      count, mode = redis.call('ZCARD', KEYS[1]) + math.max(0, surplus - 1), string.match(holder, '^%a+')
      return ended
    end
    redis.call('ZREM', KEYS[1], id)
    redis.call('HDEL', KEYS[7], id)
    add_surplus(1 - taken_by(holder))
    ended = ended + 1
  end
end

-- Writes the entry of a holder, with its expiry in ms. The keys expire a second later: their clock is the start of the
-- script. Only the inspector uses since.
local kept = 0
local function save_holder(now, id, claim, token, ms, since, is_pushed)
  redis.call('ZADD', KEYS[1], digits(now - now % 2 + ms * 1000 + (is_pushed and 0 or 1)), id)
  redis.call('HSET', KEYS[7], id,
    claim.word .. ' ' .. claim.attempt .. ' ' .. digits(token) .. ' ' .. claim.lease .. ' ' .. digits(since) .. ' '
      .. claim.channel)
  local rest = math.max(ms, tonumber(claim.lease)) -- also of a holder that has not confirmed its grant: a later run must see that
  if rest > kept then
    kept = rest
    keep(KEYS[1], rest + 1000)
    keep(KEYS[7], rest + 1000)
  end
end

-- Makes the claim a holder for ms, with a token that was saved before.
local function hold(now, id, claim, token, ms, is_pushed)
  save_holder(now, id, claim, token, ms, now, is_pushed)
  count, mode = count + claim.taken, claim.kind
  add_surplus(claim.taken - 1)
end

-- Reads a waiter's entry; nil without one.
local function waiter(entry)
  local word, permits, attempt, lease, asked, floor, secret, channel =
    string.match(entry or '', '^(%S+) (%d+) (%d+) (%d+) (%d+) (%d+) (%x*) (.*)$')
  return word and {word = word, kind = string.match(word, '^%a+'), taken = taken_by(word), permits = tonumber(permits),
    attempt = tonumber(attempt), lease = tonumber(lease), asked = tonumber(asked), floor = tonumber(floor), secret = secret, channel = channel}
end

local pushed_to -- the channel of the last waiter that this run has pushed a grant to

-- Makes the waiter a holder until it confirms, and publishes the grant to it; false if its channel has no subscriber.
local function push(now, id, claim, claim_ms)
  if not is_heard(claim.channel) then
    return false
  end
  pushed_to = claim.channel
  local ms = min_ms(claim_ms, claim.lease - 1)
  local token = next_token(now, claim.floor)
  -- The first write comes before the push: a server that refuses writes (a replica, no memory) must grant nothing.
  save_token(token)
  local valid = math.floor(math.max(0, now - claim.asked) / 1000) + ms
  grant(claim.channel, claim.secret, digits(token), claim.attempt, digits(valid), id, KEYS[1])
  leave_queue(id)
  hold(now, id, claim, token, ms, true)
  return true
end

-- Makes holders of the first living waiters that the lock admits, until one is not admitted: that keeps a writer from
-- starving. The caller's own turn is not pushed but ends with take(), since the caller gets its full lease as an
-- answer. Sets aside a waiter whose channel has no subscriber, and one without a channel: it gets the lock when it
-- sends an attempt. Each run checks a channel once: the waiters of a killed client cost one NUMSUB, and are read in
-- growing portions. Returns whether a living waiter was left, or may have been.
local function serve(now, claim_ms, caller, take)
  local unheard, portion, rest, served = {[''] = true}, 1, MOST_TAKEN_OUT, 0
  place = 0
  if count > 0 and mode == 'write' then
    return true -- a writer holds alone
  end
  while true do
    local ids = redis.call('ZRANGE', KEYS[2], place, place + portion - 1)
    if #ids == 0 then
      return false
    end
    local entries, fates, is_blocked = redis.call('HMGET', KEYS[3], unpack(ids)), {}, false
    for i, id in ipairs(ids) do
      local claim = waiter(entries[i])
      local is_caller = id == caller
      if not claim or (not is_caller and is_gone(now, claim.asked, claim.lease)) then
        fates[i] = 'gone'
      elseif unheard[claim.channel] and not is_caller then
        fates[i] = fate_of_unheard(now, claim.asked)
      elseif not admits(claim) and (is_caller or (count > 0 and mode == 'write') or is_heard(claim.channel)) then
        is_blocked = true
        break
      elseif is_caller then
        leave_queue(id)
        take()
      elseif served == MOST_SERVED and is_heard(claim.channel) then
        publish(claim.channel, 'C ' .. id) -- its attempt serves the next waiters
        is_blocked, is_unfinished = true, true
        break
      elseif served < MOST_SERVED and admits(claim) and push(now, id, claim, claim_ms) then
        served = served + 1
      else
        publish(claim.channel, 'C ' .. id) -- if the slot has moved here, the client listens elsewhere, and sends an attempt
        unheard[claim.channel] = true
        fates[i] = fate_of_unheard(now, claim.asked)
      end
    end
    rest = rest - take_out(ids, entries, fates)
    if not is_blocked and rest <= 0 then
      let_another_go_on()
      is_blocked = true
    end
    if is_blocked then
      return true
    end
    portion = math.min(portion * 8, 512)
  end
end

-- Makes the waiters that have come to the first two places, not counting those that were passed over, send an
-- attempt within a claim time. At their last attempt their turn was far away, and only attempts detect a waiter that
-- hangs ahead of them. A waiter that is there at its own attempt gets that time with the answer. Once per waiter, and
-- one PUBLISH for each waiter that was served.
local function tell_next(claim_ms, held_micros)
  if moved > 0 then
    for _, id in ipairs(redis.call('ZRANGE', KEYS[2], place + math.max(0, 2 - moved), place + 1)) do
      local channel = string.match(redis.call('HGET', KEYS[3], id) or '', ' (%S+)$')
      if channel then
        publish(channel, 'H ' .. digits(claim_ms) .. ' ' .. id)
      end
    end
    moved = 0
  end
  if pushed_to then
    tell_another(pushed_to, claim_ms, math.max(8000, held_micros or claim_ms * 1000), {}, {})
    pushed_to = nil
  end
end

-- Publishes a hint to the interested claims: an attempt may succeed.
local function tell_interested(now)
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', KEYS[6], digits(now), '+inf')) do
    local channel, id = string.match(member, '^(%S*) (.*)$')
    publish(channel, 'C ' .. id)
  end
  redis.call('DEL', KEYS[6])
end
