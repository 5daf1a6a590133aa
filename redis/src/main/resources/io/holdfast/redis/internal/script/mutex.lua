-- Acquires and releases mutexes: one operation or several, in their order, each for itself.
--
-- KEYS    the record of each operation's lock. In a cluster a call has one operation and names the other keys of its lock too: else it could
--         run while some of them are on their way to another master. For all keys, and the states of the record, see record.lua
-- ARGV    of each operation four:
--         1  id of the claim
--         2  A<lease ms> to acquire with the first look and without a floor, T<lease ms> with the first look and a floor, a<lease ms> to
--            acquire otherwise
--            R<attempt> to release when each look was answered, r<attempt> when one was not; attempt: looks sent so far
--         3  to acquire: 'attempt lease channel', as it is kept in the record; the channel is empty for a claim that is not watched
--            to release: the client's channel
--         4  to acquire: 'waiting floor echo claim_ms secret'; waiting: none, notify, queue, or queue:N for at most N waiters; floor of
--            the token; echo: 1 to have one on the channel; claim time; secret of the client, may be empty
--            to release: 'claim_ms tombstone_ms', 0 for no tombstone
-- Result  of one operation its answer, of several a list of their answers:
--         acquire  token: acquired with the lease that was asked for   {1, token, lease ms} acquired, or acquired before
--                  {2, ms} queued, look again within   {3, ms} not available, look again within
--                  {4, waiters} the queue is full; the claim was not put into it
--         release  1 when this request ended a held claim, else 0; also 0 for a foreign key in place of the record
--         error FOREIGN or WRONGTYPE: there is something else under a key of the lock; nothing was written. Among several: {0, error}
-- Cost    a free lock without waiters: 3 inner calls to acquire, and 4 when it has no record; 3 to release. Else O(log n) in the
--         waiters, plus O(log n) for each waiter that is served, set aside or found gone, at most 1 024, plus a PUBLISH for each that
--         is served or comes to the head, and for each of at most 64 claims that want a hint.
--         Measured: docs/reference/redis-script-cost.md

local call, try, sub, find, format, tonumber = redis.call, redis.pcall, string.sub, string.find, string.format, tonumber
local KEYS, ARGV = KEYS, ARGV
local MOST_IN_FRONT = 16
local acquire, release -- what the loop does not settle itself; defined when first wanted, which costs more than most calls
local now -- the time of this run

local answers = {}
local count = #ARGV / 4
local take = count == 1 and call or try -- an error of one operation concerns no other, and one alone is told by the server
local oom -- the error of a server without memory, which refuses only the first write of a run
for i = 1, count do
  local at = 4 * i
  local key, id, word, note = KEYS[i], ARGV[at - 3], ARGV[at - 2], ARGV[at - 1]
  local what, number = sub(word, 1, 1), sub(word, 2)
  local record = try('GET', key)
  local state = record and not record.err and sub(record, 1, 2)
  local answer

  if not now then
    local time = call('TIME')
    now = time[1] * 1000000 + time[2]
  end
  -- The usual: a free lock without waiters is taken, a held one is given back or queued for.
  if oom and (what == 'A' or what == 'T' or what == 'a') then
    answer = oom
  elseif state and find(state, '^H[0-7]') and find(record, '\n', 35, true) then
    local is_ours = find(record, id, -#id, true) and sub(record, -#id - 1, -#id - 1) == '\n'
    local expires, token = tonumber(sub(record, 3, 18)), tonumber(sub(record, 19, 34))
    if not token or not expires or expires <= now then
      answer = nil -- the lease is over, or this is something else: for the longer way
    elseif what == 'A' and not is_ours then
      --#include digits.lua
      --#include lifetime.lua
      --#include mutex_join.lua
    elseif what == 'a' and not is_ours and sub(state, 2) > '3' then -- there may be a front
      --#include digits.lua
      --#include lifetime.lua
      --#include mutex_look.lua
    elseif what == 'R' and is_ours and sub(record, 35, 35 + #number) == number .. ' ' then
      if state ~= 'H0' and state ~= 'H2' then
        --#include digits.lua
        --#include lifetime.lua
        --#include mutex_hand_off.lua
      else
        -- A server without memory refuses this; the longer way knows how to.
        local saved = try('SET', key, 'F' .. sub(record, 2, 2) .. sub(record, 19, 34), 'KEEPTTL')
        answer = not saved.err and 1
        oom = oom or saved.err and find(saved.err, 'OOM', 1, true) and saved
      end
    end
  elseif what == 'A' or what == 'T' then
    local is_free = state and #record == 18 and not find(record, '%D', 3)
    local flag, last = '0', nil
    if state == 'F0' and is_free then
      last = tonumber(sub(record, 3))
    elseif state == 'F2' and is_free and not try('ZSCORE', key .. ':gone', id) then -- there are tombstones, of other claims
      flag, last = call('EXISTS', key .. ':gone') == 1 and '2' or '0', tonumber(sub(record, 3))
    elseif not record and take('EXISTS', key .. ':queue', key .. ':front', key .. ':gone', key .. ':interest') == 0 then
      last = 0
    end
    if last then
      local expires, token = now + number * 1000, last < now and now or last + 1
      local floor = what == 'T' and tonumber(string.match(ARGV[at], ' (%d+) ')) or 0
      if token < floor then
        note, token = note .. ' ' .. format('%d%06d', now / 1000000, now % 1000000), floor
      end
      local saved = take('SET', key, 'H' .. flag .. format('%010d%06d%010d%06d', expires / 1000000, expires % 1000000, token / 1000000,
        token % 1000000) .. note .. '\n' .. id, 'EXAT', format('%d', (expires > token and expires or token) / 1000000 + 7200))
      answer = saved.err and saved or token
    end
  end

  if not answer then
    if not acquire then
      --#include digits.lua
      --#include lifetime.lua
      --#include record.lua
      --#include push.lua
      --#include queue.lua
      --#include mutex_acquire.lua
      --#include mutex_release.lua
    end
    local run = (what == 'R' or what == 'r') and release or acquire
    if count == 1 then
      return run(key, record, id, number, note, ARGV[4], what == 'r')
    end
    local _, result = pcall(run, key, record, id, number, note, ARGV[at], what == 'r')
    answer = result
  end
  if count == 1 then
    return type(answer) == 'string' and redis.error_reply(answer) or answer
  end
  local failure = type(answer) == 'string' and answer or type(answer) == 'table' and answer.err
  answers[i] = failure and {0, failure} or answer
end
return answers
