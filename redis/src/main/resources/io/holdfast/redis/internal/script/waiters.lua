-- The waiters of one lock: in the queue, or aside. Included by queue.lua and shared_queue.lua, never run alone.
--
-- A waiter without a subscriber on its channel is set aside: out of the queue, so that no later run reads it again. Its
-- entry in keys[3] keeps the ticket, as '@<ticket> <entry>', and its next attempt puts it back in its place. Waiters of a client that may
-- have vanished are set aside together, and the next attempt of one puts all of them back. A waiter
-- that sends no more attempts is forgotten when others queue, a few at a time, or with the key.

-- The limits of one run: how many waiters it takes out, and how many it serves. It passes over sixteen times as many as
-- it takes out. All that takes some milliseconds, and the next run does the rest.
local MOST_TAKEN_OUT, MOST_SERVED, MOST_TOLD = 1024, 256, 64
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
  return string.match(entry, '^.* (%S+)$') -- from its end: quicker
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

-- A run has reached its limit: one of the last waiters gets a hint, and its attempt goes on. They came last, so they
-- are most likely alive; if none is, the next attempt of any waiter goes on.
local function let_another_go_on(vanished)
  is_unfinished = true
  local ids = redis.call('ZRANGE', keys[2], -64, -1)
  local entries, tried = redis.call('HMGET', keys[3], unpack(ids)), {}
  for i = #ids, 1, -1 do
    local channel = entries[i] and channel_of(entries[i])
    if channel and not tried[channel] and not (vanished and vanished[channel]) then
      tried[channel] = true
      if is_heard(channel) then
        publish(channel, 'C ' .. ids[i])
        return
      end
    end
  end
end

-- Clients that do not confirm a grant may have vanished without a word: their channels still count as subscribers. Sets their waiters aside.
-- Not those of a client that has sent an attempt since that grant: it lives, and only the claim that was granted loses its turn.
-- For each client it notes them under '@<channel>' in keys[3], and sends one of them a hint: see
-- trust_again(). Makes the first waiter of each other client send an attempt within a claim time, since the next grant
-- may meet such a client again. False if a later run has to go on. Reads as many waiters as a run passes over, once for all these clients.
-- vanished: by channel, the time of the last grant that was not confirmed
local function set_aside_unconfirmed(vanished, claim_ms)
  local first, theirs, others = 0, {}, {}
  while next(vanished) and #theirs < MOST_TAKEN_OUT and first < 16 * MOST_TAKEN_OUT do
    local ids = redis.call('ZRANGE', keys[2], first, first + 511)
    for i, entry in ipairs(ids[1] and redis.call('HMGET', keys[3], unpack(ids)) or {}) do
      local channel = channel_of(entry or '')
      if vanished[channel] then
        local lease, asked = string.match(entry, LEASE_AND_ASKED)
        if tonumber(asked) > vanished[channel] then
          vanished[channel] = nil
        else
          table.insert(theirs, {ids[i], entry, channel, tonumber(lease)})
        end
      elseif channel and #others < MOST_TOLD and not others[channel] then
        others[channel] = true
        table.insert(others, {channel, ids[i]})
      end
    end
    first = first + 512
    if #ids < 512 then
      break
    end
  end

  local ids, entries, fates, notes, channels, before = {}, {}, {}, {}, {}, place
  for _, waiter in ipairs(theirs) do
    local id, entry, channel, lease = unpack(waiter)
    if vanished[channel] then
      table.insert(ids, id)
      table.insert(entries, entry)
      table.insert(fates, 'aside')
      if not notes[channel] then
        notes[channel] = {longest = 0}
        table.insert(channels, channel)
      end
      local note = notes[channel]
      table.insert(note, id)
      if lease > note.longest then
        note.longest, note.entry = lease, entry
      end
    end
  end
  take_out(ids, entries, fates)
  place = before
  for _, channel in ipairs(channels) do
    -- The entry of one of them, to be forgotten as that one is, and behind it the ids.
    local note = notes[channel]
    local known = string.match(redis.call('HGET', keys[3], '@' .. channel) or '', '(\n.*)$') or ''
    redis.call('HSET', keys[3], '@' .. channel, '@0 ' .. note.entry .. known .. '\n' .. table.concat(note, '\n'))
    publish(channel, 'C ' .. note[1])
  end
  if #ids < MOST_TAKEN_OUT then
    for _, other in ipairs(others) do
      publish(other[1], 'H ' .. digits(claim_ms) .. ' ' .. other[2])
    end
    return true
  end
  let_another_go_on(vanished)
  return false
end

-- A call of the client for a claim that is not in the queue shows that it lives: its waiters that are aside get their places back, as many in
-- one run as it takes out. One of the others gets a hint, and its attempt goes on. Returns whether there may be some.
local function trust_again(channel)
  local note = redis.call('HGET', keys[3], '@' .. channel)
  if not note then
    return false
  end
  local head, list = string.match(note, '^([^\n]*)(.*)$')
  local ids, read, longest = {}, 0, 0
  for id, behind in string.gmatch(list, '\n([^\n]+)()') do
    table.insert(ids, id)
    read = behind - 1
    if #ids == MOST_TAKEN_OUT then
      break
    end
  end
  redis.call('HDEL', keys[3], '@' .. channel)
  for first = 1, #ids, 512 do
    local some, back, entries = {unpack(ids, first, math.min(first + 511, #ids))}, {}, {}
    for i, text in ipairs(redis.call('HMGET', keys[3], unpack(some))) do
      local ticket, entry = string.match(text or '', '^@(%d+) (.*)$')
      if ticket then
        table.insert(back, ticket)
        table.insert(back, some[i])
        table.insert(entries, some[i])
        table.insert(entries, entry)
        longest = math.max(longest, (string.match(entry, LEASE_AND_ASKED)))
      end
    end
    if back[1] then
      redis.call('ZADD', keys[2], unpack(back))
      redis.call('HSET', keys[3], unpack(entries))
    end
  end
  if longest > 0 then
    keep(keys[2], longest, keys[3])
  end
  if read < #list then
    redis.call('HSET', keys[3], '@' .. channel, head .. string.sub(list, read + 1))
    publish(channel, 'C ' .. string.match(list, '^\n([^\n]+)', read + 1))
  end
  return true
end

-- After a push: if the waiter that was served has vanished, only an attempt of another client finds that out. Makes one of the last
-- waiters send one within a claim time, and the next one, both of other clients. To find the next one it reads a waiter for each
-- millisecond of the hold that has ended, so that costs the server the same part of its time for each lock; 1 024 at most, or a few more.
-- next_ids, next_entries: the next waiters, as far as they were read already.
local function tell_another(served, claim_ms, held_micros, next_ids, next_entries)
  local told = served
  -- rank: of the first of them, counted from the head; nil if it is far behind
  local function tell(ids, entries, rank, is_from_end)
    for i = 1, #ids do
      local at = is_from_end and #ids + 1 - i or i
      local channel = channel_of(entries[at] or '')
      if channel and channel ~= served and channel ~= told then
        told = channel
        if not rank or rank + at > 2 then -- the first two send attempts anyway
          publish(channel, 'H ' .. digits(claim_ms) .. ' ' .. ids[at])
        end
        return true
      end
    end
    return #ids == 0
  end
  local last = redis.call('ZRANGE', keys[2], -8, -1)
  if #last < 8 and #next_ids >= #last then
    tell(next_ids, next_entries, 0, true)
    tell(next_ids, next_entries, 0)
    return
  end
  tell(last, redis.call('HMGET', keys[3], unpack(last)), nil, true)
  local most, rank, portion = math.min(held_micros / 1000, MOST_TAKEN_OUT), #next_ids, 8
  if #next_ids > 0 and tell(next_ids, next_entries, 0) then
    return
  end
  while rank < most do
    local ids = redis.call('ZRANGE', keys[2], place + rank, place + rank + portion - 1)
    if tell(ids, ids[1] and redis.call('HMGET', keys[3], unpack(ids)) or {}, rank) then
      return
    end
    rank, portion = rank + portion, math.min(portion * 8, 512)
  end
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
