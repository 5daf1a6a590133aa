-- Ends a claim in any state: a held mutex goes to the first living waiter, a place in the queue is given up. Included
-- by mutex.lua, never run alone.

-- An attempt of this claim may still be under way, or may have gone unseen over another connection. It must find that
-- its claim has ended.
local function leave_tombstone(id, ms)
  local over = call('ZRANGEBYSCORE', keys[5], 0, now, 'LIMIT', 0, 100)
  call('ZREM', keys[5], '', unpack(over)) -- a server without memory refuses ZADD as the first write, and accepts it as the second
  call('ZADD', keys[5], now + ms * 1000, id)
  call('PEXPIRE', keys[5], ms)
  set_flag(2)
end

-- Publishes to the interested claims that the lock is free.
local function tell_interested()
  for _, member in ipairs(call('ZRANGEBYSCORE', keys[6], now, '+inf')) do
    local channel, id = string.match(member, '^(%S*) (.*)$')
    publish(channel, 'C ' .. id)
  end
  call('DEL', keys[6])
end

function release(key, text, id, attempt_digits, channel, rest, is_unanswered)
  local attempt = tonumber(attempt_digits)
  local claim_ms, tombstone_ms = string.match(rest, '^(%d+) (%d+)$')
  claim_ms, tombstone_ms = tonumber(claim_ms), tonumber(tombstone_ms)

  local is_ours = begin(key, text)
  local expires_before = expires
  if not is_ours then
    if text.err and not is_wrong_type(text) then
      return text
    end
    record, holder = nil, nil
  end
  local was_held = holder == id -- the lease may be over; then no other claim has had the lock since
  if not (was_held and not is_unanswered and attempt <= held_attempt) then
    refuse_foreign_keys()
  end

  local entry
  if not was_held then
    entry = entry_of(id)
    if trust_again(channel) then
      set_flag(1)
    end
  end
  local is_wanted = call('EXISTS', keys[2], keys[6]) > 0

  -- The last attempt of this claim that was seen here; nil for none.
  local seen
  if was_held then
    seen = held_attempt
    if is_unanswered and entry_of(id) then
      leave_queue(id) -- its first attempt came after a later one
    end
  else
    if entry then
      seen = tonumber(string.match(entry, '^%d+'))
      local rank = call('ZRANK', keys[2], id)
      leave_queue(id)
      moved = rank and rank < 2 and 1 or 0
    end
    local wanted = call('ZSCORE', keys[6], channel .. ' ' .. id)
    if wanted then
      call('ZREM', keys[6], channel .. ' ' .. id)
      seen = tonumber(wanted) % 1000 -- see mutex_acquire.lua; from the thousandth on it is not known
    end
  end
  if tombstone_ms > 0 and (is_unanswered or not seen or seen < attempt) then
    leave_tombstone(id, tombstone_ms)
  end

  local is_free = is_ours and (not holder or expires <= now)
  local served = is_wanted and (was_held or is_free) and serve(now, false, claim_ms, was_held and held_channel or channel)
  if is_wanted and (was_held or is_free) and not served then
    tell_interested()
  end
  if was_held and type(served) ~= 'string' then -- else the served waiter holds it now
    free(flags_of_others())
  end
  tell_next(claim_ms)
  return was_held and expires_before > now and 1 or 0
end
