-- The waiters of one lock of any kind: what the usual ways need. Included by mutex.lua and shared.lua, never run alone. The script that
-- includes it has the locals call, match, sub, now, keys, has_flag and set_flag.
--
-- keys of a lock, all with the hash tag {name}; P is the caller's prefix, K is mutex, rw or semaphore:
--   1  P{name}:K           STRING  the record: version, state, flags, then what the kind needs
--   2  P{name}:K:queue     ZSET    ids of the waiters by ticket: max(last ticket + 1, server time in microseconds)
--   3  P{name}:K:claims    HASH    id -> entry of a waiter: '<lease> <client> <floor> <channel> <word> <secret> <attempt> <at> <asked>'
--                                  '-' stands for nothing. word: what it wants (shared kinds). at: time of that attempt. asked: the same, or
--                                  later if its client has shown since that it wants the lock. Both have 16 digits
--                                  other fields begin with a character that no id begins with: '!', '"', '*', ' ', see mutex.lua and shared.lua
--   4  P{name}:K:held      mutex: LIST, the run: its number, then the ids of its members, which are in the queue too
--                          shared: ZSET, ids of the holders by the end of their leases
--   5  P{name}:K:gone      ZSET    tombstones: ids by their end
--   6  P{name}:K:interest  ZSET    '<channel> <id>' of claims that want a hint, by end of interest
--   7  P{name}:K:aside     ZSET    all with score 0: '<channel> <ticket> <id>' of waiters out of reach, '<channel> 0' while a client is suspected
-- Flags, one digit, the sum of 1: queue, interest; 2: tombstones; 4: aside. A script that writes one of these keys sets the flag. No record: all.

local MOST_IN_RUN, MOST_ASIDE, MOST_INTERESTED = 64, 1024, 64
local ADOPTED = 1000000000 -- in place of the number of an attempt: what is given back later, without a tombstone, was granted before the adoption
local HALF = 500 -- of a lease in ms, as microseconds: a waiter that has not asked for so long is dead
local FEW = 3 -- waiters that are read first: enough to see whether there is a long run
local PARTS = '^(%d+) (%S+) (%d+) (%S+) (%S+) (%S+) (%d+) (%d+) (%d+)$'

--#include digits.lua

local function ms_of(a, b)
  return math.max(1, math.floor(math.min(a, b)))
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

-- Keeps keys until the longest-leased waiter is stale. (PEXPIRE GT is not in 6.2.) It sets twice that time, so that most waiters need no PEXPIRE.
local function keep(ms, ...)
  for _, key in ipairs({...}) do
    if call('PTTL', key) < ms then
      call('PEXPIRE', key, 2 * ms)
    end
  end
end

local function asked_of(entry)
  return sub(entry, -16)
end

-- Puts new claims at the end of the queue. pairs: id, entry, id, entry, ...
local function enqueue(pairs_, longest)
  local last = call('ZRANGE', keys[2], -1, -1, 'WITHSCORES')[2]
  local ticket, places = math.max(now, (tonumber(last) or 0) + 1), {}
  for i = 1, #pairs_, 2 do
    places[i], places[i + 1] = digits(ticket), pairs_[i]
    ticket = ticket + 1
  end
  call('ZADD', keys[2], unpack(places))
  call('HSET', keys[3], unpack(pairs_))
  keep(longest, keys[3], keys[2])
  set_flag(1)
end

local unreachable = {} -- channel -> whether its waiters are passed over, as far as this operation knows

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
      and not (has_flag(4) and call('ZSCORE', keys[7], channel .. ' 0')) and (channel == own or is_heard(channel))) then
      return ids, entries
    end
    if not rest().clear_way(own, caller) then
      return false
    end
  end
  return false
end
