-- The usual ways to grant a lock with waiters: hand-offs, ends of runs. Included by lock.lua after holding.lua and grants.lua, never run alone.

-- The claims that can follow the first one in a run begin with the same text: lease, client, no floor, channel, and no word, since each wants the lock alone.
local function run_of(ids, entries, head, oldest)
  local count = 1
  while count < #ids and entries[count + 1] and find(entries[count + 1], head, 1, true) == 1 and asked_of(entries[count + 1]) >= oldest do
    count = count + 1
  end
  return count
end

-- Gives the lock to the first waiters that it admits. Returns true if the next one, or a newcomer, has to wait, or if a later call has to go on; and, if the
-- caller's own client has got it: token or number, attempt, valid ms, ids. own: the caller's channel, caller: the id of its claim. ender: the client that ends
-- a run, nil for none; its next run needs no confirmation. Clones of one process have the same channel, but are clients of their own
local function serve(own, caller, claim_ms, ender)
  local ids, entries = first_waiters(own, caller)
  if not ids then
    return ids == false
  end
  local its_lease, its_client, floor, its_channel, word, secret, its_attempt, at = match(entries[1], PARTS)
  if word ~= '-' then
    return rest().shares().serve(ids, entries, own, caller, claim_ms)
  elseif count_taken > 0 then
    return true
  end
  its_lease, floor, at = tonumber(its_lease), tonumber(floor), tonumber(at)
  local count = 1
  if its_client ~= '-' and floor == 0 then
    local head, oldest = its_lease .. ' ' .. its_client .. ' 0 ' .. its_channel .. ' - ', format('%016.0f', now - its_lease * HALF)
    count = run_of(ids, entries, head, oldest)
    if count == FEW then -- there may be more
      ids = call('ZRANGE', keys[2], 0, MOST_IN_RUN - 1)
      count = run_of(ids, call('HMGET', keys[3], unpack(ids)), head, oldest)
    end
  end
  local first, id, is_own = math.max(token + 1, now, floor), ids[1], its_channel == own and (not ender or its_client == ender or its_client == '-')
  local list, ms, is_pushed = id, math.min(claim_ms, its_lease), not (is_own and ender and count > 1)
  if count > 1 then
    call('LTRIM', keys[4], 1, 0) -- not DEL, which would accept a foreign value
  end
  hold(has_flag(1) and flags() or flags() + 1, id, its_attempt, its_lease, its_channel, its_client, count, first + count - 1,
    is_pushed and ms or its_lease, is_pushed, now)
  if count > 1 then
    if #ids > count then
      ids = {unpack(ids, 1, count)}
    end
    list = table.concat(ids, '\n')
    call('RPUSH', keys[4], digits(first), unpack(ids))
    call('PEXPIRE', keys[4], 2 * its_lease)
  end
  if count == 1 then -- before the message, which the user may have no right to send
    call('ZREM', keys[2], id)
    call('HDEL', keys[3], id)
  end
  local valid = is_pushed and ms + math.floor(math.max(0, now - at) / 1000) or its_lease
  -- The record was written before: a server that refuses writes must grant nothing.
  if not is_own then
    publish(its_channel, 'G ' .. signed(secret, its_channel,
      digits(first) .. ' ' .. its_attempt .. ' ' .. valid .. ' ' .. #list .. ' ' .. list .. ' ' .. keys[1]))
  end
  if is_own then
    return true, first, tonumber(its_attempt), valid, list
  end
  return true
end

-- The answer to what ended a hold, after the next waiters were served. is_as_before: it has ended nothing
local function served(held, own, claim_ms, ender, is_as_before)
  if size > 1 then
    call('DEL', keys[4])
  end
  forget_holder()
  local is_blocked, first, its_attempt, valid, list = serve(own, false, claim_ms, ender)
  if not is_blocked and not is_as_before then
    rest().tell_interested()
  end
  if not holder then
    local flag = is_blocked and flags() or rest().flags_now()
    if not is_shared then
      free(flag)
    else
      set_flags(flag)
    end
  end
  if first then
    return {held, first, its_attempt, valid, 1, list}
  end
  return held
end

-- The usual end of a run: each member was served. Its number stays, for the same answer to a repeated request.
local function end_of_run(its_client, number, own, claim_ms)
  local all = call('LRANGE', keys[4], 1, -1)
  if all[1] then -- else the key is lost: its members are given back when they are granted
    call('ZREM', keys[2], unpack(all))
    call('HDEL', keys[3], unpack(all))
  end
  call('HSET', keys[3], '!' .. its_client, number .. ' ' .. now_digits)
  keep(lease, keys[3], keys[2])
  return served(1, own, claim_ms, its_client)
end

local others
function rest()
  if not others then
    --#include waiting.lua
    --#include exclusive_rest.lua
    --#include attempt.lua
    local more
    local function shares()
      if not more then
        --#include shared.lua
        more = {read_holders = read_holders, serve = serve_shares, admits = admits, take = take, downgrade = downgrade, remind = remind, operate = operate_shares}
      end
      return more
    end
    others = {trust = trust, clear_way = clear_way, tell_interested = tell_interested, flags_now = flags_now, sweep_some = sweep_some, acquire = acquire, release = release,
      record_alone = record_alone, end_run = end_run, adopt = adopt, break_hold = break_hold, shares = shares}
  end
  return others
end
