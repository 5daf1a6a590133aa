-- The record of one mutex. Included by mutex.lua, never run alone. For all keys see usual.lua.
--
-- A record is one of
--   1F<flags><token>                                                                 free, and the last token, 16 digits
--   1H<flags><end><token><attempt> <lease> <channel> <client> <since> <size>\n<id>   held by this claim until the end, 16 digits
-- Times are the server's, in microseconds: below 2^53 until 2255, exact in Lua.
-- 1 is the version of the stored form of this lock. The form before versions begins with F or H; a newer one with another digit.
-- The key expires KEPT_SECONDS after the end of the lease, and after the time in the token, two hours by default: longer than a clock is set back by
-- mistake. LuaScript writes the number into the text. A held record whose lease is over is free; no other claim has had the lock since.
-- An even end: the grant was pushed, and its client has not called since. Any later call of it for this lock makes the end odd, as each other lease has it.
-- size: of the run that has the lock, 1 for a single claim. Then the id is of its first member, and the token the one of its last.

local holder, token, ends, attempt, lease, channel, client, since, size -- from the record; its lease may be over

-- Returns an error for a record that this version does not read.
local function read_record(text)
  record, holder, token, ends, size = text, nil, 0, 0, 0
  if not text then
    return
  elseif text.err then
    record = nil
    return text
  end
  local version, state, flag = byte(text, 1, 3)
  local is_ours = version == 49 and flag and flag >= 48 and flag <= 55
  if is_ours and state == F and #text == 19 then
    token = find(text, '^%d+$', 4) and tonumber(sub(text, 4))
    return not token and 'FOREIGN value under the lock' or nil
  elseif is_ours and state == H then
    ends, token = tonumber(sub(text, 4, 19)), tonumber(sub(text, 20, 35))
    attempt, lease, channel, client, since, size, holder = match(text, '^(%d+) (%d+) (%S+) (%S+) (%d+) (%d+)\n(.+)$', 36)
    attempt, lease, since, size = tonumber(attempt), tonumber(lease), tonumber(since), tonumber(size)
    if ends and token and holder then
      return
    end
  end
  record, holder, token, ends, size = nil, nil, 0, 0, 0
  if version and version > 49 and version < 58 then
    return 'NEWER form of a lock'
  end
  return (version == F or version == H) and find(text, '^[0-7]%d+', 2) and 'OLDER form of a lock' or 'FOREIGN value under the lock'
end

--#include flags.lua

-- A server without memory refuses SET as the first write of a run, and accepts it after another one. What ends or keeps a hold must pass.
local is_ending = false
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
  holder, token, ends, attempt, lease, channel, client, size, since =
    id, last_token, at, tonumber(its_attempt), its_lease, its_channel, its_client, its_size, its_since
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
end
