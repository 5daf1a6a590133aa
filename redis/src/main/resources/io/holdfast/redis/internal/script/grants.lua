-- Grants to the first waiters of one lock of any kind. Included by lock.lua after usual.lua, never run alone.

-- In a cluster PUBLISH sends to every server, and SPUBLISH, from Redis 7 on, to the replicas of this one. A client
-- whose channel has a hash tag has both subscriptions under that name. The slot of the channel may have moved, or this
-- user may have no right to SPUBLISH: then the script uses the plain subscription.
local function publish(channel, text)
  if string.find(channel, '{', 1, true) then
    local receivers = redis.pcall('SPUBLISH', channel, text)
    if type(receivers) == 'number' and receivers > 0 then
      return
    end
  end
  call('PUBLISH', channel, text)
end

-- Whether a client is subscribed to that channel at this server. A message also reaches those at its replicas, and in a cluster at all servers, but
-- PUBLISH does not count them. A waiter that is passed over must not get a grant, so this is checked first.
local function is_heard(channel)
  return call('PUBSUB', 'NUMSUB', channel)[2] > 0
end

local function signed(secret, channel, text)
  return redis.sha1hex(secret .. redis.sha1hex(secret .. channel .. ' ' .. text)) .. ' ' .. text
end

local function asked_of(entry)
  return sub(entry, -16)
end

local rest -- what the usual ways do not need; defined on first use: each definition costs the server a part of a microsecond

-- Returns some of the first waiters, of which the very first one can be granted; nil if there is none, false if a later call has to go on.
-- own: the channel of the client that asks, caller: the id of its claim, which needs no channel
local function first_waiters(own, caller)
  for _ = 1, 2 do -- not without end: a script that spins stops the server
    local ids = call('ZRANGE', keys[2], 0, FEW - 1)
    if not ids[1] then
      return nil
    end
    local entries = call('HMGET', keys[3], unpack(ids))
    local lease, channel = match(entries[1] or '', '^(%d+) %S+ %S+ (%S+) ')
    if lease and (ids[1] == caller or channel ~= '-' and not unreachable[channel] and now - asked_of(entries[1]) <= lease * HALF
      and not (has_flag(4) and call('ZSCORE', keys[7], match(channel, CLIENT) .. ' 0')) and (channel == own or is_heard(channel))) then
      return ids, entries
    end
    if not rest().clear_way(own, caller) then
      return false
    end
  end
  return false
end
