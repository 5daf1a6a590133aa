-- Takes a mutex for a claim, or keeps it, or gives the claim a place in the queue. Included by mutex.lua, never run
-- alone.

function acquire(key, text, id, lease_digits, note, rest)
  local lease = tonumber(lease_digits)
  local attempt, channel = string.match(note, '^(%d+) %d+ (%S*)$')
  attempt = tonumber(attempt)
  local waiting, floor, claim_ms, secret = string.match(rest, '^(%a+:?%d*) (%d+) (%d+) (%x*)$')
  floor, claim_ms = tonumber(floor), tonumber(claim_ms)

  if not begin(key, text) then
    return text.err and text or redis.error_reply('FOREIGN key under the lock')
  end
  if tonumber(call('ZSCORE', keys[5], id) or 0) > now then
    return {3, min_ms(lease / 3, claim_ms)}
  end
  if holder == id and expires > now then
    if attempt < held_attempt then -- a late copy of an earlier attempt
      return {1, token, min_ms((expires - now) / 1000, lease)}
    end
    write_something()
    token = math.max(token, floor)
    hold(flags(), id, note, token, lease, held_since)
    return {1, token, lease}
  end
  local is_free = not holder or expires <= now
  if is_free then
    refuse_foreign_keys()
  end

  local limit = string.match(waiting, '^queue:(%d+)$')
  if limit then
    waiting, limit = 'queue', tonumber(limit)
  end

  local entry, ticket = entry_of(id)
  if (not entry or ticket) and trust_again(channel) then
    set_flag(1)
  end
  local late = entry and attempt < tonumber(string.match(entry, '^%d+'))
  local full = waiting == 'queue' and not entry and is_full(now, limit)
  local rank, is_new
  if waiting == 'queue' and not late and not full then
    if ticket then
      call('ZADD', keys[2], ticket, id)
    else
      rank = entry and call('ZRANK', keys[2], id)
      if not rank then
        local last = call('ZRANGE', keys[2], -1, -1, 'WITHSCORES')[2]
        call('ZADD', keys[2], math.max(now, tonumber(last or 0) + 1), id)
        rank, is_new = call('ZCARD', keys[2]) - 1, true
      end
    end
    call('HSET', keys[3], id, attempt .. ' ' .. lease_digits .. ' ' .. digits(now) .. ' ' .. digits(floor) .. ' '
      .. secret .. ' ' .. channel)
    if is_new then
      forget_some(now, rank + 1, id)
    end
    keep(keys[2], lease, keys[3])
    set_flag(1)
    entry = true
  end

  if is_free then
    rank = nil
    local served = serve(now, not late and id, claim_ms, channel)
    local is_ours = not late and (served == id or not served)
    if is_ours and entry then
      leave_queue(id)
    end
    tell_next(claim_ms)
    if is_ours then
      local its_token = next_token(floor)
      hold(flags_of_others(), id, note, its_token, lease, now) -- usually the first write: a server without memory refuses it
      call('ZREM', keys[6], channel .. ' ' .. id)
      return {1, its_token, lease}
    end
    read_record(record) -- the served waiter holds it now
  end

  tell_next(claim_ms)
  if full then
    return {4, call('ZCARD', keys[2])}
  end
  local left = math.max(0, expires - now) / 1000
  rank = rank or call('ZRANK', keys[2], id)
  if rank then
    -- While a grant is not confirmed, each waiter that sends an attempt sends another one soon after that grant ends: the others may have
    -- vanished. Not a waiter that came before the grant while it is as young as a usual one, since others were told: see tell_another().
    -- But the last one: it may have been told before the grant, see mutex_take_over.lua.
    local is_doubted = is_unconfirmed()
      and (is_new or now - held_since > claim_ms * 125 or call('ZREVRANK', keys[2], id) == 0)
    local turns = is_unfinished and 1 or is_doubted and rank % 16 + 1 or rank + 1
    local pause = min_ms(left + 10 * turns, lease / 3)
    return {2, rank < 2 and min_ms(pause, claim_ms) or pause}
  end
  if waiting == 'notify' and channel ~= '' then
    -- The end of the interest, in whole milliseconds, and the number of the attempt, for the release.
    call('ZADD', keys[6], now - now % 1000 + lease * 1000 + math.min(attempt, 999), channel .. ' ' .. id)
    call('ZREMRANGEBYRANK', keys[6], 0, -65) -- interest is a hint: at most 64 claims get one
    keep(keys[6], lease)
    set_flag(1)
  end
  return {3, min_ms(left + 10, lease / 3)}
end
