-- The record of one lock. Included by lock.lua, never run alone. For all keys see usual.lua.
--
-- A record is one of
--   1F<flags><token>                                                                 free, and the last token, 16 digits
--   1S<flags><token>                                                                 shared, or free: its holders are in ':held', see shared.lua
--   1H<flags><end><token><attempt> <lease> <channel> <client> <since> <size>\n<id>   held by this claim alone until the end, 16 digits
-- Times are the server's, in microseconds: below 2^53 until 2255, exact in Lua.
-- 1 is the version of the stored form of this lock. The form before versions begins with F or H; a newer one with another digit.
-- The key expires KEPT_SECONDS after the end of the lease, and after the time in the token, two hours by default: longer than a clock is set back by
-- mistake. LuaScript writes the number into the text. A held record whose lease is over is free; no other claim has had the lock since.
-- An even end: the grant was pushed, and its client has not called since. Any later call of it for this lock makes the end odd, as each other lease has it.
-- size: of the run that has the lock, 1 for a single claim. Then the id is of its first member, and the token the one of its last.

local holder, token, ends, attempt, lease, channel, client, since, size -- from the record; its lease may be over
local is_shared -- whether its holders, if any, are in ':held'
local count_taken = 0 -- how many shares claims have taken, see shared.lua. While one claim has a share, no other can hold the lock alone
local own_token -- of the claim that asks for a share, if it was served
local is_ending -- whether this operation ends or keeps a hold, which must pass on a server without memory too

-- Returns an error for a record that this version does not read.
local function read_record(text)
  record, holder, token, ends, size, count_taken, is_shared = text, nil, 0, 0, 0, 0, not text and byte(keys[1], -1) ~= 120 -- of a mutex
  if not text then
    return
  elseif text.err then
    record = nil
    return text
  end
  local version, state, flag = byte(text, 1, 3)
  local is_ours = version == 49 and flag and flag >= 48 and flag <= 55
  if is_ours and (state == F or state == S) and #text == 19 then
    token, is_shared = find(text, '^%d+$', 4) and tonumber(sub(text, 4)), state == S
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

local function flags()
  return record and byte(record, 3) - 48 or 7
end

local function has_flag(flag)
  return flags() % (2 * flag) >= flag
end

local function set_flags(all)
  if record and all ~= flags() then
    record = sub(record, 1, 2) .. all .. sub(record, 4)
    call('SETRANGE', keys[1], 2, all)
  end
end

local function set_flag(flag)
  if not has_flag(flag) then
    set_flags(flags() + flag)
  end
end
