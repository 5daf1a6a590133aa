-- The queue of one mutex: what acquire.lua and release.lua share. Included by them after grant.lua, never run alone.
--
-- KEYS of both scripts, all with the hash tag {name}; P is the caller's prefix:
--   1  P{name}:mutex           HASH  the holder: id, token, attempt, lease, channel, since; expires with the lease
--   2  P{name}:mutex:queue     ZSET  waiting ids by ticket: max(last ticket + 1, server time in microseconds)
--   3  P{name}:mutex:waiters   HASH  id -> "attempt lease looked floor channel", of those in the queue
--   4  P{name}:mutex:token     STRING  the last token granted; expires a day after the moment it stands for
--   5  P{name}:mutex:gone:<id> STRING  tombstone: this claim was released while a look of it was under way
--   6  P{name}:mutex:interest  ZSET  "channel id" of those that want a hint when the lock gets free, by end of interest
-- Times are the server's, in microseconds: below 2^53 until 2255, exact in Lua. '%.0f', since '..' loses digits.

local function min_ms(a, b)
  return math.max(1, math.floor(math.min(a, b)))
end

-- True for the WRONGTYPE error of a pcall. Other errors are not about the key and must be passed on.
local function is_wrong_type(reply)
  return type(reply) == 'table' and reply.err and string.find(reply.err, 'WRONGTYPE', 1, true)
end

-- Fails when there is something else under a key, before anything is written. The lock's own key is looked at elsewhere. Not called
-- where each key that is written has been read before, as in a usual hand-off.
local is_checked = false
local function refuse_foreign_keys()
  if is_checked then
    return
  end
  is_checked = true
  redis.call('ZSCORE', KEYS[2], '')
  redis.call('HGET', KEYS[3], '')
  next_token(0, 0)
  redis.call('ZSCORE', KEYS[6], '')
end

-- What the last run of serve() found: how many it passed over, how many have left the queue since it was told, and, when it served
-- the very first, who is in the second place now: id and entry, or nothing.
local place, moved, following = 0, 0, nil

local function leave_queue(id)
  moved = moved + 1
  redis.call('ZREM', KEYS[2], id)
  redis.call('HDEL', KEYS[3], id)
end

-- Gives the free lock to the first living waiter, and returns its id; false when there is none. The caller's own id, when
-- it comes to that, is only returned: it gets its full lease as an answer. A waiter whose channel nobody receives is passed
-- over and keeps its place, and so is one without a channel: it gets the lock when it looks and nobody living is before it.
-- A channel is tried once per run: the waiters of a killed client cost one NUMSUB, and are read in growing portions. Who
-- has not looked for half of its lease is gone. In a cluster NUMSUB counts the receivers at this server only, while PUBLISH
-- reaches those at the others too: who is passed over must not be told of a grant, so it is asked first. A hint it may get: if
-- its slot has moved here it listens elsewhere, and looks again at once.
-- A holder that ends by this is deleted before the first other write: a server without memory refuses SET as the first, but not DEL.
local function serve(now, caller, claim_ms, ends_holder)
  local dead, portion = {[''] = true}, 3
  place = 0
  while true do
    local ids = redis.call('ZRANGE', KEYS[2], place, place + portion - 1)
    if #ids == 0 then
      return false
    end
    local entries = redis.call('HMGET', KEYS[3], unpack(ids))
    for i, id in ipairs(ids) do
      local attempt, lease, looked, floor, channel = string.match(entries[i] or '', '^(%d+) (%d+) (%d+) (%d+) (.*)$')
      if id == caller then
        return id
      elseif not attempt or now - tonumber(looked) > tonumber(lease) * 500 then
        refuse_foreign_keys()
        leave_queue(id)
      elseif dead[channel] then
        place = place + 1
      elseif redis.call('PUBSUB', 'NUMSUB', channel)[2] == 0 then
        refuse_foreign_keys()
        redis.call('PUBLISH', channel, 'C ' .. id)
        dead[channel] = true
        place = place + 1
      else
        local ms = min_ms(claim_ms, tonumber(lease))
        local token = next_token(now, tonumber(floor))
        if ends_holder then
          redis.call('DEL', KEYS[1])
        end
        -- The first write comes before the push: a server that refuses writes (a replica, no memory) must grant nothing.
        local text = save_token(token)
        -- Valid from that look on, by the waiter's clock, until this expiry: see LockBackend, WatchSignal.Granted. The
        -- server's clock may have been set back since.
        local valid = math.floor(math.max(0, now - tonumber(looked)) / 1000) + ms
        local grant = 'G ' .. text .. ' ' .. attempt .. ' ' .. valid .. ' ' .. #id .. ' ' .. id .. ' ' .. KEYS[1]
        redis.call('PUBLISH', channel, grant)
        following = place == 0 and moved == 0 and {ids[3], entries[3]}
        leave_queue(id)
        hold(digits(now), text, id, attempt, lease, channel, ms)
        return id
      end
    end
    portion = math.min(portion * 8, 512)
  end
end

local function tell_head(id, entry, claim_ms)
  local channel = id and string.match(entry or '', ' (%S+)$')
  if channel then
    redis.call('PUBLISH', channel, 'H ' .. digits(claim_ms) .. ' ' .. id)
  end
end

-- Tells those who have come to the first two places, not counting who was passed over, to look within a claim time: when they
-- looked last, their turn was far away, and one that hangs ahead of them is found out by looks only. Who is there by its own look
-- has been answered so. Once per waiter, and one PUBLISH for each waiter that was served.
local function tell_next(claim_ms)
  if following then
    tell_head(following[1], following[2], claim_ms)
  elseif moved > 0 then
    for _, id in ipairs(redis.call('ZRANGE', KEYS[2], place + math.max(0, 2 - moved), place + 1)) do
      tell_head(id, redis.call('HGET', KEYS[3], id), claim_ms)
    end
  end
  moved, following = 0, nil
end
