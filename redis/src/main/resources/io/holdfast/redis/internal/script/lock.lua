-- All about locks but their renewal: one operation or several, in their order, each for itself.
--
-- KEYS    the record of each operation's lock. In a cluster a call has one operation and names the other keys of its lock too.
--         Otherwise it could run while some of them move to another master. While they do, the record alone, twice: then the call does what the
--         record of a mutex is enough for, and else answers TRYAGAIN. For all keys see usual.lua, for the states of the record record.lua
-- ARGV    four for each operation; '-' for no channel, client or secret:
--         1  id of the claim; to end a run: its client
--         2  an attempt to acquire for so many ms. For one claim alone: A<lease ms> the first one, without a floor, T<lease ms> the first one, with a floor,
--            a<lease ms> any other. For a share, which others may have beside it: S, U and s for the same
--            R<attempt> to release if each attempt was answered, r<attempt> if one was not; attempt: number of attempts sent so far
--            E<number> to end a run, D<token> to adopt, B to break
--         3  to acquire: 'attempt lease channel client', as it is kept in the record; else the client's channel
--         4  to acquire: 'waiting floor claim_ms secret'; waiting: none, notify, queue, or queue:N for at most N waiters. For a share also ' word': read, or
--            semaphore:N/P to take N permits of P. A writer that holds the lock may ask for reading, and becomes a reader. A reader never becomes a writer
--            to release: 'claim_ms tombstone_ms', 0 for no tombstone   to end a run: 'claim_ms served'   to adopt: lease ms   to break: claim_ms
-- Result  the answer of one operation, or a list of the answers of several:
--         acquire  token: acquired with the requested lease   {1, token, lease ms} acquired, or acquired before
--                  {2, ms} queued, next attempt within   {3, ms} not available, next attempt within
--                  {4, waiters} the queue is full; the claim was not put into it
--                  {5, number, ms, ids} a run has the lock, and the claim is one of its members; ids are separated by line feeds
--         release, end, break
--                  1 when this request ended a hold, or the earlier one that it repeats did; else 0; also 0 for a foreign value in place of the record
--                  {1 or 0, token or number, attempt, valid ms, index, ids} also grants the lock to the client that asks, as a push does: to one claim, or
--                  to a run whose member of that index, 1 for the first, gets the signal. A run in the answer to an end is confirmed
--         adopt    1 or 0
--         error FOREIGN or WRONGTYPE: there is a foreign value under a key of the lock; OLDER or NEWER: another form of it. Nothing was written.
--         Among several: {0, error}
-- Cost    a free lock without waiters, for one claim alone: 3 inner calls to acquire, 4 if it has no record; 3 to release. For a share: 8 to acquire, 6 to
--         release, a few more for several permits. Else O(log n) in the holders and waiters, plus O(log n) for each share whose lease is over, at most 1 024,
--         for each waiter that is served, of shares at most 256, set aside or found gone, at most about 1 024, plus a PUBLISH for each client that is served
--         or set aside, and for each of at most 64 claims that want a hint.
--         Measured: docs/contribute/redis-script-cost.md

local call, try, sub, byte, find, match, format, tonumber = redis.call, redis.pcall, string.sub, string.byte, string.find, string.match, string.format, tonumber
local KEYS, ARGV = KEYS, ARGV
local F, H, N, Q, S = 70, 72, 110, 113, 83 -- bytes, as digits are below: a string of one letter costs the server more than a number
local now, now_digits -- the time of this call
local usual_lease, ends, ends_digits, kept_until -- of a lease that is granted now; most are equal
local operate -- does what the loop does not handle; defined on first use, which costs more than most calls

local answers = {}
local count = #ARGV / 4
local is_alone = count == 1 and #KEYS == 2 -- with the record
local take = count == 1 and call or try -- an error of one operation concerns no other; the server reports the error of a single one
local sweeps -- how many waiters this operation looks at, to drop the dead ones; nil for none
local oom -- the error of a server without memory, which refuses only the first write of a script
local i = 1
while i <= count do
  local at = 4 * i
  local key, id, word, note = KEYS[i], ARGV[at - 3], ARGV[at - 2], ARGV[at - 1]
  local what, number = byte(word), sub(word, 2)
  local text = try('GET', key)
  local version, state, flag
  local answer, last_of_run = nil, i
  sweeps = nil

  if text and not text.err then
    version, state, flag = byte(text, 1, 3)
  end
  if not now then
    local time = call('TIME')
    now, now_digits = time[1] * 1000000 + time[2], time[1] .. sub('00000' .. time[2], -6)
  end
  local is_ours = version == 49 and flag and flag >= 48 and flag < 56
  if is_ours and flag >= 52 and not is_alone and (what == 65 or what == 82 or what == 84 or what == S or what == 85) then -- waiters of this client may be aside
    local own = match(note, what == 82 and '^[^{]+' or '^%d+ %d+ ([^ {]+)')
    is_ours = own == '-' or #try('ZRANGEBYLEX', key .. ':aside', '[' .. own .. ' ', '(' .. own .. '!', 'LIMIT', 0, 1) == 0
  end
  local is_held = is_ours and state == H and sub(text, 4, 19) > now_digits
  if oom and (what == 65 or what == 84 or what == 97 or what == S or what == 85 or what == 115) then
    answer = oom
  elseif what == 82 and is_held then
    -- The usual release: of a single claim, without waiters or with a usual one.
    local its_id = find(text, id, -#id, true)
    local space, size, line_end = byte(text, (its_id or 4) - 3, (its_id or 4) - 1)
    if its_id and space == 32 and size == 49 and line_end == 10 and find(text, number .. ' ', 36, true) == 36 then
      if flag % 2 == 0 and (flag < 52 or not is_alone) then
        -- A server without memory refuses this; the longer way writes something else first.
        local saved = try('SET', key, '1F' .. sub(text, 3, 3) .. sub(text, 20, 35), 'KEEPTTL')
        answer = not saved.err and 1
        oom = oom or saved.err and find(saved.err, 'OOM', 1, true) and saved
      elseif flag % 2 == 1 and not is_alone then
        answer = (
          --#include exclusive_hand_off.lua
        )(take, try, sub, find, match, format, note, ARGV[at], now, now_digits, key, text, flag)
      end
    end
  elseif what == 82 and is_ours and state == S and flag % 2 == 0 then
    -- The usual release of a share: of one permit, without waiters.
    local held, claims = key .. ':held', key .. ':claims'
    local until_ = try('ZSCORE', held, id)
    local entry = type(until_) == 'string' and tonumber(until_) > now and try('HGET', claims, ' ' .. id)
    local asked, attempt = match(type(entry) == 'string' and entry or '', '^(%S+) (%d+) ')
    if asked and tonumber(attempt) >= tonumber(number) and #attempt < 10 and (byte(asked) ~= 115 or find(asked, ':1/', 10, true)) then
      call('ZREM', held, id)
      call('HDEL', claims, ' ' .. id, '+' .. match(note, '^[^{]+'))
      answer = 1
    end
  elseif what == 65 and is_held and byte(ARGV[at]) == Q and not is_alone then
    local last, failure, swept = (
      --#include exclusive_join.lua
    )(call, try, sub, byte, find, match, format, KEYS, ARGV, now, now_digits, answers, key, text, flag, i)
    last_of_run, answer, sweeps = last, failure, swept
  elseif (what == 65 or what == S) and is_held and flag < 50 and byte(ARGV[at]) == N and byte(ARGV[at], 3) == N and not is_alone and byte(text, 19) % 2 == 1
    and tonumber(sub(text, 4, 19)) and find(text, '\n', 36, true) and sub(text, -#id - 1) ~= '\n' .. id then
    -- The usual refusal: of a claim that does not wait.
    answer = {3, math.max(1, math.floor(math.min((sub(text, 4, 19) - now) / 1000 + 10, number / 3)))}
  elseif what == 65 or what == 84 or is_alone and what == 97 then
    -- The usual attempt, at a free lock: there are no waiters but those of other clients that are aside, and only tombstones of other claims.
    local new_flag, last
    if is_ours and (state == F or state == S and take('EXISTS', key .. ':held') == 0) and #text == 19 and find(text, '^%d+$', 4)
      and (flag == 48 or flag % 2 == 0 and not is_alone and (flag % 4 == 0 or not try('ZSCORE', key .. ':gone', id))) then
      if flag < 52 then
        new_flag = flag == 50 and call('EXISTS', key .. ':gone') == 1 and '1H2' or '1H0'
      else
        new_flag = '1H' .. flag - 48 - (call('EXISTS', key .. ':aside') == 1 and 0 or 4)
      end
      last = sub(text, 4)
    elseif not text and (is_alone and not try('ZSCORE', key .. ':gone', id)
      or not is_alone and take('EXISTS', key .. ':queue', key .. ':held', key .. ':gone', key .. ':interest', key .. ':aside') == 0) then
      new_flag, last = '1H0', ''
    end
    if last then
      if usual_lease ~= number then
        usual_lease, ends = number, now - now % 2 + 1 + number * 1000 -- odd: see record.lua
        ends_digits, kept_until = format('%010d%06d', ends / 1000000, ends % 1000000), format('%d', ends / 1000000 + KEPT_SECONDS)
      end
      local token, token_digits, kept = now, now_digits, kept_until
      local floor = what ~= 65 and tonumber(match(ARGV[at], ' (%d+) ')) or 0
      if last >= now_digits or floor > now then
        token = math.max((tonumber(last) or 0) + 1, now, floor)
        token_digits, kept = format('%010d%06d', token / 1000000, token % 1000000), format('%d', math.max(ends, token) / 1000000 + KEPT_SECONDS)
      end
      local saved = take('SET', key, new_flag .. ends_digits .. token_digits .. note .. ' ' .. now_digits .. ' 1\n' .. id, 'EXAT', kept)
      answer = saved.err and saved or token
    end
  elseif what == S or what == 85 then
    -- The usual first attempt for a share, at a lock without holders.
    local held, claims, new_flag, has_claims, last = key .. ':held', key .. ':claims', '1S0', false, nil
    if is_ours and state ~= H and flag % 2 == 0 and #text == 19 and find(text, '^%d+$', 4) then
      has_claims = take('EXISTS', held, claims) ~= 0 -- of waiters aside, or of former runs
      is_ours = (not has_claims or take('EXISTS', held) == 0 and try('HGET', claims, id) == false)
        and (flag % 4 == 0 or not try('ZSCORE', key .. ':gone', id))
      if is_ours and flag > 48 then
        new_flag = '1S' .. (call('EXISTS', key .. ':gone') == 1 and 2 or 0) + (call('EXISTS', key .. ':aside') == 1 and 4 or 0)
      end
      last = is_ours and tonumber(sub(text, 4))
    elseif not text and take('EXISTS', held, claims, key .. ':queue', key .. ':gone', key .. ':interest', key .. ':aside') == 0 then
      last = 0
    end
    if last then
      local token = math.max(last + 1, now, what == 85 and tonumber(match(ARGV[at], ' (%d+) ')) or 0)
      local token_digits, asked = format('%010d%06d', token / 1000000, token % 1000000), match(ARGV[at], '%S+$')
      -- First: a server that refuses writes must grant nothing.
      local saved = take('SET', key, new_flag .. token_digits, 'EXAT', format('%d', token / 1000000 + KEPT_SECONDS))
      answer = saved.err and saved
      if not answer then
        local until_ = now - now % 2 + 1 + number * 1000
        call('ZADD', held, format('%010d%06d', until_ / 1000000, until_ % 1000000), id)
        local permits = tonumber(match(asked, ':(%d+)') or 1)
        if permits > 1 then
          call('ZADD', held, 1 - permits, '')
        end
        local attempt, lease, channel = match(note, '^(%d+) (%d+) (%S+)')
        call('HSET', claims, ' ' .. id, asked .. ' ' .. attempt .. ' ' .. token_digits .. ' ' .. lease .. ' ' .. now_digits .. ' ' .. channel)
        call('PEXPIRE', held, number + 1000) -- see save_share()
        if not has_claims or call('PTTL', claims) < number + 1000 then
          call('PEXPIRE', claims, number + 1000)
        end
        answer = token
      end
    end
  end

  if sweeps or not answer and not answers[i] then
    if not operate then
      (function() -- Lua looks for each local that a part uses among all locals of the function that it is in: so few are in each
        local record, keys -- of the lock of this operation
        --#include record.lua
        --#include usual.lua
        ;(function()
          --#include holding.lua
          --#include grants.lua
          --#include exclusive_grants.lua
          --#include operation.lua
        end)()
      end)()
    end
    if count == 1 then
      answer = answer or operate(key, text, i, i)
    else
      local _, result = pcall(operate, key, text, i, last_of_run)
      answer = result
    end
  end
  if count == 1 then
    answer = answer or answers[1]
    return type(answer) == 'string' and redis.error_reply(answer) or answer
  end
  local form = type(answer)
  local failure = form == 'string' and answer or form == 'table' and answer.err
  for n = i, last_of_run do
    answers[n] = failure and {0, failure} or answer or answers[n]
  end
  i = last_of_run + 1
end
return answers
