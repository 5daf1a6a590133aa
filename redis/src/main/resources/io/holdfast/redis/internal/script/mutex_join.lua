-- The usual first attempt at a held mutex: the claim queues, or does not wait. Included by mutex.lua, never run alone.
-- Sets the answer, or leaves it to the longer way and everything in its place. See mutex_hand_off.lua.

local flags = tonumber(sub(record, 2, 2))
local front, queue, waiters = key .. ':front', key .. ':queue', key .. ':waiters'
local waiting, limit, claim_ms, secret = string.match(ARGV[at], '^(%a+):?(%d*) 0 (%d+) (%x*)$')
local lease, channel = string.match(note, '^1 (%d+) (%S*)$')

if not lease or flags % 4 > 1 and try('ZSCORE', key .. ':gone', id)
  or flags % 2 == 1 and waiting == 'queue' and try('HGET', waiters, '@' .. channel) then -- its other waiters are aside: see waiters.lua
  waiting = nil
end
if waiting == 'none' then
  answer = {3, math.max(1, math.floor(math.min(lease / 3, (expires - now) / 1000 + 10)))}
elseif waiting == 'queue' and channel ~= '' then
  lease, limit = tonumber(lease), tonumber(limit) or 0
  local entry = '1 ' .. lease .. ' ' .. now_digits .. ' 0 ' .. secret .. ' ' .. channel
  local pause = math.min(lease, claim_ms * 3) / 3
  local ahead = flags % 2 == 1 and try('ZCARD', queue) or 0
  local place -- 1 is the first

  if ahead == 0 then
    place = take('RPUSH', front, now_digits .. ' ' .. entry .. ' ' .. id)
    if type(place) ~= 'number' then
      answer, place = place, nil
    elseif place > MOST_IN_FRONT or limit > 0 and place > limit then
      call('RPOP', front)
      place = nil
    else
      keep(front, lease)
      if flags < 4 then
        call('SETRANGE', key, 1, flags + 4)
      end
    end
  elseif type(ahead) == 'number' and (limit == 0 or ahead + MOST_IN_FRONT + 2 < limit) then
    local is_new = take('HSETNX', waiters, id, entry)
    if type(is_new) == 'table' then
      answer = is_new
    elseif is_new == 1 then
      call('ZADD', queue, now, id)
      if call('ZREVRANK', queue, id) > 0 then -- not the last: the clock was set back, or another waiter came in this microsecond
        call('ZADD', queue, call('ZRANGE', queue, -1, -1, 'WITHSCORES')[2] + 1, id)
      end
      keep(queue, lease, waiters)
      place = ahead + 1
      local held_lease, held_since = string.match(record, '^%d+ (%d+) %S* ?(%d*)\n', 35)
      if place > 2 and held_lease and (expires % 2 == 1 or expires - (tonumber(held_since) or token) >= held_lease * 1000) then
        pause = lease / 3
      elseif place > 2 then -- the grant is not confirmed: see mutex_acquire.lua
        place = (place - 1) % 16 + 1
      end
    end
  end

  if place then
    answer = {2, math.max(1, math.floor(math.min(pause, (expires - now) / 1000 + 10 * place)))}
  end
end
