-- The waiters of one lock of any kind. Included by lock.lua after record.lua, never run alone.
--
-- keys of a lock, all with the hash tag {name}; P is the caller's prefix, K is mutex, rw or semaphore:
--   1  P{name}:K           STRING  the record: version, state, flags, then what the kind needs
--   2  P{name}:K:queue     ZSET    ids of the waiters by ticket: max(last ticket + 1, server time in microseconds)
--   3  P{name}:K:claims    HASH    id -> entry of a waiter: '<lease> <client> <floor> <channel> <word> <secret> <attempt> <at> <asked>'
--                                  '-' stands for nothing. word: the share that it wants, '-' for all. at: time of that attempt. asked: the same, or
--                                  later if its client has shown since that it wants the lock. Both have 16 digits
--                                  other fields begin with a character that no id begins with: '!', '*', ' ', '+', see exclusive_rest.lua and shared.lua
--   4  P{name}:K:held      while a run has the lock: LIST, its number, then the ids of its members, which are in the queue too
--                          while it is shared: ZSET, ids of the holders by the end of their leases
--   5  P{name}:K:gone      ZSET    tombstones: ids by their end
--   6  P{name}:K:interest  ZSET    '<channel> <id>' of claims that want a hint, by end of interest
--   7  P{name}:K:aside     ZSET    all with score 0: '<client> <ticket> <id>' of waiters out of reach, '<client> 0' while a client is suspected. client:
--                                  its channel without the hash tag, which it has only for a time, see CLIENT
-- Flags, one digit, the sum of 1: queue, interest; 2: tombstones; 4: aside. A script that writes one of these keys sets the flag. No record: all.

local MOST_IN_RUN, MOST_ASIDE, MOST_INTERESTED = 64, 1024, 64
local ADOPTED = 1000000000 -- in place of the number of an attempt: what is given back later, without a tombstone, was granted before the adoption
local HALF = 500 -- of a lease in ms, as microseconds: a waiter that has not asked for so long is dead
local FEW = 3 -- waiters that are read first: enough to see whether there is a long run
local unreachable = {} -- channel -> whether its waiters are passed over, as far as this operation knows
local taken_out = 0 -- how many waiters this operation has taken out of the queue
local CLIENT = '^[^{]+' -- of a channel, see ChannelName
local PARTS = '^(%d+) (%S+) (%d+) (%S+) (%S+) (%S+) (%d+) (%d+) (%d+)$'

--#include digits.lua

local function ms_of(a, b)
  return math.max(1, math.floor(math.min(a, b)))
end

-- Keeps keys until the longest-leased waiter is stale. (PEXPIRE GT is not in 6.2.) It sets twice that time, so that most waiters need no PEXPIRE. The keys last
-- equally long: a queue must not end before the entries of its waiters, and exclusive_join.lua looks at one of them only.
local function keep(ms, ...)
  local all, longest, is_short = {...}, 2 * ms, false
  for _, key in ipairs(all) do
    local left = call('PTTL', key) -- -1 for a new key, -2 for none
    longest, is_short = math.max(longest, left), is_short or left < ms and left ~= -2
  end
  for _, key in ipairs(is_short and all or {}) do
    call('PEXPIRE', key, longest)
  end
end

local function enqueue(id, entry, ms)
  local last = call('ZRANGE', keys[2], -1, -1, 'WITHSCORES')[2]
  call('ZADD', keys[2], digits(math.max(now, (tonumber(last) or 0) + 1)), id)
  call('HSET', keys[3], id, entry)
  keep(ms, keys[3], keys[2])
  set_flag(1)
end
