-- The queue of one mutex. Included by mutex.lua after record.lua and push.lua, never run alone.

local function min_ms(a, b)
  return math.max(1, math.floor(math.min(a, b)))
end

-- True for the WRONGTYPE error of a pcall. Other errors are not about the key and must be passed on.
local function is_wrong_type(reply)
  return type(reply) == 'table' and reply.err and string.find(reply.err, 'WRONGTYPE', 1, true)
end

-- Fails if there is a foreign value under a key, before anything is written. The caller checks the lock's own key
-- elsewhere. It does not call this function if it has read each key before it writes it, as in a usual hand-off.
local is_checked = false
local function refuse_foreign_keys()
  if is_checked then
    return
  end
  is_checked = true
  call('ZSCORE', keys[2], '')
  call('HGET', keys[3], '')
  call('LLEN', keys[4])
  call('ZSCORE', keys[5], '')
  call('ZSCORE', keys[6], '')
end

-- The lease and the time of the last attempt in an entry of keys[3].
local LEASE_AND_ASKED = '^%d+ (%d+) (%d+) '

--#include waiters.lua

-- If the last run of serve() served the very first waiter: the id and the entry of the waiter that is second now.
local following
local pushed_to, held_micros -- the channel of the waiter that it served, and how long the lock was held before
local next_ids, next_entries -- the waiters behind that one, as far as it has read them

-- Gives the free lock to the first living waiter, and returns its id; false if there is none, true if it is not known
-- yet. If the caller's own claim is first, only returns its id: the caller gets its full lease as an answer. Sets aside
-- a waiter whose channel has no subscriber, and one without a channel: it gets the lock when it sends an attempt and no
-- living waiter is before it. Each run checks a channel once: the waiters of a killed client cost one NUMSUB, and are
-- read in growing portions. It publishes a hint to them: if the slot has moved here, their client listens elsewhere,
-- and sends an attempt at once. If the last holder has not confirmed its grant, it sets the waiters of that client aside first, unless
-- the client has sent this very call.
local function serve(now, caller, claim_ms, own_channel)
  local unheard, portion, rest = {[''] = true}, 8, MOST_TAKEN_OUT
  place = 0
  if is_unconfirmed() and expires <= now and held_channel ~= own_channel
    and not set_aside_unconfirmed({[held_channel] = held_since}, claim_ms) then
    return true
  end
  while true do
    local ids = call('ZRANGE', keys[2], place, place + portion - 1)
    if #ids == 0 then
      return false
    end
    local entries, fates = call('HMGET', keys[3], unpack(ids)), {}
    local id, attempt, lease, asked, floor, secret, channel, served_at -- of the first that lives
    for i, one in ipairs(ids) do
      attempt, lease, asked, floor, secret, channel =
        string.match(entries[i] or '', '^(%d+) (%d+) (%d+) (%d+) (%x*) (.*)$')
      if one == caller then
        id = one
      elseif not attempt or is_gone(now, asked, lease) then
        fates[i] = 'gone'
      elseif not unheard[channel] and is_heard(channel) then
        id = one
      else
        if not unheard[channel] then
          refuse_foreign_keys()
          publish(channel, 'C ' .. one)
          unheard[channel] = true
        end
        fates[i] = fate_of_unheard(now, asked)
      end
      if id then
        served_at = i
        break
      end
    end
    if fates[1] then -- each waiter before the first living one has a fate
      refuse_foreign_keys()
      rest = rest - take_out(ids, entries, fates)
    end
    if id and id == caller then
      return id
    elseif id then
      local ms, token = min_ms(claim_ms, lease - 1), next_token(tonumber(floor))
      following = place == 0 and moved == 0 and {ids[3], entries[3]}
      local micros = now - (held_since or now)
      -- The writes come before the push: a server that refuses them (a replica) must grant nothing. A server without
      -- memory accepts the first one.
      leave_queue(id)
      hold(flags() % 4, id, attempt .. ' ' .. lease .. ' ' .. channel, token, ms, now, true)
      grant(channel, secret, digits(token), attempt, math.floor(math.max(0, now - tonumber(asked)) / 1000) + ms, id, keys[1])
      pushed_to, held_micros, next_ids, next_entries = channel, micros, {}, {}
      for i = served_at + 1, #ids do
        next_ids[i - served_at], next_entries[i - served_at] = ids[i], entries[i]
      end
      return id
    end
    if rest <= 0 then
      let_another_go_on()
      return true
    end
    portion = math.min(portion * 8, 512)
  end
end

local function tell_head(id, entry, claim_ms)
  local channel = id and string.match(entry or '', ' (%S+)$')
  if channel then
    publish(channel, 'H ' .. digits(claim_ms) .. ' ' .. id)
  end
end

-- Makes the waiters that have come to the first two places, not counting those that were passed over, send an
-- attempt within a claim time. At their last attempt their turn was far away, and only attempts detect a waiter that
-- hangs ahead of them. A waiter that is there at its own attempt gets that time with the answer. Once per waiter, and
-- one PUBLISH for each waiter that was served.
local function tell_next(claim_ms)
  if following then
    tell_head(following[1], following[2], claim_ms)
  elseif moved > 0 then
    for _, id in ipairs(call('ZRANGE', keys[2], place + math.max(0, 2 - moved), place + 1)) do
      tell_head(id, call('HGET', keys[3], id), claim_ms)
    end
  end
  if pushed_to then
    tell_another(pushed_to, claim_ms, held_micros, next_ids, next_entries)
  end
  moved, following, pushed_to = 0, nil, nil
end

-- Puts the waiters at the front back into the queue. Those that were in it before keep their tickets: of two with the
-- same ticket, the id decides. Only those that came while the queue was empty may need others.
local function put_back()
  local lines = (not record or has_flag(4)) and call('LRANGE', keys[4], 0, -1) or {}
  local tickets, entries, seen, last, last_id, longest, n = {}, {}, {}, 0, '', 0, 0
  for _, line in ipairs(lines) do
    local ticket, entry, lease, id = string.match(line, '^(%d+) (%d+ (%d+) %d+ %d+ %x* %S*) (.+)$')
    if not id then
      error('FOREIGN value in the list of waiters', 0)
    end
    ticket, longest = tonumber(ticket), math.max(longest, tonumber(lease))
    if ticket < last or ticket == last and id < last_id then
      ticket = last + 1
    end
    if not seen[id] then -- a claim whose first attempt comes after a later one is in the list twice
      seen[id], last, last_id, n = true, ticket, id, n + 1
      tickets[2 * n - 1], entries[2 * n - 1] = digits(last), id
      tickets[2 * n], entries[2 * n] = id, entry
    end
  end
  if record then
    record = sub(record, 1, 1) .. flags() % 4 .. sub(record, 3)
  end
  if lines[1] then
    refuse_foreign_keys()
    call('DEL', keys[4]) -- first: a server without memory refuses the others as the first write
    call('ZADD', keys[2], unpack(tickets))
    call('HSET', keys[3], unpack(entries))
    keep(keys[2], longest, keys[3])
    set_flag(1)
  end
end

-- Begins an operation on this lock. False if there is a foreign value under its key.
local function begin(key, text)
  keys = {key, key .. ':queue', key .. ':waiters', key .. ':front', key .. ':gone', key .. ':interest'}
  is_checked, is_unfinished, following, pushed_to, place, moved = false, false, nil, nil, 0, 0
  if not read_record(text) then
    return false
  end
  put_back()
  return true
end
