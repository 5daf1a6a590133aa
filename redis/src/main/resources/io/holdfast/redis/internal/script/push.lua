-- Messages to a client's channel. Included by the acquire and release scripts, never run alone.
local function signed(secret, channel, text)
  return redis.sha1hex(secret .. redis.sha1hex(secret .. channel .. ' ' .. text)) .. ' ' .. text
end

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
  redis.call('PUBLISH', channel, text)
end

-- Publishes a grant to the waiter. valid: from its last attempt on, by its own clock, in ms: see LockBackend,
-- WatchSignal.Granted. The server's clock may have been set back since that attempt.
local function grant(channel, secret, token, attempt, valid, id, key)
  publish(channel, 'G ' .. signed(secret, channel, token .. ' ' .. attempt .. ' ' .. valid .. ' ' .. #id .. ' ' .. id .. ' ' .. key))
end
