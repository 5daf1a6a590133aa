-- What the server knows of some locks. Writes nothing: it ends no holder, serves no waiter, and takes no tombstone for anything.
--
-- KEYS    seven of each lock, see usual.lua; all in one slot on a cluster
-- ARGV    1 the most holders in the answer   2 the most waiters   3 on: two for each lock: the kind of a claim that holds it alone, mutex, write, or none, and the
--         key by which the scan found it: holder for the record, held, queue, interest or name
-- Result  {now, {lock, suffixes of foreign keys or 'NEWER', token, holders, some of them, waiters, the first of them, interests}, ...}
--         lock: its number from 1. Of the locks by name, the answer lacks those of which the server has nothing. Of the locks by
--         a key, it lacks free ones, and those that have an earlier key in ARGV's list: so a scan meets each lock once
--         token: 0 for none      holder: {id, kind, taken, channel, token, lease ms, since, expires}, since is 0 if not known
--         waiter: {id, kind, wanted, permits, channel, lease ms, came, asked}      taken and wanted: number of permits
--         Times are the server's in microseconds, see record.lua.
-- Cost    at most 14 inner calls for each lock, O(log n) in its holders and waiters, plus those in the answer

local most_holders, most_waiters = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local now_digits = string.format('%.0f', now)

local foreign -- of the current lock: suffix -> true, or 'NEWER' -> true for the record of a newer form, of which nothing else is read

-- Runs a command. If there is a foreign value under its key, returns nil and notes the key. Any other error concerns
-- all locks.
local function read(suffix, ...)
  local reply = redis.pcall(...)
  if type(reply) == 'table' and reply.err then
    if not string.find(reply.err, 'WRONGTYPE', 1, true) then
      error(reply.err, 0)
    end
    foreign[suffix] = true
    return nil
  end
  return reply
end

local function refuse(record)
  foreign[string.find(record, '^[2-9]') and 'NEWER' or ''] = true
end

-- See record.lua.
local function sole_holder(record, kind)
  local digits = '^%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d$'
  local free = string.match(record, '^1F[0-7](%d+)$')
  if free and string.find(free, digits) then
    return 0, {}, free
  end
  local expires, token = string.match(string.sub(record, 4, 19), digits), string.match(string.sub(record, 20, 35), digits)
  local lease, channel, since, size, id = string.match(string.sub(record, 36), '^%d+ (%d+) (%S+) %S+ (%d+) (%d+)\n(.+)$')
  if not (string.find(record, '^1H[0-7]') and expires and token and id) then
    refuse(record)
    return 0, {}
  elseif tonumber(expires) <= now then
    return 0, {}, token
  end
  since = tonumber(since)
  return 1, {{id, kind, 1, channel == '-' and '' or channel, token - size + 1, tonumber(lease), since <= now and since or 0, tonumber(expires)}}, token
end

-- See shared.lua. Returns no holder whose lease is over: the next attempt ends it.
local function shared_holders(record, claims, held)
  local token = record and string.match(record, '^1S[0-7](%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d)$')
  if record and not token then
    refuse(record)
  end
  local count = not foreign.NEWER and read(':held', 'ZCOUNT', held, '(' .. now_digits, '+inf')
  if not count then
    return 0, {}, token
  end
  local some_first = redis.call('ZRANGE', held, 0, 1)
  local first = some_first[some_first[1] == '' and 2 or 1] -- '' is not a holder
  local note = first and read(':claims', 'HMGET', claims, ' ' .. first)
  if some_first[1] and not (note and note[1]) then
    foreign[':held'] = (note or not first) and true or nil -- a holder of this library is under both keys
    return 0, {}, token
  end
  local some = {}
  local ids = redis.call('ZRANGE', held, '(' .. now_digits, '+inf', 'BYSCORE', 'LIMIT', 0, most_holders, 'WITHSCORES')
  for i = 1, #ids, 2 do
    local entry = redis.call('HMGET', claims, ' ' .. ids[i])[1] or ''
    local kind, taken, its_token, lease, since, channel = string.match(entry, '^(%a+):?(%d*)/?%d* %d+ (%d+) (%d+) (%d+) (%S+)$')
    if kind then
      table.insert(some, {ids[i], kind, tonumber(taken) or 1, channel == '-' and '' or channel, tonumber(its_token), tonumber(lease), tonumber(since),
        tonumber(ids[i + 1])})
    end
  end
  return count, some, token
end

-- Returns the waiters: how many, and the first of them. holder: the first member of a run is in the queue too
local function waiters(queue, claims, sole_kind, holder)
  local some, count = {}, read(':queue', 'ZCARD', queue)
  if not count or count == 0 then
    read(':claims', 'HMGET', claims, '')
    return 0, some
  end
  local ids = redis.call('ZRANGE', queue, 0, most_waiters, 'WITHSCORES')
  for i = 1, #ids, 2 do
    local entry = (read(':claims', 'HMGET', claims, ids[i]) or {})[1] or ''
    local lease, channel, word, asked = string.match(entry, '^(%d+) %S+ %d+ (%S+) (%S+) %S+ %d+ %d+ (%d+)$')
    local kind, wanted, permits = string.match(word == '-' and sole_kind or word or '', '^(%a+):?(%d*)/?(%d*)$')
    if ids[i] == holder then
      count = count - 1
    elseif kind and #some < most_waiters then
      table.insert(some, {ids[i], kind, tonumber(wanted) or 1, tonumber(permits) or 1, channel == '-' and '' or channel,
        tonumber(lease), tonumber(ids[i + 1]), tonumber(asked)})
    end
  end
  return count, some
end

-- Whether the scan finds the lock by this key only. Checks the key itself first: most keys of a lock are not this one.
local function is_met_by(seen, at)
  return seen == 'name' or seen == 'holder'
    or redis.call('EXISTS', KEYS[at]) == 0 and (seen == 'held'
      or redis.call('EXISTS', KEYS[at + 3]) == 0 and (seen == 'queue' or redis.call('EXISTS', KEYS[at + 1]) == 0))
end

local function report(number)
  local at, sole_kind = 7 * number - 6, ARGV[2 * number + 1]
  if not is_met_by(ARGV[2 * number + 2], at) then
    return nil
  end
  foreign = {}
  local record = read('', 'GET', KEYS[at])
  local is_shared = record and string.sub(record, 1, 2) == '1S' 
    or not record and sole_kind ~= 'mutex' and (tonumber(redis.pcall('LLEN', KEYS[at + 3])) or 0) == 0 -- else of a run without its record
  local held, holders, stored = 0, {}, nil
  if is_shared then
    held, holders, stored = shared_holders(record, KEYS[at + 2], KEYS[at + 3])
  elseif record then
    held, holders, stored = sole_holder(record, sole_kind)
  end
  if foreign.NEWER then
    return {number, {'NEWER'}, 0, 0, {}, 0, {}, 0}
  end
  local waiting, first = waiters(KEYS[at + 1], KEYS[at + 2], sole_kind, not is_shared and holders[1] and holders[1][1])
  if not is_shared then
    read(':held', 'LLEN', KEYS[at + 3])
  end
  read(':gone', 'ZCARD', KEYS[at + 4])
  read(':aside', 'ZCARD', KEYS[at + 6])
  local interests = read(':interest', 'ZCOUNT', KEYS[at + 5], now_digits, '+inf') or 0
  local names = {}
  for suffix in pairs(foreign) do
    table.insert(names, suffix)
  end
  local is_free = held + waiting + interests + #names == 0
  if is_free and (not stored or ARGV[2 * number + 2] ~= 'name') then
    return nil
  end
  return {number, names, tonumber(stored or 0) or 0, held, holders, waiting, first, interests}
end

local answer = {now}
for number = 1, #KEYS / 7 do
  local found = report(number)
  if found then
    table.insert(answer, found)
  end
end
return answer
