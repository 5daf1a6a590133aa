-- A lock that is shared: by readers, or by claims that took permits. Included by exclusive_grants.lua after attempt.lua, never run alone.
--
-- The holders are in ':held', by the ends of their leases: each ends alone. An even end: the grant was pushed, or was in the answer to a release, and its
-- claim has not asked since. '' comes first, if any holder has more than one permit: its score is below zero, by the number of permits beyond
-- one for each holder. What else is known of a holder is in ':claims', ' <id>' -> '<word> <attempt> <token> <lease> <since> <channel>'.
-- ':held' never lasts longer than ':claims'.
-- ':claims', '+<client>' -> time of the first grant that was pushed to that client since its last call

local MOST_SERVED, MOST_ENDED = 256, 1024
local HOLDER = '^(%S+) (%d+) (%d+) (%d+) (%d+) (%S+)$'
local surplus, first_end = 0, nil -- of the permits that are taken, those beyond one for each holder

-- The record and the entries of the holders can be rewritten on a server without memory if something else was written before.
local function write_something()
  call('ZREM', keys[4], ' ')
end

local function write_shared_record(last)
  if is_ending then
    write_something()
  end
  token, record, is_shared = last, '1S' .. flags() .. written(last), true
  call('SET', keys[1], record, 'EXAT', format('%d', last / 1000000 + KEPT_SECONDS))
end

local function taken_by(word)
  return tonumber(match(word, '^%a+:(%d+)') or 1)
end

-- Whether the holders of shares admit another one; and whether they would admit none at all.
local function admits(word)
  local taken, permits = match(word, '^semaphore:(%d+)/(%d+)$')
  return not taken or count_taken + taken <= tonumber(permits), taken and count_taken >= tonumber(permits)
end

-- Reads the holders, those whose leases are over too. Returns an error if there are foreign ones: a holder of this library is under both keys.
local function read_holders()
  refuse_foreign_keys()
  if not record and type(try('LLEN', keys[4])) == 'number' then
    call('LTRIM', keys[4], 1, 0) -- a run without its record
  end
  local some = call('ZRANGE', keys[4], 0, 1, 'WITHSCORES')
  local at = some[1] == '' and 3 or 1
  local entry = some[at] and call('HGET', keys[3], ' ' .. some[at])
  surplus, first_end = at == 3 and -tonumber(some[2]) or 0, tonumber(some[at + 1])
  count_taken, ends = some[1] and call('ZCARD', keys[4]) + math.max(0, surplus - 1) or 0, first_end or 0
  return some[1] and not entry and 'FOREIGN value under ' .. keys[4] or nil
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
local function save_share(id, word, attempt, its_token, lease, since, channel, ms, is_pushed)
  call('ZADD', keys[4], digits(now - now % 2 + ms * 1000 + (is_pushed and 0 or 1)), id)
  call('HSET', keys[3], ' ' .. id, word .. ' ' .. attempt .. ' ' .. digits(its_token) .. ' ' .. lease .. ' ' .. since .. ' ' .. channel)
  keep_for(keys[4], lease + 1000)
  keep_for(keys[3], lease + 1000)
end

local function drop_share(id, word)
  call('HDEL', keys[3], ' ' .. id)
  if call('ZREM', keys[4], id) == 1 then
    local taken = taken_by(word)
    count_taken = count_taken - taken
    add_surplus(1 - taken)
  end
end

-- Ends the holders whose leases are over, and suspects each client that has not called since such a grant was pushed to it.
-- Returns whether there was one.
local function settle_shares(own)
  if not first_end or first_end > now then
    return false
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
  local at = surplus > 0 and 1 or 0 -- behind ''
  ends = tonumber(call('ZRANGE', keys[4], at, at, 'WITHSCORES')[2]) or 0
  return true
end

local function take(id, word, attempt, lease, channel, floor, ms, is_pushed)
  write_shared_record(math.max(token + 1, now, floor)) -- first: a server that refuses writes must grant nothing
  save_share(id, word, attempt, token, lease, now_digits, channel, ms, is_pushed)
  local taken, at = taken_by(word), now + ms * 1000
  surplus = count_taken > 0 and surplus or 0
  count_taken, ends = count_taken + taken, ends > now and math.min(ends, at) or at
  add_surplus(taken - 1)
end

-- Makes holders of the first waiters that the lock admits, until one is not admitted: that keeps a claim that wants the lock alone from starving.
-- ids, entries: of first_waiters(). The rest, and results, as serve()
local function serve_shares(ids, entries, own, caller, claim_ms)
  local served, first, its_attempt, its_valid, its_id = 0, nil, nil, nil, nil
  while ids do
    local id = ids[1]
    local lease, _, floor, channel, word, secret, attempt, at = match(entries[1], PARTS)
    lease = tonumber(lease)
    if word == '-' or not admits(word) then
      return true, first, its_attempt, its_valid, its_id
    elseif served == MOST_SERVED then
      publish(channel, 'C ' .. id) -- its attempt serves the next waiters
      return true, first, its_attempt, its_valid, its_id
    end
    served = served + 1
    local is_caller = id == caller
    local ms = is_caller and lease or ms_of(claim_ms, lease)
    take(id, word, attempt, lease, channel, tonumber(floor), ms, not is_caller)
    local valid = ms + math.floor(math.max(0, now - at) / 1000)
    call('ZREM', keys[2], id)
    call('HDEL', keys[3], id)
    if is_caller then
      own_token = token -- others may be served behind it
    else
      call('HSETNX', keys[3], '+' .. match(channel, CLIENT), now_digits)
      if channel == own and not first then
        first, its_attempt, its_valid, its_id = token, tonumber(attempt), valid, id
      else
        publish(channel, 'G ' .. signed(secret, channel, digits(token) .. ' ' .. attempt .. ' ' .. valid .. ' ' .. #id .. ' ' .. id .. ' ' .. keys[1]))
      end
    end
    ids, entries = first_waiters(own, caller)
  end
  return ids == false, first, its_attempt, its_valid, its_id
end

-- Returns the entries of a claim: as a holder, with its end, if its lease is not over; and as a waiter.
local function standing(id, own)
  local held, entry, mark = unpack(call('HMGET', keys[3], ' ' .. id, id, '+' .. match(own, CLIENT)))
  local until_ = held and tonumber(call('ZSCORE', keys[4], id) or 0)
  return held, until_ and until_ > now and until_, entry, mark
end

-- A later attempt of a claim that has a share. It keeps the permits that it has taken.
local function confirm_share(id, note, words, held, until_)
  local its_attempt, its_lease, own = match(note, '^(%d+) (%d+) (%S+)')
  its_attempt, its_lease = tonumber(its_attempt), tonumber(its_lease)
  local word, seen, its_token, _, since = match(held, HOLDER)
  seen, its_token = tonumber(seen), tonumber(its_token)
  if its_attempt < seen and seen ~= ADOPTED then
    return {1, its_token, ms_of((until_ - now) / 1000, its_lease)}
  end
  write_something()
  local floor = tonumber(match(words, ' (%d+) '))
  if floor > its_token then
    its_token = floor
    write_shared_record(math.max(token, floor))
  end
  save_share(id, word, math.max(its_attempt, seen), its_token, its_lease, since, own, its_lease, false)
  return {1, its_token, its_lease}
end

-- The writer that holds the lock, perhaps as a member of a run, reads from now on, and the readers at the head join it. place: in its run
local function downgrade(id, its_attempt, its_lease, own, floor, claim_ms, secret, place)
  local its_token = math.max(floor, place and number_of_run() + place - 1 or token)
  if place then
    local ids = members()
    drop(ids, place)
    begin_anew(ids, false)
    call('DEL', keys[4])
  else
    write_something()
  end
  forget_holder()
  write_shared_record(math.max(token, its_token))
  save_share(id, 'read', its_attempt, its_token, its_lease, written(since), own, its_lease, false)
  count_taken, ends = 1, now + its_lease * 1000
  if has_flag(1) or has_flag(4) then
    local ids, entries = first_waiters(own, false)
    local is_blocked, first, granted_attempt, valid, list = serve_shares(ids, entries, own, false, claim_ms)
    if first then
      push(own, secret, first, granted_attempt, valid, list)
    end
    if not is_blocked then
      tell_interested()
      set_flags(flags_now())
    end
  end
  return {1, its_token, its_lease}
end

-- A repeated request: its first answer may have brought a grant, which is not confirmed yet. Such a claim asks again. An unconfirmed grant ends soon, so it is
-- among the first.
local function remind(own)
  local some = call('ZRANGE', keys[4], 0, 7, 'WITHSCORES')
  for i = 1, #some, 2 do
    local its_end = tonumber(some[i + 1])
    if its_end > now and its_end % 2 == 0 and match(call('HGET', keys[3], ' ' .. some[i]) or '', ' ([^ {]+)%S*$') == match(own, CLIENT) then
      publish(own, 'C ' .. some[i])
    end
  end
end

local function release_share(id, its_attempt, own, claim_ms, tombstone, is_unanswered, held, until_, entry, has_ended)
  local seen
  if held then
    local word, attempt = match(held, '^(%S+) (%d+) ')
    seen = tonumber(attempt)
    if seen == ADOPTED and tombstone == 0 then
      return 0
    end
    is_unanswered = is_unanswered or seen == ADOPTED -- an attempt of the exporter may still be under way
    drop_share(id, word)
  elseif entry then
    seen = attempt_of(entry)
    forget_waiter(id)
  else
    seen = forget_hint(own, id)
    remind(own)
  end
  if tombstone > 0 and (is_unanswered or not seen or seen < its_attempt) then
    leave_tombstone(id, tombstone)
  end
  local is_held = until_ and 1 or 0
  return (has_flag(1) or has_flag(4)) and served(is_held, own, claim_ms, nil, not seen and not has_ended) or is_held
end

local function adopt_share(id, its_token, its_lease, held, until_)
  if not until_ or is_gone(id) or tonumber(match(held, '^%S+ %d+ (%d+)')) ~= its_token then
    return 0
  end
  local word, _, _, _, since, channel = match(held, HOLDER)
  write_something()
  save_share(id, word, ADOPTED, its_token, its_lease, since, channel, its_lease, false)
  return 1
end

-- An operation at a lock that is shared. Returns nothing if it concerns no share.
local function operate_shares(id, what, number, note, words, own)
  local is_alone_wanted = what == 65 or what == 84 or what == 97
  local held, until_, entry, mark = standing(id, own)
  if mark then
    call('HDEL', keys[3], '+' .. match(own, CLIENT))
  end
  local has_ended = settle_shares(own)
  if until_ and is_alone_wanted then -- a late attempt of a writer that has become a reader
    return {3, ms_of(number / 3, match(words, '^%S+ %d+ (%d+)'))}
  elseif is_alone_wanted or what == 69 then
    return nil
  elseif what == S or what == 85 or what == 115 then
    if held and not until_ then -- more leases were over than one call ends, its own among them
      drop_share(id, match(held, '^%S+'))
    end
    return until_ and not is_gone(id) and confirm_share(id, note, words, held, until_) or acquire(id, note, words, entry)
  elseif what == 68 then
    return adopt_share(id, tonumber(number), tonumber(words), held, until_)
  end
  local claim_ms, tombstone = match(words, '^(%d+) ?(%d*)$')
  claim_ms, tombstone = tonumber(claim_ms), tonumber(tombstone)
  if what == 66 then
    return until_ and release_share(id, math.huge, own, claim_ms, 30000, true, held, until_, entry, has_ended) or 0
  end
  return release_share(id, tonumber(number), own, claim_ms, tombstone, what == 114, held, until_, entry, has_ended)
end
