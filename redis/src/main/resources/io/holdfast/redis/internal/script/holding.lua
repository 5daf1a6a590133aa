-- Writes the record of a lock that is free, or held by one claim alone. Included by lock.lua after record.lua, never run alone.

-- A server without memory refuses SET as the first write of a run, and accepts it after another one.
local function save(text, ...)
  local saved = try('SET', keys[1], text, ...)
  if saved.err then
    oom = oom or find(saved.err, 'OOM', 1, true) and saved
    if not is_ending then
      error(saved.err, 0)
    end
    call('PEXPIRE', keys[1], math.floor((math.max(ends, token, now) - now) / 1000) + KEPT_MILLIS)
    call('SET', keys[1], text, ...)
  end
  record = text
end

local function written(micros)
  return format('%010d%06d', micros / 1000000, micros % 1000000)
end

-- Makes the claim, or the run whose first member it is, the holder for ms.
local function hold(flag, id, its_attempt, its_lease, its_channel, its_client, its_size, last_token, ms, is_pushed, its_since)
  local at = now - now % 2 + ms * 1000 + (is_pushed and 0 or 1)
  save('1H' .. flag .. written(at) .. written(last_token) .. its_attempt .. ' ' .. its_lease .. ' ' .. its_channel .. ' ' .. its_client .. ' '
    .. written(its_since) .. ' ' .. its_size .. '\n' .. id, 'EXAT', format('%d', math.max(at, last_token) / 1000000 + KEPT_SECONDS))
  holder, token, ends, attempt, lease, channel, client, size, since, is_shared =
    id, last_token, at, tonumber(its_attempt), its_lease, its_channel, its_client, its_size, its_since, false
end

-- The holder of the record stays the same, until ms from now.
local function hold_on(ms)
  hold(flags(), holder, attempt, lease, channel, client, size, token, ms, false, since)
end

local function forget_holder()
  holder, ends, size = nil, 0, 0
end

local function free(flag)
  save('1F' .. flag .. written(token), 'KEEPTTL')
  forget_holder()
  is_shared = false
end
