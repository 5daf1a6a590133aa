-- The waiters of one lock of any kind: what the usual ways do not need. Included by exclusive_grants.lua, never run alone.

local OLD_MICROS = 300000000 -- after that, no repeated end of a run comes

local function is_stale(entry)
  return now - asked_of(entry) > match(entry, '^%d+') * HALF
end

-- Fails if there is a foreign value under a key, before anything is written. The script that includes this reads the first and the fourth itself.
local function refuse_foreign_keys()
  call('ZSCORE', keys[2], '')
  call('HGET', keys[3], '')
  call('ZSCORE', keys[5], '')
  call('ZSCORE', keys[6], '')
  call('ZSCORE', keys[7], '')
end

local function keep_for(key, ms)
  if call('PTTL', key) < ms then
    call('PEXPIRE', key, ms)
  end
end

-- A call of this client for a lock with flag 4: it lives. Its waiters get their places back, as many as one call moves.
local function trust(channel)
  local client = match(channel, CLIENT)
  local some = call('ZRANGEBYLEX', keys[7], '[' .. client .. ' ', '(' .. client .. '!', 'LIMIT', 0, MOST_ASIDE)
  if not some[1] then
    return
  end
  refuse_foreign_keys()
  local ids, tickets = {}, {}
  for _, one in ipairs(some) do
    local ticket, id = match(one, ' (%d+) (.+)$', #client)
    if id then
      ids[#ids + 1], tickets[#tickets + 1] = id, ticket
    end
  end
  call('ZREM', keys[7], unpack(some)) -- first: a server without memory refuses ZADD as the first write, and accepts it as the second
  if ids[1] then
    local entries, back = call('HMGET', keys[3], unpack(ids)), {}
    for i, entry in ipairs(entries) do
      if entry then -- else it was withdrawn
        back[#back + 1], back[#back + 2] = tickets[i], ids[i]
      end
    end
    if back[1] then
      call('ZADD', keys[2], unpack(back))
      keep_for(keys[2], call('PTTL', keys[3]))
    end
    if #some == MOST_ASIDE then
      publish(channel, 'C ' .. ids[1]) -- its attempt moves the next ones
    end
  end
  set_flag(1)
end

-- Returns the ticket of a waiter without a channel that is aside, and takes it from there.
local function forget_aside(id)
  local one = has_flag(4) and call('ZRANGEBYLEX', keys[7], '[- ' .. id .. ' ', '(- ' .. id .. '!', 'LIMIT', 0, 1)[1]
  if one then
    call('ZREM', keys[7], one)
    return match(one, '%d+$')
  end
end

-- Puts such a waiter back: another one of its client says nothing about it.
local function trust_one(id)
  local ticket = forget_aside(id)
  if ticket then
    call('ZADD', keys[2], ticket, id)
    keep_for(keys[2], call('PTTL', keys[3]))
    set_flag(1)
  end
  return ticket
end

-- Whether waiters of this client are aside still, since trust() has moved as many as one call does.
local function has_aside(channel)
  local client = has_flag(4) and match(channel, CLIENT) or '-'
  return client ~= '-' and call('ZRANGEBYLEX', keys[7], '[' .. client .. ' ', '(' .. client .. '!', 'LIMIT', 0, 1)[1]
end

-- The client has not confirmed a grant: until its next call, its waiters are passed over.
local function suspect(channel, lease)
  call('ZREM', keys[7], '') -- see trust()
  call('ZADD', keys[7], 0, match(channel, CLIENT) .. ' 0')
  keep_for(keys[7], math.max(lease, call('PTTL', keys[3])))
  set_flag(4)
end

local function is_passed_over(channel, own)
  if unreachable[channel] == nil then
    unreachable[channel] = channel == '-' or has_flag(4) and call('ZSCORE', keys[7], match(channel, CLIENT) .. ' 0') and true or channel ~= own and not is_heard(channel)
  end
  return unreachable[channel]
end

-- Takes waiters out of the queue: dead ones for good, the others keep their tickets aside.
local function take_out(dead, aside, channels)
  if dead[1] then
    call('ZREM', keys[2], unpack(dead))
    call('HDEL', keys[3], unpack(dead))
  end
  if aside[1] then
    local tickets, members = call('ZMSCORE', keys[2], unpack(aside)), {}
    for i, id in ipairs(aside) do
      local channel, ticket = channels[i], digits(tonumber(tickets[i]))
      members[2 * i - 1], members[2 * i] = 0, channel == '-' and '- ' .. id .. ' ' .. ticket or match(channel, CLIENT) .. ' ' .. ticket .. ' ' .. id
    end
    call('ZREM', keys[2], unpack(aside))
    call('ZADD', keys[7], unpack(members))
    keep_for(keys[7], call('PTTL', keys[3]))
    set_flag(4)
    for i, channel in ipairs(channels) do
      if unreachable[channel] ~= 'told' and channel ~= '-' then
        unreachable[channel] = 'told'
        publish(channel, 'C ' .. aside[i]) -- it may listen elsewhere, or hang: its next attempt puts all of them back
      end
    end
  end
end

-- Takes out the waiters before the first one that can be granted. False if a later call has to go on; true else.
local function clear_way(own, caller)
  refuse_foreign_keys()
  local portion = 64
  while taken_out < MOST_ASIDE do
    local ids = call('ZRANGE', keys[2], 0, portion - 1)
    if not ids[1] then
      return true
    end
    local entries, dead, aside, channels, found = call('HMGET', keys[3], unpack(ids)), {}, {}, {}, false
    for i, id in ipairs(ids) do
      local entry = entries[i]
      local channel = entry and match(entry, '^%S+ %S+ %S+ (%S+) ')
      if id == caller and channel then
        found = true
      elseif not channel or is_stale(entry) then
        dead[#dead + 1] = id
      elseif is_passed_over(channel, own) then
        aside[#aside + 1], channels[#channels + 1] = id, channel
      else
        found = true
      end
      if found then
        break
      end
    end
    take_out(dead, aside, channels)
    taken_out, portion = taken_out + #dead + #aside, 512
    if found then
      return true
    end
  end
  local last = call('ZRANGE', keys[2], -1, -1)[1] -- it came last, so it is the most likely to live
  local channel = last and match(call('HGET', keys[3], last) or '', '^%S+ %S+ %S+ (%S+) ')
  if channel and channel ~= '-' then
    publish(channel, 'C ' .. last)
  end
  return false
end

-- Drops some of the waiters that send no more attempts: of as many as have come, and more, by few at a time while there are any among them.
-- exempt: returns by id the members of a run, which do not get stale; nil for none
local function sweep(count, exempt)
  local left, dead = count, nil
  repeat
    local some = call('HRANDFIELD', keys[3], math.min(left, 8), 'WITHVALUES')
    dead = {}
    for i = 1, #some, 2 do
      local id, entry = some[i], some[i + 1]
      local head = string.byte(id)
      local ended = (head == 33 or head == 42) and tonumber(sub(entry, -16)) -- ! and *: former runs, see exclusive_rest.lua
      if ended and now - ended > OLD_MICROS or head >= 48 and is_stale(entry) and not (exempt and exempt()[id]) then
        dead[#dead + 1] = id
      end
    end
    if dead[1] then
      call('ZREM', keys[2], unpack(dead))
      call('HDEL', keys[3], unpack(dead))
    end
    left = left - 8
  until not dead[1] or left <= 0
  if has_flag(4) then -- of those aside the entry is gone now, or soon
    local aside, ids, over = call('ZRANDMEMBER', keys[7], count), {}, {}
    for i, one in ipairs(aside) do
      ids[i] = match(one, '^%- (.+) %d+$') or match(one, '^%S+ %d+ (.+)$') or ''
    end
    for i, entry in ipairs(ids[1] and call('HMGET', keys[3], unpack(ids)) or {}) do
      if not entry and ids[i] ~= '' then
        over[#over + 1] = aside[i]
      end
    end
    if over[1] then
      call('ZREM', keys[7], unpack(over))
    end
  end
end

-- An attempt of this claim may still be under way. It must find that its claim has ended.
local function leave_tombstone(id, ms)
  call('ZREMRANGEBYSCORE', keys[5], '-inf', digits(now)) -- first: see trust()
  call('ZADD', keys[5], digits(now + ms * 1000), id)
  call('PEXPIRE', keys[5], ms)
  set_flag(2)
end

local function is_gone(id)
  local ends = has_flag(2) and call('ZSCORE', keys[5], id)
  return ends and tonumber(ends) > now
end

-- Interest is a hint: at most 64 claims get one.
-- The score is the end of the interest, in whole milliseconds, and the number of the attempt.
local function want_hint(channel, id, lease, attempt)
  call('ZADD', keys[6], digits(now - now % 1000 + lease * 1000 + math.min(attempt, 999)), channel .. ' ' .. id)
  call('ZREMRANGEBYRANK', keys[6], 0, -1 - MOST_INTERESTED)
  keep(lease, keys[6])
  set_flag(1)
end

-- Returns the attempt that asked for a hint, if any; from the thousandth on it is not known.
local function forget_hint(channel, id)
  local wanted = call('ZSCORE', keys[6], channel .. ' ' .. id)
  if wanted then
    call('ZREM', keys[6], channel .. ' ' .. id)
    return tonumber(wanted) % 1000
  end
end

local function tell_interested()
  local all = call('ZRANGEBYSCORE', keys[6], digits(now), '+inf')
  for _, member in ipairs(all) do
    local channel, id = match(member, '^(%S*) (.*)$')
    publish(channel, 'C ' .. id)
  end
  call('DEL', keys[6])
end
