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
local is_ending -- whether this operation ends or keeps a hold, which must pass on a server without memory too

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
