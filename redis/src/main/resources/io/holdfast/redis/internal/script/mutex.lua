-- Acquires and releases mutexes: one operation or several, in their order, each for itself.
--
-- KEYS    the record of each operation's lock. In a cluster a call has one operation and names the other keys of its lock too.
--         Otherwise it could run while some of them move to another master. For all keys, and the states of the record, see record.lua
-- ARGV    four for each operation:
--         1  id of the claim
--         2  A<lease ms> to acquire with the first attempt and without a floor, T<lease ms> with the first attempt and a floor,
--            a<lease ms> to acquire otherwise
--            R<attempt> to release if each attempt was answered, r<attempt> if one was not; attempt: number of attempts sent so far
--         3  to acquire: 'attempt lease channel', as it is kept in the record; the channel is empty for a claim that is not watched
--            to release: the client's channel
--         4  to acquire: 'waiting floor claim_ms secret'; waiting: none, notify, queue, or queue:N for at most N waiters; floor of
--            the token; claim time; secret of the client, may be empty
--            to release: 'claim_ms tombstone_ms', 0 for no tombstone
-- Result  the answer of one operation, or a list of the answers of several:
--         acquire  token: acquired with the requested lease   {1, token, lease ms} acquired, or acquired before
--                  {2, ms} queued, next attempt within   {3, ms} not available, next attempt within
--                  {4, waiters} the queue is full; the claim was not put into it
--         release  1 when this request ended a held claim, else 0; also 0 for a foreign key in place of the record
--         error FOREIGN or WRONGTYPE: there is a foreign value under a key of the lock; nothing was written. Among several: {0, error}
-- Cost    a free lock without waiters: 3 inner calls to acquire, 4 if it has no record; 3 to release. Else O(log n) in the
--         waiters, plus O(log n) for each waiter that is served, set aside or found gone, at most 1 024, plus a PUBLISH for each that
--         is served or comes to the head, and for each of at most 64 claims that want a hint.
--         Measured: docs/reference/redis-script-cost.md

local call, try, sub, byte, find, format, tonumber = redis.call, redis.pcall, string.sub, string.byte, string.find, string.format, tonumber
local KEYS, ARGV = KEYS, ARGV
local MOST_IN_FRONT = 16
local F, H, LINE_END = 70, 72, 10 -- bytes, as digits are below: a string of one letter costs the server more than a number
local acquire, release -- run what the loop does not handle; defined on first use, which costs more than most calls
local now, now_digits -- the time of this run
local usual_lease, ends, ends_digits, kept_until -- of a lease that is granted now; most are equal

local answers = {}
local count = #ARGV / 4
local take = count == 1 and call or try -- an error of one operation concerns no other; the server reports the error of a single one
local oom -- the error of a server without memory, which refuses only the first write of a run
for i = 1, count do
  local at = 4 * i
  local key, id, word, note = KEYS[i], ARGV[at - 3], ARGV[at - 2], ARGV[at - 1]
  local what, number = sub(word, 1, 1), sub(word, 2)
  local record = try('GET', key)
  local kind, flag
  local answer

  if record and not record.err then
    kind, flag = byte(record, 1, 2)
  end
  if not now then
    local time = call('TIME')
    now, now_digits = time[1] * 1000000 + time[2], time[1] .. sub('00000' .. time[2], -6)
  end
  -- The usual way: takes a free lock without waiters, and releases or queues for a held one.
  if oom and (what == 'A' or what == 'T' or what == 'a') then
    answer = oom
  elseif kind == H and flag and flag >= 48 and flag <= 55 and find(record, '\n', 35, true) then
    local its_id = find(record, id, -#id, true)
    local is_ours = its_id and byte(record, its_id - 1) == LINE_END
    if sub(record, 3, 18) <= now_digits then
      answer = nil -- the lease is over: take the longer way
    elseif what == 'R' then
      if is_ours and find(record, number .. ' ', 35, true) == 35 then
        if flag == 48 or flag == 50 then
          -- A server without memory refuses this; the longer way writes something else first.
          local saved = try('SET', key, (flag == 48 and 'F0' or 'F2') .. sub(record, 19, 34), 'KEEPTTL')
          answer = not saved.err and 1
          oom = oom or saved.err and find(saved.err, 'OOM', 1, true) and saved
        else
          local token = tonumber(sub(record, 19, 34))
          --#include digits.lua
          --#include lifetime.lua
          --#include mutex_hand_off.lua
        end
      end
    elseif not is_ours and (what == 'A' or what == 'a' and flag > 51) then -- a first attempt, or a later one while there may be a front
      local expires, token = tonumber(sub(record, 3, 18)), tonumber(sub(record, 19, 34))
      --#include digits.lua
      --#include lifetime.lua
      if not (expires and token) then
        answer = nil -- a foreign value: take the longer way
      elseif what == 'A' then
        --#include mutex_join.lua
      else
        --#include mutex_attempt.lua
      end
    end
  elseif what == 'A' or what == 'T' then
    local new_flag, last
    if kind == F and #record == 18 and find(record, '^%d+$', 3) and (flag == 48 or flag == 50 and not try('ZSCORE', key .. ':gone', id)) then
      -- There are no waiters, and only tombstones of other claims.
      new_flag = flag == 50 and call('EXISTS', key .. ':gone') == 1 and '2' or '0'
      last = sub(record, 3)
    elseif not record and take('EXISTS', key .. ':queue', key .. ':front', key .. ':gone', key .. ':interest') == 0 then
      new_flag, last = '0', ''
    end
    if last then
      if usual_lease ~= number then
        usual_lease, ends = number, now - now % 2 + 1 + number * 1000 -- odd: see record.lua
        ends_digits, kept_until = format('%010d%06d', ends / 1000000, ends % 1000000), format('%d', ends / 1000000 + KEPT_SECONDS)
      end
      local token, token_digits, kept = now, now_digits, kept_until
      local floor = what == 'T' and tonumber(string.match(ARGV[at], ' (%d+) ')) or 0
      if last >= now_digits or floor > now then
        token = math.max((tonumber(last) or 0) + 1, now, floor)
        token_digits, kept = format('%010d%06d', token / 1000000, token % 1000000), format('%d', math.max(ends, token) / 1000000 + KEPT_SECONDS)
        note = note .. ' ' .. now_digits
      end
      local saved = take('SET', key, 'H' .. new_flag .. ends_digits .. token_digits .. note .. '\n' .. id, 'EXAT', kept)
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
  local form = type(answer)
  local failure = form == 'string' and answer or form == 'table' and answer.err
  answers[i] = failure and {0, failure} or answer
end
return answers
