-- The unusual ways of a lock that one claim, or a run, holds alone, but for attempts. Included by exclusive_grants.lua after waiting.lua, never run alone.

local function flags_now()
  return (call('EXISTS', keys[2], keys[6]) > 0 and 1 or 0) + (call('EXISTS', keys[5]) == 1 and 2 or 0) + (call('EXISTS', keys[7]) == 1 and 4 or 0)
end

local function check_keys()
  if not is_shared then
    refuse_foreign_keys()
    call('LLEN', keys[4])
  end
end

local function members()
  return call('LRANGE', keys[4], 1, -1)
end

local function number_of_run()
  return token - size + 1
end

-- Notes a run that ends without its client, which says later how many were served.
local function break_off()
  local all = members()
  if not all[1] then -- noted before, or the key is lost
    return
  end
  call('ZREM', keys[2], '') -- first: a server without memory refuses HSET as the first write, and accepts it as the second
  call('HSET', keys[3], '*' .. digits(number_of_run()), table.concat(all, '\n') .. '\n' .. now_digits)
  keep(lease, keys[3], keys[2])
  call('DEL', keys[4])
end

-- A lease is over: if its grant was pushed and the client has not called since, its waiters are passed over.
local function settle(own)
  if holder and ends <= now then
    if size > 1 then
      break_off()
    end
    if ends % 2 == 0 and channel ~= '-' and match(channel, CLIENT) ~= match(own, CLIENT) then
      suspect(channel, lease)
    end
    forget_holder()
  end
end

-- Whether the claim is a member of the run that has the lock, also if it was withdrawn: its place in the run.
local function index_of(id)
  return size > 1 and call('LPOS', keys[4], id)
end

local function sweep_some(count)
  local by_id
  sweep(count, size > 1 and function()
    if not by_id then
      by_id = {}
      for _, id in ipairs(members()) do
        by_id[id] = true
      end
    end
    return by_id
  end)
end

local function attempt_of(entry)
  return tonumber(match(entry, ' (%d+) %d+ %d+$'))
end

local function run_answer(left)
  return {5, number_of_run(), ms_of(left, lease), table.concat(members(), '\n')}
end

local function queued(rank, its_lease, claim_ms)
  local pause = ms_of(math.max(0, ends - now) / 1000 + 10 * math.min(rank + 1, 100), its_lease / 3)
  return {2, rank < 2 and ms_of(pause, claim_ms) or pause}
end

-- A grant to another claim of the client that asks.
local function push(own, secret, first, its_attempt, valid, list)
  publish(own, 'G ' .. signed(secret, own, digits(first) .. ' ' .. its_attempt .. ' ' .. valid .. ' ' .. #list .. ' ' .. list .. ' ' .. keys[1]))
end

local function forget_waiter(id)
  if call('ZREM', keys[2], id) == 0 then
    forget_aside(id)
  end
  call('HDEL', keys[3], id)
end

-- How many waiters count for the limit. Members of a run do not: they may be served by now, and the server does not know.
local function waiting_behind()
  return call('ZCARD', keys[2]) - (size > 1 and size or 0)
end

-- A waiter that is aside asks again, perhaps on another channel. Returns whether it is in the queue.
local function come_back(id, entry, own)
  local before = match(entry, '^%S+ %S+ %S+ (%S+) ')
  if before == '-' then
    return trust_one(id)
  elseif before ~= own and has_flag(4) then
    trust(before)
    return call('ZSCORE', keys[2], id)
  end
end

-- A repeated request: its first answer may have brought a grant. That claim asks again. An odd end does not show that it has the grant: any call of its
-- client makes it odd.
local function repeated(held, own)
  if holder and ends > now and match(channel, CLIENT) == match(own, CLIENT) then
    publish(own, 'C ' .. holder)
  end
  return held
end

-- A member leaves. Without a tombstone, no attempt of it is under way, so none joins again. The run goes on as long as any member is wanted. If the first one
-- has left, the next one gets the signal of the grant, also after a confirmation: the answer to that may be lost.
local function withdraw(own, claim_ms)
  local all = members()
  local entries, next_ = call('HMGET', keys[3], unpack(all)), nil
  for i = #all, 1, -1 do
    next_ = entries[i] and i or next_
  end
  if not next_ then
    return served(1, own, claim_ms)
  end
  if next_ > 1 and match(channel, CLIENT) == match(own, CLIENT) then
    local its_attempt, at = match(entries[next_], ' (%d+) (%d+) %d+$')
    return {0, number_of_run(), tonumber(its_attempt), math.max(1, math.floor((ends - at) / 1000)), next_, table.concat(all, '\n')}
  end
  return 0
end

local function release(id, its_attempt, own, words, is_unanswered)
  local claim_ms, tombstone = match(words, '^(%d+) (%d+)$')
  claim_ms, tombstone = tonumber(claim_ms), tonumber(tombstone)
  local is_single = holder == id and size == 1
  if is_single and attempt == ADOPTED and tombstone == 0 then
    return 0
  end
  local seen, entry = is_single and attempt, call('HGET', keys[3], id)
  local is_member = entry and holder and ends > now and index_of(id)
  if not is_single then
    seen = entry and attempt_of(entry)
  end
  is_unanswered = is_unanswered or seen == ADOPTED -- an attempt of the exporter may still be under way
  local is_late = is_unanswered or not seen or seen < its_attempt
  if is_late then
    check_keys()
    seen = seen or not is_single and forget_hint(own, id)
    is_late = is_unanswered or not seen or seen < its_attempt
  end
  if entry then
    forget_waiter(id)
  elseif not is_single and byte(keys[1], -1) == 119 then -- a reader that has lost its share
    call('HDEL', keys[3], ' ' .. id)
  end
  if tombstone > 0 and is_late then
    leave_tombstone(id, tombstone)
  end
  if is_single then
    local held = ends > now and 1 or 0
    settle(own)
    return served(held, own, claim_ms)
  elseif holder and ends > now then
    return is_member and withdraw(own, claim_ms) or entry and 0 or repeated(0, own)
  end
  settle(own)
  if record and (has_flag(1) or has_flag(4)) then
    return served(0, own, claim_ms)
  end
  return 0
end

-- Takes members out of the queue. named: one of them, nil for none
local function drop(ids, count, named)
  local gone = {unpack(ids, 1, math.min(count, #ids))}
  gone[#gone + 1] = named
  if gone[1] then
    call('ZREM', keys[2], unpack(gone))
    call('HDEL', keys[3], unpack(gone))
  end
end

-- The members that are left begin anew, since their client lives. is_alone: the first of them gets the lock without the others
local function begin_anew(ids, is_alone)
  local pairs_ = {}
  for i, entry in ipairs(ids[1] and call('HMGET', keys[3], unpack(ids)) or {}) do
    if entry then
      if is_alone and not pairs_[1] then
        entry = string.gsub(entry, '^(%d+) %S+', '%1 -')
      end
      pairs_[#pairs_ + 1], pairs_[#pairs_ + 2] = ids[i], sub(entry, 1, -17) .. now_digits
    end
  end
  if pairs_[1] then
    call('ZREM', keys[2], '') -- see break_off()
    call('HSET', keys[3], unpack(pairs_))
    keep(lease, keys[3], keys[2])
  end
end

local function end_run(its_client, digits_of_number, own, words)
  local claim_ms, count = match(words, '^(%d+) (%d+)$')
  local number = tonumber(digits_of_number)
  claim_ms, count = tonumber(claim_ms), tonumber(count)
  check_keys()
  settle(own)
  if size > 1 and number_of_run() == number then
    local all = members()
    drop(all, count)
    begin_anew(all, count == 0)
    call('HSET', keys[3], '!' .. its_client, digits_of_number .. ' ' .. now_digits)
    keep(lease, keys[3], keys[2])
    return served(1, own, claim_ms, its_client)
  end
  local ended, broken = unpack(call('HMGET', keys[3], '!' .. its_client, '*' .. digits_of_number))
  local held = find(ended or '', digits_of_number .. ' ', 1, true) == 1 and 1 or 0
  if broken then
    local ids = {}
    for id in string.gmatch(broken, '([^\n]+)\n') do
      ids[#ids + 1] = id
    end
    drop(ids, count, '*' .. digits_of_number) -- some may be members of this run
  end
  if not holder then
    if is_shared then
      rest().shares().remind(own)
    end
    return (record or is_shared) and (has_flag(1) or has_flag(4)) and served(held, own, claim_ms, its_client) or held
  elseif match(channel, CLIENT) == match(own, CLIENT) and client == its_client and size > 1 then -- a repeated request: the same answer
    return {held, number_of_run(), attempt, ms_of((ends - now) / 1000, lease), 1, table.concat(members(), '\n')}
  end
  return repeated(held, own)
end

local function adopt(id, its_token, own, its_lease)
  check_keys()
  if not holder or ends <= now or is_gone(id) then
    return 0
  end
  local place = index_of(id)
  if place and number_of_run() + place - 1 == its_token and call('HGET', keys[3], id) then
    local all = members()
    drop(all, place)
    begin_anew(all, false)
    call('DEL', keys[4])
    hold(flags(), id, ADOPTED, its_lease, own, '-', 1, its_token, its_lease, false, since)
    return 1
  elseif holder == id and size == 1 and token == its_token then
    lease, attempt = its_lease, ADOPTED
    hold_on(its_lease)
    return 1
  end
  return 0
end

-- For an operator. Later attempts of that claim get nothing: otherwise the client of a Redlock would restore the hold at this server before the operator
-- has broken it at the other masters.
local function break_hold(id, own, claim_ms)
  check_keys()
  if not holder or ends <= now or holder ~= id and not (index_of(id) and call('HGET', keys[3], id)) then
    return 0
  end
  leave_tombstone(id, 30000)
  if size > 1 then
    local all, number = members(), digits(number_of_run())
    local secret
    for _, entry in ipairs(all[1] and call('HMGET', keys[3], unpack(all)) or {}) do
      secret = secret or entry and match(entry, '(%S+) %d+ %d+ %d+$')
    end
    break_off()
    drop({id}, 1)
    begin_anew(all, false)
    local list = table.concat(all, '\n')
    publish(channel, 'L ' .. signed(secret or '-', channel, number .. ' ' .. #list .. ' ' .. list .. ' ' .. keys[1]))
  end
  return served(1, own, claim_ms)
end

-- While the slot moves: what needs no other key. A lock without flags has no waiters and no tombstones.
local function record_alone(id, is_attempt, number, note, words)
  local its_attempt, its_lease, own, its_client = match(note, '^(%d+) (%d+) (%S+) (%S+)$')
  local is_held = holder and ends > now
  if not record or flags() > 0 or not is_attempt or is_held and holder ~= id and find(words, 'none', 1, true) ~= 1 then
    return 'TRYAGAIN the slot of the lock moves'
  elseif is_held and holder ~= id then
    return {3, ms_of((ends - now) / 1000 + 10, number / 3)}
  end
  local is_repeated = is_held and tonumber(its_attempt) >= attempt
  if is_repeated or not is_held then
    its_lease = tonumber(its_lease)
    local last = math.max(is_held and token or token + 1, is_held and 0 or now, tonumber(match(words, ' (%d+) ')))
    hold(0, id, its_attempt, its_lease, own, its_client, 1, last, its_lease, false, is_held and since or now)
  end
  return {1, token, ms_of((ends - now) / 1000, number)}
end
