-- All about read/write locks and semaphores but their renewal: one operation or several, in their order, each for itself.
--
-- KEYS    the record of each operation's lock. In a cluster a call has one operation and names the other keys of its lock too.
--         Otherwise it could run while some of them move to another master. For all keys see usual.lua
-- ARGV    four for each operation, as those of mutex.lua; those of an attempt differ in the fourth:
--         4  'waiting floor claim_ms secret word'; word: read, write, or semaphore:N/P to take N permits of P
--         An attempt of a writer that holds may ask for reading: it becomes a reader. A reader never becomes a writer.
-- Result  as of mutex.lua, without runs
-- Cost    a lock without holders and waiters: 8 inner calls to acquire, 6 to release, a few more for several permits, O(1). Else O(log n) in the holders and
--         waiters, plus O(log n) for each holder whose lease is over, at most 1 024, and for each waiter that is served, at most 256, set aside or
--         found gone, at most about 1 024, plus a PUBLISH for each waiter that is served and for each client that is set aside.
--         Measured: docs/contribute/redis-script-cost.md
--
-- The record is '1S<flags><token>': version, state, flags (see usual.lua), and the last granted token in 16 digits. It expires KEPT_SECONDS after the
-- time in the token, two hours by default: longer than a clock is set back by mistake. LuaScript writes the number into the text.
-- The holders are in ':held', by the ends of their leases: each ends alone. An even end: the grant was pushed, or was in the answer to a release, and its
-- claim has not asked since. '' comes first, if any holder has more than one permit: its score is below zero, by the number of permits beyond
-- one for each holder. What else is known of a holder is in ':claims', ' <id>' -> '<word> <attempt> <token> <lease> <since> <channel>'.
-- ':held' never lasts longer than ':claims'.
-- ':claims', '+<client>' -> time of the first grant that was pushed to that client since its last call

local call, try, sub, byte, find, match, format, tonumber = redis.call, redis.pcall, string.sub, string.byte, string.find, string.match, string.format, tonumber
local KEYS, ARGV = KEYS, ARGV
local now, now_digits -- the time of this call
local operate -- does what the loop does not handle; defined on first use, which costs more than most calls

local function written(micros)
  return format('%010d%06d', micros / 1000000, micros % 1000000)
end

local answers = {}
local count = #ARGV / 4
local take = count == 1 and call or try -- an error of one operation concerns no other; the server reports the error of a single one
for i = 1, count do
  local at = 4 * i
  local key, id, what, number = KEYS[i], ARGV[at - 3], byte(ARGV[at - 2]), tonumber(sub(ARGV[at - 2], 2))
  local text = try('GET', key)
  local version, state, flag
  local answer
  if text and not text.err then
    version, state, flag = byte(text, 1, 3)
  end
  if not now then
    local time = call('TIME')
    now, now_digits = time[1] * 1000000 + time[2], time[1] .. sub('00000' .. time[2], -6)
  end
  -- Waiters may be aside, but none of this client.
  local is_known = version == 49 and state == 83 and #text == 19
  local has_no_waiters = is_known and (flag == 48 or flag == 50 or flag == 52 or flag == 54)
  local is_attempt = what == 65 or what == 84
  if has_no_waiters and flag > 50 and (what == 82 or is_attempt) then
    local own = match(ARGV[at - 1], is_attempt and '^%d+ %d+ ([^ {]+)' or '^[^{]+')
    local theirs = own ~= '-' and try('ZRANGEBYLEX', key .. ':aside', '[' .. own .. ' ', '(' .. own .. '!', 'LIMIT', 0, 1)
    has_no_waiters = not theirs or not theirs.err and not theirs[1]
  end
  if what == 82 and has_no_waiters then
    -- The usual release: of one permit.
    local held, claims = key .. ':held', key .. ':claims'
    local ends = try('ZSCORE', held, id)
    local entry = type(ends) == 'string' and tonumber(ends) > now and try('HGET', claims, ' ' .. id)
    local word, attempt = match(type(entry) == 'string' and entry or '', '^(%S+) (%d+) ')
    if word and tonumber(attempt) >= number and #attempt < 10 and (byte(word) ~= 115 or find(word, ':1/', 10, true)) then
      call('ZREM', held, id)
      call('HDEL', claims, ' ' .. id, '+' .. match(ARGV[at - 1], '^[^{]+'))
      answer = 1
    end
  elseif is_attempt then
    -- The usual first attempt, at a lock without holders.
    local held, claims, new_flag, last = key .. ':held', key .. ':claims', '1S0', nil
    if has_no_waiters and (take('EXISTS', held, claims) == 0 or flag > 50 and take('EXISTS', held) == 0 and try('HGET', claims, id) == false)
      and (flag == 48 or flag == 52 or not try('ZSCORE', key .. ':gone', id)) then
      if flag > 48 then
        new_flag = '1S' .. (call('EXISTS', key .. ':gone') == 1 and 2 or 0) + (call('EXISTS', key .. ':aside') == 1 and 4 or 0)
      end
      last = tonumber(sub(text, 4))
    elseif not text and take('EXISTS', held, claims, key .. ':queue', key .. ':gone', key .. ':interest', key .. ':aside') == 0 then
      last = 0
    end
    if last then
      local waiting = ARGV[at]
      local token = math.max(last + 1, now, what == 84 and tonumber(match(waiting, ' (%d+) ')) or 0)
      local token_digits, word = written(token), match(waiting, '%S+$')
      -- First: a server that refuses writes must grant nothing.
      local saved = take('SET', key, new_flag .. token_digits, 'EXAT', format('%d', token / 1000000 + KEPT_SECONDS))
      answer = saved.err and saved
      if not answer then
        call('ZADD', held, written(now - now % 2 + 1 + number * 1000), id)
        local permits = tonumber(match(word, ':(%d+)') or 1)
        if permits > 1 then
          call('ZADD', held, 1 - permits, '')
        end
        local attempt, lease, channel = match(ARGV[at - 1], '^(%d+) (%d+) (%S+)')
        call('HSET', claims, ' ' .. id, word .. ' ' .. attempt .. ' ' .. token_digits .. ' ' .. lease .. ' ' .. now_digits .. ' ' .. channel)
        call('PEXPIRE', held, number + 1000) -- see save_holder()
        if flag ~= 52 and flag ~= 54 or call('PTTL', claims) < number + 1000 then -- waiters aside are there too
          call('PEXPIRE', claims, number + 1000)
        end
        answer = token
      end
    end
  end

  if not answer then
    if not operate then
      (function() -- see mutex.lua
        local record, keys -- of the lock of this operation
        --#include shared_holders.lua
        --#include usual.lua
        ;(function()
          --#include grants.lua
          --#include waiting.lua
          --#include shared_operation.lua
        end)()
      end)()
    end
    if count == 1 then
      answer = operate(key, text, i)
    else
      local _, result = pcall(operate, key, text, i)
      answer = result
    end
  end
  if count == 1 then
    return type(answer) == 'string' and redis.error_reply(answer) or answer
  end
  local form = type(answer)
  local failure = form == 'string' and answer or form == 'table' and answer.err
  answers[i] = failure and {0, failure} or answer
end
return answers
