-- A later attempt at a held mutex, of a claim that waits behind the front: it keeps its place, and the front stays as
-- it is. Included by mutex.lua, never run alone. Sets the answer, or leaves it to the longer way.

local queue, waiters = key .. ':queue', key .. ':waiters'
local waiting, floor, wants_echo, claim_ms, secret = string.match(ARGV[at], '^(%a+):?%d* (%d+) (%d) (%d+) (%x*)$')
local attempt, lease, channel = string.match(note, '^(%d+) (%d+) (%S*)$')
local entry = waiting == 'queue' and channel ~= '' and try('HGET', waiters, id)
local before = type(entry) == 'string' and tonumber(string.match(entry, '^%d+')) -- nil for a waiter that is aside

if before and before <= tonumber(attempt) and not try('ZSCORE', key .. ':gone', id) then
  local rank = try('ZRANK', queue, id)
  local saved = rank and try('HSET', waiters, id, attempt .. ' ' .. lease .. ' ' .. digits(now) .. ' ' .. floor .. ' ' .. secret .. ' ' .. channel)
  if type(rank) == 'number' and type(saved) == 'number' then
    rank = rank + call('LLEN', key .. ':front')
    keep(queue, tonumber(lease), waiters)
    local pause = math.min((expires - now) / 1000 + 10 * (rank + 1), lease / 3)
    answer = {2, math.max(1, math.floor(rank < 2 and math.min(pause, claim_ms) or pause))}
    if wants_echo == '1' then
      --#include push.lua
      local is_sent, failed = pcall(echo, channel, wants_echo)
      answer = is_sent and answer or failed
    end
  end
end
