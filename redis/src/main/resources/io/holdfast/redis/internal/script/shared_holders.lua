-- The record and the holders of one read/write lock or semaphore. Included by shared.lua, never run alone.

local token -- the last one
-- The holders, as far as they decide on the next one. A writer holds alone, so one holder's kind is that of all. count: of the taken permits, one for
-- each holder and the surplus
local count_taken, surplus, mode, first_end = 0, 0, nil, nil
local HOLDER = '^(%S+) (%d+) (%d+) (%d+) (%d+) (%S+)$'
local MOST_ENDED = 1024

--#include flags.lua

-- Returns an error for a record that this version does not read.
local function read_record(text)
  record, token = text, 0
  if not text then
    return
  elseif text.err then
    return text
  end
  local version, state, flag = byte(text, 1, 3)
  token = version == 49 and state == 83 and #text == 19 and flag >= 48 and flag <= 55 and tonumber(sub(text, 4))
  if not token then
    return version and version > 49 and version < 58 and 'NEWER form of a lock' or 'FOREIGN value under the lock'
  end
end

local function write_record(last)
  token, record = last, '1S' .. flags() .. written(last)
  call('SET', keys[1], record, 'EXAT', format('%d', last / 1000000 + KEPT_SECONDS))
end

local function taken_by(word)
  return tonumber(match(word, '^%a+:(%d+)') or 1)
end

local function kind_of(word)
  return match(word, '^%a+')
end

local function admits(word)
  local taken, permits = match(word, '^semaphore:(%d+)/(%d+)$')
  if taken then
    return count_taken + taken <= tonumber(permits)
  end
  return count_taken == 0 or word == 'read' and mode == 'read'
end

-- Reads the holders, those whose leases are over too. Returns an error if there are foreign ones: a holder of this library is under both keys.
local function read_holders()
  local first = call('ZRANGE', keys[4], 0, 1, 'WITHSCORES')
  local at = first[1] == '' and 3 or 1
  local entry = first[at] and call('HGET', keys[3], ' ' .. first[at])
  surplus, first_end = at == 3 and -tonumber(first[2]) or 0, tonumber(first[at + 1])
  count_taken, mode = first[1] and call('ZCARD', keys[4]) + math.max(0, surplus - 1) or 0, entry and kind_of(entry)
  return first[1] and not entry and 'FOREIGN value under ' .. keys[4] or nil
end
