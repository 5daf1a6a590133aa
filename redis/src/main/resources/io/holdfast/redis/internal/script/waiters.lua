-- The waiters of one lock: in the queue, or aside. Included by queue.lua and shared_queue.lua, never run alone.
--
-- A waiter without a subscriber on its channel is set aside: out of the queue, so that no later run reads it again. Its
-- entry in keys[3] keeps the ticket, as '@<ticket> <entry>', and its next attempt puts it back in its place. A waiter
-- that sends no more attempts is forgotten when others queue, a few at a time, or with the key.

-- The limits of one run: how many waiters it takes out, and how many it serves. It passes over sixteen times as many as
-- it takes out. All that takes some milliseconds, and the next run does the rest.
local MOST_TAKEN_OUT, MOST_SERVED = 1024, 256
local is_unfinished = false

-- The result of the last run of serve(): how many waiters it passed over and left in the queue, and how many have left
-- the queue since.
local place, moved = 0, 0

local function leave_queue(id)
  moved = moved + 1
  redis.call('ZREM', keys[2], id)
  redis.call('HDEL', keys[3], id)
end

-- Returns the entry of a claim, and its ticket if it is aside.
local function entry_of(id)
  local entry = redis.call('HGET', keys[3], id)
  local ticket, rest = string.match(entry or '', '^@(%d+) (.*)$')
  return rest or entry, ticket
end

-- A waiter that has sent no attempt for half of its lease is gone.
local function is_gone(now, asked, lease)
  return now - tonumber(asked) > tonumber(lease) * 500
end

local function is_gone_by(now, entry)
  local lease, asked = string.match(entry, LEASE_AND_ASKED)
  return not lease or is_gone(now, asked, lease)
end

-- The fate of a waiter whose channel has no subscriber: if it has sent an attempt in the last second, its channel may
-- not be open yet, and it stays.
local function fate_of_unheard(now, asked)
  return now - tonumber(asked) > 1000000 and 'aside' or 'stays'
end

local function channel_of(entry)
  return string.match(entry, ' (%S+)$')
end

-- Whether a client is subscribed to that channel at this server. In a cluster PUBLISH reaches those at the others too,
-- but counts none of them. A waiter that is passed over must not get a grant, so this is checked first.
local function is_heard(channel)
  return redis.call('PUBSUB', 'NUMSUB', channel)[2] > 0
end

-- Takes the waiters with the fates 'gone' and 'aside' out of the queue, by their index, and counts those that stay.
-- Returns what that costs of MOST_TAKEN_OUT.
local function take_out(ids, entries, fates)
  local gone, aside, kept, stay = {}, {}, {}, 0
  for i, id in ipairs(ids) do
    if fates[i] == 'stays' then
      stay = stay + 1
    elseif fates[i] == 'gone' then
      table.insert(gone, id)
    elseif fates[i] == 'aside' then
      table.insert(aside, id)
      table.insert(kept, entries[i])
    end
  end
  place, moved = place + stay, moved + #gone + #aside
  if #gone > 0 then
    redis.call('ZREM', keys[2], unpack(gone))
    redis.call('HDEL', keys[3], unpack(gone))
  end
  if #aside > 0 then
    local tickets, fields = redis.call('ZMSCORE', keys[2], unpack(aside)), {}
    for i, id in ipairs(aside) do
      table.insert(fields, id)
      table.insert(fields, '@' .. digits(tonumber(tickets[i])) .. ' ' .. kept[i])
    end
    redis.call('ZREM', keys[2], unpack(aside)) -- first: a server without memory refuses HSET as the first write
    redis.call('HSET', keys[3], unpack(fields))
  end
  return #gone + #aside + stay / 16
end

-- The queue may be full of dead waiters while nothing is served: takes them out among some of the waiters, at another
-- place each time.
local function sweep(now, count)
  local first = now % math.max(1, count - 63)
  local ids = redis.call('ZRANGE', keys[2], first, first + 63)
  local entries, fates, heard = redis.call('HMGET', keys[3], unpack(ids)), {}, {[''] = false}
  for i, entry in ipairs(entries) do
    local channel = channel_of(entry or '') or ''
    if heard[channel] == nil then
      heard[channel] = is_heard(channel)
    end
    local _, asked = string.match(entry or '', LEASE_AND_ASKED)
    fates[i] = is_gone_by(now, entry or '') and 'gone' or (not heard[channel] and fate_of_unheard(now, asked)) or nil
  end
  local before = place
  take_out(ids, entries, fates)
  place = before
end

-- Whether the queue is full. Dead waiters do not count for long.
local function is_full(now, limit)
  local count = limit and redis.call('ZCARD', keys[2])
  if count and limit > 0 and count >= limit then
    sweep(now, count)
    return redis.call('ZCARD', keys[2]) >= limit
  end
  return false
end

-- Forgets some of the waiters that are gone, aside or not: as many as can have come for each that queues, and more. Not
-- the caller's own entry. count: the other waiters in the queue.
local function forget_some(now, count, own)
  if redis.call('HLEN', keys[3]) > count then
    local some = redis.call('HRANDFIELD', keys[3], 4, 'WITHVALUES')
    for i = 1, #some, 2 do
      if some[i] ~= own and is_gone_by(now, string.match(some[i + 1], '^@%d+ (.*)$') or some[i + 1]) then
        leave_queue(some[i])
      end
    end
  end
end

-- A run has reached its limit: one of the last waiters gets a hint, and its attempt goes on. They came last, so they
-- are most likely alive; if none is, the next attempt of any waiter goes on.
local function let_another_go_on()
  is_unfinished = true
  local ids = redis.call('ZRANGE', keys[2], -64, -1)
  local entries, tried = redis.call('HMGET', keys[3], unpack(ids)), {}
  for i = #ids, 1, -1 do
    local channel = entries[i] and channel_of(entries[i])
    if channel and not tried[channel] then
      tried[channel] = true
      if is_heard(channel) then
        publish(channel, 'C ' .. ids[i])
        return
      end
    end
  end
end
