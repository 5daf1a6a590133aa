-- The record of one mutex. Included by mutex.lua, never run alone.
--
-- The keys of a mutex, all with the hash tag {name}; P is the caller's prefix:
--   1  P{name}:mutex           STRING  the record, see below
--   2  P{name}:mutex:queue     ZSET  waiting ids by ticket: max(last ticket + 1, server time in microseconds)
--   3  P{name}:mutex:waiters   HASH  id -> "attempt lease asked floor secret channel", of the waiters in the queue; aside: see
--                                    waiters.lua
--   4  P{name}:mutex:front     LIST  the waiters in front of the queue, "ticket attempt lease asked floor secret channel id"
--   5  P{name}:mutex:gone      ZSET  tombstones: claims that were released while an attempt of them was under way, by their end
--   6  P{name}:mutex:interest  ZSET  "channel id" of the claims that want a hint when the lock gets free, by end of interest
-- Times are the server's, in microseconds: below 2^53 until 2255, exact in Lua.
--
-- A record is one of
--   F<flags><token>                                          free, and the last token, 16 digits
--   H<flags><expires><token><note>\n<id>                     held by this claim until then, 16 digits each
-- with a note of '<attempt> <lease> <channel>', and ' <since>' behind it when the token is not the time of the grant.
-- The flags are one digit, the sum of 1: there may be a queue or interest; 2: there may be tombstones; 4: there may be waiters at the front, of a
-- held lock only. A run that writes one of these sets its flag. A missing record means that there may be all.
-- A push grants for less than a lease, until an even microsecond. The claim's next attempt or renewal confirms it: that lease, as each other,
-- ends at an odd one. So the end shows whether a grant is confirmed, also after a renewal for a shorter time.
-- A held record whose lease is over is free; no other claim has had the lock since. The key expires KEPT_SECONDS after the end of the lease, and
-- after the time in the token, two hours by default: longer than a clock is set back by mistake. LuaScript writes the number into the text.

local keys -- of this operation's lock, by the numbers above
local record, holder, token, expires, held_attempt, held_since, held_lease, held_channel -- from the record; its lease may be over

-- Reads the record. False if there is a foreign value under its key.
local function read_record(text)
  record, holder, token, expires, held_attempt, held_since = text, nil, 0, 0, nil, nil
  if not text then
    return true
  elseif text.err then
    return false
  end
  local state = string.match(text, '^([FH])[0-7]%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d')
  if state == 'F' and #text == 18 then
    token = tonumber(sub(text, 3))
    return true
  elseif state == 'H' then
    expires, token = tonumber(sub(text, 3, 18)), tonumber(sub(text, 19, 34))
    held_attempt, held_lease, held_channel, held_since, holder = string.match(sub(text, 35), '^(%d+) (%d+) (%S*) ?(%d*)\n(.+)$')
    held_attempt, held_lease, held_since = tonumber(held_attempt), tonumber(held_lease), tonumber(held_since) or token
    return expires and token and held_attempt
  end
  return false
end

local function is_unconfirmed()
  return holder and expires % 2 == 0 and expires - held_since < held_lease * 1000
end

local function write_record(text, at)
  record = text
  if at then
    call('SET', keys[1], text, 'PXAT', at)
  else
    call('SET', keys[1], text, 'KEEPTTL')
  end
end

-- A server without memory refuses SET as the first write of a run, and accepts it after another one.
local function write_something()
  call('PEXPIRE', keys[1], math.floor((math.max(expires, token, now) - now) / 1000) + KEPT_MILLIS)
end

local function next_token(floor)
  return math.max(token + 1, now, floor)
end

-- Makes the claim the holder for ms. note: 'attempt lease channel'
local function hold(flag, id, note, its_token, ms, since, is_pushed)
  local ends = now - now % 2 + ms * 1000 + (is_pushed and 0 or 1)
  if its_token ~= since then
    note = note .. ' ' .. digits(since)
  end
  write_record('H' .. flag .. format('%016.0f%016.0f', ends, its_token) .. note .. '\n' .. id,
    math.floor(math.max(ends, its_token) / 1000) + KEPT_MILLIS)
end

local function free(flag)
  local text = 'F' .. flag .. sub(record, 19, 34)
  local saved = try('SET', keys[1], text, 'KEEPTTL')
  if saved.err then
    oom = oom or string.find(saved.err, 'OOM', 1, true) and saved
    write_something()
    write_record(text)
  end
end

-- Returns the flags: the sum of 1, 2 and 4, see above. All, if there is no record.
local function flags()
  return record and tonumber(sub(record, 2, 2)) or 7
end

local function has_flag(flag)
  return flags() % (2 * flag) >= flag
end

-- Sets a flag in the record, if there is one.
local function set_flag(flag)
  if record and not has_flag(flag) then
    write_record(sub(record, 1, 1) .. flags() + flag .. sub(record, 3))
  end
end

-- Returns the flags for an empty front, by the keys that exist.
local function flags_of_others()
  return (call('EXISTS', keys[2], keys[6]) > 0 and 1 or 0) + (call('EXISTS', keys[5]) == 1 and 2 or 0)
end
