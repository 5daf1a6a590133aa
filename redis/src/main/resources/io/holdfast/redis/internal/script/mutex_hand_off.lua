-- The usual release of a mutex with waiters: hands it off to the first one. Included by mutex.lua, never run alone.
-- Sets the answer, or leaves it to the longer way.
--
-- The waiters at the front are a list, keys[4] of record.lua. They come before all in keys[2]. Each sends an attempt
-- within a claim time: that time was in an earlier answer or message. Only the usual ways use the list: the longer way
-- begins by putting its waiters back into keys[2].

--#include push.lua

local flags, claim_ms = tonumber(sub(record, 2, 2)), tonumber(string.match(ARGV[at], '^%d+'))
local front, queue, waiters = key .. ':front', key .. ':queue', key .. ':waiters'

local told = {} -- channel -> message

-- The first two of all waiters have a message or an answer that lets them send an attempt within a claim time. So the list has three
-- waiters before one is taken from it, or it has all of them. The script takes the next ones over at a pace at which
-- they are served before their next attempt.
-- After a longer hold, their attempts may be over before a grant to a client that has vanished ends: the longer way tells others then.
local is_quick = now - token < claim_ms * 50
local length = flags > 3 and flags % 2 == 1 and try('LLEN', front)
if flags % 2 == 1 and not (type(length) == 'number' and length > 2) then
  flags = flags % 4
  if is_quick then
    --#include mutex_take_over.lua
  end
end
local line
if flags > 3 and (is_quick or flags % 2 == 0) then
  line = try('LPOP', front)
end

if type(line) == 'string' then
  local attempt, lease, asked, floor, secret, channel, heir =
    string.match(line, '^%d+ (%d+) (%d+) (%d+) (%d+) (%x*) (%S+) (.+)$')
  local heard = heir and now - asked <= lease * 500 and try('PUBSUB', 'NUMSUB', channel)
  if heard and not heard.err and heard[2] > 0 then
    local ms, its_token = math.max(1, math.min(claim_ms, lease - 1)), math.max(token + 1, now, floor)
    local ends = now - now % 2 + ms * 1000 -- even: see record.lua
    local is_now = its_token == now
    local token_digits = is_now and now_digits or format('%010d%06d', its_token / 1000000, its_token % 1000000)
    -- Writes before it publishes: a server that refuses writes (a replica) has refused the first one.
    call('SET', key, 'H' .. flags .. format('%010d%06d', ends / 1000000, ends % 1000000) .. token_digits
      .. attempt .. ' ' .. lease .. ' ' .. channel .. (is_now and '' or ' ' .. now_digits) .. '\n' .. heir,
      'EXAT', format('%d', math.max(ends, its_token) / 1000000 + KEPT_SECONDS))
    local is_sent, failed = pcall(grant, channel, secret, token_digits, attempt, math.floor(math.max(0, now - asked) / 1000) + ms,
      heir, key)
    for other, message in pairs(told) do
      local is_other_sent, other_failed = pcall(publish, other, message)
      is_sent, failed = is_sent and is_other_sent, failed or not is_other_sent and other_failed
    end
    answer = is_sent and 1 or failed
  else
    call('LPUSH', front, line)
  end
elseif line == false and flags > 3 and flags % 2 == 0 then -- all waiters have left
  local saved = try('SET', key, 'F' .. flags % 4 .. sub(record, 19, 34), 'KEEPTTL')
  answer = not saved.err and 1
end
if not answer then
  record = 'H' .. math.max(flags, tonumber(sub(record, 2, 2))) .. sub(record, 3) -- for the longer way
end
