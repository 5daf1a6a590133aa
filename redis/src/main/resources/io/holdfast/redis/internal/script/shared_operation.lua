-- What the loop of shared.lua does not handle. Included by it after usual.lua and waiting.lua, never run alone.

local MOST_SERVED = 256
local own, claim_ms -- the caller's channel, and for how long a pushed grant holds

function rest()
  return {clear_way = clear_way}
end

-- The record and the entries of the holders can be rewritten on a server without memory if something else was written before.
local function write_something()
  call('ZREM', keys[4], ' ')
end

-- Adds the surplus of holders, or takes it off if the number is negative.
local function add_surplus(permits)
  if permits ~= 0 then
    surplus = surplus + permits
    if surplus > 0 then
      call('ZADD', keys[4], '-' .. digits(surplus), '')
    else
      call('ZREM', keys[4], '')
    end
  end
end

-- The keys expire a second later than the lease: their clock is the start of the script.
local function save_holder(id, word, attempt, its_token, lease, since, channel, ms, is_pushed)
  call('ZADD', keys[4], digits(now - now % 2 + ms * 1000 + (is_pushed and 0 or 1)), id)
  call('HSET', keys[3], ' ' .. id, word .. ' ' .. attempt .. ' ' .. digits(its_token) .. ' ' .. lease .. ' ' .. since .. ' ' .. channel)
  local kept = lease + 1000
  if call('PTTL', keys[4]) < kept then
    call('PEXPIRE', keys[4], kept)
  end
  if call('PTTL', keys[3]) < kept then
    call('PEXPIRE', keys[3], kept)
  end
end

local function drop_holder(id, word)
  call('HDEL', keys[3], ' ' .. id)
  if call('ZREM', keys[4], id) == 1 then
    local taken = taken_by(word)
    count_taken = count_taken - taken
    add_surplus(1 - taken)
  end
end

-- Ends the holders whose leases are over, and suspects each client that has not called since such a grant was pushed to it. Returns how many it ended.
local function settle()
  if not first_end or first_end > now then
    return 0
  end
  local over, ids, fields = call('ZRANGEBYSCORE', keys[4], 0, now_digits, 'WITHSCORES', 'LIMIT', 0, MOST_ENDED), {}, {}
  for i = 1, #over, 2 do
    ids[#ids + 1], fields[#fields + 1] = over[i], ' ' .. over[i]
  end
  local beyond, vanished = 0, {}
  for i, entry in ipairs(call('HMGET', keys[3], unpack(fields))) do
    local word, _, _, lease, since, channel = match(entry or '-', HOLDER)
    local taken = taken_by(word or '-')
    count_taken, beyond = count_taken - taken, beyond + taken - 1
    local client = word and match(channel, CLIENT)
    if word and over[2 * i] % 2 == 0 and client ~= match(own, CLIENT) and client ~= '-' and not vanished[client] then
      local pushed = call('HGET', keys[3], '+' .. client)
      vanished[client] = pushed and tonumber(pushed) <= tonumber(since) and tonumber(lease)
    end
  end
  call('ZREM', keys[4], unpack(ids))
  call('HDEL', keys[3], unpack(fields))
  add_surplus(-beyond)
  for client, lease in pairs(vanished) do
    if lease then
      call('HDEL', keys[3], '+' .. client)
      suspect(client, lease)
    end
  end
  return #ids
end

local function hold(id, word, attempt, lease, channel, floor, ms, is_pushed)
  write_record(math.max(token + 1, now, floor)) -- first: a server that refuses writes must grant nothing
  save_holder(id, word, attempt, token, lease, now_digits, channel, ms, is_pushed)
  local taken = taken_by(word)
  count_taken, mode = count_taken + taken, kind_of(word)
  add_surplus(taken - 1)
end

local function leave_queue(id)
  call('ZREM', keys[2], id)
  call('HDEL', keys[3], id)
end

-- The same for a claim that asks itself: one without a channel may be aside.
local function withdraw(id)
  if call('ZREM', keys[2], id) == 0 then
    forget_aside(id)
  end
  call('HDEL', keys[3], id)
end

-- Makes holders of the first waiters that the lock admits, until one is not admitted: that keeps a writer from starving. Returns whether a waiter was left,
-- or may have been; the token of the caller's own claim, if it got the lock; and the first grant to its client, if it goes into the answer.
-- caller: the id of the claim that attempts: its grant needs no confirmation
local function serve(caller, is_own_in_answer)
  local served, taken, first = 0, nil, nil
  while not (count_taken > 0 and mode == 'write') do
    local ids, entries = first_waiters(own, caller)
    if not ids then
      return ids == false, taken, first
    end
    local id = ids[1]
    local lease, _, floor, channel, word, secret, attempt, at = match(entries[1], PARTS)
    lease = tonumber(lease)
    if not admits(word) then
      return true, taken, first
    elseif served == MOST_SERVED then
      publish(channel, 'C ' .. id) -- its attempt serves the next waiters
      return true, taken, first
    else
      served = served + 1
      local is_caller = id == caller
      local ms = is_caller and lease or ms_of(claim_ms, lease)
      hold(id, word, attempt, lease, channel, tonumber(floor), ms, not is_caller)
      local valid = ms + math.floor(math.max(0, now - at) / 1000)
      leave_queue(id)
      if is_caller then
        taken = token -- others may be served behind it
      else
        call('HSETNX', keys[3], '+' .. match(channel, CLIENT), now_digits)
        if is_own_in_answer and not first and channel == own then
          first = {0, token, tonumber(attempt), valid, 1, id}
        else
          publish(channel, 'G ' .. signed(secret, channel,
            digits(token) .. ' ' .. attempt .. ' ' .. valid .. ' ' .. #id .. ' ' .. id .. ' ' .. keys[1]))
        end
      end
    end
  end
  return true, taken, first
end

-- After something got free: the next waiters are served, or else the claims that want a hint get one.
local function serve_next(is_own_in_answer, has_changed)
  if not has_flag(1) and not has_flag(4) then
    return
  end
  local blocked, _, first = serve(false, is_own_in_answer)
  if not blocked then
    if has_changed then
      tell_interested()
    end
    local left = (call('EXISTS', keys[2], keys[6]) > 0 and 1 or 0) + (call('EXISTS', keys[5]) == 1 and 2 or 0) + (call('EXISTS', keys[7]) == 1 and 4 or 0)
    if record and left ~= flags() then
      record = '1S' .. left .. sub(record, 4)
      call('SETRANGE', keys[1], 2, left)
    end
  end
  return first
end

local function attempt_of(entry)
  return tonumber(match(entry, ' (%d+) %d+ %d+$'))
end

-- Returns the entries of a claim: as a holder, with its end, if its lease is not over; and as a waiter.
local function standing(id)
  local held, entry, mark = unpack(call('HMGET', keys[3], ' ' .. id, id, '+' .. match(own, CLIENT)))
  local ends = held and tonumber(call('ZSCORE', keys[4], id) or 0)
  return held, ends and ends > now and ends, entry, mark
end

local function acquire(id, note, words, held, ends, entry)
  local attempt, lease = match(note, '^(%d+) (%d+) ')
  local waiting, most, floor, secret, word = match(words, '^(%a+):?(%d*) (%d+) %d+ (%S+) (%S+)$')
  attempt, lease = tonumber(attempt), tonumber(lease)
  local text = lease .. ' - ' .. floor .. ' ' .. own .. ' ' .. word .. ' ' .. secret .. ' ' .. attempt .. ' ' .. now_digits .. ' ' .. now_digits
  floor = tonumber(floor)
  local limit = waiting == 'queue' and (tonumber(most) or 0)
  if is_gone(id) then
    return {3, ms_of(lease / 3, claim_ms)}
  end
  if ends then
    local held_as, seen, its_token, _, since = match(held, HOLDER)
    its_token = tonumber(its_token)
    seen = tonumber(seen)
    local late, is_other = attempt < seen and seen ~= ADOPTED, kind_of(held_as) ~= kind_of(word)
    if is_other and (late or word ~= 'read') then
      return {3, ms_of(lease / 3, claim_ms)}
    elseif late then
      return {1, its_token, ms_of((ends - now) / 1000, lease)}
    end
    write_something()
    if floor > its_token then
      its_token = floor
      write_record(math.max(token, floor))
    end
    -- A claim keeps the permits that it has taken.
    save_holder(id, is_other and word or held_as, math.max(attempt, seen), its_token, lease, since, own, lease, false)
    if is_other then -- the writer reads from now on, and the readers at the head join it
      mode = 'read'
      serve_next(false, true)
    end
    return {1, its_token, lease}
  elseif held then -- more leases were over than one call ends, its own among them
    drop_holder(id, match(held, '^%S+'))
  end

  local late = entry and attempt < attempt_of(entry)
  if entry and not late and limit then
    local before = match(entry, '^%S+ %S+ %S+ (%S+) ')
    if before == '-' then
      trust_one(id)
    elseif before ~= own and has_flag(4) then
      trust(before)
    end
    call('HSET', keys[3], id, text)
    keep(lease, keys[3], keys[2])
  elseif entry and not late then
    withdraw(id)
  end
  local blocked, taken = false, nil
  local permits = tonumber(match(word, '/(%d+)$'))
  if permits and count_taken >= permits then
    blocked = true
  elseif (entry or admits(word)) and (has_flag(1) or has_flag(4)) then
    blocked, taken = serve(limit and not late and id)
  end
  entry = limit and entry
  if not taken and not entry and not late and not blocked and admits(word) then
    hold(id, word, attempt, lease, own, floor, lease, false)
    taken = token
  end
  if taken then
    if has_flag(1) then
      call('ZREM', keys[6], own .. ' ' .. id)
    end
    return {1, taken, lease}
  elseif late then
    local held_now, its_end = standing(id) -- it may have been served just now
    if its_end then
      return {1, tonumber(match(held_now, '^%S+ %d+ (%d+)')), ms_of((its_end - now) / 1000, lease)}
    end
  end

  local rank = limit and entry and call('ZRANK', keys[2], id)
  local comes_back = entry and (has_aside(own) or has_aside(match(entry, '^%S+ %S+ %S+ (%S+) '))) -- with the others of its client
  if limit and not late and not rank and not comes_back then
    local waiters = call('ZCARD', keys[2])
    if not entry and limit > 0 and waiters >= limit then
      if now % 8 == 0 then
        sweep(64)
      end
      return {4, waiters}
    end
    enqueue(id, text, lease)
    rank = waiters
    if now % 16 == 0 and (waiters > 64 or call('HLEN', keys[3]) > waiters + call('ZCARD', keys[4]) + 16) then
      sweep(32)
    end
  end
  local at = surplus > 0 and 1 or 0 -- behind ''
  local soonest = call('ZRANGE', keys[4], at, at, 'WITHSCORES')[2]
  local left = math.max(0, (soonest or 0) - now) / 1000
  if rank then
    local pause = ms_of(left + 10 * math.min(rank + 1, 100), lease / 3)
    return {2, rank < 2 and ms_of(pause, claim_ms) or pause}
  elseif waiting == 'notify' and own ~= '-' then
    want_hint(own, id, lease, attempt)
  end
  return {3, ms_of(left + 10, lease / 3)}
end

-- A repeated request: its first answer may have brought a grant, which is not confirmed yet. Such a claim asks again. An unconfirmed grant ends soon, so it is
-- among the first.
local function remind()
  local some = call('ZRANGE', keys[4], 0, 7, 'WITHSCORES')
  for i = 1, #some, 2 do
    local ends = tonumber(some[i + 1])
    if ends > now and ends % 2 == 0 and match(call('HGET', keys[3], ' ' .. some[i]) or '', ' ([^ {]+)%S*$') == match(own, CLIENT) then
      publish(own, 'C ' .. some[i])
    end
  end
end

local function release(id, attempt, is_unanswered, tombstone, held, ends, entry, has_ended)
  local seen
  if held then
    local word, its_attempt = match(held, '^(%S+) (%d+) ')
    seen = tonumber(its_attempt)
    if seen == ADOPTED and tombstone == 0 then
      return 0
    end
    is_unanswered = is_unanswered or seen == ADOPTED -- an attempt of the exporter may still be under way
    drop_holder(id, word)
  elseif entry then
    seen = attempt_of(entry)
    withdraw(id)
  else
    seen = forget_hint(own, id)
    remind()
  end
  if tombstone > 0 and (is_unanswered or not seen or seen < attempt) then
    leave_tombstone(id, tombstone)
  end
  local first = serve_next(true, seen or has_ended)
  if first then
    first[1] = ends and 1 or 0
    return first
  end
  return ends and 1 or 0
end

local function adopt(id, its_token, lease, held, ends)
  if not ends or is_gone(id) or tonumber(match(held, '^%S+ %d+ (%d+)')) ~= its_token then
    return 0
  end
  local word, _, _, _, since, channel = match(held, HOLDER)
  write_something()
  save_holder(id, word, ADOPTED, its_token, lease, since, channel, lease, false)
  return 1
end

function operate(key, text, i)
  local id, what, number, note, words = ARGV[4 * i - 3], byte(ARGV[4 * i - 2]), tonumber(sub(ARGV[4 * i - 2], 2)), ARGV[4 * i - 1], ARGV[4 * i]
  local is_attempt = what == 65 or what == 84 or what == 97
  keys = {key, key .. ':queue', key .. ':claims', key .. ':held', key .. ':gone', key .. ':interest', key .. ':aside'}
  unreachable, taken_out = {}, 0
  local failure = read_record(text)
  if failure then
    local is_foreign = find(failure.err or failure, '^FOREIGN') or find(failure.err or failure, 'WRONGTYPE', 1, true)
    return (is_attempt or not is_foreign) and failure or 0
  end
  refuse_foreign_keys()
  failure = read_holders()
  if failure then
    return failure
  end
  own, claim_ms = is_attempt and match(note, '^%d+ %d+ (%S+)') or note, tonumber(match(words, is_attempt and '^%S+ %d+ (%d+)' or '^%d+'))
  local held, ends, entry, mark = standing(id)
  if mark then
    call('HDEL', keys[3], '+' .. match(own, CLIENT))
  end
  if has_flag(4) and own ~= '-' then
    trust(own)
  end
  local has_ended = settle() > 0
  if is_attempt then
    return acquire(id, note, words, held, ends, entry)
  elseif what == 68 then
    return adopt(id, number, tonumber(words), held, ends)
  elseif what == 66 then
    if not ends then
      return 0
    end
    return release(id, math.huge, true, 30000, held, ends, entry, has_ended)
  end
  return release(id, number, what == 114, tonumber(match(words, '%d+$')), held, ends, entry, has_ended)
end
