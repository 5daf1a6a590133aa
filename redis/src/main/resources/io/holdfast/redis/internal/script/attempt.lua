-- Attempts of all kinds that the usual ways do not handle. Included by exclusive_grants.lua after exclusive_rest.lua, never run alone.

-- An attempt of a claim that has no share. entry: the one of a waiter, nil if it was not read. word: the share that it wants, nothing for all
local function acquire(id, note, words, entry)
  local its_attempt, its_lease, own, its_client = match(note, '^(%d+) (%d+) (%S+) (%S+)$')
  local waiting, limit, floor, claim_ms, secret, word = match(words, '^(%a+):?(%d*) (%d+) (%d+) (%S+) ?(%S*)$')
  its_attempt, its_lease, claim_ms = tonumber(its_attempt), tonumber(its_lease), tonumber(claim_ms)
  limit = waiting == 'queue' and (tonumber(limit) or 0)
  local is_share = word ~= ''
  if entry == nil then
    entry = call('HGET', keys[3], id)
  end
  if not (entry and holder and ends > now) then
    check_keys()
  end
  if is_gone(id) then
    return {3, ms_of(its_lease / 3, claim_ms)}
  end
  local late = entry and its_attempt < attempt_of(entry)
  local text = its_lease .. ' ' .. its_client .. ' ' .. floor .. ' ' .. own .. ' ' .. (is_share and word or '-') .. ' ' .. secret .. ' ' .. its_attempt .. ' ' .. now_digits .. ' ' .. now_digits
  floor = tonumber(floor)
  is_ending = holder == id -- it keeps what it has
  if holder and ends > now then
    local place = (limit or is_share) and index_of(id)
    local is_single = holder == id and size == 1
    local is_known = place and entry and not late or is_single and (its_attempt >= attempt or attempt == ADOPTED)
    if is_share and is_known and (is_single or its_client == client) then
      return rest().shares().downgrade(id, place and its_attempt or math.max(its_attempt, attempt), its_lease, own, floor, claim_ms, secret, place)
    elseif is_share and (place or is_single) or place and not entry then -- a late copy of an attempt, perhaps of a member that was withdrawn
      return {3, ms_of(its_lease / 3, claim_ms)}
    elseif place then
      if is_known then
        call('HSET', keys[3], id, text)
        keep(its_lease, keys[3], keys[2])
      end
      if its_client ~= client then -- its client cannot serve it
        return queued(1, its_lease, claim_ms)
      elseif holder == id and is_known then
        attempt = its_attempt
        hold_on(its_lease)
      end
      return run_answer((ends - now) / 1000)
    elseif is_single then
      if is_known then
        hold(flags(), id, math.max(its_attempt, attempt), its_lease, own, its_client, 1, math.max(token, floor), its_lease, false, since)
      end
      return {1, token, ms_of((ends - now) / 1000, its_lease)}
    end
  end
  is_ending = false
  settle(own)
  if is_share and entry and not late and (not limit or match(entry, '^%S+ %S+ %S+ %S+ (%S+)') == '-') then -- it waits no more, or its run is over
    forget_waiter(id)
    entry = false
  end
  local shares = is_share and not holder and rest().shares()
  local is_free, is_full = not holder and count_taken == 0, false
  if shares then
    is_free, is_full = shares.admits(word)
  end
  if limit and not late then
    local is_placed = entry and call('ZSCORE', keys[2], id)
    if entry then
      call('HSET', keys[3], id, text)
      keep(its_lease, keys[3], keys[2])
      is_placed = is_placed or come_back(id, entry, own)
    end
    if not is_free or has_flag(1) or has_flag(4) then
      local count = not is_placed and limit > 0 and waiting_behind() or 0
      if limit > 0 and count >= limit and not holder then -- the dead do not count for long
        serve(nil, false, claim_ms) -- each grant by a push: this answer tells of the queue
        count = waiting_behind()
      end
      if not is_placed and limit > 0 and count >= limit then
        if now % 8 == 0 then
          sweep_some(64)
        end
        return {4, count}
      elseif not is_placed and not (entry and (has_aside(own) or has_aside(match(entry, '^%S+ %S+ %S+ (%S+) ')))) then -- else it comes back with the others
        enqueue(id, text, its_lease)
        if now % 128 == 0 then
          sweep_some(256)
        end
      end
    end
  end
  if not holder then
    local is_blocked, first, granted_attempt, valid, list
    own_token = nil
    if (is_free or entry and not is_full) and (has_flag(1) or has_flag(4)) then
      is_blocked, first, granted_attempt, valid, list = serve(own, not late and id, claim_ms)
    end
    if not own_token and not is_blocked and not late and not holder and (count_taken == 0 or shares and shares.admits(word)) then
      if entry then
        call('HDEL', keys[3], id)
      end
      if shares then
        shares.take(id, word, its_attempt, its_lease, own, floor, its_lease, false)
      else
        hold(record and flags() == 0 and 0 or flags_now(), id, its_attempt, its_lease, own, its_client, 1, math.max(token + 1, now, floor), its_lease, false, now)
      end
      own_token = token
    elseif first and holder == id then -- its own turn, confirmed by this attempt
      hold_on(its_lease)
      return size > 1 and run_answer(its_lease) or {1, token, its_lease}
    elseif first then -- another claim of the same client
      push(own, secret, first, granted_attempt, valid, list)
      if its_client == client and index_of(id) then
        return run_answer((ends - now) / 1000) -- from this attempt on
      end
    end
    if own_token then
      if has_flag(1) then
        forget_hint(own, id)
      end
      return {1, own_token, its_lease}
    end
  end
  local rank = limit and call('ZRANK', keys[2], id)
  if rank then
    return queued(rank, its_lease, claim_ms)
  elseif waiting == 'notify' and own ~= '-' then
    want_hint(own, id, its_lease, its_attempt)
  end
  return {3, ms_of(math.max(0, ends - now) / 1000 + 10, its_lease / 3)}
end
