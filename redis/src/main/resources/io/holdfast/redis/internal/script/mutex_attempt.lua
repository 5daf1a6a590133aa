-- A later attempt at a held mutex, of a claim that waits behind the front: it keeps its place, and the front stays as
-- it is. Included by mutex.lua, never run alone. Sets the answer, or leaves it to the longer way.

local queue, waiters = key .. ':queue', key .. ':waiters'
local waiting, floor, claim_ms, secret = string.match(ARGV[at], '^(%a+):?%d* (%d+) (%d+) (%x*)$')
local attempt, lease, channel = string.match(note, '^(%d+) (%d+) (%S*)$')
local entry = waiting == 'queue' and channel ~= '' and try('HGET', waiters, id)
local before = type(entry) == 'string' and tonumber(string.match(entry, '^%d+')) -- nil for a waiter that is aside

if before and before <= tonumber(attempt) and not try('ZSCORE', key .. ':gone', id) then
  local rank = try('ZRANK', queue, id)
  local saved = rank and try('HSET', waiters, id, attempt .. ' ' .. lease .. ' ' .. digits(now) .. ' ' .. floor .. ' ' .. secret .. ' ' .. channel)
  if type(rank) == 'number' and type(saved) == 'number' then
    rank = rank + call('LLEN', key .. ':front')
    keep(queue, tonumber(lease), waiters)
    local turns, held_lease, held_since = rank + 1, string.match(record, '^%d+ (%d+) %S* ?(%d*)\n', 35)
    held_since = tonumber(held_since) or token
    if held_lease and expires % 2 == 0 and expires - held_since < held_lease * 1000
      and (now - held_since > claim_ms * 125 or call('ZREVRANK', queue, id) == 0) then
      turns = rank % 16 + 1 -- the grant is not confirmed, and the usual time for that has passed: see mutex_acquire.lua
    end
    local pause = math.min((expires - now) / 1000 + 10 * turns, lease / 3)
    answer = {2, math.max(1, math.floor(rank < 2 and math.min(pause, claim_ms) or pause))}
  end
end
